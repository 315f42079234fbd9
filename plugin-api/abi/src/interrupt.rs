//! Long loops of compiled code: interface `interrupt` of the environment.

use core::ffi::c_void;

/// Interface `interrupt` 1 of the environment: lets whoever called end a long computation.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockInterrupt1 {
    /// Returns 0 to go on, or -1 with an error raised: the function that asks fails with it. Cheap,
    /// from any thread, and never waits for other work of the call (X.13).
    pub go_on: unsafe extern "C" fn(self_: *mut c_void) -> i32,
}
