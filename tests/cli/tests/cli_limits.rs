//! Tests of the command with few resources: files, memory, processes (CLI-C2). It reports what it
//! cannot do, and nothing else.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Output};

use chipdock_test_support::command::{Scratch, built};

/// A user who owns nothing, and no process.
const NOBODY: u32 = 65534;
/// Exit code of a shell if the system's loader could not start the program.
const NOT_STARTED: i32 = 127;

const LARGE: &str = "run vector_add.py --in A=large.npy --in B=large.npy --out C=c.npy --target c";

fn vector_add(scratch: &Scratch) {
    scratch.kernel("vector_add.py");
    scratch.write_f32("large.npy", &[1 << 20], &vec![0.5; 1 << 20]);
}

/// A shell that starts the command below a limit.
fn limited(scratch: &Scratch, limit: &str, words: &str) -> Command {
    let command = scratch.command(words);
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$@\""), "bash"]).arg(command.get_program());
    shell.args(command.get_args()).current_dir(scratch.path(""));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    // Without memory the standard library waits for ever for the lock of its own backtrace, which
    // it fails to print.
    shell.env("RUST_BACKTRACE", "0");
    shell
}

/// Message that Rust prints before it aborts because there is no memory; a program cannot continue
/// then.
const NO_MEMORY: &str = "memory allocation of ";

/// It ends with a code of its own and, when that is not 0, with an error that says why.
fn is_in_our_words(what: &str, output: &Output) -> i32 {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains(NO_MEMORY) && output.status.signal() == Some(libc::SIGABRT) {
        // Other threads without memory may print before and after it, and not inside.
        assert!(stderr.contains("this command crashed (SIGABRT)\n  help: "), "{what}: {stderr}");
        return 1;
    }
    assert_eq!(output.status.signal(), None, "{what}: {stderr}");
    let code = output.status.code().unwrap_or(-1);
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    assert!((0..=4).contains(&code) || code == NOT_STARTED, "{what}: {code}: {stderr}");
    assert!([0, NOT_STARTED].contains(&code) || stderr.contains("error: "), "{what}: {code}: {stderr}");
    code
}

#[test]
fn cli_c2_few_files() {
    let scratch = Scratch::new();
    vector_add(&scratch);
    for words in ["plugins", "devices", "targets", "plugins --check", LARGE] {
        for files in [4, 6, 9, 14] {
            let limit = format!("-n {files}");
            is_in_our_words(
                &format!("{limit}, {words}"),
                &limited(&scratch, &limit, words).output().unwrap(),
            );
        }
    }
}

/// The least memory, in megabytes, with which the program starts: with less, the system's loader
/// says so, and the kernel kills it where not even its image fits.
fn starts_with(scratch: &Scratch) -> u32 {
    let starts = |megabytes: &u32| {
        let output = limited(scratch, &format!("-v {}", megabytes * 1000), "--version").output().unwrap();
        output.status.success()
    };
    (10..500).find(starts).expect("it starts with 500 MB")
}

#[test]
fn cli_c2_little_memory() {
    let scratch = Scratch::new();
    vector_add(&scratch);
    let build = "build vector_add.py --target c --emit source";
    let least = starts_with(&scratch);
    let mut n_worked = 0;
    for words in ["plugins", "devices", "targets", build, LARGE] {
        for more in [0, 1, 4, 16, 40, 80, 160, 1500] {
            let limit = format!("-v {}", (least + more) * 1000);
            let output = limited(&scratch, &limit, words).output().unwrap();
            n_worked += usize::from(is_in_our_words(&format!("{limit}, {words}"), &output) == 0);
        }
    }
    assert!(n_worked >= 5, "each works with enough");
}

/// As a user who may start no process and no thread.
#[test]
fn cli_c2_no_processes() {
    let scratch = Scratch::without_plugins();
    if fs::metadata(scratch.path("bin/chipdock")).unwrap().uid() != 0 {
        return chipdock_test_support::skipped("no processes: becoming another user needs root");
    }
    vector_add(&scratch);
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    for folder in ["", "bin"] {
        open(&scratch.path(folder));
    }
    for name in ["chipdock_plugin_c.so", "chipdock_plugin_c.chipdock.json"] {
        let copy = scratch.write(&format!("p/{name}"), fs::read(built().plugins.join(name)).unwrap());
        open(&copy);
    }
    let run = |limit: &str, words: &str| {
        let words = format!("{words} --plugin p");
        limited(&scratch, limit, &words).uid(NOBODY).gid(NOBODY).output().unwrap()
    };
    let build = "build vector_add.py --target c --emit source";
    for words in ["plugins", "devices", "targets", "plugins --check", build] {
        let output = run("-u unlimited", words);
        let code = is_in_our_words(words, &output);
        assert_eq!(code, 0, "{words}: without the limit: {}", String::from_utf8_lossy(&output.stderr));
        is_in_our_words(&format!("-u 1, {words}"), &run("-u 1", words));
    }
    let output = run("-u 1", build);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("no thread to parse with"), "{stderr}");
}

/// CLI-C11, CLI-C5: a file that may not grow so large is an error of that file, as it is where the
/// disk is full.
#[test]
fn cli_c11_a_limit_of_the_size_of_a_file_is_an_error_of_the_file() {
    let scratch = Scratch::new();
    vector_add(&scratch);
    let names = scratch.names();
    for isolate in ["", " --isolate"] {
        let output = limited(&scratch, "-f 1024", &format!("{LARGE}{isolate}")).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.status.signal()), (Some(1), None), "{stderr}");
        assert!(stderr.contains("c.npy") && stderr.contains("File too large"), "{stderr}");
        assert_eq!(scratch.names(), names);
    }
}
