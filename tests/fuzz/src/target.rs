//! Fuzz target for the reader of targets, with the kinds of the plugins of this repository.

use std::sync::OnceLock;

use chipdock_host::{Error, Fault, Host, HostOptions, TargetSource};
use chipdock_ir::Target;

/// Returns a host with only the plugins that were built for tests.
///
/// # Panics
///
/// If there is none: a run without plugins proves nothing.
pub(crate) fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let plugins = chipdock_test_support::command::built().plugins.clone();
        let options = HostOptions { plugin_paths: vec![plugins], ..HostOptions::isolated() };
        let host = Host::new(options).unwrap_or_else(|error| panic!("{error}"));
        let kinds = host.target_kinds();
        assert!(!kinds.is_empty(), "no plugin has a target kind");
        // Opened now: what a plugin allocates once counts with no input.
        kinds.iter().for_each(|(kind, _)| drop(host.target(kind.name.as_str())));
        host
    })
}

/// Checks FUZZ-F2: the error is not a bug, and has a message.
///
/// # Panics
///
/// If it is a bug, or has no message.
pub(crate) fn is_refusal(error: &Error) {
    assert!(error.fault() != Fault::Bug, "FUZZ-F2: {error}");
    let shown = error.to_string();
    assert!(!shown.is_empty() && shown.len() < 100_000, "FUZZ-F2: {} bytes of an error", shown.len());
}

/// Reads bytes as a target.
///
/// # Panics
///
/// If a promise is broken.
pub fn target(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let target = match host().target(text) {
        Ok(target) => target,
        Err(error) => return is_refusal(&error),
    };
    let json = target.target().to_json();
    let canonical = Target::from_canonical_json(&json)
        .unwrap_or_else(|error| panic!("FUZZ-F3: what was written cannot be read: {error}\n{json}"));
    assert!(
        canonical == **target.target(),
        "FUZZ-F3: read back it differs: {canonical:?}, {:?}",
        target.target()
    );
    for source in [TargetSource::Json(json.clone()), TargetSource::Text(json.to_string())] {
        let again = host()
            .target(source)
            .unwrap_or_else(|error| panic!("FUZZ-F3: what is canonical is refused: {error}\n{json}"));
        assert!(again.id() == target.id(), "FUZZ-F3: canonical twice it differs: {}\n{json}", again.json());
    }
}
