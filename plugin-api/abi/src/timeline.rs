//! Interface `timeline` 1 of a device API, and the extensions of copies and launches that use it.

use core::ffi::c_void;

use crate::extension::ChipdockExtension;

/// Interface `timeline` 1 of a device API: values that rise as work is done, for which streams and
/// the host wait.
///
/// Handles of timelines belong to the plugin. Clauses N.18 to N.30 state what each function
/// promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTimeline1 {
    /// Makes a timeline whose value is `initial`.
    pub create: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        initial: u64,
        out_timeline: *mut *mut c_void,
    ) -> i32,
    /// Frees a timeline; null is allowed. Queued signals and waits take effect nevertheless.
    pub free: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, timeline: *mut c_void) -> i32,
    /// Makes the timeline reach `value` when the work that the stream has is done. Null is the
    /// default stream.
    pub signal: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        stream: *mut c_void,
        timeline: *mut c_void,
        value: u64,
    ) -> i32,
    /// Makes work queued later on the stream wait until the timeline has reached `value`, for which
    /// a signal is queued already.
    pub wait: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        stream: *mut c_void,
        timeline: *mut c_void,
        value: u64,
    ) -> i32,
    /// Writes the value that is reached; waits for nothing.
    pub query: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        timeline: *mut c_void,
        out_value: *mut u64,
    ) -> i32,
    /// Waits until the timeline has reached `value`, and writes 1; or until so many nanoseconds
    /// have passed, and writes 0. `UINT64_MAX` nanoseconds never pass.
    pub host_wait: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        timeline: *mut c_void,
        value: u64,
        timeout_ns: u64,
        out_reached: *mut i32,
    ) -> i32,
    /// Makes the timeline reach `value` now, or after the signals that are queued.
    pub host_signal:
        unsafe extern "C" fn(self_: *mut c_void, device_id: i32, timeline: *mut c_void, value: u64) -> i32,
}

/// Extension `timeline.wait` or `timeline.signal` of a copy or a launch: a timeline of its device,
/// and the value that it waits for or signals (N.28).
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTimelinePoint {
    /// Its name, its size, and the flag that it must be understood.
    pub extension: ChipdockExtension,
    /// The timeline.
    pub timeline: *mut c_void,
    /// The value.
    pub value: u64,
}
