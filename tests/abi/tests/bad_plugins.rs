//! Tests of the loader with deliberately wrong plugins: each is reported with its own reason,
//! correct plugins are not affected, and older and newer minor versions load (P1, P3, P5, P7, P8;
//! the host's rules LOAD-L1 to LOAD-L6 and REG-R1 to REG-R4).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chipdock_host::generation;
use chipdock_host::manifest::{self, Needs};
use chipdock_host::{
    ErrorKind, Host, HostOptions, KeyReport, PluginLock, PluginReport, PluginState, ProblemKind, Subject,
};
use chipdock_plugin_api::abi::CHIPDOCK_ABI_MINOR;
use chipdock_test_support::command::built;
use chipdock_test_support::plugins::{build, compile};
use chipdock_test_support::workspace;

/// A folder of plugins that only its owner may write.
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

    fn own(&self, path: &Path) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Compiles the fixture as `<stem>.so`; `defines` are like `BAD=3`.
    fn c(&self, stem: &str, defines: &[&str]) -> PathBuf {
        let path = self.path().join(format!("{stem}.so"));
        let defines: Vec<String> = defines.iter().map(|define| format!("-D{define}")).collect();
        let mut command = vec!["gcc", "-std=c99"];
        command.extend(defines.iter().map(String::as_str));
        compile(&command, &workspace().join("tests/abi/fixtures/bad.c"), &path);
        self.own(&path);
        path
    }

    /// A good plugin of another name, with its manifest.
    fn good(&self) {
        let path = self.path().join("good.so");
        compile(&["gcc", "-std=c99"], &workspace().join("examples/plugin-template-c/template.c"), &path);
        self.own(&path);
        self.describe(&path, |text| text);
    }

    /// Writes the manifest of a library, after a change.
    fn describe(&self, library: &Path, change: impl FnOnce(String) -> String) {
        let text = generation::generate(library, &Needs::default()).unwrap().to_text().unwrap();
        let path = manifest::manifest_path(library);
        fs::write(&path, change(text)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn options(&self) -> HostOptions {
        HostOptions { plugin_paths: vec![self.path().to_owned()], ..HostOptions::isolated() }
    }

    fn host(&self) -> Host {
        Host::new(self.options()).unwrap()
    }
}

fn report(host: &Host, name: &str) -> PluginReport {
    host.plugins().into_iter().find(|report| report.name == name).unwrap()
}

/// The good plugin of the folder counts the elements of a tensor.
fn good_is_unharmed(host: &Host) {
    let function = host.function("template_c.element_count").unwrap().unwrap();
    let device = host.device("cpu", 0).unwrap();
    let tensor =
        chipdock_host::Tensor::zeros(&device, &[3, 5], chipdock_host::dtype_of(FLOAT32).unwrap()).unwrap();
    assert_eq!(function.call(&[(&tensor).into()]).unwrap().to::<i64>().unwrap(), 15);
    assert_eq!(report(host, "template-c").state, PluginState::Opened);
    assert_eq!(host.device_count("template_c").unwrap(), 1);
}

const FLOAT32: chipdock_plugin_api::ChipdockDataType =
    chipdock_plugin_api::ChipdockDataType { code: 2, bits: 32, lanes: 1 };

/// Opens `bad.so` beside the good one, and answers what was wrong with it.
fn problem(folder: &Folder) -> (ProblemKind, String) {
    folder.good();
    let host = folder.host();
    let error = host.open_plugin("bad").unwrap_err();
    assert_eq!(error.subject(), Some(Subject::Plugin), "{error}");
    let report = report(&host, "bad");
    assert_eq!(report.state, PluginState::Unused);
    let problem = report.problem.unwrap();
    assert!(error.to_string().contains(&problem.message), "{error}");
    assert_eq!(host.open_plugin("bad").unwrap_err(), error, "asked again, it says the same");
    good_is_unharmed(&host);
    (problem.kind, problem.message)
}

fn destroyed_count(library: &Path) -> i32 {
    // SAFETY: a plugin of these tests, whose symbol takes nothing and answers an int.
    unsafe {
        let library = libloading::Library::new(library).unwrap();
        let count = library.get::<unsafe extern "C" fn() -> i32>(b"destroyed_count").unwrap()();
        std::mem::forget(library);
        count
    }
}

#[test]
fn load_l2_a_file_that_is_no_library_is_reported() {
    let folder = Folder::new();
    let path = folder.path().join("bad.so");
    fs::write(&path, "not a library").unwrap();
    folder.own(&path);
    let (kind, message) = problem(&folder);
    assert_eq!(kind, ProblemKind::CannotOpen);
    assert!(message.contains("bad.so"), "{message}");
}

#[test]
fn each_wrong_descriptor_and_init_has_a_report_of_its_own() {
    for (case, kind, says) in [
        (1, ProblemKind::NoSymbol, "no symbol chipdock_plugin_v1"),
        (2, ProblemKind::NullDescriptor, "answered null"),
        (3, ProblemKind::BadDescriptor, "begins with 0x00000000deadbeef"),
        (4, ProblemKind::OtherMajor, "built for plugin ABI 2.0, this host speaks 1.0"),
        (5, ProblemKind::OtherMajor, "built for plugin ABI 2.x, this host speaks 1.0"),
        (6, ProblemKind::OtherLayout, "other table sizes"),
        (7, ProblemKind::OtherLayout, "layout hash"),
        (8, ProblemKind::BadDescriptor, "`init`, `shutdown` or `release` of its descriptor is null"),
        (33, ProblemKind::BadDescriptor, "`init`, `shutdown` or `release` of its descriptor is null"),
        (9, ProblemKind::BadDescriptor, "plugin name \"Bad Name\""),
        (10, ProblemKind::BadDescriptor, "its version \"one\" is not semver"),
        (11, ProblemKind::InitFailed, "IoError: plugin \"bad\" says: the moon is too far"),
        (12, ProblemKind::BrokenPlugin, "returned status 77 and raised no error"),
        (13, ProblemKind::BrokenPlugin, "registered nothing"),
        (14, ProblemKind::NameTaken, "function.bad.answer is registered twice"),
        (15, ProblemKind::BrokenPlugin, "a registration was refused: function.?: the name \"two words\""),
        (16, ProblemKind::InitFailed, "target.kind.nulls: its table is null"),
        (17, ProblemKind::InitFailed, "device_api.nulls: slot 8 of its table is null"),
        (18, ProblemKind::InitFailed, "function.nulls: its deleter is null"),
        (19, ProblemKind::NameTaken, "device type 1 is that of host memory"),
        (20, ProblemKind::NameTaken, "device type 4096: expected 0, or a number of DLPack's"),
        (21, ProblemKind::InitFailed, "target.kind.x: its schema: missing field `doc`"),
        (22, ProblemKind::InitFailed, "asked its host for a name during `init`"),
        (34, ProblemKind::OtherLayout, "rebuild it against this ABI; its layout check: "),
        (29, ProblemKind::InitFailed, "device_api.yours/reset/1 extends what is not there"),
        (30, ProblemKind::InitFailed, "device_api.mine/reset/2: slot 2 of its table is null"),
        (32, ProblemKind::InitFailed, "device_api.mine/reset/1: its deleter is null"),
    ] {
        let folder = Folder::new();
        folder.c("bad", &[&format!("BAD={case}")]);
        let (found, message) = problem(&folder);
        assert_eq!(found, kind, "case {case}: {message}");
        assert!(message.contains(says), "case {case}: {message}");
    }
}

/// P4.2: types that cannot be compared refuse nobody where the hash is right.
#[test]
fn p4_2_a_layout_check_of_another_make_refuses_nobody() {
    let folder = Folder::new();
    folder.c("bad", &["BAD=23"]);
    let host = folder.host();
    host.open_plugin("bad").unwrap();
    let report = report(&host, "bad");
    assert_eq!((report.attested, report.problem), (Some(false), None));
}

/// The schemas as the manifest of a newer version has them, in another order and with what it
/// writes by itself.
const NEWER_KINDS: &str = r#""target_kinds": [
    {"name": "newer", "schema": 1, "doc": "d", "device": "cpu", "stage": "tensors", "keys": [], "is_host": true,
     "host_preference": 1000},
    {"schema": 1, "name": "wider", "doc": "d", "device": "cpu", "stage": "host", "licence": "MIT"}],
    "pages": {"home": "about:blank"}, "needs": {"moon": "full", "libraries": [{"names": ["libm.so.6"], "since": 2}]},"#;

