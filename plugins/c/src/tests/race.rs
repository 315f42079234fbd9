//! Test of an attack: another user writes to the folder for temporary files while libraries are
//! compiled and opened there.
//!
//! The attacker is a process of the user `nobody`. It renames, replaces and overwrites everything
//! that appears there, so that a library of its own is opened, or its source or object is compiled.
//! It runs for 3 seconds, a minute in a whole run (`CHIPDOCK_TEST_ALL=1`), or
//! `CHIPDOCK_RACE_SECONDS` seconds.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use chipdock_test_support::sample;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::support::has_compiler;
use crate::compiler::{Options, compile_with};

const NOBODY: u32 = 65534;
const OURS: &str = "__attribute__((visibility(\"default\"))) int answer(void) { return 42; }\n";
const THEIRS: &str = "__attribute__((visibility(\"default\"))) int answer(void) { return 666; }\n";

/// Ended when the test is, passed or not.
struct Neighbour(Child);

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program, and what the neighbour needs, where `nobody` can read it.
fn arm(folder: &Path) -> PathBuf {
    let program = folder.join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::write(folder.join("theirs.c"), THEIRS).unwrap();
    for (flags, file) in [("-shared", "theirs.so"), ("-c", "theirs.o"), ("-S", "theirs.s")] {
        let mut command = Command::new("cc");
        command.args(["-fPIC", flags, "-o", file, "theirs.c"]).current_dir(folder);
        assert!(command.status().unwrap().success());
        fs::set_permissions(folder.join(file), Permissions::from_mode(0o755)).unwrap();
    }
    program
}

/// What of a try became known.
#[derive(Debug, Default)]
struct Tries {
    ours: usize,
    failed: usize,
    theirs: usize,
}

/// Compiles and opens libraries until the time is over, as a process with this umask does.
fn compile_under(program: &Path, umask: &str, temporary: &Path, seconds: f64) -> Tries {
    let mut victim = Command::new("sh");
    victim.args(["-c", "umask \"$0\" && exec \"$@\"", umask]).arg(program);
    victim.args(["--exact", "tests::race::child_compiles", "--ignored", "--nocapture"]);
    victim.env("TMPDIR", temporary).env("SECONDS_LEFT", seconds.to_string()).env_remove("CC");
    let output = victim.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let counts = text.lines().find_map(|line| line.strip_prefix("tries "));
    let counts = counts.unwrap_or_else(|| panic!("{}: {text}", output.status));
    let counts: Vec<usize> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
    Tries { ours: counts[0], failed: counts[1], theirs: counts[2] }
}

