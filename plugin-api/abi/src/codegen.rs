//! Code generators: (IR, target, options) to an artifact. Registered as `target.build.<kind>`.

use core::ffi::c_void;

use crate::extension::ChipdockExtension;
use crate::interface::ChipdockInterface;
use crate::module::ChipdockSection;
use crate::value::{ChipdockAny, ChipdockStr};

/// Severity of a diagnostic: the build fails.
pub const CHIPDOCK_DIAGNOSTIC_ERROR: i32 = 1;
/// Severity of a diagnostic: the build goes on.
pub const CHIPDOCK_DIAGNOSTIC_WARNING: i32 = 2;
/// Severity of a diagnostic: for information.
pub const CHIPDOCK_DIAGNOSTIC_NOTE: i32 = 3;

/// What is to be built. Borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockBuildRequest {
    /// The module, in the canonical JSON wire format, at the stage that the target kind declares.
    pub ir: ChipdockStr,
    /// The target, canonical JSON.
    pub target_json: ChipdockStr,
    /// Build options, a JSON object, or empty for none; unknown keys are ignored.
    pub options_json: ChipdockStr,
    /// Bytes beside the document, by the names that its nodes refer to; one that no node refers to is ignored.
    pub sections: *const ChipdockSection,
    /// How many.
    pub sections_count: u64,
    /// How many threads the build may use; at least 1.
    pub threads_max: u32,
    /// Bits that are not known are ignored; none is defined yet.
    pub flags: u32,
    /// Extensions of the request, or null.
    pub next: *const ChipdockExtension,
}

/// One thing that a code generator has to say of a module. Borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDiagnostic {
    /// One of `CHIPDOCK_DIAGNOSTIC_*`; one that is not known counts as the nearest that is graver.
    pub severity: i32,
    /// The line, as the document has it of the node, from 1; 0 where it is not known.
    pub line: u32,
    /// The column, likewise.
    pub column: u32,
    /// Bits that are not known are ignored; none is defined yet.
    pub flags: u32,
    /// The function that it is about; empty where it is not known, or of the module.
    pub function: ChipdockStr,
    /// The node in one line; may be empty.
    pub node: ChipdockStr,
    /// What was expected and what was found, without the place.
    pub message: ChipdockStr,
    /// What to do; may be empty.
    pub hint: ChipdockStr,
    /// Extensions of the diagnostic, or null.
    pub next: *const ChipdockExtension,
}

/// Where a build's results go. The host owns it; it lives for the call, during which its functions may be called from
/// any thread; all arguments are copied by the host.
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
    /// Reports a diagnostic.
    pub diagnostic: unsafe extern "C" fn(self_: *mut c_void, diagnostic: *const ChipdockDiagnostic) -> i32,
    /// Non-zero when the caller has given up; a long build asks now and then and returns `Cancelled`.
    pub is_cancelled: unsafe extern "C" fn(self_: *mut c_void) -> i32,
    /// Writes the interface of this session of that name and version; its `table` is null where the host does not have
    /// it, which is no error. What is written lives as long as the session.
    pub query: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        version: u32,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
}

/// The functions of a code generator. A pure function of the request and of what `fingerprint` says: it never asks a
/// device.
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
    /// Builds the module into `session`. What was delivered before a failure is dropped by the host. One that answers
    /// `Unsupported` has reported every node that it cannot build.
    pub build: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        session: *const ChipdockBuildSession,
    ) -> i32,
    /// Writes an owned string that differs whenever this build of the plugin might give other bytes for the same request:
    /// compiler and its version, what it finds, hooks in force; or None, when what is built may not be kept for later.
    /// Opens the vendor's library at most; asks no device.
    pub fingerprint: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        out_fingerprint: *mut ChipdockAny,
    ) -> i32,
}
