//! Tests of rules LLKEPT-P2 and LLKEPT-P3: what an answer depends on.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::time::Duration;

use chipdock_plugin_api::files::identity::SETTLED_AFTER;
use serde_json::json;

use super::*;

#[test]
fn llkept_p2_an_answer_is_of_one_question_plugin_and_processor() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("kept");
    let memory = Memory::at(&place, "plugin 1; processor 1");
    memory.write(&["target", "llvm"], &json!({"a": 1}));
    assert_eq!(memory.read(&["target", "llvm"]), Some(json!({"a": 1})));
    for other in [&["target", "c"][..], &["targetllvm"], &["target", "llvm", ""], &[]] {
        assert_eq!(memory.read(other), None, "{other:?}");
    }
    for around in ["plugin 2; processor 1", "plugin 1; processor 2", ""] {
        assert_eq!(Memory::at(&place, around).read(&["target", "llvm"]), None, "{around}");
    }
    assert_eq!(Memory::at(&place, "plugin 1; processor 1").read(&["target", "llvm"]), Some(json!({"a": 1})));
}

#[test]
fn llkept_p3_a_host_by_itself_keeps_nothing() {
    assert!(!Memory::is_asked_for(HostRef::standalone()).unwrap());
}

/// LLKEPT-P2, LLKEPT-P3: a file that is replaced is another, also by one of the same size and time;
/// one that was changed just now is none.
#[test]
fn llkept_p2_p3_a_file_is_known_by_its_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libLLVM.so");
    std::fs::write(&path, "one").unwrap();
    let modified = path.metadata().unwrap().modified().unwrap();
    assert_eq!(settled(&path), None);
    std::thread::sleep(SETTLED_AFTER + Duration::from_millis(100));
    let first = settled(&path).unwrap();
    assert_eq!(settled(&path).as_ref(), Some(&first));
    let link = folder.path().join("link.so");
    symlink(&path, &link).unwrap();
    assert_eq!(settled(&link).as_ref(), Some(&first));
    std::fs::write(&path, "two").unwrap();
    let times = std::fs::FileTimes::new().set_modified(modified);
    std::fs::File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    std::thread::sleep(SETTLED_AFTER + Duration::from_millis(100));
    assert_ne!(settled(&path).unwrap(), first);
    assert_eq!(settled(&folder.path().join("none.so")), None);
    assert_eq!(settled(folder.path()), None, "a folder");
}

#[test]
fn llkept_p3_folders_of_the_user_count_where_they_may_lead_to_a_name() {
    let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [a, b] = [one.path().to_str().unwrap(), two.path().to_str().unwrap()];
    let names = [OsStr::new("libLLVM.so.19.1"), OsStr::new("/usr/lib/llvm-19/lib/libLLVM.so.1")];
    let is_without = |folders: &str| is_without(&OsString::from(folders), &names);
    assert!(is_without("") && is_without(a) && is_without(&format!("{a}:{b}")) && is_without("/none"));
    assert!(!is_without(&format!("{a}/$LIB")));
    std::fs::write(two.path().join("libLLVM.so.1"), "").unwrap();
    assert!(is_without(&format!("{a}:{b}")), "a path is not looked for in folders");
    symlink("nowhere", two.path().join("libLLVM.so.19.1")).unwrap();
    for folders in [format!("{a}:{b}"), format!("{b};{a}")] {
        assert!(!is_without(&folders), "{folders}");
    }
    std::fs::create_dir(one.path().join("glibc-hwcaps")).unwrap();
    assert!(!is_without(a));
}

#[test]
fn llkept_p2_the_way_to_a_library_depends_on_the_names() {
    let way = |names: &[&str]| way_to(&names.iter().map(OsStr::new).collect::<Vec<_>>());
    let Some(first) = way(&["libLLVM.so.19.1"]) else {
        return chipdock_test_support::skipped("a linker whose ways are known");
    };
    assert_eq!(way(&["libLLVM.so.19.1"]).as_ref(), Some(&first));
    assert_ne!(way(&["libLLVM-19.so"]).as_ref(), Some(&first));
    assert_ne!(way(&["libLLVM.so.19.1", "libLLVM-19.so"]).as_ref(), Some(&first));
    for relative in ["./libLLVM.so", "lib/libLLVM.so", "../libLLVM.so"] {
        assert_eq!(way(&["libLLVM.so.19.1", relative]), None, "{relative}");
    }
    // A link that leads to another file is another way.
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let link = path("libLLVM.so");
    let mut ways = Vec::new();
    for target in ["none", "one", "two"] {
        let _ = std::fs::remove_file(&link);
        symlink(path(target), &link).unwrap();
        ways.push(way(&[link.to_str().unwrap()]).unwrap());
        std::fs::write(path("one"), "one").unwrap();
        std::fs::write(path("two"), "two").unwrap();
    }
    assert!(ways[0] != ways[1] && ways[1] != ways[2] && ways[0] != ways[2]);
}
