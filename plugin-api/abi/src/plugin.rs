//! The descriptor, which a plugin's one symbol returns.

use core::ffi::c_void;

use crate::host::{ChipdockHost, ChipdockRegistrar};
use crate::value::ChipdockStr;

/// The ABI major. A plugin exports `chipdock_plugin_v1` for it.
pub const CHIPDOCK_ABI_MAJOR: u32 = 1;
/// The ABI minor: named interfaces that were added since the major.
pub const CHIPDOCK_ABI_MINOR: u32 = 0;
/// `CHIPDOCK` as little-endian bytes.
pub const CHIPDOCK_MAGIC: u64 = 0x4B43_4F44_5049_4843;
/// A hash of the declarations of the frozen structs: types and order, sizes and offsets, no names
/// of fields or parameters.
pub const CHIPDOCK_LAYOUT_HASH: u64 = 0x749f_06df_fdaa_ecdc;

/// Sizes of the frozen tables, in bytes, as the plugin was compiled.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTableSizes {
    /// `sizeof(ChipdockHost)`.
    pub host: u32,
    /// `sizeof(ChipdockRegistrar)`.
    pub registrar: u32,
    /// `sizeof(ChipdockEnv)`.
    pub env: u32,
    /// `sizeof(ChipdockDeviceApi)`.
    pub device_api: u32,
    /// `sizeof(ChipdockTargetKind)`.
    pub target_kind: u32,
    /// `sizeof(ChipdockCodegen)`.
    pub codegen: u32,
    /// `sizeof(ChipdockModuleLoader)`.
    pub module_loader: u32,
    /// `sizeof(ChipdockModule)`.
    pub module: u32,
    /// `sizeof(ChipdockAny)`.
    pub any: u32,
    /// `sizeof(ChipdockTensor)`.
    pub tensor: u32,
}

/// The descriptor of a plugin: static, returned by its one symbol, frozen for the major.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockPlugin {
    /// `CHIPDOCK_MAGIC`.
    pub magic: u64,
    /// `CHIPDOCK_ABI_MAJOR` of the header that the plugin was built with.
    pub abi_major: u32,
    /// `CHIPDOCK_ABI_MINOR` of the header that the plugin was built with.
    pub abi_minor: u32,
    /// `CHIPDOCK_LAYOUT_HASH` of the header that the plugin was built with.
    pub layout_hash: u64,
    /// Sizes of the frozen tables as the plugin was compiled.
    pub table_sizes: ChipdockTableSizes,
    /// Name: lower-case letters, digits, `-` and `_`; the same as in the manifest.
    pub name: ChipdockStr,
    /// Version, semver.
    pub version: ChipdockStr,
    /// A text that distinguishes builds of one version; may be empty. A host then shows what the
    /// linker wrote (`NT_GNU_BUILD_ID`), or the beginning of the library's SHA-256.
    pub build_id: ChipdockStr,
    /// A JSON object, or empty for none; unknown keys are ignored. `settings` in it declares the
    /// settings that interface `config` 1 of a host answers.
    pub info_json: ChipdockStr,
    /// Registers what the plugin offers, and writes the plugin's instance for this host (which may
    /// be null) only on success. Runs once for each host, with no other call of that host during
    /// it. Starts no thread and calls no vendor driver. On failure nothing stays registered, and
    /// neither function below is called.
    pub init: unsafe extern "C" fn(
        host: *const ChipdockHost,
        registrar: *const ChipdockRegistrar,
        out_instance: *mut *mut c_void,
    ) -> i32,
    /// Drains the work for that host. Called once, after each `init` that succeeded, before
    /// anything that was registered is destroyed. Later calls return `Unavailable`.
    pub shutdown: unsafe extern "C" fn(instance: *mut c_void) -> i32,
    /// Releases the instance: called once, after every `destroy` and deleter of registered objects
    /// and of loaded modules, whatever `shutdown` returned.
    pub release: unsafe extern "C" fn(instance: *mut c_void),
}

// SAFETY: immutable data and functions that may be called from any thread.
unsafe impl Sync for ChipdockPlugin {}
// SAFETY: immutable data and functions that may be called from any thread.
unsafe impl Send for ChipdockPlugin {}
