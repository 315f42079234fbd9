//! Tests of programs on disk. Properties of every cache are tested with
//! `chipdock_plugin_api::files::cache`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chipdock_plugin_api::HostRef;

use super::kernels::ADD;
use super::support::{Bench, in_child};
use crate::cache::{self, Cache, KIND};
use crate::program::Source;

/// The programs in it, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.ends_with("CACHEDIR.TAG"));
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
    let cache = Cache::at(folder.path(), KIND, 1 << 30).unwrap();
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
    for damaged in [flipped, good[..good.len() - 1].to_vec()] {
        fs::write(file, &damaged).unwrap();
        assert!(has_add(&add));
        assert!(fs::read(file).unwrap() != damaged, "built and written again");
    }
    for foreign in [Vec::new(), b"nonsense".to_vec()] {
        fs::write(file, &foreign).unwrap();
        assert!(has_add(&add));
        assert!(fs::read(file).unwrap() == foreign, "built, and a file that is not the cache's left alone");
    }
    // Whole, but no program: the driver refuses it.
    let other = KIND.key(&["no program"]);
    cache.write(&other, b"whole, and no program");
    fs::rename(folder.path().join(other.file_name()), file).unwrap();
    let refused = fs::read(file).unwrap();
    assert!(has_add(&add));
    assert!(fs::read(file).unwrap() != refused);
    add.options.push("-DOTHER".into());
    assert!(has_add(&add));
    assert_eq!(files(folder.path()).len(), 2, "options are part of the name");
}

#[test]
fn a_cached_program_is_used() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path(), KIND, 1 << 30).unwrap();
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
    let cache = cache::at(HostRef::standalone().setting(&cache::FOLDER).unwrap());
    assert_eq!(cache.is_some(), expected != "none");
    if let Some(cache) = cache {
        cache.write(&KIND.key(&["of the child"]), b"bytes");
        assert_eq!(files(Path::new(&expected)).len(), 1);
    }
}
