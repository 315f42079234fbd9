//! Interface `workspace` 1 of a device API: the device's own workspace.

use core::ffi::c_void;

use chipdock_abi::ChipdockWorkspace1;

use crate::host::write_out;
use crate::interface::{InterfaceKind, check_place, enter};
use crate::{Error, Stream};

/// Interface `workspace` 1 of a device API: short-lived memory of kernels, from a place of the
/// device's own (N.36 to N.39).
///
/// For devices with memory near their cores that ordinary data spaces do not have, such as the
/// tightly coupled memory of a signal processor. Without it a host makes workspace of data spaces.
pub trait Workspace: Send + Sync + 'static {
    /// Allocates workspace of this thread for work that is queued later on `stream` (N.36).
    ///
    /// # Errors
    ///
    /// * `OutOfMemory`: the state is unchanged.
    /// * `Unsupported`: this device has none; the host uses its own.
    ///
    /// # Safety
    ///
    /// * `stream` is the default stream or one of this device that is not freed.
    unsafe fn allocate(&self, device_id: i32, size_bytes: u64, stream: Stream) -> Result<*mut c_void, Error>;

    /// Frees workspace, in the order of the stream (N.37).
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: it is not live workspace of this device; nothing is freed.
    ///
    /// # Safety
    ///
    /// * `data` came from [`Self::allocate`] of the same device, stream and thread, and is the last
    ///   of those that are not freed.
    unsafe fn free(&self, device_id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error>;
}

unsafe extern "C" fn allocate(
    self_: *mut c_void,
    device_id: i32,
    size_bytes: u64,
    stream: *mut c_void,
    out_data: *mut *mut c_void,
) -> i32 {
    let body = |workspace: &dyn Workspace| {
        check_place(out_data)?;
        // SAFETY: `stream` is the default stream or a live one (D.19).
        let data = unsafe { workspace.allocate(device_id, size_bytes, Stream::from_raw(stream)) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_data, data) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Workspace>(self_, body) }
}

unsafe extern "C" fn free(self_: *mut c_void, device_id: i32, data: *mut c_void, stream: *mut c_void) -> i32 {
    let body = |workspace: &dyn Workspace| {
        if data.is_null() {
            return Ok(());
        }
        // SAFETY: the last live workspace of this thread on the stream (N.37).
        unsafe { workspace.free(device_id, data, Stream::from_raw(stream)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Workspace>(self_, body) }
}

static TABLE: ChipdockWorkspace1 = ChipdockWorkspace1 { allocate, free };

/// Interface `workspace` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const WORKSPACE: InterfaceKind<dyn Workspace> = unsafe { InterfaceKind::new("workspace", 1, &TABLE) };
