//! The device API: memory, copies, streams of one kind of device. Registered as
//! `device_api.<name>`.

use core::ffi::c_void;

use crate::dlpack::{ChipdockDataType, ChipdockDevice};
use crate::extension::ChipdockExtension;
use crate::value::{ChipdockAny, ChipdockStr};

/// Data space of the device itself.
pub const CHIPDOCK_DATA_SPACE_DEVICE: i32 = 0;
/// Page-locked host memory that the device copies from and to at full speed.
pub const CHIPDOCK_DATA_SPACE_PINNED: i32 = 1;
/// Device memory that the host may read and write in place.
pub const CHIPDOCK_DATA_SPACE_HOST_VISIBLE: i32 = 2;
/// Memory that both sides address alike.
pub const CHIPDOCK_DATA_SPACE_UNIFIED: i32 = 3;

/// The request of [`ChipdockDeviceApi::allocate_data_space`].
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDataSpaceRequest {
    /// Size in bytes; 0 is allowed and gives a data space that may be freed and copied with size 0.
    pub size_bytes: u64,
    /// Alignment in bytes, a power of two.
    pub alignment_bytes: u64,
    /// Type of the elements, a hint; lanes 0 means unknown.
    pub dtype_hint: ChipdockDataType,
    /// One of `CHIPDOCK_DATA_SPACE_*`; an unknown or unsupported one is `Unsupported`.
    pub kind: i32,
    /// Memory scope; empty means `global`. An unknown or unsupported one is `Unsupported`.
    pub scope: ChipdockStr,
    /// Extensions of the request, or null.
    pub next: *const ChipdockExtension,
}

/// One end of a copy.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockCopyEnd {
    /// The device that `data` belongs to: one of this device API, or the CPU.
    pub device: ChipdockDevice,
    /// The data space.
    pub data: *mut c_void,
    /// Start of the range, in bytes from `data`.
    pub offset_bytes: u64,
}

/// The request of [`ChipdockDeviceApi::copy_data`]. The two ranges do not overlap.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockCopy {
    /// The source.
    pub from: ChipdockCopyEnd,
    /// The destination.
    pub to: ChipdockCopyEnd,
    /// Size in bytes; 0 touches no memory.
    pub size_bytes: u64,
    /// Type of the elements, a hint; lanes 0 means unknown.
    pub dtype_hint: ChipdockDataType,
    /// 0; unknown bits are ignored.
    pub flags: u32,
    /// Extensions of the copy, or null.
    pub next: *const ChipdockExtension,
}

/// The functions of a device API. `self_` is the registered one; `device_id` counts from 0.
///
/// A stream is an opaque handle; null is the device's default stream and always allowed.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDeviceApi {
    /// Releases `self_`: called once, last, after `shutdown` (P10.18 says when a host skips it).
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Writes the number of devices; 0 is no error. `Unavailable` means that there can be none,
    /// with the reason.
    pub device_count: unsafe extern "C" fn(self_: *mut c_void, out_count: *mut i32) -> i32,
    /// Writes the attribute `key`, or None if the key is unknown. The caller owns the result.
    pub attribute: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        key: ChipdockStr,
        out_value: *mut ChipdockAny,
    ) -> i32,
    /// Allocates a data space. On `OutOfMemory` nothing has changed.
    pub allocate_data_space: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        request: *const ChipdockDataSpaceRequest,
        out_data: *mut *mut c_void,
    ) -> i32,
    /// Frees a data space; null is allowed. The host has waited for the work that uses it.
    pub free_data_space: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, data: *mut c_void) -> i32,
    /// Queues a copy on `stream`. Both ends stay valid until the stream is synchronised.
    /// `device_id` is that of an end, either one where both are of this API (D.6); `stream` is of
    /// that device.
    pub copy_data: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        copy: *const ChipdockCopy,
        stream: *mut c_void,
    ) -> i32,
    /// Creates a stream. A device without streams of its own writes null.
    pub create_stream:
        unsafe extern "C" fn(self_: *mut c_void, device_id: i32, out_stream: *mut *mut c_void) -> i32,
    /// Frees a stream after its work is done, and reports a failure that it kept (D.17); null is
    /// allowed.
    pub free_stream: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, stream: *mut c_void) -> i32,
    /// Waits until all work queued on `stream` is done; reports the first failure since the last
    /// report.
    pub sync_stream: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, stream: *mut c_void) -> i32,
    /// Makes work queued later on `to` wait for the work that is queued on `from` now, without
    /// blocking the caller.
    pub sync_stream_from_to:
        unsafe extern "C" fn(self_: *mut c_void, device_id: i32, from: *mut c_void, to: *mut c_void) -> i32,
}
