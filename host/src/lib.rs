//! The host: discovery, loader, registry, targets, compilation and run time.
//!
//! (The public face as it is being built; signatures are kept.)
//!
//! ```ignore
//! let host = Host::new(HostOptions::default())?;                    // finds plugins, opens none; Clone shares it
//! host.plugins() -> Vec<PluginReport>                               // every candidate met, with its state and reason
//! host.places() -> &[SearchedPlace]
//! host.open_plugin(name) -> Result<PluginReport, Error>             // opens now (for --check)
//! host.keys() -> Vec<KeyReport>                                     // every key, who provides it, without opening
//! host.target_kinds() -> Result<Vec<Arc<TargetKind>>, Error>        // from manifests
//! host.target("c") / host.target(json) -> Result<Arc<Target>, Error>
//! host.default_host() -> Result<Arc<Target>, Error>
//! host.device_names() -> Vec<String>                                // every device_api.<name>
//! host.device_count(name) -> Result<i32, Error>
//! host.device("cpu", 0) -> Result<Device, Error>
//! host.compile(&ir_module, &target, &CompileOptions::default()) -> Result<Compiled, Error>
//! compiled.artifact: Arc<Artifact>, .target, .host: Arc<Target>, .lowered: IrModule, .diagnostics
//! host.load(&compiled.artifact) -> Result<Module, Error>            // an artifact nobody loads is no error: calling it is
//! module.function_names(), module.function("add") -> Result<Function, Error>
//! function.call(&[AnyView]) -> Result<Any, Error>                   // values of chipdock-plugin-api, re-exported
//! let tensor = Tensor::zeros(&device, &[4, 8], DType::FLOAT32)?;    // also empty, from_bytes
//! tensor.copy_from_bytes(&bytes)?; tensor.to_bytes() -> Result<Vec<u8>, Error>; tensor.to_device(&other)?
//! AnyView::from(&tensor), 3_i64.into(), 1.5_f64.into()
//! device.attribute("name") -> Result<Option<Value>, Error>; device.sync()?
//! ```

pub mod artifact;
mod attest;
pub mod discovery;
mod error;
mod host;
mod loader;
pub mod manifest;
mod options;
mod problem;
mod registrar;
mod registry;
mod runtime;
mod services;
mod target;
mod text;

pub use chipdock_plugin_api::{Any, AnyView};
pub use error::{Category, Error, ErrorKind, Fault};
pub use host::Host;
pub use options::{Environment, HostOptions, LogLevel, LogSink};
pub use problem::{Problem, ProblemKind};
pub use registry::{HOST_PLUGIN, KeyReport, PluginReport, PluginState};
pub use runtime::{Device, Function, Module, Stream, StreamGuard, Tensor, Verdict, dtype_of};
pub use target::TargetSource;
