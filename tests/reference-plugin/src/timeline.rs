//! Interface `timeline` 1: signals are numbers of jobs of a queue, for which others wait.

use std::sync::Arc;
use std::time::Duration;

use chipdock_plugin_api::kit::{Events, TimelineTable};
use chipdock_plugin_api::timeline::{Order, Timeline, TimelinePoint, Timelines};
use chipdock_plugin_api::{Error, Stream};

use crate::fault;
use crate::hardware::Hardware;
use crate::stream::Queue;

/// A point in a queue: reached when so many of its jobs are done.
#[derive(Clone)]
pub(crate) struct Reached {
    queue: Arc<Queue>,
    ticket: u64,
}

impl Hardware {
    /// Returns the queue of a stream.
    pub(crate) fn queue(&self, device_id: i32, stream: Stream) -> Result<Arc<Queue>, Error> {
        self.streams(device_id)?.get(stream.into_raw().addr())
    }
}

impl Events for Hardware {
    type Event = Reached;

    fn timelines(&self, device_id: i32) -> Result<(&TimelineTable<Reached>, &str), Error> {
        let device = self.device_even_lost(device_id)?;
        Ok((&device.timelines, &device.name))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id).map(drop)
    }

    fn check_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        self.queue(device_id, stream).map(drop)
    }

    fn record(&self, device_id: i32, stream: Stream) -> Result<Reached, Error> {
        let queue = self.queue(device_id, stream)?;
        match fault::planted() {
            // N.26: what the stream keeps is forgotten.
            "signal-forgets-a-failure" => drop(queue.report()),
            _ => queue.report()?,
        }
        // N.19: the value is reached at once.
        let ticket = if fault::is("signal-at-the-call") { 0 } else { queue.ticket() };
        let reached = Reached { queue, ticket };
        // N.19: it waits for the work.
        if fault::is("signal-waits") {
            reached.queue.wait_for(ticket);
        }
        Ok(reached)
    }

    fn wait_on(&self, device_id: i32, stream: Stream, event: &Reached) -> Result<(), Error> {
        let queue = self.queue(device_id, stream)?;
        match fault::planted() {
            // N.21: what is queued next does not wait.
            "timeline-wait-does-nothing" => return Ok(()),
            // N.21: the caller waits.
            "timeline-wait-blocks" => {
                event.queue.wait_for(event.ticket);
                return Ok(());
            }
            _ => {}
        }
        let event = event.clone();
        queue.push(Box::new(move || {
            event.queue.wait_for(event.ticket);
            Ok(())
        }))
    }

    fn is_reached(&self, device_id: i32, event: &Reached) -> Result<bool, Error> {
        self.device(device_id)?;
        // N.23: it waits for what is queued.
        if fault::is("timeline-query-waits") {
            event.queue.wait_for(event.ticket);
        }
        Ok(event.queue.wait_at_most(event.ticket, Duration::ZERO))
    }

    fn wait_for(&self, device_id: i32, event: &Reached, most: Duration) -> Result<(), Error> {
        event.queue.wait_at_most(event.ticket, most);
        self.check_device(device_id)
    }
}

/// The timelines, with the faults in their answers.
pub(crate) struct ReferenceTimelines(Arc<Hardware>);

impl ReferenceTimelines {
    /// Makes the timelines of a host's hardware.
    pub(crate) fn new(hardware: Arc<Hardware>) -> Self {
        Self(hardware)
    }

    /// Fault against N.30: a device that does not exist is taken for the last one.
    fn device_id(device_id: i32) -> i32 {
        if fault::is("timeline-of-any-device") { device_id.rem_euclid(2) } else { device_id }
    }
}

impl Timelines for ReferenceTimelines {
    fn create(&self, device_id: i32, initial: u64) -> Result<Timeline, Error> {
        // N.18: each begins at 0.
        let initial = if fault::is("timeline-begins-at-zero") { 0 } else { initial };
        self.0.create(Self::device_id(device_id), initial)
    }

    unsafe fn free(&self, device_id: i32, timeline: Timeline) -> Result<(), Error> {
        let device_id = Self::device_id(device_id);
        match fault::planted() {
            // N.30: it can be used, and freed, as before.
            // SAFETY: as this function.
            "freed-timeline-accepted" => return unsafe { self.0.query(device_id, timeline) }.map(drop),
            // N.27: it waits for what is queued.
            "timeline-free-waits" => {
                let _ = self.0.streams(device_id)?.all().iter().try_for_each(|queue| queue.sync());
            }
            // P9.4: memory is kept for each.
            "leak-per-timeline" => std::mem::forget(vec![1_u8; 1 << 10]),
            _ => {}
        }
        // SAFETY: as this function.
        unsafe { self.0.free(device_id, timeline) }
    }

    unsafe fn check(&self, device_id: i32, stream: Stream, order: &Order) -> Result<(), Error> {
        // N.29: it is found out when the copy is queued.
        if fault::is("order-is-not-checked") {
            return Ok(());
        }
        // SAFETY: as this function.
        unsafe { self.0.check(device_id, stream, order) }
    }

    unsafe fn signal(&self, device_id: i32, stream: Stream, point: TimelinePoint) -> Result<(), Error> {
        // SAFETY: as this function.
        let signalled = unsafe { self.0.signal(Self::device_id(device_id), stream, point) };
        // N.20: a value that does not rise is a success.
        if fault::is("signals-may-fall") { Ok(()) } else { signalled }
    }

    unsafe fn wait(&self, device_id: i32, stream: Stream, point: TimelinePoint) -> Result<(), Error> {
        // SAFETY: as this function.
        let waits = unsafe { self.0.wait(Self::device_id(device_id), stream, point) };
        // N.22: what nobody signals is waited for by nobody.
        if fault::is("wait-without-a-signal") { Ok(()) } else { waits }
    }

    unsafe fn query(&self, device_id: i32, timeline: Timeline) -> Result<u64, Error> {
        // SAFETY: as this function.
        unsafe { self.0.query(Self::device_id(device_id), timeline) }
    }

    unsafe fn host_wait(
        &self,
        device_id: i32,
        point: TimelinePoint,
        timeout: Option<Duration>,
    ) -> Result<bool, Error> {
        match fault::planted() {
            // N.24: it says so without a look.
            "host-wait-returns-early" => return Ok(true),
            // N.24: the time does not count.
            "host-wait-ignores-the-time" if timeout.is_some() => {
                // SAFETY: as this function.
                return unsafe { self.0.host_wait(device_id, point, Some(Duration::from_secs(3))) };
            }
            _ => {}
        }
        // SAFETY: as this function.
        unsafe { self.0.host_wait(Self::device_id(device_id), point, timeout) }
    }

    unsafe fn host_signal(&self, device_id: i32, point: TimelinePoint) -> Result<(), Error> {
        // N.25: nothing happens.
        if fault::is("host-signal-does-nothing") {
            return Ok(());
        }
        // SAFETY: as this function.
        unsafe { self.0.host_signal(Self::device_id(device_id), point) }
    }
}
