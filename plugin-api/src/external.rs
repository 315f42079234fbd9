//! Interface `external` 1 of a device API: streams and memory shared with the driver's own
//! interface.

use core::ffi::c_void;

use chipdock_abi::ChipdockExternal1;

use crate::host::write_out;
use crate::interface::{InterfaceKind, check_handle, check_place, enter};
use crate::{Error, ErrorKind, Stream};

/// The native location of a data space: the driver's handle, and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeData {
    /// The native handle of the memory, borrowed.
    pub handle: *mut c_void,
    /// The offset of the data space in it, in bytes.
    pub offset_bytes: u64,
}

/// Interface `external` 1 of a device API: shares streams and memory with the driver's own
/// interface.
///
/// The plugin documents what a native handle is (N.9). Null and size 0 do not get here: the shim
/// refuses them.
pub trait External: Send + Sync + 'static {
    /// Makes a stream from a native one (N.10).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the native stream belongs to another device or context.
    ///
    /// # Safety
    ///
    /// * `native` is a live native stream, and stays live until the stream is freed.
    unsafe fn adopt_stream(&self, device_id: i32, native: *mut c_void) -> Result<Stream, Error>;

    /// Returns the native handle of a stream, borrowed (N.11).
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: the stream is not live, or belongs to another device.
    ///
    /// # Safety
    ///
    /// * `stream` is the default stream or one of this device that is not freed.
    unsafe fn native_stream(&self, device_id: i32, stream: Stream) -> Result<*mut c_void, Error>;

    /// Returns the native handle of a data space's memory, borrowed, and the offset at which the
    /// data space begins in it (N.12).
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: the data space is not live, or belongs to another device.
    ///
    /// # Safety
    ///
    /// * `data` is a data space of this device that is not freed.
    unsafe fn native_data(&self, device_id: i32, data: *mut c_void) -> Result<NativeData, Error>;

    /// Makes a data space from host memory (N.13).
    ///
    /// # Errors
    ///
    /// * `Unsupported`: the device does not support memory of that address or size, or no host
    ///   memory at all.
    ///
    /// # Safety
    ///
    /// * `size_bytes` bytes are live at `address` until the data space is freed, and nobody else
    ///   touches them while work that uses it runs.
    unsafe fn adopt_host_memory(
        &self,
        device_id: i32,
        address: *mut c_void,
        size_bytes: u64,
    ) -> Result<*mut c_void, Error>;
}

unsafe extern "C" fn adopt_stream(
    self_: *mut c_void,
    device_id: i32,
    native: *mut c_void,
    out: *mut *mut c_void,
) -> i32 {
    let body = |external: &dyn External| {
        check_place(out)?;
        check_handle(native, "the native stream")?;
        // SAFETY: `native` is a native stream that lives until it is freed here (N.9, N.10).
        let stream = unsafe { external.adopt_stream(device_id, native) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out, stream.into_raw()) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn External>(self_, body) }
}

unsafe extern "C" fn native_stream(
    self_: *mut c_void,
    device_id: i32,
    stream: *mut c_void,
    out_native: *mut *mut c_void,
) -> i32 {
    let body = |external: &dyn External| {
        check_place(out_native)?;
        // SAFETY: `stream` is the default stream or a live one (D.19).
        let native = unsafe { external.native_stream(device_id, Stream::from_raw(stream)) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_native, native) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn External>(self_, body) }
}

unsafe extern "C" fn native_data(
    self_: *mut c_void,
    device_id: i32,
    data: *mut c_void,
    out_native: *mut *mut c_void,
    out_offset_bytes: *mut u64,
) -> i32 {
    let body = |external: &dyn External| {
        check_place(out_native)?;
        check_place(out_offset_bytes)?;
        check_handle(data, "the data space")?;
        // SAFETY: `data` is a live data space (D.19).
        let native = unsafe { external.native_data(device_id, data) }?;
        // SAFETY: the caller's places.
        unsafe {
            write_out(out_native, native.handle)?;
            write_out(out_offset_bytes, native.offset_bytes)
        }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn External>(self_, body) }
}

unsafe extern "C" fn adopt_host_memory(
    self_: *mut c_void,
    device_id: i32,
    address: *mut c_void,
    size_bytes: u64,
    out: *mut *mut c_void,
) -> i32 {
    let body = |external: &dyn External| {
        check_place(out)?;
        check_handle(address, "the address of host memory")?;
        crate::ensure!(
            size_bytes > 0,
            ErrorKind::VALUE_ERROR,
            "host memory of 0 bytes: expected a size, which a data space is made of"
        );
        // SAFETY: the memory is alive until its data space is freed (N.14).
        let data = unsafe { external.adopt_host_memory(device_id, address, size_bytes) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out, data) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn External>(self_, body) }
}

static TABLE: ChipdockExternal1 =
    ChipdockExternal1 { adopt_stream, native_stream, native_data, adopt_host_memory };

/// Interface `external` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const EXTERNAL: InterfaceKind<dyn External> = unsafe { InterfaceKind::new("external", 1, &TABLE) };
