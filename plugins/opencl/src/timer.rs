//! Interface `timer` 1: markers of the driver, whose events tell when all before them was done.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chipdock_plugin_api::timer::{Mark, TIMER, Timer};
use chipdock_plugin_api::{Context, Error, ErrorKind, Stream, ensure, register_interface};

use crate::driver::Event;
use crate::error::failed_later;
use crate::hardware::{Device, Hardware};

register_interface!("device_api.opencl", TIMER, |context: &Context| -> Box<dyn Timer> {
    Box::new(OpenClTimer(context.state::<Hardware>()))
});

/// Set in every handle of a mark; no address of a process has it, and no other handle.
const HANDLE_BIT: usize = 1 << 60;
/// Handles differ in the whole process, see those of streams.
static LAST_SERIAL: AtomicUsize = AtomicUsize::new(0);

/// The marks of one device that were not freed.
#[derive(Default)]
pub(crate) struct Marks(RwLock<HashMap<usize, Arc<Event>>>);

impl Marks {
    fn add(&self, event: Event) -> Mark {
        let handle = HANDLE_BIT | (LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1) << 4;
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(handle, Arc::new(event));
        Mark::from_raw(ptr::without_provenance_mut(handle))
    }

    fn get(&self, mark: Mark, device: &Device) -> Result<Arc<Event>, Error> {
        let marks = self.0.read().unwrap_or_else(PoisonError::into_inner);
        marks.get(&mark.into_raw().addr()).cloned().ok_or_else(|| unknown(mark, device))
    }

    fn remove(&self, mark: Mark, device: &Device) -> Result<Arc<Event>, Error> {
        let mut marks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        marks.remove(&mark.into_raw().addr()).ok_or_else(|| unknown(mark, device))
    }
}

fn unknown(mark: Mark, device: &Device) -> Error {
    Error::new(
        ErrorKind::WRONG_STATE,
        format!(
            "{:p} is no mark of {}: it was freed, or is another device's; expected one that this device made",
            mark.into_raw(),
            device.name()
        ),
    )
}

/// Times what runs on streams.
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
        Ok(device.marks.add(queue.mark()?))
    }

    unsafe fn elapsed(&self, device_id: i32, from: Mark, to: Mark) -> Result<f64, Error> {
        let device = self.0.device(device_id)?;
        let (from, to) = (device.marks.get(from, device)?, device.marks.get(to, device)?);
        let what = || format!("{}: waiting for a mark", device.name());
        let never = |code| failed_later(what(), code);
        for event in [&from, &to] {
            event.wait().map_err(never)?;
        }
        device.check()?;
        // A driver has no time for a marker behind work that failed, either.
        let (start, end) = (from.ended_at().map_err(never)?, to.ended_at().map_err(never)?);
        Ok((i128::from(end) - i128::from(start)) as f64)
    }

    unsafe fn free_mark(&self, device_id: i32, mark: Mark) -> Result<(), Error> {
        let device = self.0.device_even_lost(device_id)?;
        device.marks.remove(mark, device)?;
        device.check()
    }
}
