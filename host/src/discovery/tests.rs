use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
    let path = folder.join(format!("{name}{}", crate::manifest::MANIFEST_SUFFIX));
    fs::write(&path, manifest_text(name, "0.1.0")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    library(folder, name)
}

fn options(paths: &[&Path]) -> HostOptions {
    let plugin_paths = paths.iter().map(|path| path.to_path_buf()).collect();
    HostOptions { plugin_paths, ..HostOptions::isolated() }
}

fn names(discovery: &Discovery) -> Vec<(&str, Option<ProblemKind>)> {
    discovery
        .candidates
        .iter()
        .map(|candidate| (candidate.name.as_str(), candidate.problem.as_ref().map(|problem| problem.kind)))
        .collect()
}

#[test]
fn d1_roots_come_in_their_order_and_plugins_by_name() {
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
    assert_eq!(names(&discovery), ["d", "e"].map(|name| (name, None)), "D3: user paths are ignored");
}

#[test]
fn d2_every_candidate_is_kept_with_its_reason() {
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
fn d3_what_others_may_write_is_refused_unless_trusted() {
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
fn d4_select_and_disable_by_glob() {
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
    assert_eq!(names(&discovery)[1], ("npu-b", None), "D3: the variable is ignored");
    options.select = vec!["[".into()];
    assert_eq!(*discover(&options).unwrap_err().kind(), ErrorKind::Value);
}

#[test]
fn d4_the_first_usable_file_of_a_name_wins() {
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
