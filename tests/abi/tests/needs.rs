//! Tests of plugins that need keys of each other, opened by a host (P5.15, P10.15; the host's rules
//! FIND-D6 and REG-R6).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chipdock_host::generation;
use chipdock_host::manifest::{self, Needs};
use chipdock_host::{ErrorKind, Host, HostOptions, PluginReport, PluginState, ProblemKind};
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;

/// A folder of plugins that only its owner may write.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    /// A plugin that registers `function.NAME.answer` and more, with a manifest that needs keys;
    /// `case` is the fixture's.
    fn plugin(&self, name: &str, case: u32, keys: &[&str]) -> PathBuf {
        self.named(name, case, &format!("{name}.answer"), keys)
    }

    fn named(&self, name: &str, case: u32, function: &str, keys: &[&str]) -> PathBuf {
        let path = self.library(name, case, function);
        let needs = Needs { keys: keys.iter().map(ToString::to_string).collect(), ..Needs::default() };
        // What `init` refuses makes no manifest: it is that of a good one.
        let text = match generation::generate(&path, &needs) {
            Ok(manifest) => manifest.to_text().unwrap(),
            Err(_) => {
                let good = self.library(&format!("{name}-good"), 0, function);
                let mut manifest = generation::generate(&good, &needs).unwrap();
                fs::remove_file(good).unwrap();
                (manifest.name, manifest.sha256) = (name.to_owned(), None);
                manifest.to_text().unwrap().replace(&format!("{name}-good"), name)
            }
        };
        let manifest = manifest::manifest_path(&path);
        fs::write(&manifest, text).unwrap();
        fs::set_permissions(&manifest, fs::Permissions::from_mode(0o644)).unwrap();
        path
    }

    fn library(&self, name: &str, case: u32, function: &str) -> PathBuf {
        let path = self.0.path().join(format!("{name}.so"));
        let defines =
            [format!("-DBAD={case}"), format!("-DNAME=\"{name}\""), format!("-DFUNCTION=\"{function}\"")];
        let command = ["gcc", "-std=c99", &defines[0], &defines[1], &defines[2]];
        compile(&command, &workspace().join("tests/abi/fixtures/bad.c"), &path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn options(&self) -> HostOptions {
        HostOptions { plugin_paths: vec![self.0.path().to_owned()], ..HostOptions::isolated() }
    }

    fn host(&self) -> Host {
        Host::new(self.options()).unwrap()
    }
}

fn report(host: &Host, name: &str) -> PluginReport {
    host.plugins().into_iter().find(|report| report.name == name).unwrap()
}

fn opened(host: &Host) -> Vec<String> {
    let open = host.plugins().into_iter().filter(|report| report.state == PluginState::Opened);
    open.map(|report| report.name).collect()
}

/// Why a plugin is not used, once its function was asked for in vain.
fn refused(host: &Host, name: &str) -> String {
    let error = host.function(&format!("{name}.answer")).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
    let problem = report(host, name).problem.unwrap();
    assert_eq!(problem.kind, ProblemKind::MissingKey, "{problem}");
    assert!(error.message().contains(&problem.message), "{error}");
    problem.message
}

/// Returns the time stamp of a library's shutdown, for the order of shutdowns.
fn shut_down_at(library: &Path) -> u64 {
    // SAFETY: a plugin of these tests, whose symbol takes nothing and answers a number.
    unsafe {
        let library = libloading::Library::new(library).unwrap();
        let at = library.get::<unsafe extern "C" fn() -> u64>(b"shut_down_at").unwrap()();
        std::mem::forget(library);
        at
    }
}

#[test]
fn p5_15_needed_plugins_are_opened_before_and_shut_down_after() {
    let folder = Folder::new();
    let paths = [
        folder.plugin("alpha", 0, &["function.beta.answer", "device_api.cpu"]),
        folder.plugin("beta", 0, &["function.gamma.answer", "device_api.mine/reset/1"]),
        folder.plugin("gamma", 0, &[]),
        folder.plugin("delta", 28, &[]),
    ];
    folder.plugin("other", 0, &[]);
    let host = folder.host();
    assert!(opened(&host).is_empty(), "listing opens nothing");
    host.function("alpha.answer").unwrap().unwrap();
    assert_eq!(opened(&host), ["alpha", "beta", "delta", "gamma"], "and nothing else");
    drop(host);
    let times = paths.map(|path| shut_down_at(&path));
    assert!(times[0] < times[1], "alpha needs beta: {times:?}");
    assert!(times[1] < times[2] && times[1] < times[3], "beta needs both: {times:?}");
}

#[test]
fn p5_15_a_plugin_whose_need_is_refused_is_not_opened() {
    let folder = Folder::new();
    folder.plugin("alpha", 0, &["function.beta.answer"]);
    folder.plugin("beta", 11, &[]);
    folder.plugin("gamma", 0, &["device_api.mine/reset/3"]);
    folder.plugin("delta", 28, &[]);
    let host = folder.host();
    assert_eq!(report(&host, "alpha").problem, None, "not known before somebody asks");
    let why = refused(&host, "alpha");
    assert!(
        why.starts_with("needs function.beta.answer: plugin \"beta\" cannot be used: its `init` failed"),
        "{why}"
    );
    assert!(why.contains("the moon is too far"), "{why}");
    let error = host.open_plugin("gamma").unwrap_err().to_string();
    assert!(error.contains("needs device_api.mine/reset/3, which no plugin provides"), "{error}");
    assert!(opened(&host).is_empty());
    host.function("delta.answer").unwrap().unwrap();
    assert_eq!(opened(&host), ["delta"], "others are unharmed");
}

#[test]
fn p5_15_of_a_disputed_key_the_preferred_one_is_needed() {
    let folder = Folder::new();
    folder.named("left", 0, "both", &[]);
    folder.named("right", 0, "both", &[]);
    folder.plugin("alpha", 0, &["function.both"]);
    let why = refused(&folder.host(), "alpha");
    assert!(why.contains("needs function.both: function.both is provided by 2 plugins"), "{why}");
    assert!(why.contains("--prefer function.both=left"), "{why}");
    let prefer = vec![("function.both".to_owned(), "right".to_owned())];
    let host = Host::new(HostOptions { prefer, ..folder.options() }).unwrap();
    host.function("alpha.answer").unwrap().unwrap();
    assert_eq!(opened(&host), ["alpha", "right"]);
}

/// Two provide the key, so the manifests alone make no circle; the preference does.
#[test]
fn reg_r6_a_circle_that_a_preference_makes_ends() {
    let folder = Folder::new();
    folder.named("left", 0, "both", &[]);
    folder.named("right", 0, "both", &["function.alpha.answer"]);
    folder.plugin("alpha", 0, &["function.both"]);
    let prefer = vec![("function.both".to_owned(), "right".to_owned())];
    let host = Host::new(HostOptions { prefer, ..folder.options() }).unwrap();
    let why = refused(&host, "alpha");
    assert!(
        why.contains("needs function.both of plugin \"right\", which needs function.alpha.answer"),
        "{why}"
    );
    assert!(why.contains("a circle, of which none can be opened first"), "{why}");
    assert!(opened(&host).is_empty());
    assert_eq!(report(&host, "right").problem.unwrap().kind, ProblemKind::MissingKey);
}

#[test]
fn reg_r6_a_library_without_a_manifest_may_provide_it() {
    let folder = Folder::new();
    folder.plugin("alpha", 0, &["function.beta.answer", "function.gamma.answer"]);
    folder.library("beta", 0, "beta.answer");
    let why = refused(&folder.host(), "alpha");
    assert!(
        why.starts_with("needs function.gamma.answer: no plugin provides function.gamma.answer"),
        "{why}"
    );
    folder.library("gamma", 0, "gamma.answer");
    let host = folder.host();
    host.function("alpha.answer").unwrap().unwrap();
    assert_eq!(opened(&host), ["alpha", "beta", "gamma"]);
}

#[test]
fn p5_16_a_manifest_that_needs_its_own_key_is_not_made() {
    let folder = Folder::new();
    let library = folder.library("alpha", 0, "alpha.answer");
    let needs = Needs { keys: vec!["function.alpha.answer".to_owned()], ..Needs::default() };
    let error = generation::generate(&library, &needs).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
    assert!(error.message().contains("the plugin provides it itself"), "{error}");
}
