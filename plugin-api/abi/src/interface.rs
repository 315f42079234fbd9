//! Named interfaces, which extend the frozen tables in both directions.

use core::ffi::c_void;

/// A table of functions, whose type belongs to a name and version, and the object that they are
/// called on.
///
/// The table holds only function pointers and none is null; `table_size_bytes` is its size. The
/// contents of `x` 1 never change: its successor is `x` 2.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockInterface {
    /// First argument of each function.
    pub self_: *mut c_void,
    /// The functions; null for a requested interface that does not exist. Static.
    pub table: *const c_void,
    /// Size of the table.
    pub table_size_bytes: u64,
    /// Bits for harmless behaviours that the interface's description names; unknown ones are
    /// ignored.
    pub features: u64,
}

// SAFETY: every function of the table may be called from any thread; `self_` is made for that.
unsafe impl Send for ChipdockInterface {}
// SAFETY: every function of the table may be called from any thread; `self_` is made for that.
unsafe impl Sync for ChipdockInterface {}

impl ChipdockInterface {
    /// The answer for an interface that does not exist.
    pub const NONE: Self =
        Self { self_: core::ptr::null_mut(), table: core::ptr::null(), table_size_bytes: 0, features: 0 };
}

/// Interface `reset` 1 of a device API.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockReset1 {
    /// Opens a lost device again. Failures that nobody took are forgotten; on a device that is not
    /// lost nothing else changes. Objects made on a lost device before (data spaces, streams,
    /// modules) may be freed, and are unusable otherwise.
    pub reset: unsafe extern "C" fn(self_: *mut c_void, device_id: i32) -> i32,
}

/// Interface `conformance` 1 of a host that runs the conformance suite. Test hooks are registered
/// only with such a host.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockConformance1 {
    /// Returns non-zero if test hooks are to be registered.
    pub wants_hooks: unsafe extern "C" fn(self_: *mut c_void) -> i32,
}
