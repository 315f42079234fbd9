//! Interface `graph` 1 of a device API, and the extension of copies and launches that records them.

use core::ffi::c_void;

use crate::extension::ChipdockExtension;

/// One replay of a graph. It and all that it points to are borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockReplay {
    /// The device of the graph.
    pub device_id: i32,
    /// Flags; unknown bits are ignored, and none is defined yet.
    pub flags: u32,
    /// The stream on which the recorded work is queued; null for the default stream.
    pub stream: *mut c_void,
    /// A data space for each parameter of the graph, in their order.
    pub arguments: *const *mut c_void,
    /// The number of arguments.
    pub arguments_count: u64,
    /// A chain of extensions, or null.
    pub next: *const ChipdockExtension,
}

/// Interface `graph` 1 of a device API: copies and launches that are recorded once, and replayed
/// with other data spaces.
///
/// Handles of graphs belong to the plugin. Clauses N.40 to N.49 state what each function promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockGraph1 {
    /// Makes an empty graph. The parameters are data spaces of the device, in whose place each
    /// replay uses its arguments.
    pub create: unsafe extern "C" fn(
        self_: *mut c_void,
        device_id: i32,
        parameters: *const *mut c_void,
        parameters_count: u64,
        out_graph: *mut *mut c_void,
    ) -> i32,
    /// Frees a graph; null is allowed. Queued replays take effect nevertheless.
    pub free: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, graph: *mut c_void) -> i32,
    /// Ends the recording, and makes all that replays have in common.
    pub finish: unsafe extern "C" fn(self_: *mut c_void, device_id: i32, graph: *mut c_void) -> i32,
    /// Queues all that was recorded, in its order, and returns.
    pub replay:
        unsafe extern "C" fn(self_: *mut c_void, graph: *mut c_void, request: *const ChipdockReplay) -> i32,
}

/// Extension `graph.record` of a copy or a launch: the graph to which it is added instead of being
/// queued (N.41).
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockGraphRecord {
    /// Its name, its size, and the flag that it must be understood.
    pub extension: ChipdockExtension,
    /// The graph.
    pub graph: *mut c_void,
}
