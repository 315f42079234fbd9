//! The driver: the only modules of the device API that call Vulkan, besides those of launches
//! (`program::driver`).
//!
//! Objects are released once, and keep alive what they were made from. Commands are recorded into
//! command buffers that `device::Queue` has begun, and what they use is kept by the batch (VK-D11).

mod commands;
mod entry;
mod error;
mod features;
mod gpu;
mod host_memory;
mod limits;
mod point;
mod timestamp;

pub(crate) use commands::{DEVICE, HOST, Pool};
pub(crate) use entry::{DRIVER_PACKAGE, Found, Instance, VALIDATION, no_devices, unavailable};
pub(crate) use error::{OrFailed, failed, failed_later, name_of};
pub(crate) use features::source;
pub(crate) use gpu::{Buffer, Gpu, Means, Request};
pub(crate) use host_memory::{HostMemory, Stage};
pub(crate) use limits::{Known, Limits, Properties};
pub(crate) use point::{Fence, Point, Semaphore};
pub(crate) use timestamp::Timestamp;
