//! Every backend present against the reference interpreter, through `dlopen` as a user has it.
//!
//! The plugins are those of `CHIPDOCK_TEST_PLUGINS`; without it they are built first, since `cargo test` builds no
//! cdylib and would judge yesterday's. A run that finds no plugin fails.

#![expect(clippy::panic, reason = "a test without plugins proves nothing and has to fail")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use chipdock_host::{Host, HostOptions};
use chipdock_xtask::runner::backends::{Backend, present};

/// The folder with the plugins and their manifests.
///
/// # Panics
///
/// When they cannot be built.
pub fn plugins() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        if let Some(folder) = std::env::var_os("CHIPDOCK_TEST_PLUGINS") {
            return folder.into();
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["xtask", "plugins"]).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let output = command.output().unwrap_or_else(|error| panic!("cargo xtask plugins: {error}"));
        assert!(output.status.success(), "cargo xtask plugins: {}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    })
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
