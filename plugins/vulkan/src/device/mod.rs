//! The devices of Vulkan: how they are found and opened, their memory, their streams.

pub(crate) mod attributes;
mod copy;
mod discovery;
mod entry;
mod error;
mod features;
mod gpu;
mod hardware;
mod limits;
mod mark;
mod memory;
mod point;
mod queue;
mod staging;

pub(crate) use copy::{End, copy_across, copy_within};
pub(crate) use entry::VALIDATION;
pub(crate) use error::OrFailed;
#[cfg(test)]
pub(crate) use gpu::Means;
pub(crate) use gpu::{Buffer, Gpu, Request};
pub(crate) use hardware::{DEVICE_TYPE, Device, Hardware, NAME, Opened};
pub(crate) use limits::{Limits, Properties};
pub(crate) use mark::nanoseconds_between;
pub(crate) use memory::Space;
#[cfg(test)]
pub(crate) use queue::DEPTH;
pub(crate) use queue::{Keep, Queue, Work};
