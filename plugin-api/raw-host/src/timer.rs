//! Interface `timer` 1 of a device API, called through its table.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::ChipdockTimer1;
use chipdock_plugin_api::Error;

use crate::device::Device;
use crate::stream::Stream;

/// A mark that is freed on drop.
pub struct Mark<'d> {
    device: &'d Device,
    device_id: i32,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Send for Mark<'_> {}
// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Sync for Mark<'_> {}

impl Device {
    fn timer(&self, what: &str, call: impl FnOnce(&ChipdockTimer1, *mut c_void) -> i32) -> Result<(), Error> {
        self.call_interface("timer", what, call)
    }

    /// Queues a mark on a stream, which may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a stream is a handle that only the plugin looks behind"
    )]
    pub fn mark_raw(&self, device_id: i32, stream: *mut c_void) -> Result<*mut c_void, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`; the stream is valid or checked by
        // the plugin, and there is room for the result.
        self.timer("mark", |table, self_| unsafe { (table.mark)(self_, device_id, stream, &mut raw) })?;
        Ok(raw)
    }

    /// Returns the time between two marks in nanoseconds; the marks may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a mark is a handle that only the plugin looks behind"
    )]
    pub fn elapsed_raw(&self, device_id: i32, from: *mut c_void, to: *mut c_void) -> Result<f64, Error> {
        let mut found = f64::NAN;
        // SAFETY: by P3.11, this is the table with its `self_`; the marks are valid or checked by
        // the plugin, and there is room for the result.
        self.timer("elapsed", |table, self_| unsafe {
            (table.elapsed)(self_, device_id, from, to, &mut found)
        })?;
        Ok(found)
    }

    /// Calls `mark` with a null output pointer (D.2).
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn mark_nowhere(&self, device_id: i32) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; a null output pointer is refused.
        self.timer("mark", |table, self_| unsafe {
            (table.mark)(self_, device_id, ptr::null_mut(), ptr::null_mut())
        })
    }

    /// Calls `elapsed` with a null output pointer (D.2).
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn elapsed_nowhere(&self, device_id: i32, mark: &Mark<'_>) -> Result<(), Error> {
        // SAFETY: by P3.11, this is the table with its `self_`; a null output pointer is refused.
        self.timer("elapsed", |table, self_| unsafe {
            (table.elapsed)(self_, device_id, mark.raw, mark.raw, ptr::null_mut())
        })
    }

    /// Frees a mark by its handle.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * The mark is null, or belongs to that device and is freed once; or the case tests how the
    ///   plugin answers an invalid one.
    pub unsafe fn free_mark_raw(&self, device_id: i32, raw: *mut c_void) -> Result<(), Error> {
        // SAFETY: the mark is null or freed once, or the case tests that it is refused.
        self.timer("free_mark", |table, self_| unsafe { (table.free_mark)(self_, device_id, raw) })
    }
}

impl<'d> Stream<'d> {
    /// Queues a mark after the work on the stream.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn mark(&self) -> Result<Mark<'d>, Error> {
        let (device, device_id) = self.device();
        Ok(Mark { device, device_id, raw: device.mark_raw(device_id, self.raw())? })
    }
}

impl Mark<'_> {
    /// Returns the handle.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Returns the time to another mark in nanoseconds.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn until(&self, to: &Self) -> Result<f64, Error> {
        self.device.elapsed_raw(self.device_id, self.raw, to.raw)
    }

    /// Frees the mark now and returns the plugin's answer.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn free(self) -> Result<(), Error> {
        let (device, device_id, raw) = (self.device, self.device_id, self.raw);
        std::mem::forget(self);
        // SAFETY: the mark was made by that device and is freed only here.
        unsafe { device.free_mark_raw(device_id, raw) }
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        // SAFETY: the mark was made by that device and is freed only here. Cases that test the
        // answer call `free`.
        drop(unsafe { self.device.free_mark_raw(self.device_id, self.raw) });
    }
}
