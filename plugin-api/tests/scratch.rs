//! Tests of the rules SCRATCH-S1 to SCRATCH-S8 of `chipdock_plugin_api::files::scratch`.

#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chipdock_plugin_api::files::scratch::Scratch;

/// Longer than what ends with a process takes to end.
const SOON: Duration = Duration::from_secs(5);

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn shell(scratch: &Scratch, script: &str) -> std::process::Output {
    scratch.run(OsStr::new("sh"), &["-c", script]).unwrap()
}

/// One of the ignored tests below in a process of its own, with `TMPDIR` and umask.
fn child(test: &str, temporary: &Path, umask: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask \"$0\" && exec \"$@\"", umask]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command.env("TMPDIR", temporary).env("IN_CHILD", "1").stdout(Stdio::piped());
    command
}

/// The child, once it has said a line that begins so, and the rest of that line.
fn until(command: &mut Command, start: &str) -> (Child, String) {
    let mut child = command.spawn().unwrap();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(rest) = line.unwrap().strip_prefix(start) {
            return (child, rest.trim().to_owned());
        }
    }
    panic!("{start} was not said: {}", child.wait().unwrap());
}

fn is_child() -> bool {
    std::env::var_os("IN_CHILD").is_some()
}

/// Whether the process runs: it is there, and not merely not waited for.
fn is_running(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit_once(')').map(|(_, rest)| rest.trim_start().to_owned());
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

fn ends_soon(process: &str) -> bool {
    let began = Instant::now();
    while is_running(process) {
        if began.elapsed() > SOON {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn scratch_s2_s3_folders_are_0700_and_files_0600_whatever_the_umask() {
    for umask in ["000", "002", "022", "077", "277"] {
        let folder = folder();
        let output = child("child_makes_files", folder.path(), umask).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "umask {umask}: {text}");
        assert!(text.contains("folder 700, written 600, made 600, run 700"), "umask {umask}: {text}");
        assert!(names(folder.path()).is_empty(), "removed");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_makes_files() {
    if !is_child() {
        return;
    }
    let scratch = Scratch::new("test").unwrap();
    scratch.write("written", b"text").unwrap();
    assert!(scratch.write("written", b"again").is_err(), "it is there");
    let output = shell(&scratch, "echo made > made; mkdir run; pwd; echo $TMPDIR; cat");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\n.\n", scratch.path().display()));
    assert_eq!(scratch.read("made", 5).unwrap(), b"made\n");
    assert!(scratch.read("made", 4).is_err(), "larger than asked for");
    let [written, made, run] = ["written", "made", "run"].map(|name| mode(&scratch.path().join(name)));
    println!("folder {:o}, written {written:o}, made {made:o}, run {run:o}", mode(scratch.path()));
}

#[test]
fn scratch_s2_it_is_made_in_a_folder_that_anybody_may_write() {
    for bits in [0o1777, 0o777, 0o2777] {
        let folder = folder();
        fs::set_permissions(folder.path(), Permissions::from_mode(bits)).unwrap();
        let scratch = Scratch::within(folder.path(), "test").unwrap();
        assert_eq!(mode(scratch.path()), 0o700, "{bits:o}");
        // Moved away, and another put in its place: nothing changes.
        let path = scratch.path().to_owned();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("library.so"), "a stranger's").unwrap();
        shell(&scratch, "printf ours > library.so");
        assert_eq!(scratch.read("library.so", 100).unwrap(), b"ours");
        assert_eq!(fs::read(scratch.library("library.so").unwrap()).unwrap(), b"ours");
        drop(scratch);
        assert_eq!(fs::read(path.join("library.so")).unwrap(), b"a stranger's", "not removed with ours");
        assert!(names(&folder.path().join("moved")).is_empty());
    }
    let missing = folder().path().join("missing");
    assert!(Scratch::within(&missing, "test").is_err());
}

#[test]
fn scratch_s3_compiler_output_is_examined() {
    let folder = folder();
    fs::write(folder.path().join("outside"), "text").unwrap();
    let scratch = Scratch::within(folder.path(), "test").unwrap();
    let script = "ln -s ../outside link; mkfifo pipe; mkdir folder; echo a > others; chmod 666 others; echo b > group; \
                  chmod 620 group; echo c > good";
    assert!(shell(&scratch, script).status.success());
    for name in ["link", "pipe", "folder", "others", "group", "missing"] {
        assert!(scratch.read(name, 100).is_err() && scratch.library(name).is_err(), "{name}");
    }
    assert!(scratch.read("good", 100).is_ok() && scratch.library("good").is_ok());
}

#[test]
fn scratch_s4_each_library_has_a_name_of_its_own() {
    let folder = folder();
    let paths = [0, 1].map(|_| {
        let scratch = Scratch::within(folder.path(), "test").unwrap();
        let name = scratch.file_name("so");
        scratch.write(&name, b"").unwrap();
        scratch.library(&name).unwrap()
    });
    assert!(paths[0].starts_with("/proc/self/fd/") && paths[0].parent() == paths[1].parent());
    assert_ne!(paths[0].file_name(), paths[1].file_name());
}

#[test]
fn scratch_s5_folders_of_a_killed_process_are_removed_by_the_next() {
    let folder = folder();
    let (mut killed, of_killed) = until(&mut child("child_waits", folder.path(), "022"), "folder ");
    let (mut living, of_living) = until(&mut child("child_waits", folder.path(), "022"), "folder ");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(names(Path::new(&of_killed)).len() == 2, "left behind");
    let foreign = [
        "chipdock-scratch-test-12-0123456789abcdeg",
        "chipdock-scratch-0123456789abcdef",
        "chipdock-other",
        "chipdock-scratch-test-12-0123456789abcde0",
    ]
    .map(|name| folder.path().join(name));
    for path in &foreign {
        DirBuilder::new().mode(0o700).create(path).unwrap();
        fs::write(path.join("kept"), "").unwrap();
    }
    // Of the name, and open for others: not made here.
    fs::set_permissions(&foreign[3], Permissions::from_mode(0o755)).unwrap();
    let link = folder.path().join("chipdock-scratch-test-12-0123456789abcdef");
    symlink(&foreign[2], &link).unwrap();
    let output = child("child_makes_files", folder.path(), "022").output().unwrap();
    assert!(output.status.success());
    assert!(!Path::new(&of_killed).exists(), "removed by the next");
    assert!(Path::new(&of_living).exists(), "in use");
    assert!(link.is_symlink() && foreign.iter().all(|path| path.join("kept").exists()));
    assert!(folder.path().join("outside").exists(), "links in it were not followed");
    living.kill().unwrap();
    living.wait().unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_waits() {
    if !is_child() {
        return;
    }
    let scratch = Scratch::new("test").unwrap();
    let script =
        "echo kept > ../outside; ln -s ../outside link; mkdir -p deep/deeper; echo x > deep/deeper/file";
    assert!(shell(&scratch, script).status.success());
    println!("folder {}", scratch.path().display());
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn scratch_s7_a_compiler_ends_with_the_process_that_runs_it() {
    let folder = folder();
    let (mut parent, processes) =
        until(&mut child("child_compiles_for_ever", folder.path(), "022"), "started ");
    let processes: Vec<&str> = processes.split_whitespace().collect();
    assert!(processes.len() == 2 && processes.iter().all(|process| is_running(process)), "{processes:?}");
    let began = Instant::now();
    parent.kill().unwrap();
    for process in &processes {
        assert!(ends_soon(process), "{process} of {processes:?} runs still");
    }
    println!("ended within {:?}", began.elapsed());
    parent.wait().unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_compiles_for_ever() {
    if !is_child() {
        return;
    }
    let scratch = Scratch::new("test").unwrap();
    let file = scratch.path().join("processes");
    let told = std::thread::spawn(move || {
        while fs::read_to_string(&file).unwrap_or_default().lines().count() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        println!("started {}", fs::read_to_string(&file).unwrap().replace('\n', " "));
    });
    shell(&scratch, "echo $$ > processes; sleep 60 & echo $! >> processes; wait");
    told.join().unwrap();
}

#[test]
fn scratch_s7_a_program_by_a_relative_path_is_that_of_the_current_folder() {
    let folder = folder();
    let scratch = Scratch::within(folder.path(), "test").unwrap();
    let missing = scratch.run(OsStr::new("./no-such-compiler"), &["x"]).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(scratch.run(OsStr::new("no-such-compiler"), &["x"]).unwrap_err().kind(), missing.kind());
    let current = std::env::current_dir().unwrap();
    let up: PathBuf = current.components().skip(1).map(|_| "..").collect();
    let output = scratch.run(up.join("bin/pwd").as_os_str(), &["-P"]).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), scratch.path().to_str().unwrap());
}

#[test]
fn scratch_s8_processes_that_a_compiler_left_running_are_ended() {
    let folder = folder();
    let scratch = Scratch::within(folder.path(), "test").unwrap();
    let output = shell(&scratch, "sleep 60 > /dev/null 2>&1 & echo $!");
    let process = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(ends_soon(&process), "{process} runs still");
}
