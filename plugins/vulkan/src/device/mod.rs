//! The devices of Vulkan: how they are found and opened, their memory, their streams.

mod discovery;
mod entry;
mod error;
mod features;
mod gpu;
mod hardware;
mod limits;
mod memory;
mod point;
mod queue;
mod staging;

pub(crate) use entry::VALIDATION;
pub(crate) use error::OrFailed;
pub(crate) use gpu::{Buffer, Gpu, Request};
pub(crate) use hardware::{DEVICE_TYPE, Device, Hardware, NAME, Opened};
pub(crate) use limits::{Limits, Properties};
pub(crate) use memory::Space;
pub(crate) use queue::{Keep, Queue, Work};
