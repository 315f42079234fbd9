//! Interface `timeline` 1 of a device API, called through its table, and the extensions of copies
//! and launches that use it.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, ChipdockCopy, ChipdockCopyEnd, ChipdockExtension,
    ChipdockGraphRecord, ChipdockTimeline1, ChipdockTimelinePoint,
};
use chipdock_plugin_api::Error;
use chipdock_plugin_api::text::static_str;
pub use chipdock_plugin_api::timeline::{SIGNAL, WAIT};

use crate::graph::RECORD;

use crate::device::{Device, NO_HINT};
use crate::stream::Stream;

/// A timeline that is freed on drop.
pub struct Timeline<'d> {
    device: &'d Device,
    device_id: i32,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Send for Timeline<'_> {}
// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Sync for Timeline<'_> {}

#[expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "streams and timelines are handles that only the plugin looks behind"
)]
impl Device {
    fn timeline(
        &self,
        what: &str,
        call: impl FnOnce(&ChipdockTimeline1, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        self.call_interface("timeline", what, call)
    }

    /// Makes a timeline.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn create_timeline(&self, device_id: i32, initial: u64) -> Result<Timeline<'_>, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`, and there is room for the result.
        self.timeline("create", |table, self_| unsafe {
            (table.create)(self_, device_id, initial, &mut raw)
        })?;
        Ok(Timeline { device: self, device_id, raw })
    }

    /// Calls `create`, `query` and `host_wait` with a null output pointer (D.2), and returns the
    /// answers.
    pub fn timeline_nowhere(&self, device_id: i32, timeline: &Timeline<'_>) -> [Result<(), Error>; 3] {
        let raw = timeline.raw;
        // SAFETY: by P3.11, this is the table with its `self_`; a null output pointer is refused.
        unsafe {
            [
                self.timeline("create", |table, self_| (table.create)(self_, device_id, 0, ptr::null_mut())),
                self.timeline("query", |table, self_| (table.query)(self_, device_id, raw, ptr::null_mut())),
                self.timeline("host_wait", |table, self_| {
                    (table.host_wait)(self_, device_id, raw, 0, 0, ptr::null_mut())
                }),
            ]
        }
    }

    /// Queues a signal; stream and timeline may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn signal_raw(
        &self,
        device_id: i32,
        stream: *mut c_void,
        timeline: *mut c_void,
        value: u64,
    ) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the handles are valid or checked by
        // the plugin.
        self.timeline("signal", |table, self_| unsafe {
            (table.signal)(self_, device_id, stream, timeline, value)
        })
    }

    /// Queues a wait; stream and timeline may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn wait_raw(
        &self,
        device_id: i32,
        stream: *mut c_void,
        timeline: *mut c_void,
        value: u64,
    ) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the handles are valid or checked by
        // the plugin.
        self.timeline("wait", |table, self_| unsafe {
            (table.wait)(self_, device_id, stream, timeline, value)
        })
    }

    /// Returns the value that a timeline has reached; the timeline may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn query_raw(&self, device_id: i32, timeline: *mut c_void) -> Result<u64, Error> {
        let mut value = u64::MAX;
        // SAFETY: by P3.11, this is the table with its `self_`; the timeline is valid or checked by
        // the plugin, and there is room for the result.
        self.timeline("query", |table, self_| unsafe {
            (table.query)(self_, device_id, timeline, &mut value)
        })?;
        Ok(value)
    }

    /// Waits for a value; the timeline may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn host_wait_raw(
        &self,
        device_id: i32,
        timeline: *mut c_void,
        value: u64,
        timeout_ns: u64,
    ) -> Result<bool, Error> {
        let mut reached = -1;
        // SAFETY: by P3.11, this is the table with its `self_`; the timeline is valid or checked by
        // the plugin, and there is room for the result.
        self.timeline("host_wait", |table, self_| unsafe {
            (table.host_wait)(self_, device_id, timeline, value, timeout_ns, &mut reached)
        })?;
        Ok(reached == 1)
    }

    /// Signals from the host; the timeline may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn host_signal_raw(&self, device_id: i32, timeline: *mut c_void, value: u64) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; the timeline is valid or checked by
        // the plugin.
        self.timeline("host_signal", |table, self_| unsafe {
            (table.host_signal)(self_, device_id, timeline, value)
        })
    }

    /// Frees a timeline by its handle.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * The timeline is null, or belongs to that device and is freed once; or the case tests how
    ///   the plugin answers an invalid one.
    pub unsafe fn free_timeline_raw(&self, device_id: i32, raw: *mut c_void) -> Result<(), Error> {
        // SAFETY: the timeline is null or freed once, or the case tests that it is refused.
        self.timeline("free", |table, self_| unsafe { (table.free)(self_, device_id, raw) })
    }
}

