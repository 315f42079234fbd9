//! The command without what Vulkan needs: it says what was tried, and which package brings it.

use chipdock_test_support::command::{Scratch, end};

#[test]
fn the_command_says_what_is_missing() {
    let scratch = Scratch::new();
    scratch.write("libvulkan.so.1", "this is no library");
    let folder = scratch.path("").display().to_string();
    // The dynamic linker says which file it did not take.
    let file = scratch.path("libvulkan.so.1").display().to_string();
    for (variable, value, words) in [
        ("LD_LIBRARY_PATH", &*folder, ["tried libvulkan.so.1", "`libvulkan1`", &*file]),
        (
            "VK_ICD_FILENAMES",
            "/nonexistent.json",
            ["libvulkan.so.1", "VK_ICD_FILENAMES", "mesa-vulkan-drivers"],
        ),
    ] {
        let found = end(scratch.command("devices --json").env(variable, value)).json();
        let all = found["device_apis"].as_array().expect("device APIs");
        let vulkan = all.iter().find(|found| found["name"] == "vulkan").expect("vulkan");
        assert_eq!(vulkan["problem"]["kind"], "Unavailable", "{vulkan}");
        let message = vulkan["problem"]["message"].as_str().expect("a message");
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}
