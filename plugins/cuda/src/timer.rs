//! Interface `timer` 1: events of the driver.

use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::timer::{Mark, TIMER, Timer};
use chipdock_plugin_api::{Context as PluginContext, Error, Stream, register_interface};
use cudarc::driver::sys::{CUevent, CUevent_flags_enum};

use crate::driver::{self, Context, Failure, raw_stream};
use crate::hardware::Hardware;

register_interface!("device_api.cuda", TIMER, |context: &PluginContext| -> Box<dyn Timer> {
    Box::new(CudaTimer(context.state::<Hardware>()))
});

/// An event that records the time; destroyed when this is dropped, reached or not.
pub(crate) struct Event {
    context: Arc<Context>,
    raw: CUevent,
}

// SAFETY: a handle; the driver has its own locks.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Records an event after the work currently queued on the stream.
    fn record(context: &Arc<Context>, stream: Option<&driver::Stream>) -> Result<Self, Failure> {
        Self::recorded(context, stream, CUevent_flags_enum::CU_EVENT_DEFAULT)
    }

    /// Records an event that does not record the time.
    pub(crate) fn record_untimed(
        context: &Arc<Context>,
        stream: Option<&driver::Stream>,
    ) -> Result<Self, Failure> {
        Self::recorded(context, stream, CUevent_flags_enum::CU_EVENT_DISABLE_TIMING)
    }

    fn recorded(
        context: &Arc<Context>,
        stream: Option<&driver::Stream>,
        flags: CUevent_flags_enum,
    ) -> Result<Self, Failure> {
        let mut event = Self { context: Arc::clone(context), raw: ptr::null_mut() };
        let flags = flags as u32;
        // SAFETY: a valid place to write to.
        context.call("cuEventCreate", |api| unsafe { (api.event_create)(&mut event.raw, flags) })?;
        let stream = raw_stream(stream);
        // SAFETY: a live event and a live stream of this context.
        context.call("cuEventRecord", |api| unsafe { (api.event_record)(event.raw, stream) })?;
        Ok(event)
    }

    /// Returns true if it is reached.
    pub(crate) fn is_reached(&self) -> Result<bool, Failure> {
        // SAFETY: a live event.
        match self.context.call("cuEventQuery", |api| unsafe { (api.event_query)(self.raw) }) {
            Ok(()) => Ok(true),
            Err(failure) if failure.is_not_ready() => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Makes later work of a stream wait for it.
    pub(crate) fn delay(&self, stream: Option<&driver::Stream>) -> Result<(), Failure> {
        let stream = raw_stream(stream);
        // SAFETY: a live event and a live stream of this context.
        self.context.call("cuStreamWaitEvent", |api| unsafe { (api.stream_wait_event)(stream, self.raw, 0) })
    }

    fn synchronize(&self) -> Result<(), Failure> {
        // SAFETY: a live event.
        self.context.call("cuEventSynchronize", |api| unsafe { (api.event_synchronize)(self.raw) })
    }

    /// Time from this event to another, in nanoseconds; both must have been reached.
    fn until(&self, other: &Self) -> Result<f64, Failure> {
        let mut milliseconds = 0.0;
        // SAFETY: a valid place to write to, and live events.
        self.context.call("cuEventElapsedTime", |api| unsafe {
            (api.event_elapsed)(&mut milliseconds, self.raw, other.raw)
        })?;
        Ok(f64::from(milliseconds) * 1e6)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: created by this value, destroyed once.
            self.context.release(|api| unsafe { (api.event_destroy)(self.raw) });
        }
    }
}

/// Measures the time of work on streams.
pub(crate) struct CudaTimer(pub(crate) Arc<Hardware>);

impl Timer for CudaTimer {
    unsafe fn mark(&self, device_id: i32, stream: Stream) -> Result<Mark, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        let event = device.checked(Event::record(&device.context()?, stream.as_deref()))?;
        Ok(Mark::from_raw(ptr::without_provenance_mut(device.marks.add(event))))
    }

    unsafe fn elapsed(&self, device_id: i32, from: Mark, to: Mark) -> Result<f64, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let event = |mark: Mark| device.marks.get(mark.into_raw().addr(), &device.name);
        let (from, to) = (event(from)?, event(to)?);
        device.checked(from.synchronize())?;
        device.checked(to.synchronize())?;
        device.checked(from.until(&to))
    }

    unsafe fn free_mark(&self, device_id: i32, mark: Mark) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        device.marks.take(mark.into_raw().addr(), &device.name)?;
        device.check()
    }
}