impl Timeline<'_> {
    /// Returns the handle.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Returns the value that is reached.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn query(&self) -> Result<u64, Error> {
        self.device.query_raw(self.device_id, self.raw)
    }

    /// Waits for a value, at most so many nanoseconds.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn host_wait(&self, value: u64, timeout_ns: u64) -> Result<bool, Error> {
        self.device.host_wait_raw(self.device_id, self.raw, value, timeout_ns)
    }

    /// Signals from the host.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn host_signal(&self, value: u64) -> Result<(), Error> {
        self.device.host_signal_raw(self.device_id, self.raw, value)
    }

    /// Frees the timeline now and returns the plugin's answer.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn free(self) -> Result<(), Error> {
        let (device, device_id, raw) = (self.device, self.device_id, self.raw);
        std::mem::forget(self);
        // SAFETY: the timeline was made by that device and is freed only here.
        unsafe { device.free_timeline_raw(device_id, raw) }
    }
}

impl Drop for Timeline<'_> {
    fn drop(&mut self) {
        // SAFETY: the timeline was made by that device and is freed only here. Cases that test the
        // answer call `free`.
        drop(unsafe { self.device.free_timeline_raw(self.device_id, self.raw) });
    }
}

impl Stream<'_> {
    /// Queues a signal of a timeline.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn signal(&self, timeline: &Timeline<'_>, value: u64) -> Result<(), Error> {
        let (device, device_id) = self.device();
        device.signal_raw(device_id, self.raw(), timeline.raw, value)
    }

    /// Makes later work wait for a value of a timeline.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn wait(&self, timeline: &Timeline<'_>, value: u64) -> Result<(), Error> {
        let (device, device_id) = self.device();
        device.wait_raw(device_id, self.raw(), timeline.raw, value)
    }

    /// Queues a copy with a chain of extensions.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * D.6 holds for both ends until the stream is synchronised.
    pub unsafe fn copy_ordered(
        &self,
        from: ChipdockCopyEnd,
        to: ChipdockCopyEnd,
        size_bytes: u64,
        order: &OrderChain,
    ) -> Result<(), Error> {
        let next = order.first();
        let copy = ChipdockCopy { from, to, size_bytes, dtype_hint: NO_HINT, flags: 0, next };
        let (device, device_id) = self.device();
        // SAFETY: the ends live until the stream is synchronised (D.6), as this function requires.
        unsafe { device.copy_raw(device_id, &copy, self.raw()) }
    }
}

/// A chain of extensions that name timelines (N.28), or a graph (N.41), whose handle has the place
/// of a timeline's and no value after it.
pub struct OrderChain(Vec<ChipdockTimelinePoint>);

impl OrderChain {
    /// Makes a chain of these entries: a name, a timeline, which may be invalid on purpose, and a
    /// value.
    #[must_use]
    pub fn new(entries: &[(&'static str, *mut c_void, u64)]) -> Self {
        let size_bytes = |name| match name {
            RECORD => size_of::<ChipdockGraphRecord>() as u32,
            _ => size_of::<ChipdockTimelinePoint>() as u32,
        };
        let entry = |(name, timeline, value): &(&'static str, *mut c_void, u64)| ChipdockTimelinePoint {
            extension: ChipdockExtension {
                next: ptr::null(),
                name: static_str(name),
                flags: CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD,
                size_bytes: size_bytes(*name),
            },
            timeline: *timeline,
            value: *value,
        };
        let mut all: Vec<ChipdockTimelinePoint> = entries.iter().map(entry).collect();
        for index in 1..all.len() {
            let next: *const ChipdockExtension = ptr::from_ref(&all[index]).cast();
            all[index - 1].extension.next = next;
        }
        Self(all)
    }

    /// Changes the size that the first entry states.
    pub fn set_size(&mut self, size_bytes: u32) {
        if let Some(first) = self.0.first_mut() {
            first.extension.size_bytes = size_bytes;
        }
    }

    /// Returns the first entry, or null.
    #[must_use]
    pub fn first(&self) -> *const ChipdockExtension {
        self.0.first().map_or(ptr::null(), |first| ptr::from_ref(first).cast())
    }
}
