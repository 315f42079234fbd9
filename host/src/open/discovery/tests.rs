use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use std::path::PathBuf;

use super::*;

/// A folder that only its owner may write; files in it are empty: nothing here is ever opened.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn sub(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

fn library(folder: &Path, stem: &str) -> PathBuf {
    let path = folder.join(format!("{stem}.so"));
    fs::write(&path, "not a library").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn manifest_text(name: &str, version: &str) -> String {
    format!(
        r#"{{"schema": 1, "name": "{name}", "version": "{version}", "abi": "1", "os": "{}", "arch": "{}",
            "provides": ["device_api.{name}"]}}"#,
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

fn plugin(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(format!("{name}{}", crate::open::manifest::MANIFEST_SUFFIX));
    fs::write(&path, manifest_text(name, "0.1.0")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    library(folder, name)
}

fn options(paths: &[&Path]) -> HostOptions {
    let plugin_paths = paths.iter().map(|path| path.to_path_buf()).collect();
    let mut options = HostOptions { plugin_paths, ..HostOptions::isolated() };
    options.environment.private_group = None;
    options
}

fn names(discovery: &Discovery) -> Vec<(&str, Option<ProblemKind>)> {
    discovery
        .candidates
        .iter()
        .map(|candidate| (candidate.name.as_str(), candidate.problem.as_ref().map(|problem| problem.kind)))
        .collect()
}

#[test]
fn find_d1_roots_come_in_their_order_and_plugins_by_name() {
    let folder = Folder::new();
    let (option, variable, system) = (folder.sub("option"), folder.sub("variable"), folder.sub("system"));
    let (user, beside) = (folder.sub("data/chipdock/plugins"), folder.sub("bin/plugins"));
    for (place, name) in [(&beside, "e"), (&system, "d"), (&user, "b3"), (&variable, "b2"), (&variable, "b1")]
    {
        plugin(place, name);
    }
    plugin(&option, "a");
    let mut options = options(&[&option]);
    options.environment.plugin_path = Some(format!(":{}:.", variable.display()).into());
    options.environment.data_home = Some(folder.path().join("data"));
    options.environment.system_folders = vec![system];
    options.environment.executable_folder = Some(folder.path().join("bin"));
    let discovery = discover(&options).unwrap();
    assert_eq!(names(&discovery), ["a", "b1", "b2", "b3", "d", "e"].map(|name| (name, None)));
    let ignored: Vec<&SearchedPlace> =
        discovery.places.iter().filter(|place| place.ignored.is_some()).collect();
    assert_eq!(ignored.len(), 1, "the relative entry: {ignored:?}");
    assert!(ignored[0].ignored.as_ref().unwrap().contains("current directory"));

    options.environment.raised_privileges = true;
    let discovery = discover(&options).unwrap();
    assert_eq!(names(&discovery), [("d", None)], "FIND-D3: only the folders of the system are searched");
}

#[test]
fn find_d2_every_candidate_is_kept_with_its_reason() {
    let folder = Folder::new();
    plugin(folder.path(), "good");
    library(folder.path(), "libchipdock_plugin_no_manifest");
    fs::write(folder.path().join("bad.chipdock.json"), "{").unwrap();
    library(folder.path(), "bad");
    fs::write(folder.path().join("alone.chipdock.json"), manifest_text("alone", "0.1.0")).unwrap();
    fs::write(folder.path().join("readme.txt"), "").unwrap();
    let other = manifest_text("other-abi", "0.1.0").replace("\"abi\": \"1\"", "\"abi\": \"2\"");
    fs::write(folder.path().join("other.chipdock.json"), other).unwrap();
    library(folder.path(), "other");
    let missing = folder.path().join("missing.so");
    let discovery = discover(&options(&[folder.path(), &missing])).unwrap();
    assert_eq!(
        names(&discovery),
        [
            ("alone", Some(ProblemKind::NoLibrary)),
            ("bad", Some(ProblemKind::BadManifest)),
            ("good", None),
            ("no-manifest", None),
            ("other-abi", Some(ProblemKind::Unmet)),
            ("missing", Some(ProblemKind::NoLibrary)),
        ]
    );
}

#[test]
fn find_d3_files_that_others_may_write_are_refused_unless_trusted() {
    let folder = Folder::new();
    let path = plugin(folder.path(), "toy");
    let kind = |options: &HostOptions| names(&discover(options).unwrap())[0].1;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o775)).unwrap();
    let mut options = options(&[folder.path()]);
    assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "file written by the group");
    options.trust = vec![path.clone()];
    assert_eq!(kind(&options), None, "trusted by name");
    options.trust.clear();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(kind(&options), None);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "folder written by others");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(kind(&options), None, "a sticky folder is excepted");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();

    let open = folder.sub("open");
    let real = library(&open, "real");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&real, &path).unwrap();
    assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "a link into a folder written by others");

    options.environment.user = u32::MAX - 1;
    fs::remove_file(&path).unwrap();
    library(folder.path(), "toy");
    let owner_is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&path).unwrap()) == 0;
    if !owner_is_root {
        assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "owned by somebody else");
    }
}

