//! Interface `timer` 1: marks that record the time at which their stream reaches them.

use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Instant;

use chipdock_plugin_api::kit::{lock, wait};
use chipdock_plugin_api::timer::{Mark, Timer};
use chipdock_plugin_api::{Error, ErrorKind, Stream};

use crate::fault;
use crate::hardware::{Device, Hardware};

/// State and time of a mark.
#[derive(Clone, Copy)]
enum Reached {
    NotYet,
    At(Instant),
    Never,
}

/// A mark. Queued work keeps it alive, so that it may be freed before it is reached.
pub(crate) struct Point {
    stream: usize,
    reached: Mutex<Reached>,
    changed: Condvar,
}

impl Point {
    fn set(&self, reached: Reached) {
        *lock(&self.reached) = reached;
        self.changed.notify_all();
    }

    fn wait(&self) -> Result<Instant, Error> {
        let mut reached = lock(&self.reached);
        loop {
            match *reached {
                Reached::At(time) => return Ok(time),
                Reached::Never => {
                    let why = "the mark is never reached: its stream or its device was lost first";
                    return Err(Error::new(ErrorKind::IO, why));
                }
                Reached::NotYet => {
                    reached = wait(&self.changed, reached);
                }
            }
        }
    }
}

/// Queued part of a mark: if the work is dropped, it notifies the waiting threads.
struct Ahead(Arc<Point>);

impl Drop for Ahead {
    fn drop(&mut self) {
        if matches!(*lock(&self.0.reached), Reached::NotYet) {
            self.0.set(Reached::Never);
        }
    }
}

/// Stores a mark and returns its handle.
fn keep(device: &Device, mark: Arc<Point>) -> usize {
    static FIRST: OnceLock<usize> = OnceLock::new();
    let handle = device.marks.add(mark);
    // N.1: each mark goes by the same handle.
    if fault::is("marks-share-a-handle") { *FIRST.get_or_init(|| handle) } else { handle }
}

fn point(device: &Device, mark: Mark) -> Result<Arc<Point>, Error> {
    Ok(Arc::clone(&*device.marks.get(mark.into_raw().addr(), &device.name)?))
}

/// Implementation of `timer` 1, which measures work on streams.
pub(crate) struct ReferenceTimer(pub(crate) Arc<Hardware>);

impl ReferenceTimer {
    /// Fault against N.15: a device that does not exist is taken for the last one.
    fn device_id(device_id: i32) -> i32 {
        if fault::is("timer-of-any-device") { device_id.rem_euclid(2) } else { device_id }
    }
}

impl Timer for ReferenceTimer {
    unsafe fn mark(&self, device_id: i32, stream: Stream) -> Result<Mark, Error> {
        let device_id = Self::device_id(device_id);
        let device = self.0.device(device_id)?;
        let handle = stream.into_raw().addr();
        let queue = self.0.streams(device_id)?.get(handle)?;
        let state =
            Arc::new(Point { stream: handle, reached: Mutex::new(Reached::NotYet), changed: Condvar::new() });
        let called = Instant::now();
        let ahead = Ahead(Arc::clone(&state));
        let used = Arc::clone(device);
        let job = Box::new(move || {
            // N.4: the time of the call, whatever is queued.
            let time = if fault::is("mark-at-the-call") { called } else { Instant::now() };
            used.check()?;
            ahead.0.set(Reached::At(time));
            Ok(())
        });
        // N.8: what the stream keeps is forgotten.
        if fault::is("mark-forgets-a-failure") {
            let _ = queue.sync();
        }
        queue.push(job)?;
        // N.1: it waits for what is queued.
        if fault::is("mark-waits") {
            state.wait()?;
        }
        Ok(Mark::from_raw(std::ptr::without_provenance_mut(keep(device, state))))
    }

    unsafe fn elapsed(&self, device_id: i32, from: Mark, to: Mark) -> Result<f64, Error> {
        let device_id = Self::device_id(device_id);
        let device = self.0.device(device_id)?;
        let (from, to) = (point(device, from)?, point(device, to)?);
        let (start, end) = (from.wait()?, to.wait()?);
        device.check()?;
        let forth = end.saturating_duration_since(start).as_secs_f64();
        let back = start.saturating_duration_since(end).as_secs_f64();
        let seconds = match fault::planted() {
            // N.2: how far apart they are, whichever is the first.
            "elapsed-without-a-sign" => forth + back,
            // N.5: each stream counts from another time.
            "clocks-of-streams-differ" if from.stream != to.stream => forth - back - 1.0,
            _ => forth - back,
        };
        // N.3: picoseconds.
        let unit = if fault::is("elapsed-in-another-unit") { 1e12 } else { 1e9 };
        Ok(seconds * unit)
    }

    unsafe fn free_mark(&self, device_id: i32, mark: Mark) -> Result<(), Error> {
        let device_id = Self::device_id(device_id);
        let device = self.0.device_even_lost(device_id)?;
        // N.7: it can be used, and freed, as before.
        if fault::is("freed-mark-accepted") {
            return point(device, mark).map(drop);
        }
        let state = device.marks.take(mark.into_raw().addr(), &device.name)?;
        // P9.4: it is no mark any more, and kept.
        if fault::is("leak-per-mark") {
            std::mem::forget((state, vec![1_u8; 1 << 10]));
        }
        device.check()
    }
}