#[test]
fn a_neighbour_never_has_its_library_opened() {
    if !has_compiler() {
        return;
    }
    let seconds = std::env::var("CHIPDOCK_RACE_SECONDS").ok().and_then(|text| text.parse().ok());
    let seconds: f64 = seconds.unwrap_or(if sample::is_whole_run() { 60.0 } else { 3.0 });
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    if chown(folder.path(), Some(NOBODY), None).and_then(|()| chown(folder.path(), Some(0), None)).is_err() {
        chipdock_test_support::skipped(
            "a neighbour who attacks temporary files: only root can be another user too",
        );
        return;
    }
    let program = arm(folder.path());
    // Sticky, as /tmp is; without that bit; the neighbour's own.
    let places = [("sticky", 0o1777, 0), ("open", 0o777, 0), ("theirs", 0o777, NOBODY)];
    let rounds = [("000", &places[..]), ("002", &places[..]), ("022", &places[1..])];
    let rounds_count = rounds.iter().map(|(_, places)| places.len()).sum::<usize>();
    let (mut tries, mut attacks) = (Tries::default(), 0);
    for (umask, places) in rounds {
        for (name, bits, owner) in places {
            let temporary = folder.path().join(format!("{name}-{umask}"));
            fs::create_dir(&temporary).unwrap();
            fs::set_permissions(&temporary, Permissions::from_mode(*bits)).unwrap();
            chown(&temporary, Some(*owner), None).unwrap();
            let (neighbour, count_of) = attack(&program, &temporary);
            let counts = compile_under(&program, umask, &temporary, seconds / rounds_count as f64);
            drop(neighbour);
            println!("{name}, umask {umask}: {counts:?}");
            let attacks_here = fs::metadata(count_of).unwrap().len();
            assert!(attacks_here > 0, "nothing was attacked in {name}");
            assert!(counts.ours > 0 || counts.theirs > 0, "nothing was compiled in {name}");
            attacks += attacks_here;
            tries.ours += counts.ours;
            tries.failed += counts.failed;
            tries.theirs += counts.theirs;
        }
    }
    println!("{tries:?} in {seconds} s, {attacks} attacks");
    assert_eq!(tries.theirs, 0, "{tries:?}");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_compiles() {
    let Ok(seconds) = std::env::var("SECONDS_LEFT") else { return };
    let time = Duration::from_secs_f64(seconds.parse().unwrap());
    let (began, mut tries) = (Instant::now(), Tries::default());
    while began.elapsed() < time {
        let compiled = compile_with(OURS, &Options::default(), None, &std::env::temp_dir());
        // SAFETY: a library of one function without parameters, ours or theirs.
        let answer = compiled.ok().and_then(|compiled| unsafe {
            let library = Library::open(Some(&compiled.library), RTLD_NOW | RTLD_LOCAL).ok()?;
            let answer = library.get::<unsafe extern "C" fn() -> i32>(b"answer\0").map(|answer| answer());
            std::mem::forget(library);
            answer.ok()
        });
        match answer {
            Some(42) => tries.ours += 1,
            Some(_) => tries.theirs += 1,
            None => tries.failed += 1,
        }
    }
    println!("tries {} {} {}", tries.ours, tries.failed, tries.theirs);
}

/// Starts the neighbour; it writes a byte to the file for each thing that it could change.
fn attack(program: &Path, temporary: &Path) -> (Neighbour, PathBuf) {
    let count = temporary.with_extension("count");
    fs::write(&count, "").unwrap();
    chown(&count, Some(NOBODY), None).unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "tests::race::child_attacks", "--ignored"]).uid(NOBODY).gid(NOBODY);
    command.env("ATTACKED", temporary).env("COUNT", &count).current_dir(program.parent().unwrap());
    (Neighbour(command.spawn().unwrap()), count)
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_attacks() {
    let Ok(temporary) = std::env::var("ATTACKED") else { return };
    let mut count = fs::OpenOptions::new().append(true).open(std::env::var("COUNT").unwrap()).unwrap();
    let began = Instant::now();
    let mut number = 0_usize;
    while began.elapsed() < Duration::from_secs(600) {
        for entry in fs::read_dir(&temporary).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "theirs") {
                continue;
            }
            number += 1;
            if path.is_dir() {
                attack_folder(&path, number);
            } else if let Some(theirs) = theirs(&path) {
                // A temporary file of the compiler's own.
                let _ = fs::rename(&path, path.with_extension(format!("{number}.theirs")));
                let _ = fs::copy(theirs, &path);
            }
            let _ = count.write_all(b"x");
        }
    }
}

/// The neighbour's file of the same sort.
fn theirs(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    ["theirs.c", "theirs.so", "theirs.o", "theirs.s"]
        .into_iter()
        .find(|file| file.ends_with(&format!(".{ending}")))
}

/// Replaces what is in a folder; else the folder, by one that has the same names, or by a link to
/// such a one.
fn attack_folder(path: &Path, number: usize) {
    let names: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    for file in &names {
        let Some(theirs) = theirs(file) else { continue };
        let other = path.join(format!("{number}.theirs"));
        if fs::copy(theirs, &other).is_ok() && number.is_multiple_of(2) {
            let _ = fs::rename(&other, file);
        }
        let library = file.with_extension("so");
        let _ = fs::remove_file(&library);
        let _ = fs::copy("theirs.so", &library);
    }
    let aside = path.with_extension(format!("{number}.theirs"));
    // Not at once, so that the victim is met at each stage of its work.
    std::thread::sleep(Duration::from_micros((number % 40 * 1000) as u64));
    if !number.is_multiple_of(3) && fs::rename(path, &aside).is_ok() {
        let other = path.with_extension(format!("{number}.other.theirs"));
        let place = if number.is_multiple_of(2) { path.to_owned() } else { other.clone() };
        let _ = fs::create_dir(&place);
        let _ = fs::set_permissions(&place, Permissions::from_mode(0o777));
        let stem = path.file_name().unwrap_or_default().to_string_lossy().replace("chipdock-scratch-", "");
        let names = names.iter().filter_map(|name| name.file_name()).map(PathBuf::from);
        for name in names.chain([stem + ".so"].map(PathBuf::from)) {
            for ending in ["c", "so", "o"] {
                let _ = fs::copy(format!("theirs.{ending}"), place.join(name.with_extension(ending)));
            }
        }
        if place == other {
            let _ = symlink(&other, path);
        }
    }
}
