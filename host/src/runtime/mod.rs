//! Run time: devices, streams, tensors, workspace, modules, functions, and the environment of
//! compiled code.

mod capabilities;
mod capture;
mod copy;
mod described;
mod device;
mod device_state;
mod env;
pub mod extents;
mod external;
mod function;
mod graph;
mod host_calls;
mod importing;
mod interrupt;
mod launching;
mod mapped;
mod mappings;
mod memory;
mod memory_kind;
mod module;
mod ordered;
mod parallel;
mod pool;
mod questions;
mod queued;
mod registering;
pub(crate) mod sort;
mod spaces;
mod tables;
mod tensor;
mod timeline;
mod timer;
mod turns;
mod workspace;

pub use capabilities::{Capabilities, MemoryCapability};
pub use device::{Device, Stream, StreamGuard};
pub(crate) use device_state::{DeviceState, Devices, no_such_device};
pub(crate) use env::EnvState;
#[cfg(test)]
pub(crate) use env::LIVE as LIVE_ENVIRONMENTS;
pub use external::NativeData;
pub use function::{Function, Plain};
pub use graph::{Graph, Recording};
pub use interrupt::{CallOptions, OnAsk};
pub use launching::{Kernel, LaunchArg};
pub use mapped::Mapped;
pub use memory::MemoryOptions;
pub use memory_kind::MemoryKind;
pub(crate) use module::{Made, check_environment, with_raw};
pub use module::{Module, Verdict};
pub(crate) use parallel::{Threads, size::wanted as wanted_threads};
pub use registering::ProgramFunction;
pub(crate) use tables::{answered, broken};
pub use tensor::{Tensor, dtype_of};
pub use timeline::{Order, Timeline};
pub use timer::Mark;

#[cfg(test)]
mod build_tests;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timeline_tests;
#[cfg(test)]
pub(crate) mod toy_for_tests;
