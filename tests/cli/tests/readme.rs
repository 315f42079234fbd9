//! What README.md says to type works as it stands there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use chipdock_cli_tests::{Scratch, built, end};

#[test]
fn the_commands_of_the_readme_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("chipdock ")).collect();
    assert!(commands.len() >= 8, "{commands:?}");
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(root.join("examples").canonicalize().unwrap(), scratch.path("examples"))
        .unwrap();
    // Where the demo leaves them.
    std::fs::create_dir_all(scratch.path("target/release")).unwrap();
    std::os::unix::fs::symlink(&built().plugins, scratch.path("target/release/plugins")).unwrap();
    for name in ["a.npy", "b.npy"] {
        scratch.write_f32(name, &[16], &[1.5; 16]);
    }
    let folder = built().command.parent().unwrap().display().to_string();
    for line in commands {
        // The shell takes comments and quotes as the reader's does.
        let command = scratch.command("");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).current_dir(scratch.path("."));
        shell.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let ended = end(&mut shell);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{line}");
        assert!(!ended.stdout.is_empty(), "{line}");
    }
    assert_eq!(scratch.read_npy::<f32>("c.npy"), (vec![16], vec![3.0; 16]));
    assert!(scratch.path("softmax.o").exists() && scratch.path("report.html").exists());
}
