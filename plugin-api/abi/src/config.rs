//! Settings of a plugin: interface `config` of a host.

use core::ffi::c_void;

use crate::value::{ChipdockAny, ChipdockStr};

/// Interface `config` 1 of a host.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockConfig1 {
    /// Writes the value of a setting of the plugin whose table of the host was asked for this
    /// interface: a bool, an int, a float or an owned string, as declared, or None if nobody set it
    /// and it has no default. A key that the plugin does not declare is `KeyError`, a value of the
    /// wrong type `ValueError`. May be called during `init`.
    pub get: unsafe extern "C" fn(self_: *mut c_void, key: ChipdockStr, out_value: *mut ChipdockAny) -> i32,
}
