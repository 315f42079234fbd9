//! The host: it finds plugins, opens the ones that are needed, compiles kernels with them and runs what comes out.
//!
//! The main job, from a kernel's text to its numbers:
//!
//! ```no_run
//! use chipdock_host::{CompileOptions, Host, HostOptions, Tensor};
//!
//! let text = std::fs::read_to_string("examples/kernels/vector_add.py")?;
//! let module = chipdock_script::parse(&text, "vector_add.py")?;
//!
//! let host = Host::new(HostOptions::default())?; // searches for plugins, opens none
//! let target = host.default_host()?; // or host.target(r#"{"kind": "...", "opt-level": 3}"#)?
//! let compiled = host.compile(&module, &target, &CompileOptions::default())?;
//! let add = host.load(&compiled.artifact)?.function("vector_add")?;
//!
//! let device = host.device("cpu", 0)?;
//! let a = Tensor::from_slice(&device, &[3], &[1.0_f32, 2.0, 3.0])?;
//! let b = Tensor::from_slice(&device, &[3], &[10.0_f32, 20.0, 30.0])?;
//! let sum = Tensor::zeros(&device, &[3], a.dtype())?;
//! add.call(&[(&a).into(), (&b).into(), (&sum).into()])?;
//! assert_eq!(sum.to_vec::<f32>()?, [11.0, 22.0, 33.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! | Module | What it holds to |
//! |---|---|
//! | [`discovery`] | D1 to D4: order, everything kept, trust, names |
//! | [`manifest`] | what a plugin says of itself without being opened |
//! | loader | L1 to L6: the checks of a library, all or nothing |
//! | registry | R1 to R4: lazy, one answer, for good, nothing hidden |
//! | target | T1 to T6: construction and checks of a [`Target`](chipdock_ir::Target) |
//! | compile | C1 to C4: validate once, ask before building, the lower version, nothing half-done |
//! | [`artifact`] | the container: whole and unchanged, or refused |
//! | runtime | devices, streams, tensors, workspace, modules, functions |
//! | runtime::parallel | F1 to F11: the threads that parallel loops of compiled code run on |
//!
//! # Rules of the whole
//!
//! * **W1** A plugin is opened when one of its names is first asked for, once for each host, and never closed in this
//!   process. Listing plugins, keys, target kinds and device names opens nothing that has a manifest.
//! * **W2** Nothing falls back silently: what was not used stands with its reason in [`Host::plugins`], what was passed
//!   over goes to the log.
//! * **W3** Every failure is an [`Error`]: a kind, whose [`Fault`] it is, what was expected and found, where, what to do.
//!   No input makes the host panic.
//! * **W4** Everything here may be used from several threads, but for the current stream, which each thread has of its
//!   own. A process that was forked from the one that made a host is refused.
//! * **W5** Devices, tensors, modules and functions keep their host. When the last is gone, its plugins are shut down and
//!   what they registered is released.

pub mod artifact;
mod attest;
mod compile;
pub mod discovery;
mod error;
mod host;
mod loader;
pub mod manifest;
mod options;
mod problem;
mod process;
mod registrar;
mod registry;
mod runtime;
mod services;
mod session;
mod target;

pub use chipdock_plugin_api::{Any, AnyView};
pub use compile::{CompileOptions, Compiled, Schedule};
pub use error::{Category, Error, ErrorKind, Fault};
pub use host::Host;
pub use options::{Environment, HostOptions, LogLevel, LogSink};
pub use problem::{Problem, ProblemKind};
pub use registry::{HOST_PLUGIN, KeyReport, PluginReport, PluginState};
pub use runtime::{Device, Function, Module, Stream, StreamGuard, Tensor, Verdict, dtype_of};
pub use session::{BuildMessage, Severity};
pub use target::TargetSource;
