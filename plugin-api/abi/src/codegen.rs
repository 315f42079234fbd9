//! Code generators: (IR, target, options) to an artifact. Registered as `target.build.<kind>`.

use core::ffi::c_void;

use crate::value::ChipdockStr;

/// Severity of a diagnostic: the build fails.
pub const CHIPDOCK_DIAGNOSTIC_ERROR: i32 = 1;
/// Severity of a diagnostic: the build goes on.
pub const CHIPDOCK_DIAGNOSTIC_WARNING: i32 = 2;
/// Severity of a diagnostic: for information.
pub const CHIPDOCK_DIAGNOSTIC_NOTE: i32 = 3;

/// What a code generator declares of itself; both versions are semver of the IR wire format.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockCodegenInfo {
    /// The oldest wire version that it reads.
    pub ir_min: ChipdockStr,
    /// The newest wire version that it reads.
    pub ir_max: ChipdockStr,
}

/// What is to be built. Borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockBuildRequest {
    /// The module, in the canonical JSON wire format, at the stage that the target kind declares.
    pub ir: ChipdockStr,
    /// The target, canonical JSON.
    pub target_json: ChipdockStr,
    /// Build options, a JSON object; unknown keys are ignored.
    pub options_json: ChipdockStr,
    /// How many threads the build may use; at least 1.
    pub threads_max: u32,
    /// Zero.
    pub padding: u32,
}

/// Where a build's results go. The host owns it; it lives for the call; all arguments are copied by the host.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockBuildSession {
    /// The host's own.
    pub self_: *mut c_void,
    /// Sets the artifact's index: JSON with `module_kind`, `format` and `functions`. Exactly once in a good build.
    pub index: unsafe extern "C" fn(self_: *mut c_void, index_json: ChipdockStr) -> i32,
    /// Adds a section. Names are unique within an artifact; `kind` is `code`, `constants`, `debug` or `source`.
    pub section: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        kind: ChipdockStr,
        alignment_bytes: u64,
        data: *const c_void,
        size_bytes: u64,
    ) -> i32,
    /// Reports a diagnostic; `function` and `node` say where, as far as known (may be empty).
    pub diagnostic: unsafe extern "C" fn(
        self_: *mut c_void,
        severity: i32,
        function: ChipdockStr,
        node: ChipdockStr,
        message: ChipdockStr,
    ) -> i32,
    /// Non-zero when the caller has given up; a long build asks now and then and returns `Cancelled`.
    pub is_cancelled: unsafe extern "C" fn(self_: *mut c_void) -> i32,
}

/// The functions of a code generator. A pure function of the request: it never asks a device.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockCodegen {
    /// Releases `self_`: called once, last.
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Reports every node that it cannot build, each as one error diagnostic, and returns success if it could look.
    pub unsupported: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        session: *const ChipdockBuildSession,
    ) -> i32,
    /// Builds the module into `session`. What was delivered before a failure is dropped by the host.
    pub build: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        session: *const ChipdockBuildSession,
    ) -> i32,
}
