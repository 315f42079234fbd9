//! Named interfaces: what comes after the frozen tables, in both directions.

use core::ffi::c_void;

/// A table of functions that name and version say the type of, and what to call them on.
///
/// The table holds function pointers alone and none is null; `table_size_bytes` is its size. What `x` 1 is never changes:
/// its successor is `x` 2.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockInterface {
    /// First argument of each function.
    pub self_: *mut c_void,
    /// The functions; null where an interface was asked for that is not there. Static.
    pub table: *const c_void,
    /// Size of the table.
    pub table_size_bytes: u64,
    /// Bits of harmless behaviours that the interface's description names; unknown ones are ignored.
    pub features: u64,
}

// SAFETY: every function of the table may be called from any thread; `self_` is made for that.
unsafe impl Send for ChipdockInterface {}
// SAFETY: every function of the table may be called from any thread; `self_` is made for that.
unsafe impl Sync for ChipdockInterface {}

impl ChipdockInterface {
    /// What is answered for an interface that is not there.
    pub const NONE: Self =
        Self { self_: core::ptr::null_mut(), table: core::ptr::null(), table_size_bytes: 0, features: 0 };
}

/// Interface `reset` 1 of a device API.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockReset1 {
    /// Opens a lost device again. Failures that nobody took are forgotten; of a device that is not lost nothing else
    /// changes. What was made on a lost one before (data spaces, streams, modules) may be freed, and is good for nothing
    /// else.
    pub reset: unsafe extern "C" fn(self_: *mut c_void, device_id: i32) -> i32,
}

/// Interface `conformance` 1 of a host: the one that runs the conformance suite. With it alone are test hooks registered.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockConformance1 {
    /// Non-zero where test hooks are wanted.
    pub wants_hooks: unsafe extern "C" fn(self_: *mut c_void) -> i32,
}
