//! Timelines: values that rise as work is done, by interface `timeline` 1 of a device, or where its
//! plugin does not have that, by waits between its streams.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chipdock_abi::{
    CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, CHIPDOCK_EXTENSIONS_MAX, ChipdockExtension, ChipdockTimeline1,
    ChipdockTimelinePoint,
};
use chipdock_plugin_api::text::static_str;
use chipdock_plugin_api::timeline::{SIGNAL, WAIT};

use super::capture;
use super::device::{Device, Stream};
use super::device_state::DeviceState;
use super::queued::Held;
use super::tables::broken;
use crate::boundary::registrar::DeviceApiEntry;
use crate::error::{Error, ErrorKind};

/// A value of a device that only rises: streams signal it, and other streams and the host wait for
/// it.
///
/// Values are signalled in rising order. On a device without interface `timeline` 1
/// ([`Device::has_timelines`]) the host keeps the values: a wait of a stream is then a wait for the
/// streams that signal, and [`value`](Self::value) and [`wait`](Self::wait) synchronise these.
pub struct Timeline {
    device: Device,
    kind: Kind,
}

enum Kind {
    /// A handle of the plugin.
    Own(*mut c_void),
    Emulated(Arc<Emulated>),
}

// SAFETY: an opaque handle; an interface's functions may be called from any thread (P3.11).
unsafe impl Send for Timeline {}
// SAFETY: an opaque handle; an interface's functions may be called from any thread (P3.11).
unsafe impl Sync for Timeline {}

/// What a queued copy or launch waits for and signals, each a timeline of its stream's device and a
/// value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order<'a> {
    /// The values after which it begins: reached already, or signalled by what is queued.
    pub waits: &'a [(&'a Timeline, u64)],
    /// The values that are reached when it is done, each greater than every earlier one of its
    /// timeline.
    pub signals: &'a [(&'a Timeline, u64)],
}

impl DeviceApiEntry {
    /// Calls a function of interface `timeline` 1.
    fn timeline(
        &self,
        what: &str,
        call: impl FnOnce(&ChipdockTimeline1, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        self.call_interface("timeline", what, call, || {
            Error::new(
                ErrorKind::Internal,
                format!("device_api.{} lost its interface `timeline` 1", self.name),
            )
        })
    }
}

impl Device {
    /// Returns true if its plugin has the interface `timeline` 1; otherwise the host keeps its
    /// timelines.
    #[must_use]
    pub fn has_timelines(&self) -> bool {
        self.state().api.extensions.get::<ChipdockTimeline1>("timeline", 1).is_some()
    }

