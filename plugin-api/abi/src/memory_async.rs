//! Interface `memory.async` 1 of a device API.

use core::ffi::c_void;

use crate::device_api::ChipdockDataSpaceRequest;

/// Interface `memory.async` 1 of a device API: memory in the order of a stream.
///
/// Clauses N.31 to N.35 state what each function promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockMemoryAsync1 {
    /// Allocates a data space for work that is queued later on `stream`, or on a stream that waits
    /// for it; waits for nothing. On `OutOfMemory` nothing has changed.
    pub allocate: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        request: *const ChipdockDataSpaceRequest,
        stream: *mut c_void,
        out_data: *mut *mut c_void,
    ) -> i32,
    /// Frees a data space of `allocate` when the work is done that `stream` has now; waits for
    /// nothing. Null is allowed.
    pub free: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        data: *mut c_void,
        stream: *mut c_void,
    ) -> i32,
}
