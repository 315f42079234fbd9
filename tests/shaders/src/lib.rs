//! What strangers say of the texts of targets without a device here: MSL is compiled as C++ with a header in place of
//! Metal's library and run, a block as fibres of one thread; WGSL is read, validated and translated by naga.

pub mod kernels;
pub mod msl;
pub mod wgsl;

use std::path::Path;
use std::sync::Arc;

use chipdock_host::{CompileOptions, Host, HostOptions};
use chipdock_ir::{IrModule, Target};

/// A module built for a target: the device's part.
#[derive(Debug)]
pub struct Shader {
    /// What the code generator was given.
    pub module: IrModule,
    /// The artifact's index.
    pub index: serde_json::Value,
    /// The text.
    pub source: String,
}

/// A host over the plugins that were built.
///
/// # Panics
///
/// When there is none.
#[must_use]
pub fn host() -> Host {
    let plugins: &Path = &chipdock_cli_tests::built().plugins;
    let options = HostOptions { plugin_paths: vec![plugins.to_owned()], ..HostOptions::isolated() };
    #[expect(clippy::panic, reason = "a test without plugins proves nothing and has to fail")]
    Host::new(options).unwrap_or_else(|error| panic!("{error}"))
}

/// Builds a module for a target; none when it has nothing for a device.
///
/// # Errors
///
/// What the passes or the code generator say.
pub fn build(host: &Host, module: &IrModule, target: &Arc<Target>) -> Result<Option<Shader>, String> {
    let compiled =
        host.compile(module, target, &CompileOptions::default()).map_err(|error| error.to_string())?;
    let Some((_, device)) = compiled.lowered_devices.first() else { return Ok(None) };
    let artifact = compiled.artifact.imports().first().ok_or("the artifact imports nothing")?;
    let index = serde_json::from_str(artifact.index_json()).map_err(|error| error.to_string())?;
    let source = artifact.source().ok_or("the artifact has no source")?.to_owned();
    Ok(Some(Shader { module: device.clone(), index, source }))
}