    /// Makes a timeline that has reached `initial`.
    ///
    /// # Errors
    ///
    /// `OutOfMemory` or `DeviceLost`: none was made.
    pub fn create_timeline(&self, initial: u64) -> Result<Timeline, Error> {
        let state = self.state();
        state.services.check_process()?;
        if !self.has_timelines() {
            let kind = Kind::Emulated(Arc::new(Emulated::new(initial)));
            return Ok(Timeline { device: self.clone(), kind });
        }
        let mut raw = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`, and a place to write to.
        state.api.timeline("create", |table, self_| unsafe {
            (table.create)(self_, state.id, initial, &mut raw)
        })?;
        if raw.is_null() {
            let name = &state.api.name;
            return Err(broken(format!("`create` of device_api.{name} succeeded and answered null")));
        }
        Ok(Timeline { device: self.clone(), kind: Kind::Own(raw) })
    }
}

impl Stream {
    /// Makes a timeline reach `value` when the work that the stream has is done; waits for nothing.
    ///
    /// # Errors
    ///
    /// `ValueError`: the value is not greater than every earlier one, or the timeline is another
    /// device's; a failure of earlier work on the stream.
    pub fn signal(&self, timeline: &Timeline, value: u64) -> Result<(), Error> {
        capture::refuse("a signal of a timeline")?;
        let state = timeline.state_for(self)?;
        match &timeline.kind {
            // SAFETY: P3.11, the table with its `self_`; a stream and a timeline of the device.
            Kind::Own(raw) => state.api.timeline("signal", |table, self_| unsafe {
                (table.signal)(self_, state.id, self.raw(), *raw, value)
            }),
            Kind::Emulated(emulated) => {
                emulated.signal(self.raw(), value)?;
                state.keep(self.raw(), Box::new(Signal(Arc::clone(emulated), value)))
            }
        }
    }

    /// Makes work that is queued later on the stream begin after the timeline has reached `value`;
    /// waits for nothing.
    ///
    /// # Errors
    ///
    /// `WrongState`: nothing that is queued signals that value or a greater one; `ValueError`: the
    /// timeline is another device's.
    pub fn wait(&self, timeline: &Timeline, value: u64) -> Result<(), Error> {
        capture::refuse("a wait of a stream")?;
        let state = timeline.state_for(self)?;
        match &timeline.kind {
            // SAFETY: P3.11, the table with its `self_`; a stream and a timeline of the device.
            Kind::Own(raw) => state.api.timeline("wait", |table, self_| unsafe {
                (table.wait)(self_, state.id, self.raw(), *raw, value)
            }),
            Kind::Emulated(emulated) => emulated.wait(state, self.raw(), value),
        }
    }
}

impl Timeline {
    /// Returns the device that it is of.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the state of the device, where a stream is of the same.
    fn state_for(&self, stream: &Stream) -> Result<&Arc<DeviceState>, Error> {
        let state = self.device.state();
        if !Arc::ptr_eq(state, stream.device().state()) {
            let message = format!(
                "a timeline of {:?} cannot be used on a stream of {:?}; expected one of the same device",
                self.device,
                stream.device()
            );
            return Err(Error::new(ErrorKind::Value, message));
        }
        state.services.check_process()?;
        Ok(state)
    }

    /// Returns the value that is reached. Work that failed counts as done; its stream reports the
    /// failure.
    ///
    /// # Errors
    ///
    /// `DeviceLost`. Without interface `timeline` 1: a failure of the streams that signal, which
    /// are synchronised.
    pub fn value(&self) -> Result<u64, Error> {
        let state = self.device.state();
        state.services.check_process()?;
        match &self.kind {
            Kind::Own(raw) => {
                let mut value = 0;
                // SAFETY: P3.11, the table with its `self_`; a timeline of the device, and a place
                // to write to.
                state.api.timeline("query", |table, self_| unsafe {
                    (table.query)(self_, state.id, *raw, &mut value)
                })?;
                Ok(value)
            }
            Kind::Emulated(emulated) => emulated.value(state),
        }
    }

    /// Waits until the timeline has reached `value` and returns true; or false when `timeout` has
    /// passed first, which without a timeout it never does. It may be called before the signal.
    ///
    /// # Errors
    ///
    /// As [`Self::value`].
    pub fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool, Error> {
        let state = self.device.state();
        state.services.check_process()?;
        match &self.kind {
            Kind::Own(raw) => {
                let nanoseconds = |timeout: Duration| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
                let (mut reached, most) = (0, timeout.map_or(u64::MAX, nanoseconds));
                // SAFETY: P3.11, the table with its `self_`; a timeline of the device, and a place
                // to write to.
                state.api.timeline("host_wait", |table, self_| unsafe {
                    (table.host_wait)(self_, state.id, *raw, value, most, &mut reached)
                })?;
                Ok(reached != 0)
            }
            Kind::Emulated(emulated) => emulated.host_wait(state, value, timeout),
        }
    }

    /// Makes the timeline reach `value`, at once or after the signals that are queued.
    ///
    /// # Errors
    ///
    /// `ValueError`: the value is not greater than every earlier one.
    pub fn set(&self, value: u64) -> Result<(), Error> {
        let state = self.device.state();
        state.services.check_process()?;
        match &self.kind {
            // SAFETY: P3.11, the table with its `self_`; a timeline of the device.
            Kind::Own(raw) => state.api.timeline("host_signal", |table, self_| unsafe {
                (table.host_signal)(self_, state.id, *raw, value)
            }),
            Kind::Emulated(emulated) => emulated.set(value),
        }
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        let Kind::Own(raw) = self.kind else { return };
        let state = self.device.state();
        if state.services.check_process().is_err() {
            return;
        }
        // SAFETY: P3.11, the table with its `self_`; a timeline of the device, freed once.
        let freed = state.api.timeline("free", |table, self_| unsafe { (table.free)(self_, state.id, raw) });
        state.warn_of(freed);
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Own(raw) => write!(f, "Timeline({raw:p} of {:?})", self.device),
            Kind::Emulated(emulated) => {
                write!(f, "Timeline({:p} of {:?})", Arc::as_ptr(emulated), self.device)
            }
        }
    }
}

impl Order<'_> {
    /// Returns true if there is nothing to wait for and nothing to signal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.signals.is_empty()
    }

    /// Calls `queue` so that what it queues on the stream is in this order: with a chain of
    /// extensions (N.28), or between calls of `wait` and `signal`.
    pub(super) fn queued(
        &self,
        stream: &Stream,
        mut queue: impl FnMut(*const ChipdockExtension) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.is_empty() {
            return queue(ptr::null());
        }
        capture::refuse("work that waits for timelines or signals them")?;
        for (timeline, _) in self.waits.iter().chain(self.signals) {
            timeline.state_for(stream)?;
        }
        if let Some(chain) = self.chain() {
            let first = chain.first().map_or(ptr::null(), |first| ptr::from_ref(first).cast());
            match queue(first) {
                // A loader that came before its devices' interface: by separate calls.
                Err(error) if *error.kind() == ErrorKind::Unsupported => {}
                done => return done,
            }
        }
        self.check_emulated()?;
        self.waits.iter().try_for_each(|(timeline, value)| stream.wait(timeline, *value))?;
        queue(ptr::null())?;
        self.signals.iter().try_for_each(|(timeline, value)| stream.signal(timeline, *value))
    }

    /// Returns the entries of a chain, linked; `None` where the plugin has no timelines, or there
    /// are too many.
    fn chain(&self) -> Option<Vec<ChipdockTimelinePoint>> {
        let size_bytes = size_of::<ChipdockTimelinePoint>() as u32;
        let entry = |name, (timeline, value): &(&Timeline, u64)| {
            let Kind::Own(raw) = timeline.kind else { return None };
            let (next, flags) = (ptr::null(), CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD);
            let extension = ChipdockExtension { next, name: static_str(name), flags, size_bytes };
            Some(ChipdockTimelinePoint { extension, timeline: raw, value: *value })
        };
        let waits = self.waits.iter().map(|point| entry(WAIT, point));
        let all = waits.chain(self.signals.iter().map(|point| entry(SIGNAL, point)));
        let mut all = all.collect::<Option<Vec<_>>>()?;
        if all.len() > CHIPDOCK_EXTENSIONS_MAX as usize {
            return None;
        }
        for index in 1..all.len() {
            all[index - 1].extension.next = ptr::from_ref(&all[index]).cast();
        }
        Some(all)
    }

    /// Refuses what the timelines that the host keeps would refuse, before anything is queued.
    fn check_emulated(&self) -> Result<(), Error> {
        for (timeline, value) in self.waits {
            if let Kind::Emulated(emulated) = &timeline.kind {
                emulated.lock().check_wait(*value)?;
            }
        }
        for (index, (timeline, value)) in self.signals.iter().enumerate() {
            let Kind::Emulated(emulated) = &timeline.kind else { continue };
            let is_same = |other: &&(&Timeline, u64)| matches!(&other.0.kind, Kind::Emulated(known) if Arc::ptr_eq(known, emulated));
            let before = self.signals[..index].iter().filter(is_same).map(|(_, value)| *value).next_back();
            let last = before.unwrap_or(emulated.lock().last);
            check_signal(last, *value)?;
        }
        Ok(())
    }
}

fn check_signal(last: u64, value: u64) -> Result<(), Error> {
    if value > last {
        return Ok(());
    }
    let message = format!("the signal of {value} comes after that of {last}: values of a timeline rise");
    Err(Error::new(ErrorKind::Value, message))
}

/// A signal of a timeline that the host keeps.
struct Signal(Arc<Emulated>, u64);

impl Held for Signal {
    fn settled(self: Box<Self>, stream: *mut c_void) {
        self.0.settled(stream, self.1);
    }
}

/// A timeline that the host keeps, for a device without interface `timeline` 1.
struct Emulated {
    values: Mutex<Values>,
    changed: Condvar,
}

struct Values {
    /// The value that is known to be reached.
    reached: u64,
    /// The value of the last signal.
    last: u64,
    /// Signals that have not taken effect, as far as is known.
    pending: VecDeque<Pending>,
}

struct Pending {
    value: u64,
    /// The stream that it is queued on, as a number: a live one (the host synchronises a stream
    /// before it frees it, which settles its signals). None once its work is done.
    stream: Option<usize>,
}

impl Values {
    fn check_wait(&self, value: u64) -> Result<(), Error> {
        if value <= self.last {
            return Ok(());
        }
        let last = self.last;
        let message = format!("nothing that is queued makes the timeline reach {value}, at most {last}");
        Err(Error::new(ErrorKind::WrongState, message).hint("queue the signal before the wait"))
    }

    /// Takes out the signals that have taken effect.
    fn advance(&mut self) {
        while let Some(first) = self.pending.front().filter(|first| first.stream.is_none()) {
            self.reached = first.value;
            self.pending.pop_front();
        }
    }

    /// Returns the streams that signal the values up to this one.
    fn streams_up_to(&self, value: u64) -> Vec<usize> {
        let before = self.reached;
        let mut last = before;
        let mut streams: Vec<usize> = Vec::new();
        for pending in &self.pending {
            if last >= value {
                break;
            }
            last = pending.value;
            streams.extend(pending.stream.filter(|stream| !streams.contains(stream)));
        }
        streams
    }
}

impl Emulated {
    fn new(initial: u64) -> Self {
        let values = Values { reached: initial, last: initial, pending: VecDeque::new() };
        Self { values: Mutex::new(values), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, stream: *mut c_void, value: u64) -> Result<(), Error> {
        let mut values = self.lock();
        check_signal(values.last, value)?;
        values.last = value;
        values.pending.push_back(Pending { value, stream: Some(stream.expose_provenance()) });
        drop(values);
        self.changed.notify_all();
        Ok(())
    }

    fn set(&self, value: u64) -> Result<(), Error> {
        let mut values = self.lock();
        check_signal(values.last, value)?;
        values.last = value;
        values.pending.push_back(Pending { value, stream: None });
        values.advance();
        drop(values);
        self.changed.notify_all();
        Ok(())
    }

    /// Records that the stream's work up to its signal of that value is done.
    fn settled(&self, stream: *mut c_void, value: u64) {
        let mut values = self.lock();
        for pending in values.pending.iter_mut().take_while(|pending| pending.value <= value) {
            if pending.stream == Some(stream.addr()) {
                pending.stream = None;
            }
        }
        values.advance();
        drop(values);
        self.changed.notify_all();
    }

    fn wait(&self, state: &DeviceState, stream: *mut c_void, value: u64) -> Result<(), Error> {
        // The lock keeps the streams alive: one that is freed settles its signals first.
        let values = self.lock();
        values.check_wait(value)?;
        for other in values.streams_up_to(value) {
            if other != stream.addr() {
                state.api.sync_from_to(state.id, ptr::with_exposed_provenance_mut(other), stream)?;
            }
        }
        Ok(())
    }

    /// Synchronises the streams that signal the values up to this one.
    fn reach(&self, state: &DeviceState, value: u64) -> Result<(), Error> {
        loop {
            let Some(stream) = self.lock().streams_up_to(value).first().copied() else { return Ok(()) };
            let stream = ptr::with_exposed_provenance_mut(stream);
            // A stream that another thread frees at this moment is synchronised by that.
            if !state.is_live(stream) {
                std::thread::yield_now();
                continue;
            }
            state.sync_raw(stream)?;
        }
    }

    fn value(&self, state: &DeviceState) -> Result<u64, Error> {
        let last = self.lock().last;
        self.reach(state, last)?;
        Ok(self.lock().reached)
    }

    fn host_wait(&self, state: &DeviceState, value: u64, timeout: Option<Duration>) -> Result<bool, Error> {
        let begin = Instant::now();
        loop {
            let values = self.lock();
            if values.reached >= value {
                return Ok(true);
            }
            if values.last >= value {
                drop(values);
                self.reach(state, value)?;
                continue;
            }
            match timeout.map(|timeout| timeout.saturating_sub(begin.elapsed())) {
                Some(left) if left.is_zero() => return Ok(false),
                Some(left) => drop(self.changed.wait_timeout(values, left)),
                None => drop(self.changed.wait(values)),
            }
        }
    }
}
