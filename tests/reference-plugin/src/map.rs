//! Interface `map` 1: the address of the block of a host-visible data space, whose handle is a
//! number.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::Error;
use chipdock_plugin_api::map::Map;

use crate::fault;
use crate::hardware::Hardware;

/// Implementation of `map` 1, which returns addresses of blocks.
pub(crate) struct ReferenceMap(pub(crate) Arc<Hardware>);

impl Map for ReferenceMap {
    unsafe fn address(&self, device_id: i32, data: *mut c_void) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        let address = device.memory.address(data.addr())?;
        // N.16: the handle, as if it were one.
        let address = if fault::is("map-answers-the-handle") { data.addr() } else { address };
        Ok(ptr::with_exposed_provenance_mut(address))
    }
}
