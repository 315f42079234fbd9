//! Interface `memory.async` 1 of a device API: memory in the order of a stream.

use core::ffi::c_void;

use chipdock_abi::{ChipdockDataSpaceRequest, ChipdockMemoryAsync1};

use crate::device_api::checked_request;
use crate::host::write_out;
use crate::interface::{InterfaceKind, check_place, enter};
use crate::{DataSpaceRequest, Error, Stream};

/// Interface `memory.async` 1 of a device API: allocates and frees in the order of a stream, so
/// that nobody waits for the work before (N.31 to N.35).
///
/// For drivers whose memory is ordered by streams, such as CUDA's pools.
pub trait AsyncMemory: Send + Sync + 'static {
    /// Allocates a data space for work that is queued later on `stream` (N.31); waits for nothing.
    ///
    /// # Errors
    ///
    /// * `OutOfMemory`: the state is unchanged. Memory whose freeing is queued may count as used.
    /// * `Unsupported`: the device has no such memory (N.35), or not of that kind, scope or
    ///   alignment.
    ///
    /// # Safety
    ///
    /// * `stream` is the default stream or one of this device that is not freed.
    unsafe fn allocate(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
        stream: Stream,
    ) -> Result<*mut c_void, Error>;

    /// Frees a data space when the work is done that `stream` has now (N.32); waits for nothing. It
    /// is not null: the shim handles null.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: it is not live, belongs to another device, or is not of
    ///   [`Self::allocate`] (N.33); nothing is freed.
    ///
    /// # Safety
    ///
    /// * `data` came from [`Self::allocate`] of the same device, and is freed once; `stream` is as
    ///   there, and waits for all work of other streams that uses `data`.
    unsafe fn free(&self, device_id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error>;
}

unsafe extern "C" fn allocate(
    self_: *mut c_void,
    device_id: i32,
    request: *const ChipdockDataSpaceRequest,
    stream: *mut c_void,
    out_data: *mut *mut c_void,
) -> i32 {
    let body = |memory: &dyn AsyncMemory| {
        check_place(out_data)?;
        // SAFETY: D.2, null or a request that lives for the call.
        let request = unsafe { checked_request(request) }?;
        // SAFETY: `stream` is the default stream or a live one (D.19).
        let data = unsafe { memory.allocate(device_id, &request, Stream::from_raw(stream)) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_data, data) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn AsyncMemory>(self_, body) }
}

unsafe extern "C" fn free(self_: *mut c_void, device_id: i32, data: *mut c_void, stream: *mut c_void) -> i32 {
    let body = |memory: &dyn AsyncMemory| {
        if data.is_null() {
            return Ok(());
        }
        // SAFETY: `data` is a live data space of `allocate` that is freed once (N.33).
        unsafe { memory.free(device_id, data, Stream::from_raw(stream)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn AsyncMemory>(self_, body) }
}

static TABLE: ChipdockMemoryAsync1 = ChipdockMemoryAsync1 { allocate, free };

/// Interface `memory.async` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const MEMORY_ASYNC: InterfaceKind<dyn AsyncMemory> =
    unsafe { InterfaceKind::new("memory.async", 1, &TABLE) };
