//! Programs on disk.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::kernels::ADD;
use super::support::{Bench, in_child};
use crate::cache::{Cache, key};
use crate::program::Source;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn source(text: String) -> Source {
    Source { text, options: vec!["-cl-std=CL1.2".into()], extensions: Vec::new() }
}

#[test]
fn a_program_is_read_back_and_a_damaged_one_built_again() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path(), 1 << 30).unwrap();
    let device = bench.hardware.device(0).unwrap();
    // Of this run alone, so that nobody's cache has it.
    let mut add = source(format!("// {:?}\n{ADD}", SystemTime::now()));
    let has_add = |source: &Source| source.build(device, Some(&cache)).unwrap().kernel(c"add").is_ok();
    assert!(has_add(&add));
    let [file] = &files(folder.path())[..] else { panic!("one file") };
    let good = fs::read(file).unwrap();
    assert!(has_add(&add));
    assert!(fs::read(file).unwrap() == good, "read, and not written again");
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for damaged in [flipped, good[..good.len() - 1].to_vec(), Vec::new(), b"nonsense".to_vec()] {
        fs::write(file, &damaged).unwrap();
        assert!(has_add(&add));
        assert!(fs::read(file).unwrap() != damaged, "built and written again");
    }
    // Whole, but no program: the driver refuses it.
    let name = file.file_stem().unwrap().to_str().unwrap();
    cache.write(name, b"whole, and no program");
    let refused = fs::read(file).unwrap();
    assert!(has_add(&add));
    assert!(fs::read(file).unwrap() != refused);
    add.options.push("-DOTHER".into());
    assert!(has_add(&add));
    assert_eq!(files(folder.path()).len(), 2, "options are part of the name");
}

#[test]
fn a_kept_program_is_what_is_used() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path(), 1 << 30).unwrap();
    let device = bench.hardware.device(0).unwrap();
    let (add, other) = (source(ADD.to_owned()), source(ADD.replace("add", "other")));
    add.build(device, Some(&cache)).unwrap();
    let of_add = files(folder.path()).pop().unwrap();
    other.build(device, Some(&cache)).unwrap();
    let of_other = files(folder.path()).into_iter().find(|file| *file != of_add).unwrap();
    fs::copy(&of_other, &of_add).unwrap();
    let program = add.build(device, Some(&cache)).unwrap();
    assert!(program.kernel(c"other").is_ok() && program.kernel(c"add").is_err());
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path(), 10_000).unwrap();
    for number in 0..10_u64 {
        let key = key(&[&number.to_string()]);
        cache.write(&key, &vec![number as u8; 960]);
        let file = fs::File::open(folder.path().join(format!("{key}.clbin"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7200 - number)).unwrap();
    }
    assert_eq!(files(folder.path()).len(), 10);
    let of = |number: u64| cache.read(&key(&[&number.to_string()]));
    // Used now.
    assert!(of(0).is_some());
    fs::write(folder.path().join(".writing-left"), "").unwrap();
    let left = fs::File::open(folder.path().join(".writing-left")).unwrap();
    left.set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
    cache.write(&key(&["10"]), &[10; 960]);
    assert!(files(folder.path()).len() == 7 && of(10).is_some() && of(0).is_some());
    assert!(of(1).is_none() && of(4).is_none() && of(5).is_some());
}

#[test]
fn a_folder_that_others_may_write_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, is_used) in [(0o700, true), (0o755, true), (0o770, false), (0o777, false)] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(Cache::at(folder.path(), 1).is_some(), is_used, "{mode:o}");
    }
}

#[test]
fn the_environment_names_the_folder_or_switches_it_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let child = "tests::cache::child_tells_its_folder";
    in_child(child, &[("CHIPDOCK_CACHE_DIR", path), ("EXPECTED", &format!("{path}/opencl"))]).unwrap();
    in_child(child, &[("CHIPDOCK_CACHE_DIR", ""), ("EXPECTED", "none")]).unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_tells_its_folder() {
    let Ok(expected) = std::env::var("EXPECTED") else { return };
    let cache = Cache::of_process();
    assert_eq!(cache.is_some(), expected != "none");
    if let Some(cache) = cache {
        cache.write("of-the-child", b"bytes");
        assert_eq!(fs::read_dir(expected).unwrap().count(), 1);
    }
}
