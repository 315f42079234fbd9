//! Interface `external` 1 of a device API, called through its table.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::ChipdockExternal1;
use chipdock_plugin_api::Error;

use crate::device::{Device, Space};
use crate::stream::Stream;

impl Device {
    fn external(
        &self,
        what: &str,
        call: impl FnOnce(&ChipdockExternal1, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        self.call_interface("external", what, call)
    }

    /// Creates a stream over a native stream.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * The native stream outlives the adopted one; or the case tests how the plugin answers an
    ///   invalid one.
    pub unsafe fn adopt_stream(&self, device_id: i32, native: *mut c_void) -> Result<Stream<'_>, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`; the caller guarantees that the
        // native stream outlives the adopted one, and there is room for the result.
        self.external("adopt_stream", |table, self_| unsafe {
            (table.adopt_stream)(self_, device_id, native, &mut raw)
        })?;
        // SAFETY: the plugin just returned this handle.
        Ok(unsafe { self.stream_from_raw(device_id, raw) })
    }

    /// Returns the native handle of a stream; the stream may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a stream is a handle that only the plugin looks behind"
    )]
    pub fn native_stream(&self, device_id: i32, stream: *mut c_void) -> Result<*mut c_void, Error> {
        let mut native = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`; the stream is valid or checked by
        // the plugin, and there is room for the result.
        self.external("native_stream", |table, self_| unsafe {
            (table.native_stream)(self_, device_id, stream, &mut native)
        })?;
        Ok(native)
    }

    /// Returns the native handle of a data space's memory and the offset of the data space in it;
    /// the data space may be invalid on purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a data space is a handle that only the plugin looks behind"
    )]
    pub fn native_data(&self, device_id: i32, data: *mut c_void) -> Result<(*mut c_void, u64), Error> {
        let (mut native, mut offset) = (ptr::null_mut(), u64::MAX);
        // SAFETY: by P3.11, this is the table with its `self_`; the data space is valid or checked
        // by the plugin, and there is room for the results.
        self.external("native_data", |table, self_| unsafe {
            (table.native_data)(self_, device_id, data, &mut native, &mut offset)
        })?;
        Ok((native, offset))
    }

    /// Creates a data space over host memory.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * That many bytes at `address` live as long as the data space; or the arguments are null or
    ///   size 0, which are refused.
    pub unsafe fn adopt_host_memory(
        &self,
        device_id: i32,
        address: *mut u8,
        size_bytes: u64,
    ) -> Result<Space<'_>, Error> {
        let mut data = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`; the caller guarantees that the
        // bytes outlive the data space, and there is room for the result.
        self.external("adopt_host_memory", |table, self_| unsafe {
            (table.adopt_host_memory)(self_, device_id, address.cast(), size_bytes, &mut data)
        })?;
        // SAFETY: the plugin just returned this handle.
        Ok(unsafe { Space::from_raw(self, device_id, data, size_bytes) })
    }
}
