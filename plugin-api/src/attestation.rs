//! The layout check (P4): a root module of `abi_stable` that carries nothing but the descriptor.
//!
//! Only `abi_stable`'s comparison of type layouts is used, none of its types cross the boundary. Without the feature
//! the boundary is the same.

use abi_stable::StableAbi;
use abi_stable::library::{AbiHeaderRef, RootModule};
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use chipdock_abi::ChipdockPlugin;

/// The symbol that a plugin built with the feature exports, as `abi_stable` names it.
pub const SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";

/// What the root module holds: the same descriptor as the plain symbol returns.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginRootRef)))]
#[sabi(missing_field(panic))]
pub struct PluginRoot {
    /// The descriptor.
    #[sabi(last_prefix_field)]
    pub plugin: &'static ChipdockPlugin,
}

impl RootModule for PluginRootRef {
    abi_stable::declare_root_module_statics! {PluginRootRef}

    const BASE_NAME: &'static str = "chipdock_plugin";
    const NAME: &'static str = "chipdock plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
