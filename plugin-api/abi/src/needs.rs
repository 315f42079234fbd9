//! Interfaces of other plugins: interface `needs` of a host.

use core::ffi::c_void;

use crate::interface::ChipdockInterface;
use crate::value::ChipdockStr;

/// Interface `needs` 1 of a host.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockNeeds1 {
    /// Writes the interface that another plugin registered under a key such as
    /// `device_api.cuda/external/1`, which `needs.keys` of the asking plugin's manifest has. It may
    /// be used until the asking plugin's `shutdown` has returned. A key that the manifest does not
    /// name is `KeyError`. Not called during `init`.
    pub find: unsafe extern "C" fn(
        self_: *mut c_void,
        key: ChipdockStr,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
}