#[test]
fn find_d4_select_and_disable_by_glob() {
    let folder = Folder::new();
    for name in ["npu-a", "npu-b", "toy"] {
        plugin(folder.path(), name);
    }
    let mut options = options(&[folder.path()]);
    options.select = vec!["npu-*".into()];
    options.environment.disable = Some("npu-b, nothing".into());
    let expected =
        [("npu-a", None), ("npu-b", Some(ProblemKind::Disabled)), ("toy", Some(ProblemKind::NotSelected))];
    assert_eq!(names(&discover(&options).unwrap()), expected);
    options.environment.raised_privileges = true;
    options.environment.system_folders = vec![folder.path().to_owned()];
    let discovery = discover(&options).unwrap();
    assert_eq!(names(&discovery)[1], ("npu-b", None), "FIND-D3: the variable is ignored");
    options.select = vec!["[".into()];
    assert_eq!(*discover(&options).unwrap_err().kind(), ErrorKind::Value);
}

#[test]
fn find_d4_the_first_usable_file_of_a_name_wins() {
    let folder = Folder::new();
    let (first, second, third) = (folder.sub("1"), folder.sub("2"), folder.sub("3"));
    let bad = plugin(&first, "toy");
    fs::set_permissions(&bad, fs::Permissions::from_mode(0o777)).unwrap();
    plugin(&second, "toy");
    plugin(&third, "toy");
    let discovery = discover(&options(&[&first, &second, &third])).unwrap();
    let expected = [Some(ProblemKind::Untrusted), None, Some(ProblemKind::Shadowed)];
    assert_eq!(names(&discovery), expected.map(|problem| ("toy", problem)));
    let message = &discovery.candidates[2].problem.as_ref().unwrap().message;
    assert!(message.contains(&*second.join("toy.so").to_string_lossy()), "{message}");
}

fn message(discovery: &Discovery, index: usize) -> &str {
    discovery.candidates[index].problem.as_ref().map_or("", |problem| &problem.message)
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn fifo(path: &Path) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a NUL-terminated path.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// Under umask 002 everything is written with mode 775 or 664, for the user's own group.
#[test]
fn find_d3_the_private_group_of_the_user_may_write() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = Folder::new();
    let inner = folder.sub("plugins");
    let path = plugin(&inner, "toy");
    let manifest = inner.join("toy.chipdock.json");
    let all: [(&Path, u32); 3] = [(&inner, 0o775), (&path, 0o775), (&manifest, 0o664)];
    all.iter().for_each(|(path, mode)| permit(path, *mode));
    let mut options = options(&[&inner]);
    let kind = |options: &HostOptions| names(&discover(options).unwrap())[0].1;
    assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "the group is anybody's");
    options.environment.private_group = Some(fs::metadata(&path).unwrap().gid());
    assert_eq!(kind(&options), None);
    for (path, mode) in all {
        permit(path, mode | 0o002);
        assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "others may write {}", path.display());
        permit(path, mode);
    }
    options.environment.private_group = options.environment.private_group.map(|group| group + 1);
    assert_eq!(kind(&options), Some(ProblemKind::Untrusted), "another group");
}