#[test]
fn p3_10_a_kind_that_is_not_understood_is_unusable_and_nothing_else_is() {
    for has_manifest in [false, true] {
        let folder = Folder::new();
        let path = folder.c("bad", &["BAD=26"]);
        folder.good();
        if has_manifest {
            let digest = manifest::sha256_of(&path).unwrap();
            let text = format!(
                r#"{{"schema": 1, "name": "bad", "version": "0.1.0", "abi": "1", "os": "linux", "arch": "{}",
                "provides": ["function.bad.answer", "target.kind.newer", "target.kind.wider"], {NEWER_KINDS}
                "sha256": "{digest}"}}"#,
                std::env::consts::ARCH
            );
            let path = manifest::manifest_path(&path);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let host = folder.host();
        let says =
            "target kind \"newer\" cannot be used: its schema has stage \"tensors\", which is not known here";
        for _ in 0..2 {
            let error = host.target("newer").unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(error.advice(), "use a newer host, or an older plugin");
        }
        assert_eq!(host.target_kind("wider").unwrap().name, "wider", "P3.9");
        assert_eq!(host.function("bad.answer").unwrap().unwrap().call(&[]).unwrap().to::<i64>().unwrap(), 42);
        assert_eq!(report(&host, "bad").problem, None);
        let error = host.default_host().unwrap_err();
        assert!(error.to_string().contains(says), "the kind is passed over, and named: {error}");
        let kinds: Vec<String> = host.target_kinds().iter().map(|(kind, _)| kind.name.to_string()).collect();
        assert!(kinds.contains(&"wider".to_owned()) && !kinds.contains(&"newer".to_owned()), "{kinds:?}");
        good_is_unharmed(&host);
    }
}

