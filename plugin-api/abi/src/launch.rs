//! Interface `launch` 1 of a module: its kernels, without the packed call.

use core::ffi::c_void;

use crate::extension::ChipdockExtension;
use crate::value::ChipdockStr;

/// A kernel of a loaded module, as interface `launch` 1 returns it. It lives as long as the module.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockEntry {
    /// The module's own pointer; null if there is no kernel of that name.
    pub entry: *mut c_void,
    /// Type of the devices that the kernel runs on.
    pub device_type: i32,
    /// Flags; unknown bits are ignored, and none is defined yet.
    pub flags: u32,
}

/// One launch. It and all that it points to are borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockLaunchRequest {
    /// The device that runs the kernel.
    pub device_id: i32,
    /// Flags; unknown bits are ignored, and none is defined yet.
    pub flags: u32,
    /// The stream on which the launch is queued; null for the default stream.
    pub stream: *mut c_void,
    /// Blocks along x, y and z; 1 along an axis that the kernel does not name.
    pub grid: [u64; 3],
    /// Threads of a block along x, y and z; 1 along an axis that the kernel does not name.
    pub block: [u64; 3],
    /// Bytes of dynamic shared memory of a block; 0 if the kernel does not take any.
    pub dynamic_shared_bytes: u64,
    /// The address of each argument's value: of a handle, or of a scalar of the type that the index
    /// states.
    pub args: *const *const c_void,
    /// The number of arguments.
    pub args_count: u64,
    /// A chain of extensions, or null.
    pub next: *const ChipdockExtension,
}

/// Interface `launch` 1 of a module.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockLaunch1 {
    /// Writes the kernel of that name, with a null `entry` if there is none, which is no error.
    pub entry:
        unsafe extern "C" fn(self_: *mut c_void, name: ChipdockStr, out_entry: *mut ChipdockEntry) -> i32,
    /// Queues a launch and returns.
    pub launch: unsafe extern "C" fn(
        self_: *mut c_void,
        entry: *mut c_void,
        request: *const ChipdockLaunchRequest,
    ) -> i32,
}
