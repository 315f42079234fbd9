//! Interface `timeline` 1 of a device API, and the extensions of copies and launches that wait for
//! timelines and signal them (N.18 to N.30).

use core::ffi::c_void;
use core::time::Duration;

use chipdock_abi::{ChipdockExtension, ChipdockTimeline1, ChipdockTimelinePoint};

use crate::host::write_out;
use crate::interface::{InterfaceKind, check_handle, check_place, enter};
use crate::{Error, Stream, extension};

/// The extension of a copy or a launch that begins after a value is reached.
pub const WAIT: &str = "timeline.wait";
/// The extension of a copy or a launch that makes a timeline reach a value.
pub const SIGNAL: &str = "timeline.signal";

/// A timeline of a device: an opaque handle, never null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Timeline(*mut c_void);

// SAFETY: an opaque handle; what may be done with it is the device API's to say, for any thread
// (P10).
unsafe impl Send for Timeline {}
// SAFETY: an opaque handle; what may be done with it is the device API's to say, for any thread
// (P10).
unsafe impl Sync for Timeline {}

impl Timeline {
    /// Makes a timeline from its handle.
    #[must_use]
    pub const fn from_raw(handle: *mut c_void) -> Self {
        Self(handle)
    }

    /// Returns the handle.
    #[must_use]
    pub const fn into_raw(self) -> *mut c_void {
        self.0
    }
}

/// A value of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelinePoint {
    /// The timeline.
    pub timeline: Timeline,
    /// The value.
    pub value: u64,
}

/// What a copy or a launch waits for and signals (N.28).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Order {
    /// The values after which it begins.
    pub waits: Vec<TimelinePoint>,
    /// The values that are reached when it is done.
    pub signals: Vec<TimelinePoint>,
}

impl Order {
    /// Makes an order of these points.
    #[must_use]
    pub const fn new(waits: Vec<TimelinePoint>, signals: Vec<TimelinePoint>) -> Self {
        Self { waits, signals }
    }

    /// Returns true if there is nothing to wait for and nothing to signal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.signals.is_empty()
    }
}

/// Interface `timeline` 1 of a device API: timelines, for which streams and the host wait.
///
/// A plugin with events implements [`kit::Events`](crate::kit::Events) instead, and gets this for
/// it: signals and waits are then events that a stream records and for which others wait.
///
/// On a device that does not check handles ([`crate::attribute::CHECKED_HANDLES`], N.30), the
/// caller guarantees that they are valid.
pub trait Timelines: Send + Sync + 'static {
    /// Makes a timeline that has reached `initial` (N.18).
    ///
    /// # Errors
    ///
    /// * `OutOfMemory`, `DeviceLost`: none was made.
    fn create(&self, device_id: i32, initial: u64) -> Result<Timeline, Error>;

    /// Frees a timeline (N.27). It is not null: the shim handles null.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: the timeline is not live, or belongs to another device.
    ///
    /// # Safety
    ///
    /// * `timeline` came from [`Self::create`] of the same device, and is freed once.
    unsafe fn free(&self, device_id: i32, timeline: Timeline) -> Result<(), Error>;

    /// Checks everything that [`Self::wait`] and [`Self::signal`] would refuse of an order, as if
    /// they were called one after the other, and queues nothing (N.29).
    ///
    /// # Errors
    ///
    /// * Those of both functions, except for a failure that the stream keeps.
    ///
    /// # Safety
    ///
    /// * As of both functions.
    unsafe fn check(&self, device_id: i32, stream: Stream, order: &Order) -> Result<(), Error>;

    /// Makes a timeline reach a value when the work that the stream has is done (N.19, N.20).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the value is not greater than every earlier one.
    /// * A failure that the stream keeps (P7.5); then nothing is queued.
    ///
    /// # Safety
    ///
    /// * `stream` is the default stream or one of this device, and neither it nor the timeline is
    ///   freed.
    unsafe fn signal(&self, device_id: i32, stream: Stream, point: TimelinePoint) -> Result<(), Error>;

    /// Makes work that is queued later on the stream begin after the value is reached (N.21, N.22).
    ///
    /// # Errors
    ///
    /// * `WrongState`: no signal of that value or a greater one was queued.
    ///
    /// # Safety
    ///
    /// * As of [`Self::signal`].
    unsafe fn wait(&self, device_id: i32, stream: Stream, point: TimelinePoint) -> Result<(), Error>;

    /// Returns the value that is reached (N.23).
    ///
    /// # Errors
    ///
    /// * `DeviceLost`.
    ///
    /// # Safety
    ///
    /// * The timeline is one of this device that is not freed.
    unsafe fn query(&self, device_id: i32, timeline: Timeline) -> Result<u64, Error>;

    /// Waits until the value is reached and returns true, or false when so much time has passed
    /// first; without a timeout it waits as long as it takes (N.24).
    ///
    /// # Errors
    ///
    /// * `DeviceLost`: the value is never reached.
    ///
    /// # Safety
    ///
    /// * As of [`Self::query`].
    unsafe fn host_wait(
        &self,
        device_id: i32,
        point: TimelinePoint,
        timeout: Option<Duration>,
    ) -> Result<bool, Error>;

    /// Makes a timeline reach a value, after the signals that are queued (N.25).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the value is not greater than every earlier one.
    ///
    /// # Safety
    ///
    /// * As of [`Self::query`].
    unsafe fn host_signal(&self, device_id: i32, point: TimelinePoint) -> Result<(), Error>;
}