#[test]
fn find_d2_a_path_or_link_that_leads_nowhere_is_named() {
    let folder = Folder::new();
    let (library, manifest) = (folder.sub("library"), folder.sub("manifest"));
    plugin(&library, "toy");
    plugin(&manifest, "toy");
    for path in [library.join("toy.so"), manifest.join("toy.chipdock.json")] {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("gone", &path).unwrap();
    }
    let missing = folder.path().join("missing");
    let linked = folder.path().join("linked");
    std::os::unix::fs::symlink("gone", &linked).unwrap();
    let discovery = discover(&options(&[&library, &manifest, &missing, &linked])).unwrap();
    for (index, kind, says) in [
        (0, ProblemKind::NoLibrary, "toy.so is a link to gone, which cannot be examined"),
        (1, ProblemKind::Untrusted, "toy.chipdock.json is a link to gone, which cannot be examined"),
        (2, ProblemKind::NoLibrary, "there is no file or folder"),
        (3, ProblemKind::NoLibrary, "linked is a link to gone, which cannot be examined"),
    ] {
        assert_eq!(names(&discovery)[index].1, Some(kind));
        assert!(message(&discovery, index).contains(says), "{}", message(&discovery, index));
    }
}

#[test]
fn find_d3_every_folder_on_the_way_is_judged() {
    let folder = Folder::new();
    let inner = folder.sub("open/deep/inner");
    plugin(&inner, "toy");
    let found = |path: &Path| discover(&options(&[path])).unwrap();
    assert_eq!(names(&found(&inner)), [("toy", None)]);
    permit(&folder.path().join("open"), 0o775);
    let around = folder.path().join("open/deep/../deep/inner");
    for path in [&inner, &inner.join("toy.so"), &around] {
        let discovery = found(path);
        assert_eq!(names(&discovery)[0].1, Some(ProblemKind::Untrusted), "{}", path.display());
        let says = format!("{} may be written by group or others", folder.path().join("open").display());
        assert!(message(&discovery, 0).contains(&says), "{}", message(&discovery, 0));
    }
    permit(&folder.path().join("open"), 0o1777);
    assert_eq!(names(&found(&inner)), [("toy", None)], "a sticky folder is excepted");
    permit(&folder.path().join("open"), 0o777);
    let trusted = HostOptions { trust: vec![inner.clone()], ..options(&[&inner]) };
    assert_eq!(names(&discover(&trusted).unwrap()), [("toy", None)], "trusted by name");
}

#[test]
fn find_d3_each_link_of_a_chain_is_judged_for_libraries_and_manifests() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let (plugins, open, real) = (folder.sub("plugins"), folder.sub("open"), folder.sub("real"));
    let manifest = |folder: &Path| folder.join("toy.chipdock.json");
    plugin(&real, "toy");
    symlink(real.join("toy.so"), plugins.join("toy.so")).unwrap();
    symlink(manifest(&real), manifest(&plugins)).unwrap();
    let found = || discover(&options(&[&plugins])).unwrap();
    assert_eq!(names(&found()), [("toy", None)], "links through good folders");

    // The manifest's leads through a folder that others may write, to a file that is as good as
    // before.
    fs::remove_file(manifest(&plugins)).unwrap();
    symlink(manifest(&real), manifest(&open)).unwrap();
    symlink(manifest(&open), manifest(&plugins)).unwrap();
    assert_eq!(names(&found()), [("toy", None)]);
    permit(&open, 0o777);
    let discovery = found();
    assert_eq!(names(&discovery), [("toy", Some(ProblemKind::Untrusted))]);
    assert!(discovery.candidates[0].manifest.is_none(), "it was not read");

    fs::remove_file(manifest(&plugins)).unwrap();
    fs::remove_file(plugins.join("toy.so")).unwrap();
    symlink(real.join("toy.so"), open.join("toy.so")).unwrap();
    symlink(open.join("toy.so"), plugins.join("toy.so")).unwrap();
    assert_eq!(names(&found()), [("toy", Some(ProblemKind::Untrusted))], "the library's chain");

    // SAFETY: takes nothing, cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root can make a link that is somebody else's");
        return;
    }
    permit(&open, 0o755);
    assert_eq!(names(&found()), [("toy", None)]);
    std::os::unix::fs::lchown(plugins.join("toy.so"), Some(12345), None).unwrap();
    let discovery = found();
    assert_eq!(names(&discovery), [("toy", Some(ProblemKind::Untrusted))]);
    assert!(
        message(&discovery, 0).contains("is a link that is owned by user 12345"),
        "{}",
        message(&discovery, 0)
    );
}

