//! Interface `timer` 1: markers of the driver, whose events record the time at which all earlier
//! work was done.

use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::timer::{Mark, TIMER, Timer};
use chipdock_plugin_api::{Context, Error, ErrorKind, Stream, ensure, register_interface};

use crate::error::failed_later;
use crate::hardware::Hardware;

register_interface!("device_api.opencl", TIMER, |context: &Context| -> Box<dyn Timer> {
    Box::new(OpenClTimer(context.state::<Hardware>()))
});

/// Measures the time of work on streams.
pub(crate) struct OpenClTimer(pub(crate) Arc<Hardware>);

impl Timer for OpenClTimer {
    unsafe fn mark(&self, device_id: i32, stream: Stream) -> Result<Mark, Error> {
        let device = self.0.device(device_id)?;
        let queue = device.timed_stream(stream.into_raw().addr())?;
        ensure!(
            queue.raw().is_timed(),
            ErrorKind::UNSUPPORTED,
            "{}: the stream's queue was made without CL_QUEUE_PROFILING_ENABLE, so its events tell no times",
            device.name()
        );
        Ok(Mark::from_raw(ptr::without_provenance_mut(device.marks.add(queue.mark()?))))
    }

    unsafe fn elapsed(&self, device_id: i32, from: Mark, to: Mark) -> Result<f64, Error> {
        let device = self.0.device(device_id)?;
        let event = |mark: Mark| device.marks.get(mark.into_raw().addr(), device.name());
        let (from, to) = (event(from)?, event(to)?);
        let what = || format!("{}: waiting for a mark", device.name());
        let never = |code| failed_later(what(), code);
        for event in [&from, &to] {
            event.wait().map_err(never)?;
        }
        device.check()?;
        // A driver records no time for a marker after failed work, either.
        let (start, end) = (from.ended_at().map_err(never)?, to.ended_at().map_err(never)?);
        Ok((i128::from(end) - i128::from(start)) as f64)
    }

    unsafe fn free_mark(&self, device_id: i32, mark: Mark) -> Result<(), Error> {
        let device = self.0.devices.get(device_id)?;
        device.marks.take(mark.into_raw().addr(), device.name())?;
        device.check()
    }
}
