//! Tests of the rules of `chipdock_plugin_api::process`, with raised privileges: in a copy of this
//! program that is set-user-id.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;

use chipdock_plugin_api::process;

/// The number of `nobody`.
const NOBODY: u32 = 65534;

#[test]
fn p1_this_process_has_no_raised_privileges() {
    assert!(!process::has_raised_privileges());
    assert_eq!(process::variable("PATH"), std::env::var_os("PATH"));
    assert!(process::temporary_folder().is_absolute());
}

/// Runs a test of this program in a copy that is set-user-id, in a folder that its variables name;
/// nothing where the system does not grant that.
fn raised(child: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("raised");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    if let Err(error) = chown(&program, Some(NOBODY), None) {
        println!("skipped: raised privileges: a set-user-id program of another user needs root: {error}");
        return;
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let mut command = Command::new(&program);
    command.args(["--exact", child, "--ignored", "--nocapture"]);
    for name in ["TMPDIR", "CHIPDOCK_CACHE_DIR", "XDG_CACHE_HOME", "HOME"] {
        command.env(name, folder.path());
    }
    let output = command.env("CC", "x").env("CHIPDOCK_CACHE_SIZE", "x").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    if text.contains("not raised") {
        println!("skipped: raised privileges: {} is mounted nosuid", folder.path().display());
        return;
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn p2_with_raised_privileges_no_variable_is_believed() {
    raised("child_with_raised_privileges");
}

/// KEPT-K1 of the caches.
#[cfg(feature = "files")]
#[test]
fn kept_k1_with_raised_privileges_there_is_no_cache() {
    raised("child_with_raised_privileges_and_a_cache");
}

#[cfg(feature = "files")]
#[test]
#[ignore = "run by the test above, as a set-user-id program"]
fn child_with_raised_privileges_and_a_cache() {
    use chipdock_plugin_api::files::cache::{Cache, Kind, folder_of_process};
    if process::effective_user() != NOBODY {
        println!("not raised");
        return;
    }
    assert!(std::env::var_os("CHIPDOCK_CACHE_DIR").is_some_and(|folder| !folder.is_empty()));
    assert_eq!(folder_of_process(), None);
    assert!(Cache::of_process(Kind { name: "example", version: 1 }, 1000).is_none());
}

#[test]
#[ignore = "run by the test above, as a set-user-id program"]
fn child_with_raised_privileges() {
    if process::effective_user() != NOBODY {
        println!("not raised");
        return;
    }
    assert!(process::has_raised_privileges());
    assert!(std::env::var_os("CC").is_some() && process::variable("CC").is_none());
    assert_eq!(process::temporary_folder(), PathBuf::from("/tmp"));
    let mut command = Command::new("/usr/bin/env");
    process::believe_nothing(&mut command);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "PATH=/usr/bin:/bin\n");
}
