//! Interface `timer` 1: timestamps that the device writes once all earlier work of a stream is
//! done.

use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::timer::{Mark, TIMER, Timer};
use chipdock_plugin_api::{Context, Error, Stream, register_interface};

use crate::device::{Hardware, nanoseconds_between};

register_interface!("device_api.vulkan", TIMER, |context: &Context| -> Box<dyn Timer> {
    Box::new(VulkanTimer(context.state::<Hardware>()))
});

/// Measures the time of work on streams.
pub(crate) struct VulkanTimer(pub(crate) Arc<Hardware>);

impl Timer for VulkanTimer {
    unsafe fn mark(&self, device_id: i32, stream: Stream) -> Result<Mark, Error> {
        let handle = self.0.device(device_id)?.mark(stream.into_raw().addr())?;
        Ok(Mark::from_raw(ptr::without_provenance_mut(handle)))
    }

    unsafe fn elapsed(&self, device_id: i32, from: Mark, to: Mark) -> Result<f64, Error> {
        let device = self.0.device(device_id)?;
        let mark = |mark: Mark| device.marks.get(mark.into_raw().addr(), device.name());
        let (from, to) = (mark(from)?, mark(to)?);
        let found = nanoseconds_between(&from, &to);
        device.check()?;
        found
    }

    unsafe fn free_mark(&self, device_id: i32, mark: Mark) -> Result<(), Error> {
        let device = self.0.devices().get(device_id)?;
        device.marks.take(mark.into_raw().addr(), device.name())?;
        device.check()
    }
}
