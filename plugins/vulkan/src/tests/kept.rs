//! Tests of kept pipeline caches: foreign files, folders that cannot be used, processes at once
//! (VKMOD-M6).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::by_hand::{Form, add};
use super::launches::{files, works};
use super::support::{Bench, in_child};
use crate::program::cache;

/// Variable that names the folder for [`child_keeps_pipelines`].
const FOLDER: &str = "CHIPDOCK_TEST_KEPT";
/// How often a process loads each module.
const ROUNDS: usize = 20;

fn load(bench: &Bench, form: Form, folder: &Path) {
    drop(bench.load(&add(form), Some(folder.to_owned()), true).unwrap());
}

#[test]
fn vkmod_m6_a_foreign_file_is_left_alone() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    load(&bench, Form::Push, folder.path());
    let [file] = &files(&folder.path().join("vulkan"))[..] else { panic!("one file") };
    for foreign in [&b""[..], b"nonsense"] {
        fs::write(file, foreign).unwrap();
        load(&bench, Form::Push, folder.path());
        assert_eq!(fs::read(file).unwrap(), foreign, "not the cache's own");
    }
    works(&bench);
}

#[test]
fn vkmod_m6_a_folder_that_cannot_be_used_keeps_nothing() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (file, closed) = (folder.path().join("file"), folder.path().join("closed"));
    fs::write(&file, b"").unwrap();
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    for unusable in [file.join("below"), PathBuf::from("/proc/nowhere"), file.clone(), closed] {
        load(&bench, Form::Push, &unusable);
    }
    assert_eq!(fs::read(&file).unwrap(), b"");
    // A folder for pipelines in which nothing can be written, not even by root.
    fs::create_dir(folder.path().join("taken")).unwrap();
    fs::write(folder.path().join("taken/vulkan"), b"a file").unwrap();
    load(&bench, Form::Push, &folder.path().join("taken"));
    assert_eq!(fs::read(folder.path().join("taken/vulkan")).unwrap(), b"a file");
    works(&bench);
}

#[test]
fn vkmod_m6_processes_at_once_keep_whole_files() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let ended = std::thread::scope(|scope| {
        let child = || in_child("tests::kept::child_keeps_pipelines", &[(FOLDER, name)]);
        [(); 3].map(|()| scope.spawn(child)).map(|child| child.join().unwrap())
    });
    assert_eq!(ended, [Ok(()), Ok(()), Ok(())]);
    let properties = &bench.device().limits().properties;
    for form in [Form::Push, Form::Uniform] {
        let key = cache::key(add(form).index["options"]["spv_sha256"].as_str().unwrap(), properties);
        assert!(cache::read(Some(folder.path().to_owned()), &key, properties).is_some(), "{form:?}");
    }
    assert_eq!(files(&folder.path().join("vulkan")).len(), 2, "nothing half-written stays");
}

/// Makes pipelines, each time without what others have kept of them.
#[test]
#[ignore = "the child process of the test above"]
fn child_keeps_pipelines() {
    let (Some(bench), Some(folder)) = (Bench::new(), std::env::var_os(FOLDER)) else { return };
    let folder = PathBuf::from(folder);
    for round in 0..ROUNDS {
        load(&bench, if round % 2 == 0 { Form::Push } else { Form::Uniform }, &folder);
        for file in files(&folder.join("vulkan")) {
            // Another process may have removed it.
            let _ = fs::remove_file(file);
        }
    }
    for form in [Form::Push, Form::Uniform] {
        load(&bench, form, &folder);
    }
    works(&bench);
}
