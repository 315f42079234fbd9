//! Interface `external` 1 of a device API.

use core::ffi::c_void;

/// Interface `external` 1 of a device API: streams and memory that a program shares with the
/// driver's own interface.
///
/// The plugin's documentation states what a native handle is: `CUstream` and `CUdeviceptr`,
/// `cl_command_queue` and `cl_mem`. It is passed by value in a pointer. Clauses N.9 to N.15 state
/// what each function promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockExternal1 {
    /// Makes a stream from a native one, which the caller keeps and which outlives it.
    /// `free_stream` frees it.
    pub adopt_stream: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        native: *mut c_void,
        out: *mut *mut c_void,
    ) -> i32,
    /// Writes the native handle of a stream, borrowed from it. Null is the default stream.
    pub native_stream: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        stream: *mut c_void,
        out_native: *mut *mut c_void,
    ) -> i32,
    /// Writes the native handle of a data space's memory, borrowed from it, and the offset at which
    /// the data space begins in it.
    pub native_data: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        data: *mut c_void,
        out_native: *mut *mut c_void,
        out_offset_bytes: *mut u64,
    ) -> i32,
    /// Makes a data space from host memory, which the caller keeps and which outlives it.
    /// `free_data_space` frees it.
    pub adopt_host_memory: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        address: *mut c_void,
        size_bytes: u64,
        out: *mut *mut c_void,
    ) -> i32,
}
