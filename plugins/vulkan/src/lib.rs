//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `artifact`: what the code generator writes and the loader reads.

mod artifact;
mod module;
#[cfg(test)]
mod tests;

use chipdock_plugin_api::export_plugin;

export_plugin! { name: "vulkan" }
