//! Progress of a build: interface `progress` of a build session.

use core::ffi::c_void;

use crate::value::ChipdockStr;

/// Interface `progress` 1 of a build session: tells the user what a long build is at.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockProgress1 {
    /// Says what begins now, one line without a full stop: `optimise`, `ptxas for sm_90`. Steps
    /// change nothing about the build, and a host may leave them out.
    pub step: unsafe extern "C" fn(self_: *mut c_void, text: ChipdockStr) -> i32,
}