#[test]
fn p5_13_an_author_is_told_of_a_field_that_nobody_reads() {
    let folder = Folder::new();
    let error = generation::generate(&folder.c("newer", &["BAD=26"]), &Needs::default()).unwrap_err();
    assert!(error.to_string().contains("its schema has stage \"tensors\""), "{error}");
    let error = generation::generate(&folder.c("wider", &["BAD=27"]), &Needs::default()).unwrap_err();
    let says = "the schema of target kind \"wider\": unknown field \"licence\"; a host would ignore it";
    assert!(error.to_string().contains(says), "{error}");
    let text = format!(
        r#"{{"schema": 1, "name": "bad", "version": "0.1.0", "abi": "1", {NEWER_KINDS} "os": "linux", "arch": "x86_64",
        "provides": ["target.kind.newer", "target.kind.wider"]}}"#
    );
    assert_eq!(
        manifest::Manifest::unknown_fields(&text).unwrap(),
        ["pages", "needs.moon", "needs.libraries.0.since", "target_kinds.1.licence"]
    );
}

#[test]
fn p5_staged_objects_that_were_not_committed_are_released_once() {
    // A function each, then another function (14), a refused name (15), a device API (24, 25), a
    // second function (0), a device API and interfaces (28 to 30), one of a function (31).
    for (case, is_good, count) in [
        (11, false, 1),
        (14, false, 2),
        (15, false, 2),
        (24, false, 2),
        (25, true, 2),
        (0, true, 2),
        (28, true, 4),
        (29, false, 3),
        (30, false, 4),
        (31, true, 3),
    ] {
        let folder = Folder::new();
        let path = folder.c("bad", &[&format!("BAD={case}")]);
        let host = folder.host();
        assert_eq!(host.open_plugin("bad").is_ok(), is_good, "case {case}");
        // Of functions this host knows no interfaces: it releases one at once (P3.13, P10.16).
        let kept = if case == 31 { 1 } else { 0 };
        assert_eq!(destroyed_count(&path), if is_good { kept } else { count }, "case {case}");
        drop(host);
        assert_eq!(destroyed_count(&path), count, "case {case}, after the host");
    }
}

/// Calls a function of an open plugin that takes nothing.
fn ask<T>(library: &Path, symbol: &str) -> T {
    // SAFETY: a plugin of these tests; the callers name a symbol of that type.
    unsafe {
        let library = libloading::Library::new(library).unwrap();
        let answer = library.get::<unsafe extern "C" fn() -> T>(symbol.as_bytes()).unwrap()();
        std::mem::forget(library);
        answer
    }
}

