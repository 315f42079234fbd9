//! Modules and their loaders. A loader is registered as `module.load.<kind>`.

use core::ffi::c_void;

use crate::dlpack::ChipdockDevice;
use crate::env::ChipdockEnv;
use crate::extension::ChipdockExtension;
use crate::interface::ChipdockInterface;
use crate::value::{ChipdockAny, ChipdockStr};

/// Verdict of [`ChipdockModuleLoader::verdict`]: the artifact runs on the device.
pub const CHIPDOCK_ARTIFACT_OK: i32 = 0;
/// Verdict of [`ChipdockModuleLoader::verdict`]: the artifact runs after it is compiled again.
pub const CHIPDOCK_ARTIFACT_RECOMPILE: i32 = 1;
/// Verdict of [`ChipdockModuleLoader::verdict`]: the artifact cannot run on the device.
pub const CHIPDOCK_ARTIFACT_UNSUPPORTED: i32 = 2;

/// One section of an artifact, or of a build request.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockSection {
    /// Name, unique within the artifact or the request.
    pub name: ChipdockStr,
    /// `code`, `constants`, `debug` or `source`.
    pub kind: ChipdockStr,
    /// Alignment of `data` in bytes.
    pub alignment_bytes: u64,
    /// The bytes.
    pub data: *const c_void,
    /// Size of `data` in bytes.
    pub size_bytes: u64,
}

/// An artifact, borrowed for the call.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockArtifact {
    /// JSON with `module_kind`, `format` and `functions`.
    pub index_json: ChipdockStr,
    /// The sections.
    pub sections: *const ChipdockSection,
    /// The number of sections.
    pub sections_count: u64,
    /// Extensions of the artifact, or null.
    pub next: *const ChipdockExtension,
}

/// The functions of a loaded module.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockModule {
    /// Releases the module. Its functions keep what they need.
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Writes the function of that name as an owned function object, or None if there is none.
    pub function:
        unsafe extern "C" fn(self_: *mut c_void, name: ChipdockStr, out_function: *mut ChipdockAny) -> i32,
    /// Writes the interface of this module of that name and version; its `table` is null if the
    /// module does not have it, which is no error. The interface lives as long as the module.
    pub query: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        version: u32,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
}

/// A loaded module: its functions, and the object that they are called on.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockModuleHandle {
    /// The loader's own pointer; the first argument of each function.
    pub self_: *mut c_void,
    /// Its functions; static.
    pub table: *const ChipdockModule,
}

/// The functions of a module loader.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockModuleLoader {
    /// Releases `self_`: called once, last.
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Checks whether the artifact would run on `device`, one of its target kind's (M.24); writes
    /// one of `CHIPDOCK_ARTIFACT_*` and, if it is not OK, the reason as an owned string.
    pub verdict: unsafe extern "C" fn(
        self_: *mut c_void,
        artifact: *const ChipdockArtifact,
        device: ChipdockDevice,
        out_verdict: *mut i32,
        out_reason: *mut ChipdockAny,
    ) -> i32,
    /// Makes the artifact runnable. Compiled code reaches the host only through `env`. The loader
    /// owns `env`, whatever this returns: it releases it, once, when no module and no function can
    /// use it any more. It may be null.
    pub load: unsafe extern "C" fn(
        self_: *mut c_void,
        artifact: *const ChipdockArtifact,
        env: *const ChipdockEnv,
        out_module: *mut ChipdockModuleHandle,
    ) -> i32,
}
