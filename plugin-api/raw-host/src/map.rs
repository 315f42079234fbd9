//! Interface `map` 1 of a device API, called through its table, and host addresses of data spaces.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::ChipdockMap1;
use chipdock_plugin_api::Error;

use crate::device::{Device, Space};

impl Device {
    /// Returns the host address of a data space through `map`; the data space may be invalid on
    /// purpose.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a data space is a handle that only the plugin looks behind"
    )]
    pub fn address_raw(&self, device_id: i32, data: *mut c_void) -> Result<*mut c_void, Error> {
        let mut address = ptr::null_mut();
        // SAFETY: by P3.11, this is the table with its `self_`; the data space is valid or checked
        // by the plugin, and there is room for the result.
        self.call_interface("map", "address", |table: &ChipdockMap1, self_| unsafe {
            (table.address)(self_, device_id, data, &mut address)
        })?;
        Ok(address)
    }

    /// Calls `address` with a null output pointer.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn address_without_place(&self, space: &Space<'_>) -> Result<(), Error> {
        // SAFETY: by D.2, a null output pointer is answered with an error.
        self.call_interface("map", "address", |table: &ChipdockMap1, self_| unsafe {
            (table.address)(self_, space.device_id, space.data(), ptr::null_mut())
        })
    }
}

impl Space<'_> {
    /// Returns the address at which the host accesses a host-visible data space: its handle, or the
    /// answer of `map` (D.32).
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn address(&self) -> Result<*mut c_void, Error> {
        let device = self.device;
        if device.has("map") { device.address_raw(self.device_id, self.data()) } else { Ok(self.data()) }
    }
}
