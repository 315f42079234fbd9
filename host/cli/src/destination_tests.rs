use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::io::Errno;

use super::*;
use crate::report::Exit;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn write(path: &Path, bytes: &[u8]) {
    write_file(Destination::resolve(path).unwrap(), bytes).unwrap();
}

/// Whether two paths are refused as one file, both named.
fn are_one(one: &Path, other: &Path) -> bool {
    match Destination::of_all([("one".to_owned(), one), ("two".to_owned(), other)]) {
        Ok(_) => false,
        Err(failure) => {
            let text = failure.render(false);
            assert_eq!(failure.exit, Exit::Input, "{text}");
            assert!(text.contains("one and two go to one file"), "{text}");
            assert!(text.contains(one.to_str().unwrap()) && text.contains(other.to_str().unwrap()), "{text}");
            true
        }
    }
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    write(&path, b"first");
    let failed = Destination::resolve(&path).unwrap().prepare(|out| {
        out.write_all(b"half")?;
        Err(io::Error::other("the disk is full"))
    });
    let failure = failed.unwrap_err();
    assert_eq!(failure.exit, Exit::Work);
    assert!(failure.render(false).contains("the disk is full"));
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(names(folder.path()), ["out"]);
}

/// Another folder of a full disk is no help.
#[test]
fn the_advice_is_for_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for (code, advice) in [
        (Errno::NOSPC, "free space on its file system"),
        (Errno::DQUOT, "free space within your quota"),
        (Errno::FBIG, "ulimit -f"),
        (Errno::ROFS, "is not read-only"),
        (Errno::ACCESS, "name a file in a folder that exists and that you may write"),
        (Errno::IO, "the system refused it"),
    ] {
        let failed = Destination::resolve(&path).unwrap().prepare(|_| Err(code.into()));
        let text = failed.unwrap_err().render(false);
        assert!(text.contains(advice), "{code:?}: {text}");
    }
    let full = Destination::resolve(Path::new("/dev/full")).unwrap();
    let text = commit(vec![full.prepare(|out| out.write_all(b"x")).unwrap()]).unwrap_err().render(false);
    assert!(text.contains("No space left") && text.contains("free space"), "{text}");
}

#[test]
fn an_uncommitted_change_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    drop(Destination::resolve(&path).unwrap().prepare(|out| out.write_all(b"x")).unwrap());
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_output_that_cannot_be_written_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    symlink("circle", folder.path().join("circle")).unwrap();
    for (path, says) in [
        (folder.path().to_path_buf(), "it is a folder"),
        (folder.path().join(".."), "it is a folder"),
        (folder.path().join("no/such"), "No such file"),
        (file.join("below"), "file is not a folder"),
        (folder.path().join("new/"), "not the name of a file"),
        (folder.path().join("circle"), "its links go on and on"),
    ] {
        let text = Destination::resolve(&path).unwrap_err().render(false);
        assert!(text.contains(says), "{text} should say {says}");
    }
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    assert!(Destination::resolve(&file).unwrap_err().render(false).contains("read-only"));
}

#[test]
fn a_link_stays_a_link_and_a_mode_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, b"old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o662)).unwrap();
    symlink(&file, &link).unwrap();
    write(&link, b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o662);

    let (none, to_none) = (folder.path().join("none"), folder.path().join("to-none"));
    symlink("none", &to_none).unwrap();
    write(&to_none, b"made");
    assert!(fs::symlink_metadata(&to_none).unwrap().is_symlink(), "a link to what is not there stays, too");
    assert_eq!(fs::read(&none).unwrap(), b"made");
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    write(Path::new("/dev/null"), b"gone");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn cli_c8_whatever_leads_to_one_file_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("there"), b"").unwrap();
    fs::hard_link(at("there"), at("hard")).unwrap();
    symlink("there", at("soft")).unwrap();
    symlink("new", at("to-new")).unwrap();
    symlink("sub", at("sub-too")).unwrap();
    let fifo = at("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
        .unwrap();
    symlink("fifo", at("fifo-too")).unwrap();
    for (one, other) in [
        ("new", "new"),
        ("new", "sub/../new"),
        ("new", "./new"),
        ("new", "to-new"),
        ("sub/x", "sub-too/x"),
        ("there", "soft"),
        ("there", "hard"),
        ("fifo", "fifo-too"),
    ] {
        assert!(are_one(&at(one), &at(other)), "{one} and {other}");
    }
    for (one, other) in [("new", "there"), ("sub/x", "x"), ("sub/x", "sub-too/y"), ("fifo", "there")] {
        assert!(!are_one(&at(one), &at(other)), "{one} and {other}");
    }
    assert!(!are_one(Path::new("/dev/null"), Path::new("/dev/null")), "what goes there is not wanted");
    assert!(are_one(Path::new("/dev/stdout"), Path::new("/proc/self/fd/1")));
}

#[test]
fn cli_c8_a_file_goes_into_its_folder_after_a_rename() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("mine")).unwrap();
    fs::create_dir(at("theirs")).unwrap();
    let destination = Destination::resolve(&at("mine/out")).unwrap();
    fs::rename(at("mine"), at("moved")).unwrap();
    symlink("theirs", at("mine")).unwrap();
    write_file(destination, b"x").unwrap();
    assert_eq!(names(&at("moved")), ["out"]);
    assert!(names(&at("theirs")).is_empty());
}
