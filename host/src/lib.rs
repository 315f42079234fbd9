//! The host: discovery, loader, registry, targets, compilation and run time.

pub mod artifact;
pub mod discovery;
mod error;
pub mod manifest;
mod options;
mod problem;
mod target;

pub use error::{Category, Error, ErrorKind, Fault};
pub use options::{Environment, HostOptions, LogLevel, LogSink};
pub use problem::{Problem, ProblemKind};
pub use target::TargetSource;
