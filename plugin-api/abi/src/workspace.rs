//! Interface `workspace` 1 of a device API.

use core::ffi::c_void;

/// Interface `workspace` 1 of a device API: the device's own workspace, in place of the host's.
///
/// Clauses N.36 to N.39 state what each function promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockWorkspace1 {
    /// Allocates memory for work that is queued later on `stream`, for this thread alone.
    pub allocate: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        size_bytes: u64,
        stream: *mut c_void,
        out_data: *mut *mut c_void,
    ) -> i32,
    /// Frees workspace on the stream and the thread that allocated it, the last first, while work
    /// that uses it may still be queued there.
    pub free: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        data: *mut c_void,
        stream: *mut c_void,
    ) -> i32,
}