#[test]
fn find_d3_fifos_and_folders_hang_nobody() {
    let folder = Folder::new();
    library(folder.path(), "a");
    fifo(&folder.path().join("a.chipdock.json"));
    fifo(&folder.path().join("b.so"));
    library(folder.path(), "c");
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("c.chipdock.json")).unwrap();
    plugin(folder.path(), "good");
    let found = |options: &HostOptions| discover(options).unwrap();
    let discovery = found(&options(&[folder.path()]));
    let expected = [
        ("a", Some(ProblemKind::BadManifest)),
        ("b", Some(ProblemKind::CannotOpen)),
        ("c", Some(ProblemKind::Untrusted)),
        ("good", None),
    ];
    assert_eq!(names(&discovery), expected);
    assert!(
        message(&discovery, 0).contains("it is a FIFO; expected a regular file"),
        "{}",
        message(&discovery, 0)
    );
    let trusted = HostOptions { trust: vec![folder.path().to_owned()], ..options(&[folder.path()]) };
    let discovery = found(&trusted);
    assert_eq!(names(&discovery)[2].1, Some(ProblemKind::BadManifest), "a device's mode is anybody's");
    assert!(message(&discovery, 2).contains("it is a character device"), "{}", message(&discovery, 2));
    let named = found(&options(&[&folder.path().join("b.so")]));
    assert_eq!(names(&named), [("b", Some(ProblemKind::CannotOpen))]);
}

#[test]
fn find_d3_a_variable_that_is_no_text_is_reported_and_ignored_with_raised_privileges() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    type Set = fn(&mut crate::environment::Environment, OsString);
    let sets: [(&str, Set); 4] = [
        ("CHIPDOCK_PLUGINS_SELECT", |environment, value| environment.select = Some(value)),
        ("CHIPDOCK_PLUGINS_DISABLE", |environment, value| environment.disable = Some(value)),
        ("CHIPDOCK_PLUGINS_PREFER", |environment, value| environment.prefer = Some(value)),
        ("CHIPDOCK_THREADS", |environment, value| environment.threads = Some(value)),
    ];
    for (name, set) in sets {
        let mut options = HostOptions::isolated();
        set(&mut options.environment, OsString::from_vec(b"a\xff".to_vec()));
        let error = crate::Host::new(options.clone()).unwrap_err();
        assert_eq!(error.message(), format!("{name} is \"a\\xFF\", which is not UTF-8"));
        assert_eq!(*error.kind(), ErrorKind::Value);
        options.environment.raised_privileges = true;
        assert!(crate::Host::new(options).is_ok(), "{name}");
    }
}

