//! Tests of settings through the loader: those that a descriptor declares, before and after `init`,
//! with and without a manifest (H.7, H.8, S.1, S.3 to S.7).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chipdock_host::generation;
use chipdock_host::manifest::{self, Needs};
use chipdock_host::{Environment, ErrorKind, Host, HostOptions, ProblemKind};
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;
use serde_json::json;

const INFO: &str = r#"{"settings": [{"name": "level", "type": "int", "default": 3, "doc": "How much."}]}"#;

/// Compiles the fixture as a plugin of that name.
fn plugin(folder: &Path, name: &str, info: &str) -> PathBuf {
    let path = folder.join(format!("{name}.so"));
    let defines = [format!("-DNAME=\"{name}\""), format!("-DINFO={}", json!(info))];
    let command = ["gcc", "-std=c99", &defines[0], &defines[1]];
    compile(&command, &workspace().join("tests/abi/fixtures/settings.c"), &path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn describe(library: &Path) -> PathBuf {
    let path = manifest::manifest_path(library);
    fs::write(&path, generation::generate(library, &Needs::default()).unwrap().to_text().unwrap()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    path
}

fn options(folder: &Path) -> HostOptions {
    let environment = Environment::empty();
    HostOptions { plugin_paths: vec![folder.to_owned()], environment, ..HostOptions::default() }
}

/// Calls a function without arguments and returns its result.
fn told(host: &Host, name: &str) -> Result<i64, chipdock_host::Error> {
    let function = host.function(name)?.unwrap();
    Ok(function.call(&[])?.to::<i64>().unwrap())
}

#[test]
fn s4_a_plugin_is_answered_in_init_and_after_with_a_manifest_or_without() {
    let folder = tempfile::tempdir().unwrap();
    let library = plugin(folder.path(), "one", INFO);
    for has_manifest in [false, true] {
        if has_manifest {
            describe(&library);
        }
        let host = Host::new(options(folder.path())).unwrap();
        assert_eq!((told(&host, "one.at_init").unwrap(), told(&host, "one.level").unwrap()), (3, 3));
        let host = Host::new(options(folder.path()).setting("one", "level", "7")).unwrap();
        assert_eq!((told(&host, "one.at_init").unwrap(), told(&host, "one.level").unwrap()), (7, 7));
        let shown = host.settings("one").unwrap();
        assert_eq!((&shown[0].value, shown[0].from.to_string()), (&Some(json!(7)), "--config".to_owned()));
        let error = told(&host, "one.undeclared").unwrap_err();
        assert_eq!(error.kind().as_str(), "KeyError");
        assert!(
            error.message().contains("declares no setting \"levle\"; did you mean \"level\"?"),
            "{error}"
        );
    }
}

/// H.7 and H.8, and that two hosts at once differ.
#[test]
fn h7_each_init_has_a_table_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        describe(&plugin(folder.path(), name, INFO));
    }
    let lines = Arc::new(Mutex::new(Vec::new()));
    let host = |level| {
        let seen = Arc::clone(&lines);
        let log = Arc::new(move |_, line: &str| seen.lock().unwrap().push(line.to_owned()));
        Host::new(HostOptions { log, ..options(folder.path()) }.setting("one", "level", level)).unwrap()
    };
    let hosts = [host("1"), host("2")];
    let mut tables = BTreeSet::new();
    for host in &hosts {
        for name in ["one.host", "two.host"] {
            tables.insert(told(host, name).unwrap());
        }
    }
    assert_eq!(tables.len(), 4, "one for each plugin of each host");
    let levels =
        hosts.each_ref().map(|host| (told(host, "one.level").unwrap(), told(host, "two.level").unwrap()));
    assert_eq!(levels, [(1, 3), (2, 3)]);
    let mut begun = lines.lock().unwrap().clone();
    begun.retain(|line| line.ends_with("begins"));
    assert_eq!(begun, ["one: begins", "two: begins", "one: begins", "two: begins"]);
}

#[test]
fn s7_a_wrong_value_leaves_the_plugin_and_others_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        describe(&plugin(folder.path(), name, INFO));
    }
    let mut options = options(folder.path());
    options.environment.variables = [("CHIPDOCK_ONE_LEVEL", "many")].into_iter().collect();
    let host = Host::new(options).unwrap();
    assert_eq!(told(&host, "one.at_init").unwrap(), -1);
    let error = told(&host, "one.level").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Value);
    assert!(error.message().contains("expected an integer"), "{error}");
    assert!(error.to_string().contains("environment variable CHIPDOCK_ONE_LEVEL"), "{error}");
    assert_eq!(told(&host, "two.level").unwrap(), 3);
}

#[test]
fn s3_a_manifest_with_other_settings_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = describe(&plugin(folder.path(), "one", INFO));
    let text = fs::read_to_string(&path).unwrap();
    for changed in
        [text.replace("\"default\": 3", "\"default\": 4"), text.replace("\"How much.\"", "\"More.\"")]
    {
        assert_ne!(changed, text);
        fs::write(&path, changed).unwrap();
        let host = Host::new(options(folder.path())).unwrap();
        host.open_plugin("one").unwrap_err();
        let problem = host.plugins().swap_remove(0).problem.unwrap();
        assert_eq!(problem.kind, ProblemKind::ManifestDiffers, "{problem}");
        assert!(
            problem.message.contains("settings in its manifest are not those that it declares"),
            "{problem}"
        );
    }
}

#[test]
fn s1_an_info_that_is_no_object_is_a_bad_descriptor() {
    for (info, says) in [
        ("[]", "expected a JSON object"),
        ("{\"settings\": 1}", "invalid type"),
        (&INFO.replace(": 3", ": true"), "its default is not an integer"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        plugin(folder.path(), "one", info);
        let host = Host::new(options(folder.path())).unwrap();
        let error = host.open_plugin("one").unwrap_err();
        assert!(error.to_string().contains(says), "{error} should say {says}");
        let problem = host.plugins().swap_remove(0).problem.unwrap();
        assert_eq!(problem.kind, ProblemKind::BadDescriptor, "{problem}");
    }
    // S.12: a name of another form costs that setting alone.
    let folder = tempfile::tempdir().unwrap();
    plugin(folder.path(), "one", &INFO.replace("level", "Level"));
    Host::new(options(folder.path())).unwrap().open_plugin("one").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let library = plugin(folder.path(), "one", &INFO.replace("\"doc\"", "\"docs\": 1, \"doc\""));
    let error = generation::generate(&library, &Needs::default()).unwrap_err();
    assert!(error.to_string().contains("unknown field \"settings.0.docs\""), "an author is told: {error}");
    let host = Host::new(options(folder.path())).unwrap();
    assert_eq!(told(&host, "one.level").unwrap(), 3, "a host passes it over (P3.9)");
}