fn life(library: &Path) -> String {
    let life: *const std::ffi::c_char = ask(library, "life");
    // SAFETY: a static NUL-terminated text.
    unsafe { std::ffi::CStr::from_ptr(life) }.to_str().unwrap().to_owned()
}

#[test]
fn p10_13_shutdown_comes_first_and_release_last() {
    let folder = Folder::new();
    let path = folder.c("bad", &["BAD=28"]);
    let host = folder.host();
    host.open_plugin("bad").unwrap();
    // Whoever keeps something of the plugin delays its release, not its shutdown (P10.14);
    // interfaces go before what they extend (P3.13).
    let function = host.function("bad.answer").unwrap().unwrap();
    assert_eq!(life(&path), "");
    drop(host);
    drop(function);
    assert_eq!(life(&path), "siiddr");

    let folder = Folder::new();
    let path = folder.c("bad", &["BAD=11"]);
    drop(folder.host().open_plugin("bad").unwrap_err());
    assert_eq!(life(&path), "d", "an `init` that failed is followed by neither");
}

/// P10.12, P7.12: whatever is being done, an error may be raised and taken, a line logged, an
/// interface or a stream asked for.
#[test]
fn p10_12_what_is_allowed_everywhere_works_everywhere() {
    let folder = Folder::new();
    let path = folder.c("bad", &["BAD=35"]);
    let host = folder.host();
    host.open_plugin("bad").unwrap();
    host.device("mine", 0).unwrap().reset().unwrap();
    drop(host);
    // In `init`, in `shutdown`, in each deleter and `destroy`, in `release`.
    assert_eq!(life(&path), "!!s!d!i!i!d!r");
    assert_eq!(destroyed_count(&path), 4);
}

/// P10.18: a host that ends with its process calls each of them, or none.
#[test]
fn p10_18_a_command_that_ends_skips_all_or_nothing() {
    let folder = Folder::new();
    let library = folder.c("bad", &["BAD=28"]);
    let told = folder.path().join("life.txt");
    for words in [&["devices"][..], &["plugins", "--check"], &["devices", "--json"]] {
        let _ = fs::remove_file(&told);
        let mut command = std::process::Command::new(&built().command);
        command.args(words).arg("--plugin").arg(&library).env("BAD_LIFE", &told);
        let ended = command.env("XDG_CONFIG_HOME", folder.path()).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let told = fs::read_to_string(&told).unwrap_or_default();
        for life in told.split_inclusive('r') {
            let mut called: Vec<char> = life.chars().collect();
            called.sort_unstable();
            let is_in_order = life.starts_with('s') && life.ends_with('r');
            assert!(called == ['d', 'd', 'i', 'i', 'r', 's'] && is_in_order, "{words:?}: {told:?}");
        }
    }
}

/// P5.17.
#[test]
fn p5_17_no_manifest_is_made_for_an_interface_by_a_name_of_nobody() {
    let folder = Folder::new();
    let library = folder.c("watched", &["BAD=28", "INTERFACE=\"watchdog\""]);
    let error = generation::generate(&library, &Needs::default()).unwrap_err();
    let says = "interface \"watchdog\" is none of Chipdock's (reset, timer, timeline, external, map, memory.async, workspace, graph, object, launch)";
    assert!(error.to_string().contains(says), "{error}");
    assert!(error.to_string().contains("call it \"bad.watchdog\" (P5.17)"), "{error}");
    // A host takes it as any other that it does not know (P3.5).
    let host = folder.host();
    host.open_plugin("watched").unwrap();
    let own = folder.c("own", &["BAD=28", "INTERFACE=\"bad.watchdog\""]);
    generation::generate(&own, &Needs::default()).unwrap();
}

#[test]
fn p10_15_plugins_are_shut_down_in_the_reverse_order_of_opening() {
    let names = ["alpha", "beta", "gamma"];
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let folder = Folder::new();
        let paths = names.map(|name| folder.c(name, &["BAD=0", &format!("NAME=\"{name}\"")]));
        let host = folder.host();
        for index in order {
            host.open_plugin(names[index]).unwrap();
        }
        drop(host);
        let mut by_time = [0, 1, 2];
        by_time.sort_by_key(|index| ask::<u64>(&paths[*index], "shut_down_at"));
        let opened_last_first: Vec<usize> = order.into_iter().rev().collect();
        assert_eq!(by_time.to_vec(), opened_last_first);
    }
}

