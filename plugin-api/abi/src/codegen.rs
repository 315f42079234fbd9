//! Code generators: from (IR, target, options) to an artifact. Registered as `target.build.<kind>`.

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

/// A request to build a module. Borrowed for the call.
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
    /// Sections that accompany the document: the bytes of its constants, by the names that its
    /// nodes refer to (C.43). One that no node refers to is ignored.
    pub sections: *const ChipdockSection,
    /// The number of sections.
    pub sections_count: u64,
    /// The greatest number of threads for the build; at least 1.
    pub threads_max: u32,
    /// Flags; unknown bits are ignored, and none is defined yet.
    pub flags: u32,
    /// Extensions of the request, or null.
    pub next: *const ChipdockExtension,
}

/// A diagnostic of a code generator about a node of a module. Borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDiagnostic {
    /// One of `CHIPDOCK_DIAGNOSTIC_*`; an unknown one counts as the nearest known one that is more
    /// severe.
    pub severity: i32,
    /// The line that the document gives for the node, from 1; 0 if it is unknown.
    pub line: u32,
    /// The column, from 1; 0 if it is unknown.
    pub column: u32,
    /// Flags; unknown bits are ignored, and none is defined yet.
    pub flags: u32,
    /// The function that the diagnostic is about; empty if it is unknown, or for the module.
    pub function: ChipdockStr,
    /// The node in one line; may be empty.
    pub node: ChipdockStr,
    /// The message: what was expected and what was found, without the position.
    pub message: ChipdockStr,
    /// Advice for the user; may be empty.
    pub hint: ChipdockStr,
    /// Extensions of the diagnostic, or null.
    pub next: *const ChipdockExtension,
}

/// The receiver of a build's results. The host owns it; it lives for the call, during which its
/// functions may be called from any thread; the host copies all arguments.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockBuildSession {
    /// The host's own pointer; the first argument of each function below.
    pub self_: *mut c_void,
    /// Sets the artifact's index: JSON with `module_kind`, `format` and `functions`. A successful
    /// build sets it exactly once.
    pub index: unsafe extern "C" fn(self_: *mut c_void, index_json: ChipdockStr) -> i32,
    /// Adds a section. Names are unique within an artifact; `kind` is `code`, `constants`, `debug`
    /// or `source`.
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
    /// Returns non-zero if the caller has cancelled the build; a long build checks this now and
    /// then and returns `Cancelled`.
    pub is_cancelled: unsafe extern "C" fn(self_: *mut c_void) -> i32,
    /// Writes the interface of this session of that name and version; its `table` is null if the
    /// host does not have it, which is no error. The interface lives as long as the session.
    pub query: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        version: u32,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
}

/// The functions of a code generator. It is a pure function of the request and of the text of
/// `fingerprint`: it queries no device.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockCodegen {
    /// Releases `self_`: called once, last.
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Reports every node that cannot be built, each as one error diagnostic; returns success if it
    /// could check them.
    pub unsupported: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        session: *const ChipdockBuildSession,
    ) -> i32,
    /// Builds the module into `session`. The host drops the data that was delivered before a
    /// failure. A build that returns `Unsupported` has reported every node that cannot be built.
    pub build: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        session: *const ChipdockBuildSession,
    ) -> i32,
    /// Writes an owned string that differs whenever this build of the plugin might give other bytes
    /// for the same request: the compiler that is found and its version, active hooks; or None, if
    /// the artifact may not be kept for later. It opens at most the vendor's library, and queries
    /// no device.
    pub fingerprint: unsafe extern "C" fn(
        self_: *mut c_void,
        request: *const ChipdockBuildRequest,
        out_fingerprint: *mut ChipdockAny,
    ) -> i32,
}
