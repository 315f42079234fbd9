//! The layout check (P4): a root module of `abi_stable` that contains only the descriptor.
//!
//! Only `abi_stable`'s comparison of type layouts is used; none of its types cross the boundary,
//! and without the feature the boundary is the same. The module is in this crate because layouts
//! are compared with the version of the crate that defines them, and the version of this crate
//! starts at 1.0.

#![allow(missing_docs, non_camel_case_types, reason = "the derive names what it makes")]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;

use crate::ChipdockPlugin;

/// The root module: it holds the descriptor that the plain symbol returns.
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