#[test]
fn p3_4_of_two_versions_the_one_that_is_known_is_called() {
    let folder = Folder::new();
    let path = folder.c("bad", &["BAD=28"]);
    folder.describe(&path, |text| {
        assert!(
            text.contains("device_api.mine/reset/1") && text.contains("device_api.mine/reset/2"),
            "{text}"
        );
        text
    });
    let host = folder.host();
    let device = host.device("mine", 0).unwrap();
    device.reset().unwrap();
    assert_eq!(ask::<i32>(&path, "reset_count"), 1);
    let error = host.device("cpu", 0).unwrap().reset().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("cpu:0 cannot be opened again"), "{error}");
}

#[test]
fn p3_older_and_newer_minors_load() {
    for minor in [CHIPDOCK_ABI_MINOR.saturating_sub(1), CHIPDOCK_ABI_MINOR, CHIPDOCK_ABI_MINOR + 1, 1000] {
        let folder = Folder::new();
        folder.c("bad", &["BAD=0", &format!("MINOR={minor}")]);
        let host = folder.host();
        let report = host.open_plugin("bad").unwrap();
        assert_eq!(report.abi.unwrap(), format!("1.{minor}"));
        let answer = host.function("bad.answer").unwrap().unwrap().call(&[]).unwrap();
        assert_eq!(answer.to::<i64>().unwrap(), 42);
    }
}

#[test]
fn p7_an_error_code_without_an_error_is_a_broken_plugin() {
    let folder = Folder::new();
    folder.c("bad", &["BAD=0"]);
    let host = folder.host();
    let error = host.function("bad.silent").unwrap().unwrap().call(&[]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::BrokenPlugin);
    assert!(error.to_string().contains("returned status -1 and raised no error"), "{error}");
    assert!(host.function("bad.answer").unwrap().unwrap().call(&[]).is_ok(), "the next call goes well");
}

#[test]
fn p8_a_panic_in_init_or_in_a_table_stays_in_the_plugin() {
    let built = &build(&["chipdock-bad-plugin"])[0];
    let folder = Folder::new();
    for name in ["bad.so", "panics_in_init.so"] {
        fs::copy(built, folder.path().join(name)).unwrap();
        folder.own(&folder.path().join(name));
    }
    folder.good();
    let host = folder.host();
    let error = host.open_plugin("panics-in-init").unwrap_err();
    assert!(error.to_string().contains("its `init` failed: Panic:"), "{error}");
    assert!(error.to_string().contains("in init, as the file's name says"), "{error}");
    assert_eq!(report(&host, "panics-in-init").problem.unwrap().kind, ProblemKind::InitFailed);

    let device = host.device("panics", 0).unwrap();
    assert_eq!(report(&host, "bad-plugin").attested, Some(true), "P4: its type layouts agree");
    let error = device.attribute("device_name").unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Panic);
    assert!(error.to_string().contains("in a table's function"), "{error}");
    let dtype = chipdock_host::dtype_of(FLOAT32).unwrap();
    let error = chipdock_host::Tensor::empty(&device, &[4], dtype).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Panic);
    let error = host.function("panics.call").unwrap().unwrap().call(&[]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Panic);
    good_is_unharmed(&host);
}

