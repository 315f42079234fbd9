//! Modules and their loaders. A loader is registered as `module.load.<kind>`.

use core::ffi::c_void;

use crate::dlpack::ChipdockDevice;
use crate::env::ChipdockEnv;
use crate::extension::ChipdockExtension;
use crate::interface::ChipdockInterface;
use crate::value::{ChipdockAny, ChipdockStr};

/// Answer of [`ChipdockModuleLoader::verdict`]: the artifact runs on the device.
pub const CHIPDOCK_ARTIFACT_OK: i32 = 0;
/// Answer of [`ChipdockModuleLoader::verdict`]: it runs after being compiled again.
pub const CHIPDOCK_ARTIFACT_RECOMPILE: i32 = 1;
/// Answer of [`ChipdockModuleLoader::verdict`]: it cannot run there.
pub const CHIPDOCK_ARTIFACT_UNSUPPORTED: i32 = 2;

/// One section of an artifact, or of a build request.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockSection {
    /// Its name, unique within the artifact or the request.
    pub name: ChipdockStr,
    /// `code`, `constants`, `debug` or `source`.
    pub kind: ChipdockStr,
    /// What `data` is aligned to.
    pub alignment_bytes: u64,
    /// The bytes.
    pub data: *const c_void,
    /// How many.
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
    /// How many.
    pub sections_count: u64,
    /// Extensions of the artifact, or null.
    pub next: *const ChipdockExtension,
}

/// The functions of a loaded module.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockModule {
    /// Releases the module. Functions got from it keep what they need alive by themselves.
    pub destroy: unsafe extern "C" fn(self_: *mut c_void),
    /// Writes the function of that name as an owned function object, or None when there is none.
    pub function:
        unsafe extern "C" fn(self_: *mut c_void, name: ChipdockStr, out_function: *mut ChipdockAny) -> i32,
    /// Writes the interface of this module of that name and version; its `table` is null where the module does not have
    /// it, which is no error. What is written lives as long as the module.
    pub query: unsafe extern "C" fn(
        self_: *mut c_void,
        name: ChipdockStr,
        version: u32,
        out_interface: *mut ChipdockInterface,
    ) -> i32,
}

/// A loaded module: what to call, and on what.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockModuleHandle {
    /// The loader's own.
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
    /// Says whether the artifact would run on `device`; writes one of `CHIPDOCK_ARTIFACT_*` and, when it is not OK,
    /// the reason as an owned string.
    pub verdict: unsafe extern "C" fn(
        self_: *mut c_void,
        artifact: *const ChipdockArtifact,
        device: ChipdockDevice,
        out_verdict: *mut i32,
        out_reason: *mut ChipdockAny,
    ) -> i32,
    /// Makes the artifact runnable. Compiled code reaches the host through `env` alone. It is the loader's, whatever the
    /// answer: the loader releases it, once, when no module and no function can use it any more. It may be null.
    pub load: unsafe extern "C" fn(
        self_: *mut c_void,
        artifact: *const ChipdockArtifact,
        env: *const ChipdockEnv,
        out_module: *mut ChipdockModuleHandle,
    ) -> i32,
}
