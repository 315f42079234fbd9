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
pub mod discovery;
mod error;
pub mod manifest;
mod options;
mod problem;
#[cfg_attr(not(test), expect(dead_code, reason = "the host that uses it comes next"))]
mod target;

pub use error::{Category, Error, ErrorKind, Fault};
pub use options::{Environment, HostOptions, LogLevel, LogSink};
pub use problem::{Problem, ProblemKind};
pub use target::TargetSource;
