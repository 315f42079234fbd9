//! Interface `timer` 1 of a device API.

use core::ffi::c_void;

/// Interface `timer` 1 of a device API: times work between two marks of a device's streams.
///
/// Handles of marks belong to the plugin. Clauses N.1 to N.8 state what each function promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTimer1 {
    /// Queues a mark after the work that the stream has; it is reached when that work is done. Null
    /// is the default stream.
    pub mark: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        stream: *mut c_void,
        out: *mut *mut c_void,
    ) -> i32,
    /// Waits until both marks are reached, and writes the time of the device from one to the other
    /// in nanoseconds: negative if `from` was reached after `to`.
    pub elapsed: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        from: *mut c_void,
        to: *mut c_void,
        out_nanoseconds: *mut f64,
    ) -> i32,
    /// Frees a mark, reached or not; null is allowed.
    pub free_mark: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, mark: *mut c_void) -> i32,
}
