//! Tests of the rules KEPT-K1 to KEPT-K8 of `chipdock_plugin_api::files::cache`.

#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use chipdock_plugin_api::files::cache::{Cache, Key, Kind};
use chipdock_plugin_api::files::kept::{self, Cleared};
use proptest::prelude::*;

const KIND: Kind = Kind { name: "example", version: 3 };
/// Magic, length of the name, the name, version, digest.
const HEADER_BYTES: usize = 16 + 1 + 7 + 4 + 32;
const LONG_AGO: Duration = Duration::from_secs(7200);

/// A folder of the user's own, whatever the umask of the test.
fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn key(number: u64) -> Key {
    KIND.key(&[&number.to_string()])
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Makes a file seem to have been used so long ago.
fn age(path: &Path, age: Duration) {
    File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

/// A cache that holds ten files of 1000 bytes, the first used longest ago, and no byte more.
fn full(folder: &Path) -> Cache {
    let cache = Cache::at(folder, KIND, 10_000).unwrap();
    for number in 0..10 {
        cache.write(&key(number), &vec![number as u8; 1000 - HEADER_BYTES]);
        age(&folder.join(key(number).file_name()), LONG_AGO - Duration::from_secs(number));
    }
    cache
}

#[test]
fn kept_k1_the_environment_names_the_folder() {
    let folder = folder();
    let root = folder.path().to_str().unwrap();
    let (home, xdg) = (&*format!("{root}/home"), &*format!("{root}/xdg"));
    let cases: [(&[(&str, &str)], &str); 8] = [
        (&[("CHIPDOCK_CACHE_DIR", root)], "example"),
        (&[("CHIPDOCK_CACHE_DIR", ""), ("XDG_CACHE_HOME", xdg), ("HOME", home)], ""),
        (&[("CHIPDOCK_CACHE_DIR", "relative"), ("XDG_CACHE_HOME", xdg)], "xdg/chipdock/example"),
        (&[("XDG_CACHE_HOME", xdg), ("HOME", home)], "xdg/chipdock/example"),
        (&[("XDG_CACHE_HOME", "relative"), ("HOME", home)], "home/.cache/chipdock/example"),
        (&[("XDG_CACHE_HOME", ""), ("HOME", home)], "home/.cache/chipdock/example"),
        (&[("HOME", "relative")], ""),
        (&[], ""),
    ];
    for (environment, expected) in cases {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "child_writes_in_its_cache", "--ignored", "--nocapture"]).current_dir(root);
        for name in ["CHIPDOCK_CACHE_DIR", "XDG_CACHE_HOME", "HOME"] {
            child.env_remove(name);
        }
        let output = child.envs(environment.iter().copied()).env("IN_CHILD", "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{environment:?}: {text}");
        assert_eq!(text.contains("a cache\n"), !expected.is_empty(), "{environment:?}: {text}");
        if !expected.is_empty() {
            assert_eq!(names(&folder.path().join(expected)).len(), 2, "the mark and a file: {environment:?}");
        }
        fs::remove_dir_all(folder.path().join(expected.split('/').next().unwrap())).unwrap();
        fs::create_dir_all(folder.path()).unwrap();
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_writes_in_its_cache() {
    if std::env::var_os("IN_CHILD").is_none() {
        return;
    }
    if let Some(cache) = Cache::of_process(KIND, 1000) {
        println!("a cache");
        cache.write(&key(0), b"bytes");
        assert_eq!(cache.read(&key(0)).unwrap(), b"bytes");
    }
}

#[test]
fn kept_k2_a_folder_is_marked_when_it_is_made() {
    let folder = folder();
    let path = folder.path().join("new/deep/example");
    assert!(Cache::at(&path, KIND, 1).is_some());
    let tag = fs::read_to_string(path.join("CACHEDIR.TAG")).unwrap();
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"), "{tag}");
    assert!(Cache::at(&path, KIND, 1).is_some(), "known again");
    let other = Kind { name: "other", version: 3 };
    assert!(Cache::at(&path, other, 1).is_none(), "another's");
    assert!(Cache::at(Path::new("relative"), KIND, 1).is_none());
}

#[test]
fn kept_k2_of_a_folder_that_was_there_only_an_empty_one_is_used() {
    let folder = folder();
    let path = folder.path().join("empty");
    DirBuilder::new().mode(0o755).create(&path).unwrap();
    assert!(Cache::at(&path, KIND, 1000).is_some() && mode(&path) == 0o755);
    assert_eq!(names(&path), ["CACHEDIR.TAG".to_owned()].into());
    let foreign_tag = "Signature: 8a477f597d28d172789f06886806bc55\n# by another program\n";
    for (name, text) in [("thesis.tex", "text"), ("CACHEDIR.TAG", foreign_tag), ("CACHEDIR.TAG", "")] {
        let path = folder.path().join("full");
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        fs::write(path.join(name), text).unwrap();
        let of_key = path.join(key(1).file_name());
        fs::write(&of_key, "").unwrap();
        age(&of_key, LONG_AGO);
        assert!(Cache::at(&path, KIND, 0).is_none(), "{name} {text}");
        assert_eq!(names(&path).len(), 2, "nothing written, nothing removed");
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn kept_k2_two_that_mark_a_folder_at_once_both_may_use_it() {
    let folder = folder();
    for round in 0..50 {
        let path = folder.path().join(round.to_string());
        let one = || Cache::at(&path, KIND, 1000);
        let [a, b] = std::thread::scope(|scope| [scope.spawn(one), scope.spawn(one)].map(|at| at.join()));
        assert!(a.unwrap().is_some() && b.unwrap().is_some(), "round {round}");
        assert_eq!(names(&path), ["CACHEDIR.TAG".to_owned()].into());
    }
}

#[test]
fn kept_k3_folders_are_0700_and_files_0600_whatever_the_umask() {
    for umask in ["000", "002", "077"] {
        let folder = folder();
        let mut child = Command::new("sh");
        child.args(["-c", "umask \"$0\" && exec \"$@\"", umask]).arg(std::env::current_exe().unwrap());
        child.args(["--exact", "child_writes_in_its_cache", "--ignored"]).env("IN_CHILD", "1");
        let output = child.env("CHIPDOCK_CACHE_DIR", folder.path().join("made")).output().unwrap();
        assert!(output.status.success());
        let path = folder.path().join("made/example");
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o700), "umask {umask}");
        assert!(names(&path).iter().all(|name| mode(&path.join(name)) == 0o600), "umask {umask}");
    }
}

#[test]
fn kept_k3_a_folder_that_others_may_write_or_swap_is_not_used() {
    let folder = folder();
    let path = folder.path().join("above/example");
    assert!(Cache::at(&path, KIND, 1).is_some());
    let uses = |path: &Path| Cache::at(path, KIND, 1).is_some();
    for (bits, is_used) in [(0o700, true), (0o755, true), (0o770, false), (0o777, false), (0o1777, false)] {
        fs::set_permissions(&path, Permissions::from_mode(bits)).unwrap();
        assert_eq!(uses(&path), is_used, "{bits:o}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    let above = path.parent().unwrap();
    for (bits, is_used) in [(0o755, true), (0o1777, true), (0o770, false), (0o777, false)] {
        fs::set_permissions(above, Permissions::from_mode(bits)).unwrap();
        assert_eq!(uses(&path), is_used, "above: {bits:o}");
    }
    fs::set_permissions(above, Permissions::from_mode(0o700)).unwrap();
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(!uses(&link), "a link");
    symlink(above, folder.path().join("link-above")).unwrap();
    assert!(uses(&folder.path().join("link-above/example")), "judged where it leads");
}

#[test]
fn kept_k4_a_content_is_read_back_whole_or_not_at_all() {
    let folder = folder();
    let path = folder.path().join("example");
    let cache = Cache::at(&path, KIND, 10_000).unwrap();
    assert!(cache.read(&key(1)).is_none());
    cache.write(&key(1), b"content");
    assert_eq!(cache.read(&key(1)).unwrap(), b"content");
    assert_eq!(names(&path).len(), 2);
    let file = path.join(key(1).file_name());
    let good = fs::read(&file).unwrap();
    for place in 0..good.len() {
        let mut flipped = good.clone();
        flipped[place] ^= 1;
        fs::write(&file, flipped).unwrap();
        assert!(cache.read(&key(1)).is_none(), "byte {place} flipped");
        fs::write(&file, &good[..place]).unwrap();
        assert!(cache.read(&key(1)).is_none(), "cut to {place} bytes");
    }
    // The header is whole: the cache's own, and written again.
    fs::write(&file, &good[..good.len() - 1]).unwrap();
    cache.write(&key(1), b"content");
    assert_eq!(fs::read(&file).unwrap(), good);
    let newer = Kind { version: 4, ..KIND };
    fs::copy(&file, path.join(newer.key(&["1"]).file_name())).unwrap();
    let newer_cache = Cache::at(&path, newer, 10_000).unwrap();
    assert!(newer_cache.read(&newer.key(&["1"])).is_none(), "of another version");
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    assert!(cache.read(&key(1)).is_none(), "others may write it");
}

#[test]
fn kept_k4_a_key_depends_on_each_part_and_where_it_ends() {
    let keys = [KIND.key(&["ab", "c"]), KIND.key(&["a", "bc"]), KIND.key(&["abc"]), KIND.key(&["abc", ""])];
    let others = [Kind { version: 4, ..KIND }.key(&["abc"]), Kind { name: "b", ..KIND }.key(&["abc"])];
    let all: BTreeSet<String> = keys.iter().chain(&others).map(ToString::to_string).collect();
    assert_eq!(all.len(), 6);
}

/// Puts something at a path.
type Put = fn(&Path);

/// What is not the cache's, beside its files: the name, and what puts it there.
fn foreign() -> Vec<(String, Put)> {
    let of_key = |number: u64| key(number).file_name().into_string().unwrap();
    let temporary = |number: u64| format!("{}.12-0-99.writing", key(number));
    let big = |path: &Path| fs::write(path, vec![7; 20_000]).unwrap();
    let link = |path: &Path| symlink("/etc/passwd", path).unwrap();
    let full_folder = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("inside"), "text").unwrap();
    };
    vec![
        ("thesis.tex".into(), big),
        ("notes.clbin".into(), big),
        (".writing-left".into(), big),
        ("folder".into(), full_folder),
        ("link".into(), link),
        (of_key(100), big),
        (of_key(101), |path| fs::write(path, "").unwrap()),
        (of_key(102), link),
        (of_key(103), full_folder),
        (temporary(104), big),
        (temporary(105), link),
        (temporary(106), full_folder),
    ]
}

#[test]
fn kept_k5_foreign_files_survive() {
    let folder = folder();
    let path = folder.path().join("example");
    let cache = full(&path);
    for (name, put) in foreign() {
        put(&path.join(&name));
        if !path.join(&name).is_symlink() {
            age(&path.join(&name), LONG_AGO * 100);
        }
    }
    let status = |name: &str| fs::symlink_metadata(path.join(name)).unwrap();
    let before: Vec<_> = foreign().iter().map(|(name, _)| status(name).modified().unwrap()).collect();
    for number in [10, 100, 101, 102, 103, 11] {
        cache.write(&key(number), &[0; 1000 - HEADER_BYTES]);
    }
    for ((name, _), before) in foreign().iter().zip(before) {
        assert_eq!(status(name).modified().unwrap(), before, "{name}");
    }
    assert!((100..104).all(|number| cache.read(&key(number)).is_none()));
    assert!(cache.read(&key(11)).is_some() && cache.read(&key(0)).is_none(), "its own were evicted");
}

#[test]
fn kept_k5_clearing_removes_the_caches_own_files_alone() {
    let folder = folder();
    let path = folder.path().join("example");
    let cache = full(&path);
    let newer = Kind { version: 4, ..KIND };
    Cache::at(&path, newer, 20_000).unwrap().write(&newer.key(&["x"]), b"newer");
    let writing = path.join(format!("{}.12-0-98.writing", key(2)));
    fs::write(&writing, fs::read(path.join(key(3).file_name())).unwrap()).unwrap();
    for (name, put) in foreign() {
        put(&path.join(&name));
    }
    let all = kept::all_in(folder.path());
    assert_eq!((all.len(), all[0].name(), all[0].path()), (1, "example", &*path.canonicalize().unwrap()));
    let files = all[0].files();
    assert_eq!(
        (files.len(), files[0].name.clone()),
        (11, newer.key(&["x"]).file_name()),
        "the last used first"
    );
    assert_eq!((files[10].name.clone(), files[10].size_bytes), (key(0).file_name(), 1000));
    assert_eq!(all[0].head(&files[0].name, 3), Some((4, b"new".to_vec())));
    assert_eq!(all[0].head(&files[0].name, 100), Some((4, b"newer".to_vec())));
    assert_eq!(all[0].head(&key(100).file_name(), 3), None, "not the cache's");
    let size_bytes = 11 * 1000 + HEADER_BYTES as u64 + 5;
    assert_eq!(all[0].clear(), Cleared { files: 12, size_bytes, left: 0 });
    let left: BTreeSet<String> = foreign().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names(&path), left.into_iter().chain(["CACHEDIR.TAG".to_owned()]).collect());
    assert_eq!(all[0].clear(), Cleared::default());
    cache.write(&key(1), b"again");
    assert!(cache.read(&key(1)).is_some(), "a cache that is cleared goes on");
}

#[test]
fn kept_k2_k3_only_marked_folders_of_the_user_are_shown_and_cleared() {
    let folder = folder();
    let root = folder.path();
    for name in ["one", "two", "open", "moved"] {
        Cache::at(&root.join(name), Kind { name, version: 1 }, 1000).unwrap();
    }
    fs::set_permissions(root.join("open"), Permissions::from_mode(0o777)).unwrap();
    fs::rename(root.join("moved"), root.join("other")).unwrap();
    symlink(root.join("one"), root.join("link")).unwrap();
    DirBuilder::new().create(root.join("plain")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    let shown = || kept::all_in(root).iter().map(|cache| cache.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(shown(), ["one", "two"]);
    fs::set_permissions(root, Permissions::from_mode(0o777)).unwrap();
    assert!(shown().is_empty(), "others may exchange them");
    assert!(kept::all_in(&root.join("none")).is_empty());
}

#[test]
fn kept_k6_least_recently_used_files_go_first() {
    let folder = folder();
    let path = folder.path().join("example");
    let cache = full(&path);
    assert_eq!(names(&path).len(), 11, "as many bytes as are allowed");
    let is_there = |number: u64| cache.read(&key(number)).is_some();
    // Used now.
    assert!(is_there(0));
    cache.write(&key(10), &[10; 1000 - HEADER_BYTES]);
    let expected = [0, 5, 6, 7, 8, 9, 10].map(|number| key(number).file_name().into_string().unwrap());
    let expected: BTreeSet<String> = expected.into_iter().chain(["CACHEDIR.TAG".to_owned()]).collect();
    assert_eq!(names(&path), expected, "three quarters of the bound are left");
    // Of another version, and the cache's all the same.
    let newer = Cache::at(&path, Kind { version: 4, ..KIND }, 5000).unwrap();
    newer.write(&key(20), &[1; 10]);
    assert_eq!(names(&path).len(), 5, "three files of 1000 bytes, the new one, the mark");
    newer.write(&key(21), &[1; 6000]);
    assert!(newer.read(&key(21)).is_none() && names(&path).len() == 5, "larger than the bound");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// KEPT-K6: after each write the cache has at most its bound, the file that was just written is
    /// there if it fits, and what is there is what was written last under its key.
    #[test]
    fn kept_k6_the_size_stays_within_the_bound(
        writes in proptest::collection::vec((0_u64..12, 0_usize..1300), 1..40)
    ) {
        const BOUND_BYTES: u64 = 3000;
        let folder = folder();
        let path = folder.path().join("example");
        let cache = Cache::at(&path, KIND, BOUND_BYTES).unwrap();
        let mut last: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (number, (of, size)) in writes.into_iter().enumerate() {
            let content = vec![number as u8; size];
            cache.write(&key(of), &content);
            prop_assert_eq!(cache.read(&key(of)), Some(content.clone()));
            last.insert(of, content);
            let files = names(&path).into_iter().filter(|name| name != "CACHEDIR.TAG");
            let used: u64 = files.map(|name| fs::metadata(path.join(name)).unwrap().len()).sum();
            prop_assert!(used <= BOUND_BYTES, "{used} bytes");
            for (of, content) in &last {
                let kept = cache.read(&key(*of));
                prop_assert!(kept.is_none() || kept.as_ref() == Some(content));
            }
        }
    }
}

#[test]
fn kept_k7_files_of_a_dead_writer_are_removed_after_an_hour() {
    let folder = folder();
    let path = folder.path().join("example");
    let cache = Cache::at(&path, KIND, 10_000).unwrap();
    cache.write(&key(1), b"content");
    let whole = fs::read(path.join(key(1).file_name())).unwrap();
    let left = |number: u64| path.join(format!("{}.{number}-0-99.writing", key(2)));
    for (number, size) in [(1, 0), (2, 10), (3, whole.len())] {
        fs::write(left(number), &whole[..size]).unwrap();
        age(&left(number), LONG_AGO);
    }
    fs::write(left(4), &whole).unwrap();
    fs::write(path.join("CACHEDIR.TAG.5-0-99.writing"), "Signature: 8a47").unwrap();
    age(&path.join("CACHEDIR.TAG.5-0-99.writing"), LONG_AGO);
    cache.write(&key(3), b"content");
    let is_left: Vec<PathBuf> = (1..5).map(left).filter(|path| path.exists()).collect();
    assert_eq!(is_left, [left(4)], "being written, for all that is known");
    assert!(!path.join("CACHEDIR.TAG.5-0-99.writing").exists());
}

#[test]
fn kept_k8_writers_at_once_leave_whole_files_and_nothing_fails() {
    let folder = folder();
    let path = folder.path().join("example");
    std::thread::scope(|scope| {
        for writer in 0..4_u8 {
            let path = &path;
            scope.spawn(move || {
                let cache = Cache::at(path, KIND, 5000).unwrap();
                for round in 0..50 {
                    let number = u64::from(writer + round) % 8;
                    cache.write(&key(number), &vec![number as u8; 900]);
                    let read = cache.read(&key(number));
                    assert!(read.is_none_or(|content| content == vec![number as u8; 900]));
                }
            });
        }
    });
    let is_temporary = |name: &String| name.ends_with(".writing");
    assert!(!names(&path).iter().any(is_temporary));
    // A folder that went away, and one that cannot be written.
    let cache = Cache::at(&path, KIND, 5000).unwrap();
    fs::remove_dir_all(&path).unwrap();
    cache.write(&key(1), b"content");
    assert!(cache.read(&key(1)).is_none());
    assert!(Cache::at(Path::new("/proc/nowhere/example"), KIND, 1).is_none());
}
