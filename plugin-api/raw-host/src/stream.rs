//! Streams of a device API, called through its table.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd};
use chipdock_plugin_api::Error;

use crate::device::{Device, NO_HINT};

/// A stream that is freed on drop; null is the default stream.
pub struct Stream<'d> {
    device: &'d Device,
    device_id: i32,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Send for Stream<'_> {}
// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Sync for Stream<'_> {}

impl Device {
    /// Creates a stream; a device without separate streams returns null.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn create_stream(&self, device_id: i32) -> Result<Stream<'_>, Error> {
        let mut raw = ptr::null_mut();
        self.call("create_stream", |table, self_| {
            // SAFETY: the table is registered and called with its `self_`, and there is room for
            // the result.
            unsafe { (table.create_stream)(self_, device_id, &mut raw) }
        })?;
        Ok(Stream { device: self, device_id, raw })
    }

    /// Takes over a stream handle, to be freed on drop; null is the default stream.
    ///
    /// # Safety
    ///
    /// * The plugin returned this handle for that device, and nothing else frees it.
    #[must_use]
    pub unsafe fn stream_from_raw(&self, device_id: i32, raw: *mut c_void) -> Stream<'_> {
        Stream { device: self, device_id, raw }
    }

    /// Returns the default stream of a device.
    #[must_use]
    pub fn default_stream(&self, device_id: i32) -> Stream<'_> {
        Stream { device: self, device_id, raw: ptr::null_mut() }
    }

    /// Frees a stream by its handle.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * The stream is null, or was created for that device and is freed once; or the case tests
    ///   how the plugin answers an invalid one.
    pub unsafe fn free_stream_raw(&self, device_id: i32, raw: *mut c_void) -> Result<(), Error> {
        // SAFETY: the stream is null or freed once, or the case tests that it is refused.
        self.call("free_stream", |table, self_| unsafe { (table.free_stream)(self_, device_id, raw) })
    }
}

impl<'d> Stream<'d> {
    /// Returns the device that the stream belongs to.
    #[must_use]
    pub fn device(&self) -> (&'d Device, i32) {
        (self.device, self.device_id)
    }

    /// Returns the handle.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Waits for the work on the stream.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn sync(&self) -> Result<(), Error> {
        self.device.sync(self.device_id, self.raw)
    }

    /// Makes later work on this stream wait for the work now queued on `from`.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn wait_for(&self, from: &Self) -> Result<(), Error> {
        self.device.call("sync_stream_from_to", |table, self_| {
            // SAFETY: the table is registered and called with its `self_`, and both streams are
            // live.
            unsafe { (table.sync_stream_from_to)(self_, self.device_id, from.raw, self.raw) }
        })
    }

    /// Queues a copy on the stream.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * D.6 holds for both ends until the stream is synchronised.
    pub unsafe fn copy(
        &self,
        from: ChipdockCopyEnd,
        to: ChipdockCopyEnd,
        size_bytes: u64,
    ) -> Result<(), Error> {
        let copy =
            ChipdockCopy { from, to, size_bytes, dtype_hint: NO_HINT, flags: 0, next: std::ptr::null() };
        // SAFETY: the ends live until the stream is synchronised (D.6), as this function requires.
        unsafe { self.device.copy_raw(self.device_id, &copy, self.raw) }
    }

    /// Frees the stream now and returns the plugin's answer.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn free(self) -> Result<(), Error> {
        let (device, device_id, raw) = (self.device, self.device_id, self.raw);
        std::mem::forget(self);
        // SAFETY: the stream was created for that device and is freed only here.
        unsafe { device.free_stream_raw(device_id, raw) }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the stream was created for that device and is freed only here. Cases that
            // test the answer call `free`.
            drop(unsafe { self.device.free_stream_raw(self.device_id, self.raw) });
        }
    }
}
