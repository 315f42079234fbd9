//! Interface `object` 1 of a module loader: object files for linkers.

use core::ffi::c_void;

use crate::module::ChipdockArtifact;
use crate::value::ChipdockAny;

/// Interface `object` 1 of a module loader: the code of an artifact as an object file.
///
/// Clauses M.15 to M.19 state what it promises.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockObject1 {
    /// Writes the artifact's code as owned bytes: one relocatable object for the machine that the
    /// artifact was built for.
    pub object: unsafe extern "C" fn(
        self_: *mut c_void,
        artifact: *const ChipdockArtifact,
        out_object: *mut ChipdockAny,
    ) -> i32,
}