#[test]
fn load_l6_a_lying_manifest_is_its_own_report() {
    type Lie = fn(String) -> String;
    let lies: [(Lie, ProblemKind, &str); 5] = [
        (
            |text| text.replace("\"function.bad.silent\"", "\"function.bad.silent\", \"device_api.moon\""),
            ProblemKind::ManifestDiffers,
            "promised and missing: device_api.moon",
        ),
        (
            |text| text.replace(",\n    \"function.bad.silent\"", ""),
            ProblemKind::ManifestDiffers,
            "registered and not promised: function.bad.silent",
        ),
        (
            |text| text.replace("\"0.1.0\"", "\"0.2.0\""),
            ProblemKind::WrongName,
            "the library is \"bad\" 0.1.0, its manifest says \"bad\" 0.2.0",
        ),
        (
            |text| {
                let at = text.find("\"sha256\": \"").expect("a digest") + "\"sha256\": \"".len();
                format!("{}{}{}", &text[..at], "0".repeat(64), &text[at + 64..])
            },
            ProblemKind::WrongDigest,
            "the manifest says 0000",
        ),
        (|text| text.replace("\"linux\"", "\"plan9\""), ProblemKind::Unmet, "built for plan9"),
    ];
    for (lie, kind, says) in lies {
        let folder = Folder::new();
        let path = folder.c("bad", &["BAD=0"]);
        folder.describe(&path, lie);
        let (found, message) = problem(&folder);
        assert_eq!(found, kind, "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn reg_r2_a_key_of_two_plugins_is_an_error_until_one_is_preferred() {
    let folder = Folder::new();
    for name in ["first", "second"] {
        let path = folder.c(name, &["BAD=0", &format!("NAME=\"{name}\""), "FUNCTION=\"shared\""]);
        folder.describe(&path, |text| text);
    }
    let host = folder.host();
    let error = host.function("shared").unwrap_err();
    assert_eq!(error.subject(), Some(Subject::Plugin));
    for says in ["\"first\"", "\"second\"", "first.so", "second.so", "--prefer function.shared=first"] {
        assert!(error.to_string().contains(says), "{error} should say {says}");
    }
    assert!(
        host.plugins().iter().all(|plugin| plugin.state == PluginState::Listed),
        "REG-R1: nothing was opened"
    );
    assert!(host.function("second.silent").unwrap().is_some(), "their other names are in force");

    let prefer = vec![("function.shared".to_owned(), "second".to_owned())];
    let host = Host::new(HostOptions { prefer, ..folder.options() }).unwrap();
    assert!(host.function("shared").unwrap().unwrap().call(&[]).is_ok());
    assert_eq!(
        report(&host, "first").state,
        PluginState::Listed,
        "REG-R1: only the preferred one was opened"
    );
    let host = Host::new(HostOptions { disable: vec!["first".into()], ..folder.options() }).unwrap();
    assert!(host.function("shared").unwrap().is_some());
}

#[test]
fn reg_r1_listing_opens_nothing_and_asking_opens_one() {
    let folder = Folder::new();
    for index in 0..8 {
        let name = format!("plugin{index}");
        let path = folder.c(&name, &["BAD=0", &format!("NAME=\"{name}\"")]);
        folder.describe(&path, |text| text);
    }
    let host = folder.host();
    assert_eq!(host.plugins().len(), 8);
    let theirs = |report: &&KeyReport| report.key.starts_with("function.") && report.plugins != ["host"];
    assert_eq!(host.keys().iter().filter(theirs).count(), 16);
    assert!(host.plugins().iter().all(|plugin| plugin.state == PluginState::Listed));
    assert!(host.function("plugin3.answer").unwrap().is_some());
    let opened: Vec<String> = host
        .plugins()
        .into_iter()
        .filter(|plugin| plugin.state == PluginState::Opened)
        .map(|plugin| plugin.name)
        .collect();
    assert_eq!(opened, ["plugin3"]);
}

#[test]
fn reg_r4_a_plugin_that_would_provide_a_name_is_named_when_it_is_not_used() {
    let folder = Folder::new();
    folder.good();
    let host = Host::new(HostOptions { disable: vec!["template-*".into()], ..folder.options() }).unwrap();
    let error = host.device("template_c", 0).unwrap_err();
    assert_eq!(error.subject(), Some(Subject::Plugin));
    assert!(
        error.to_string().contains("plugin \"template-c\" is not used: disabled by \"template-*\""),
        "{error}"
    );
}

#[test]
fn find_d4_a_library_without_a_manifest_is_held_to_its_real_name() {
    let folder = Folder::new();
    let path = folder.c("a", &["BAD=0", "NAME=\"real\""]);
    folder.describe(&path, |text| text);
    folder.c("b", &["BAD=0", "NAME=\"real\""]);
    folder.c("z", &["BAD=0", "NAME=\"secret\""]);
    let host = Host::new(HostOptions { disable: vec!["secret".into()], ..folder.options() }).unwrap();
    assert!(
        host.function("nobody.has.this").unwrap().is_none(),
        "REG-R1: libraries without a manifest were opened"
    );
    assert_eq!(report(&host, "b").problem.unwrap().kind, ProblemKind::Shadowed);
    assert_eq!(report(&host, "z").problem.unwrap().kind, ProblemKind::Disabled);
    assert!(host.function("real.answer").unwrap().is_some());
}

#[test]
fn p10_each_host_of_a_process_has_its_own() {
    let folder = Folder::new();
    let path = folder.c("bad", &["BAD=0"]);
    folder.describe(&path, |text| text);
    let (first, second) = (folder.host(), folder.host());
    let function = second.function("bad.answer").unwrap().unwrap();
    assert!(first.function("bad.answer").unwrap().is_some());
    let before = destroyed_count(&path);
    drop(first);
    assert_eq!(destroyed_count(&path) - before, 2, "what the first host had is released");
    assert_eq!(function.call(&[]).unwrap().to::<i64>().unwrap(), 42, "the second goes on");
}

/// Makes a library another one that opens just as well.
fn changed(library: &Path) {
    let mut bytes = fs::read(library).unwrap();
    bytes.push(0);
    // Beside it and renamed, as it is installed: nothing that is open changes.
    let other = library.with_extension("new");
    fs::write(&other, bytes).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(other, library).unwrap();
}

#[test]
fn load_l1_a_library_that_is_cut_short_is_refused_before_it_is_opened() {
    let folder = Folder::new();
    let path = folder.c("bad", &["BAD=0"]);
    let bytes = fs::read(&path).unwrap();
    for (size, says) in [
        (0, "it is empty"),
        (40, "an ELF header needs 64 bytes, the file has 40"),
        (4096, "its segments need"),
        (bytes.len() / 2, "cut short"),
    ] {
        fs::write(&path, &bytes[..size]).unwrap();
        let error = folder.host().open_plugin("bad").unwrap_err();
        assert!(error.to_string().contains(says), "{error} should say {says}");
        assert_eq!(
            report(&folder.host(), "bad").state,
            PluginState::Listed,
            "looked at only when it is asked for"
        );
    }
    fs::write(&path, &bytes).unwrap();
    assert!(folder.host().open_plugin("bad").is_ok());
}

#[test]
fn load_l2_a_library_that_was_exchanged_since_it_was_opened_is_not_taken_for_the_new_one() {
    let folder = Folder::new();
    let path = folder.c("swapped", &["BAD=0", "NAME=\"swapped\""]);
    assert!(folder.host().open_plugin("swapped").is_ok());
    assert!(folder.host().open_plugin("swapped").is_ok(), "several hosts open one file");
    changed(&path);
    let error = folder.host().open_plugin("swapped").unwrap_err();
    assert!(error.to_string().contains("another file of this name was opened before"), "{error}");
}

#[test]
fn lock_k3_a_library_is_opened_when_its_digest_is_the_one_that_the_lock_pins() {
    let folder = Folder::new();
    folder.c("bad", &["BAD=0", "NAME=\"pinned\""]);
    let good = folder.path().join("bad.so");
    let plain = chipdock_host::discovery::discover(&folder.options()).unwrap();
    let lock = PluginLock::of(&plain).unwrap();
    let pinned = lock.plugins().next().unwrap().sha256.clone();
    let locked = || {
        Host::new(HostOptions { locked: Some(std::sync::Arc::new(lock.clone())), ..folder.options() })
            .unwrap()
    };
    changed(&good);
    let found = manifest::sha256_of(&good).unwrap();
    let error = locked().open_plugin("bad").unwrap_err();
    for says in [&pinned, &found] {
        assert!(error.to_string().contains(says), "{error} should say {says}");
    }
    assert_eq!(error.subject(), Some(Subject::Plugin));
    assert_eq!(report(&locked(), "bad").problem, None, "LOCK-K3: nothing is read until it is asked for");
    let bytes = fs::read(&good).unwrap();
    fs::write(&good, &bytes[..bytes.len() - 1]).unwrap();
    let opened = locked().open_plugin("bad").unwrap();
    assert_eq!(opened.name, "pinned", "its descriptor's");
}
