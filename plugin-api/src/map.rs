//! Interface `map` 1 of a device API: host addresses of memory whose handle is no address.

use core::ffi::c_void;

use chipdock_abi::ChipdockMap1;

use crate::Error;
use crate::host::write_out;
use crate::interface::{InterfaceKind, check_handle, check_place, enter};

/// Interface `map` 1 of a device API: returns the host's address of host-visible memory.
///
/// For drivers such as Vulkan's, whose memory is an object that is mapped, so that a data space's
/// handle need not be computed back from an address (D.32). Kernels and copies get the handle.
pub trait Map: Send + Sync + 'static {
    /// Returns the address of a data space that the host reads and writes in place (N.16).
    ///
    /// # Errors
    ///
    /// * `Unsupported`: the host cannot reach the data space, such as memory of kind `Device`
    ///   (N.17).
    /// * `WrongState`, `ValueError`: the data space is not live, or belongs to another device.
    ///
    /// # Safety
    ///
    /// * `data` is a data space of this device that is not freed.
    unsafe fn address(&self, device_id: i32, data: *mut c_void) -> Result<*mut c_void, Error>;
}

unsafe extern "C" fn address(
    self_: *mut c_void,
    device_id: i32,
    data: *mut c_void,
    out_address: *mut *mut c_void,
) -> i32 {
    let body = |map: &dyn Map| {
        check_place(out_address)?;
        check_handle(data, "the data space")?;
        // SAFETY: `data` is a live data space (D.19).
        let address = unsafe { map.address(device_id, data) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_address, address) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Map>(self_, body) }
}

static TABLE: ChipdockMap1 = ChipdockMap1 { address };

/// Interface `map` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const MAP: InterfaceKind<dyn Map> = unsafe { InterfaceKind::new("map", 1, &TABLE) };
