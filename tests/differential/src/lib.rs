//! Every backend present against the reference interpreter, through `dlopen` as a user has it.
//!
//! The plugins are those of `CHIPDOCK_TEST_PLUGINS`; without it they are built first, since `cargo test` builds no
//! cdylib and would judge yesterday's. A run that finds no plugin fails.

#![expect(clippy::panic, reason = "a test without plugins proves nothing and has to fail")]

use std::path::Path;

use chipdock_host::{Host, HostOptions};
use chipdock_xtask::runner::backends::{Backend, present};

/// The folder with the plugins and their manifests.
///
/// # Panics
///
/// When they cannot be built.
#[must_use]
pub fn plugins() -> &'static Path {
    &chipdock_cli_tests::built().plugins
}

/// A host over these plugins alone.
///
/// # Panics
///
/// When it finds none.
#[must_use]
pub fn host() -> Host {
    let options = HostOptions { plugin_paths: vec![plugins().to_owned()], ..HostOptions::isolated() };
    let host = Host::new(options).unwrap_or_else(|error| panic!("{error}"));
    let found = host.plugins().iter().filter(|plugin| plugin.library.starts_with(plugins())).count();
    assert!(found > 0, "no plugin in {}", plugins().display());
    host
}

/// The backends that can be used.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn backends(host: &Host) -> Vec<Backend> {
    let (usable, unusable) = present(host).unwrap_or_else(|error| panic!("{error}"));
    assert!(!usable.is_empty(), "no backend can be used: {unusable:?}");
    usable
}
