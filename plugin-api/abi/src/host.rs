//! The tables that a host passes to a plugin: its services and the registrar.

use core::ffi::c_void;

use crate::codegen::ChipdockCodegen;
use crate::device_api::ChipdockDeviceApi;
use crate::dlpack::ChipdockDevice;
use crate::interface::ChipdockInterface;
use crate::module::ChipdockModuleLoader;
use crate::target_kind::ChipdockTargetKind;
use crate::value::{ChipdockAny, ChipdockSafeCall, ChipdockStr};

/// The host's services. Valid as long as the process lives. There may be several hosts in a
/// process.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockHost {
    /// The ABI major that this host uses with this plugin.
    pub abi_major: u32,
    /// The newest minor of that major that the host knows; may be older or newer than the plugin's.
    pub abi_minor: u32,
    /// The host's version, semver.
    pub version: ChipdockStr,
    /// The host's own pointer; the first argument of each function below.
    pub self_: *mut c_void,
    /// Sets this thread's error. The last one raised before a non-zero return is the one reported.
    pub raise: unsafe extern "C" fn(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr),
    /// Sets this thread's error to an error object; borrows it.
    pub raise_object: unsafe extern "C" fn(self_: *mut c_void, error: *const ChipdockAny),
    /// Moves this thread's error out, for a plugin that called another library's function; None if
    /// there is none.
    pub take_error: unsafe extern "C" fn(self_: *mut c_void, out_error: *mut ChipdockAny),
    /// Writes a line to the host's log. `level` is one of `CHIPDOCK_LOG_*`.
    pub log: unsafe extern "C" fn(self_: *mut c_void, level: i32, message: ChipdockStr),
    /// Writes the registered function of that name as an owned function object, or None if there is
    /// none. May load another plugin; not to be called during `init`.
    pub function:
        unsafe extern "C" fn(self_: *mut c_void, name: ChipdockStr, out_function: *mut ChipdockAny) -> i32,
    /// Writes the stream that is active on this thread for `device`; null is the default stream. A
    /// device that the host does not know is an error.
    pub current_stream:
        unsafe extern "C" fn(self_: *mut c_void, device: ChipdockDevice, out_stream: *mut *mut c_void) -> i32,
    /// Writes the interface of the host of that name and version; its `table` is null if the host
    /// does not have it, which is no error. May be called during `init`. The interface lives as
    /// long as the host's table.
    pub query: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        version: u32,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
}

// SAFETY: every function of the table may be called from any thread; `self_` is the host's and made
// for that.
unsafe impl Sync for ChipdockHost {}
// SAFETY: every function of the table may be called from any thread; `self_` is the host's and made
// for that.
unsafe impl Send for ChipdockHost {}

/// The registrar, with which a plugin's `init` registers what the plugin offers. Valid only during
/// `init`.
///
/// Each function copies names and texts, borrows tables for the life of the process (make them
/// static), and takes over `self_`, which is released by the table's `destroy`; also when
/// registration fails later. A non-zero return has raised an error; `init` then returns it.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockRegistrar {
    /// The host's own pointer.
    pub self_: *mut c_void,
    /// Registers `device_api.<name>`. `device_type` is DLPack's number, or 0 to have the host
    /// assign one; the number that is used is written to `out_device_type`. `info_json` here and
    /// below is a JSON object, or empty for none; unknown keys are ignored.
    pub device_api: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        device_type: i32,
        info_json: ChipdockStr,
        api_self: *mut c_void,
        api: *const ChipdockDeviceApi,
        out_device_type: *mut i32,
    ) -> i32,
    /// Registers `target.kind.<name>`; `schema_json` is the kind as data.
    pub target_kind: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        schema_json: ChipdockStr,
        kind_self: *mut c_void,
        kind: *const ChipdockTargetKind,
    ) -> i32,
    /// Registers `target.build.<kind>`. `info_json` has `ir_min` and `ir_max`: the oldest and the
    /// newest version of the IR's wire format that the generator reads, semver.
    pub codegen: unsafe extern "C" fn(
        self_: *mut c_void,
        kind: ChipdockStr,
        info_json: ChipdockStr,
        codegen_self: *mut c_void,
        codegen: *const ChipdockCodegen,
    ) -> i32,
    /// Registers `module.load.<kind>`.
    pub module_loader: unsafe extern "C" fn(
        self_: *mut c_void,
        kind: ChipdockStr,
        info_json: ChipdockStr,
        loader_self: *mut c_void,
        loader: *const ChipdockModuleLoader,
    ) -> i32,
    /// Registers `function.<name>`, a plain function; `deleter` releases `function_self` (an empty
    /// one is allowed, null is not).
    pub function: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        function_self: *mut c_void,
        call: ChipdockSafeCall,
        deleter: ChipdockDeleter,
    ) -> i32,
    /// Extends the registration of this plugin under `key` (or the plugin itself, by its own name)
    /// by the interface `name` in a version, for instance `device_api.x` by `reset` 1. `deleter`
    /// releases the interface's `self_`, whatever this returns. A host that does not know the
    /// interface returns success and keeps it unused; unknown feature bits are ignored.
    pub extend: unsafe extern "C" fn(
        self_: *mut c_void,
        key: ChipdockStr,
        name: ChipdockStr,
        version: u32,
        what: *const ChipdockInterface,
        deleter: ChipdockDeleter,
    ) -> i32,
}

/// Releases the data that a registered function owns; never null.
#[repr(transparent)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDeleter(pub unsafe extern "C" fn(self_: *mut c_void));
