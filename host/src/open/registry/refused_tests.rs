//! REG-R7: every entry gives the same reason for a refused plugin, whatever it was refused for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::open::lock::PluginLock;
use crate::open::problem::ProblemKind;
use crate::{DeviceChoice, Host, HostOptions, TargetRequest};

/// Keys of the plugin that is refused.
const KEYS: &str =
    r#"["device_api.npu", "target.kind.npu", "target.build.npu", "module.load.npu", "function.npu.count"]"#;

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A plugin `npu` with more fields in its manifest; the library is empty, as nothing here is ever
/// opened.
fn plugin(folder: &Path, more: &str) {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let kind = r#"{"schema": 1, "name": "npu", "doc": "", "device": "npu", "stage": "device"}"#;
    let manifest = format!(
        r#"{{"schema": 1, "name": "npu", "version": "0.1.0", "abi": "1", "os": "{os}", "arch": "{arch}",
            "provides": {KEYS}, "target_kinds": [{kind}]{more}}}"#
    );
    write(&folder.join("npu.chipdock.json"), &manifest, 0o644);
    write(&folder.join("npu.so"), "", 0o755);
}

/// A host that refuses plugin `npu` for that problem.
fn host(folder: &Path, problem: ProblemKind) -> Host {
    let options = HostOptions { plugin_paths: vec![folder.to_owned()], ..HostOptions::isolated() };
    plugin(folder, "");
    match problem {
        ProblemKind::Untrusted => write(&folder.join("npu.so"), "", 0o777),
        ProblemKind::NoLibrary => fs::remove_file(folder.join("npu.so")).unwrap(),
        ProblemKind::Unmet => plugin(folder, r#", "needs": {"cpu_features": ["no-such-feature"]}"#),
        ProblemKind::MissingKey => plugin(folder, r#", "needs": {"keys": ["device_api.of_nobody"]}"#),
        _ => {}
    }
    let options = match problem {
        ProblemKind::Disabled => HostOptions { disable: vec!["npu".to_owned()], ..options },
        ProblemKind::NotSelected => HostOptions { select: vec!["other".to_owned()], ..options },
        ProblemKind::NotLocked => {
            let lock =
                PluginLock::of(&crate::open::discovery::discover(&HostOptions::isolated()).unwrap()).unwrap();
            HostOptions { locked: Some(Arc::new(lock)), ..options }
        }
        _ => options,
    };
    let host = Host::new(options).unwrap();
    let report = host.plugins().remove(0);
    assert_eq!(report.problem.as_ref().map(|found| found.kind), Some(problem), "{report:?}");
    host
}

/// Asks each entry of the host for something of the plugin.
fn answers(host: &Host) -> Vec<(&'static str, Error)> {
    let on_device = TargetRequest::new("npu").device(DeviceChoice::First);
    let named = DeviceChoice::Named { name: "npu".to_owned(), id: 0 };
    let of_other = TargetRequest::new("gadget").device(named.clone());
    vec![
        ("device", host.device("npu", 0).map(drop).unwrap_err()),
        ("device_count", host.device_count("npu").map(drop).unwrap_err()),
        ("target_kind", host.target_kind("npu").map(drop).unwrap_err()),
        ("target", host.target("npu").map(drop).unwrap_err()),
        ("usable_target", host.usable_target("npu").map(drop).unwrap_err()),
        ("resolve", host.target("npu").map(drop).unwrap_err()),
        ("resolve, a device of the kind", host.target(on_device).map(drop).unwrap_err()),
        (
            "resolve, a device by name",
            host.target(TargetRequest::default().device(named)).map(drop).unwrap_err(),
        ),
        ("resolve, a device of another kind", host.target(of_other).map(drop).unwrap_err()),
        ("function", host.function("npu.count").map(drop).unwrap_err()),
        ("open_plugin", host.open_plugin("npu").map(drop).unwrap_err()),
    ]
}

#[test]
fn reg_r7_each_entry_says_why_a_plugin_was_refused() {
    use ProblemKind::{Disabled, MissingKey, NoLibrary, NotLocked, NotSelected, Unmet, Untrusted};
    for problem in [Untrusted, NotLocked, NoLibrary, Unmet, MissingKey, Disabled, NotSelected] {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), problem);
        let reason = host.plugins().remove(0).problem.unwrap().message;
        for (entry, error) in answers(&host) {
            let text = error.to_string();
            assert_eq!(*error.kind(), ErrorKind::Unavailable, "{problem:?}, {entry}: {text}");
            assert!(text.contains(&reason), "{problem:?}, {entry}: {text}\nexpected: {reason}");
        }
        let keys = host.keys();
        let refused = keys.iter().find(|report| report.key == "device_api.npu");
        let expected = (!problem.is_left_out()).then(|| vec!["npu".to_owned()]);
        assert_eq!(refused.map(|report| report.refused.clone()), expected, "{problem:?}");
        assert_eq!(host.device_names().contains(&"npu".to_owned()), !problem.is_left_out(), "{problem:?}");
        assert!(host.target_kinds().iter().all(|(kind, _)| kind.name != "npu"), "{problem:?}");
    }
}

/// A preference for a refused plugin has its reason too.
#[test]
fn reg_r7_a_preferred_plugin_that_was_refused_says_why() {
    let folder = tempfile::tempdir().unwrap();
    drop(host(folder.path(), ProblemKind::Untrusted));
    let prefer = vec![("device_api.npu".to_owned(), "npu".to_owned())];
    let plugin_paths = vec![folder.path().to_owned()];
    let host = Host::new(HostOptions { plugin_paths, prefer, ..HostOptions::isolated() }).unwrap();
    let error = host.device("npu", 0).map(drop).unwrap_err();
    assert!(error.to_string().contains("may be written by group or others"), "{error}");
}

/// What a plugin would provide whose manifest was not read is unknown: the reason is where its name
/// would be.
#[test]
fn reg_r7_a_manifest_that_was_not_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    plugin(folder.path(), "");
    fs::set_permissions(folder.path().join("npu.chipdock.json"), fs::Permissions::from_mode(0o666)).unwrap();
    let options = HostOptions { plugin_paths: vec![folder.path().to_owned()], ..HostOptions::isolated() };
    let host = Host::new(options).unwrap();
    for error in
        [host.device("npu", 0).map(drop).unwrap_err(), host.open_plugin("other").map(drop).unwrap_err()]
    {
        assert!(error.to_string().contains("may be written by group or others"), "{error}");
    }
}
