//! The plugin through the bare tables, with a host of the suite's own: what is found here is what the boundary carries,
//! with nothing of `chipdock-host` in between.

mod device;
mod host;
mod plugin;

pub use device::{Device, NO_HINT, Space, host_end};
pub use host::{Logged, SuiteHost};
pub use plugin::{Descriptor, OpenError, Plugin, Table};