/// Reads the point of an entry of that name in the chain of `what` (N.28).
///
/// # Errors
///
/// `ValueError`: the entry is too short, or its timeline is null.
pub(crate) fn point_of(entry: &ChipdockExtension, name: &str, what: &str) -> Result<TimelinePoint, Error> {
    // SAFETY: an aligned entry of that name (N.28) that lives for the call.
    let point = unsafe { extension::entry_as::<ChipdockTimelinePoint>(entry, name, what) }?;
    check_handle(point.timeline, "the timeline of an extension")?;
    Ok(TimelinePoint { timeline: Timeline::from_raw(point.timeline), value: point.value })
}

/// Queues the waits of an order on a stream, then what `queue` queues, then the signals (N.28,
/// N.29).
///
/// # Safety
///
/// * As of [`Timelines::signal`], for each point of the order.
pub(crate) unsafe fn in_order(
    timelines: Option<&dyn Timelines>,
    device_id: i32,
    stream: Stream,
    order: &Order,
    queue: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(timelines) = timelines.filter(|_| !order.is_empty()) else { return queue() };
    // SAFETY: the stream and the timelines are as this function requires.
    unsafe {
        timelines.check(device_id, stream, order)?;
        for point in &order.waits {
            timelines.wait(device_id, stream, *point)?;
        }
        queue()?;
        order.signals.iter().try_for_each(|point| timelines.signal(device_id, stream, *point))
    }
}

unsafe extern "C" fn create(
    self_: *mut c_void,
    device_id: i32,
    initial: u64,
    out_timeline: *mut *mut c_void,
) -> i32 {
    let body = |timelines: &dyn Timelines| {
        check_place(out_timeline)?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_timeline, timelines.create(device_id, initial)?.into_raw()) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

unsafe extern "C" fn free(self_: *mut c_void, device_id: i32, timeline: *mut c_void) -> i32 {
    let body = |timelines: &dyn Timelines| {
        if timeline.is_null() {
            return Ok(());
        }
        // SAFETY: a live timeline that is freed once (N.30).
        unsafe { timelines.free(device_id, Timeline::from_raw(timeline)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

/// Makes a point of the arguments of a call.
fn point(timeline: *mut c_void, value: u64) -> Result<TimelinePoint, Error> {
    check_handle(timeline, "the timeline")?;
    Ok(TimelinePoint { timeline: Timeline::from_raw(timeline), value })
}

unsafe extern "C" fn signal(
    self_: *mut c_void,
    device_id: i32,
    stream: *mut c_void,
    timeline: *mut c_void,
    value: u64,
) -> i32 {
    let body = |timelines: &dyn Timelines| {
        let point = point(timeline, value)?;
        // SAFETY: the default stream or a live one, and a live timeline (D.19, N.30).
        unsafe { timelines.signal(device_id, Stream::from_raw(stream), point) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

unsafe extern "C" fn wait(
    self_: *mut c_void,
    device_id: i32,
    stream: *mut c_void,
    timeline: *mut c_void,
    value: u64,
) -> i32 {
    let body = |timelines: &dyn Timelines| {
        let point = point(timeline, value)?;
        // SAFETY: the default stream or a live one, and a live timeline (D.19, N.30).
        unsafe { timelines.wait(device_id, Stream::from_raw(stream), point) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

unsafe extern "C" fn query(
    self_: *mut c_void,
    device_id: i32,
    timeline: *mut c_void,
    out_value: *mut u64,
) -> i32 {
    let body = |timelines: &dyn Timelines| {
        check_place(out_value)?;
        check_handle(timeline, "the timeline")?;
        // SAFETY: a live timeline (N.30).
        let value = unsafe { timelines.query(device_id, Timeline::from_raw(timeline)) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_value, value) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

unsafe extern "C" fn host_wait(
    self_: *mut c_void,
    device_id: i32,
    timeline: *mut c_void,
    value: u64,
    timeout_ns: u64,
    out_reached: *mut i32,
) -> i32 {
    let body = |timelines: &dyn Timelines| {
        check_place(out_reached)?;
        let point = point(timeline, value)?;
        let timeout = (timeout_ns != u64::MAX).then(|| Duration::from_nanos(timeout_ns));
        // SAFETY: a live timeline (N.30).
        let is_reached = unsafe { timelines.host_wait(device_id, point, timeout) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_reached, i32::from(is_reached)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

unsafe extern "C" fn host_signal(
    self_: *mut c_void,
    device_id: i32,
    timeline: *mut c_void,
    value: u64,
) -> i32 {
    let body = |timelines: &dyn Timelines| {
        let point = point(timeline, value)?;
        // SAFETY: a live timeline (N.30).
        unsafe { timelines.host_signal(device_id, point) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timelines>(self_, body) }
}

static TABLE: ChipdockTimeline1 =
    ChipdockTimeline1 { create, free, signal, wait, query, host_wait, host_signal };

/// Interface `timeline` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const TIMELINE: InterfaceKind<dyn Timelines> = unsafe { InterfaceKind::new("timeline", 1, &TABLE) };
