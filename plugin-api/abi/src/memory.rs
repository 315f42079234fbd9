//! Interface `memory` 1 of a host: tensors for the functions of plugins.

use core::ffi::c_void;

use crate::dlpack::{ChipdockDataType, ChipdockDevice};
use crate::value::ChipdockAny;

/// Interface `memory` 1 of a host.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockMemory1 {
    /// Writes a compact tensor in global memory of that device as an owned object. Its elements are
    /// uninitialised. It may outlive the plugin, and its memory returns to the host's pool.
    pub allocate_tensor: unsafe extern "C" fn(
        self_: *mut c_void,
        device: ChipdockDevice,
        dtype: ChipdockDataType,
        shape: *const i64,
        ndim: i32,
        out_tensor: *mut ChipdockAny,
    ) -> i32,
}