#[test]
fn find_d5_only_pinned_plugins_are_used() {
    let folder = Folder::new();
    let libraries: Vec<PathBuf> = ["a", "b", "c"].iter().map(|name| plugin(folder.path(), name)).collect();
    let plain = discover(&options(&[folder.path()])).unwrap();
    let lock = std::sync::Arc::new(PluginLock::of(&plain).unwrap());
    assert_eq!(lock.plugins().count(), 3);
    let locked = HostOptions { locked: Some(lock.clone()), ..options(&[folder.path()]) };
    let mut discovery = discover(&locked).unwrap();
    check_against_lock(&mut discovery, &lock);
    assert_eq!(names(&discovery), ["a", "b", "c"].map(|name| (name, None)));

    fs::write(&libraries[0], "another library").unwrap();
    let path = crate::open::manifest::manifest_path(&libraries[1]);
    fs::write(&path, manifest_text("b", "0.1.0") + "\n").unwrap();
    fs::write(crate::open::manifest::manifest_path(&libraries[2]), manifest_text("c", "0.2.0")).unwrap();
    plugin(folder.path(), "d");
    let mut discovery = discover(&locked).unwrap();
    let not = Some(ProblemKind::NotLocked);
    assert_eq!(
        names(&discovery),
        [("a", None), ("b", not), ("c", not), ("d", not)],
        "LOCK-K3: no library is read"
    );
    check_against_lock(&mut discovery, &lock);
    let pinned: Vec<&crate::LockedPlugin> = lock.plugins().collect();
    let digest = |path: &Path| sha256_of(path).unwrap();
    for (index, says) in [
        (0, [digest(&libraries[0]), pinned[0].sha256.clone()]),
        (1, [digest(&path), pinned[1].manifest_sha256.clone().unwrap()]),
        (2, ["it is 0.2.0".to_owned(), "pins 0.1.0".to_owned()]),
        (3, ["pins no plugin".to_owned(), "\"d\"".to_owned()]),
    ] {
        for says in says {
            let message = message(&discovery, index);
            assert!(message.contains(&says), "{message} should say {says}");
        }
    }
}

/// A plugin whose manifest provides `function.NAME.f` and needs keys.
fn needing(folder: &Path, name: &str, keys: &[&str]) -> PathBuf {
    let library = plugin(folder, name);
    let text = manifest_text(name, "0.1.0");
    let needs = format!("\"function.{name}.f\"], \"needs\": {{\"keys\": {keys:?}}}}}");
    let text = text.replace(&format!("\"device_api.{name}\"]}}"), &needs);
    fs::write(folder.join(format!("{name}{}", crate::open::manifest::MANIFEST_SUFFIX)), text).unwrap();
    library
}

fn why(discovery: &Discovery, name: &str) -> String {
    let candidate = discovery.candidates.iter().find(|candidate| candidate.name == name).unwrap();
    candidate.problem.as_ref().map(|problem| problem.message.clone()).unwrap_or_default()
}

#[test]
fn find_d6_a_key_that_nobody_provides_refuses_who_needs_it_and_who_needs_that() {
    let folder = Folder::new();
    needing(folder.path(), "a", &["function.b.f"]);
    needing(folder.path(), "b", &["function.c.f", "function.absent"]);
    needing(folder.path(), "c", &["function.c.f", "device_api.cpu", "function.d.f"]);
    needing(folder.path(), "d", &[]);
    needing(folder.path(), "e", &["pass.fast"]);
    let discovery = discover(&options(&[folder.path()])).unwrap();
    let missing = Some(ProblemKind::MissingKey);
    assert_eq!(names(&discovery), [("a", missing), ("b", missing), ("c", None), ("d", None), ("e", missing)]);
    let b = why(&discovery, "b");
    assert!(b.starts_with("needs function.absent, which no plugin provides; install one"), "{b}");
    assert_eq!(why(&discovery, "a"), format!("needs function.b.f of plugin \"b\", which is not used: {b}"));
    let e = why(&discovery, "e");
    assert!(e.contains("needs \"pass.fast\", which is not a key that this host knows"), "{e}");

    let mut disabling = options(&[folder.path()]);
    disabling.disable = vec!["d".into()];
    let discovery = discover(&disabling).unwrap();
    let c = why(&discovery, "c");
    assert_eq!(c, "needs function.d.f of plugin \"d\", which is not used: disabled by \"d\"");

    library(folder.path(), "unlisted");
    let discovery = discover(&options(&[folder.path()])).unwrap();
    let unlisted: Vec<_> = names(&discovery).into_iter().filter(|(_, problem)| problem.is_none()).collect();
    assert_eq!(unlisted.len(), 5, "a library without a manifest may provide it: {unlisted:?}");
    assert_eq!(why(&discovery, "e"), e, "but not what is no key");
}

