//! Target kinds: the schema of a target, as data. Registered as `target.kind.<name>`.

use core::ffi::c_void;

use crate::value::{ChipdockAny, ChipdockStr};

/// The functions of a target kind. The schema itself is the JSON text given at registration.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTargetKind {
    /// Releases `self_`: called once, last.
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Fills in and checks a target's options, after the schema has been applied. `target_json` and
    /// the result (an owned string) are canonical target JSON. A kind without a canonicalizer
    /// returns the text that it received, whatever it is (T.8).
    pub canonicalize: unsafe extern "C" fn(
        self_: *mut c_void,
        target_json: ChipdockStr,
        out_target_json: *mut ChipdockAny,
    ) -> i32,
}
