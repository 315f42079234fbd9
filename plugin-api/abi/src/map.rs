//! Interface `map` 1 of a device API.

use core::ffi::c_void;

/// Interface `map` 1 of a device API: host addresses of memory whose handle is no address.
///
/// Clauses D.32 and N.16 to N.17 state what it promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockMap1 {
    /// Writes the address of a data space that the host reads and writes in place.
    pub address: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        data: *mut c_void,
        out_address: *mut *mut c_void,
    ) -> i32,
}