#[test]
fn find_d6_a_circle_and_plugins_that_lead_to_it_are_refused() {
    let folder = Folder::new();
    needing(folder.path(), "a", &["function.b.f"]);
    needing(folder.path(), "b", &["function.c.f"]);
    needing(folder.path(), "c", &["function.a.f"]);
    needing(folder.path(), "d", &["function.a.f"]);
    needing(folder.path(), "e", &[]);
    let discovery = discover(&options(&[folder.path()])).unwrap();
    let circle = Some(ProblemKind::MissingKey);
    assert_eq!(names(&discovery), [("a", circle), ("b", circle), ("c", circle), ("d", circle), ("e", None)]);
    let a = "needs function.b.f of plugin \"b\", which needs function.c.f of plugin \"c\", which needs \
             function.a.f of plugin \"a\": a circle";
    assert!(why(&discovery, "a").starts_with(a), "{}", why(&discovery, "a"));
    assert!(why(&discovery, "d").starts_with("needs function.a.f of plugin \"a\", which needs"));
}

#[test]
fn find_d6_a_long_row_is_refused_and_found_in_no_time() {
    let folder = Folder::new();
    for number in 0..100 {
        let next = format!("function.p{:03}.f", number + 1);
        let needed = [next.as_str()];
        needing(folder.path(), &format!("p{number:03}"), if number < 99 { &needed } else { &[] });
    }
    let discovery = discover(&options(&[folder.path()])).unwrap();
    let refused = discovery.candidates.iter().filter(|candidate| candidate.problem.is_some()).count();
    assert_eq!(refused, 100 - (needs::CHAIN_MAX + 1));
    let row = why(&discovery, "p000");
    assert!(row.contains("a row of more than 64"), "{row}");
}

#[test]
fn find_d6_a_listing_says_of_whom_a_key_is() {
    let folder = Folder::new();
    let keys = ["function.b.f", "device_api.cpu", "function.absent", "function.b.f", "function.a.f"];
    needing(folder.path(), "a", &keys);
    needing(folder.path(), "b", &["function.c.f"]);
    needing(folder.path(), "c", &[]);
    let discovery = discover(&options(&[folder.path()])).unwrap();
    let needed = needed_keys(&discovery, &discovery.candidates[0]);
    let needed: Vec<(&str, String)> =
        needed.iter().map(|needed| (&*needed.key, needed.plugins.join(" "))).collect();
    let expected = [("function.b.f", "b"), ("device_api.cpu", "host"), ("function.absent", "")];
    assert_eq!(needed, expected.map(|(key, plugins)| (key, plugins.to_owned())));
    let with: Vec<&str> = needed_plugins(&discovery, &discovery.candidates[0])
        .iter()
        .map(|candidate| &*candidate.name)
        .collect();
    assert_eq!(with, ["b", "c"]);
}

#[test]
fn find_d2_a_file_that_two_places_lead_to_is_listed_once() {
    let folder = Folder::new();
    let (first, second) = (folder.sub("first"), folder.sub("second"));
    plugin(&first, "a");
    library(&first, "b");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&first, &link).unwrap();
    let named = first.join("a.so");
    let twice = options(&[&first, &first.join("../first"), &link, &named]);
    assert_eq!(names(&discover(&twice).unwrap()), [("a", None), ("b", None)]);
    let mut disabling = twice.clone();
    disabling.disable = vec!["a".into()];
    let disabled = discover(&disabling).unwrap();
    assert_eq!(names(&disabled), [("a", Some(ProblemKind::Disabled)), ("b", None)]);
    // A link to the library alone has another manifest, or none: it is another plugin.
    plugin(&second, "c");
    std::os::unix::fs::symlink(first.join("a.so"), second.join("a.so")).unwrap();
    let discovery = discover(&options(&[&first, &second])).unwrap();
    assert_eq!(
        names(&discovery),
        [("a", None), ("b", None), ("a", Some(ProblemKind::Shadowed)), ("c", None)]
    );
    // What is refused by its way does not hide what is reached by a better one.
    let open = folder.sub("open");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    std::os::unix::fs::symlink(&first, open.join("way")).unwrap();
    let discovery = discover(&options(&[&open.join("way"), &first])).unwrap();
    let refused = Some(ProblemKind::Untrusted);
    assert_eq!(names(&discovery), [("a", refused), ("b", refused), ("a", None), ("b", None)]);
}
