//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `artifact`: what the code generator writes and the loader reads.
//! * `device_api.vulkan` (`device_api`): all devices, their memory and streams (`device`).

mod artifact;
mod device;
mod module;
#[cfg(test)]
mod tests;

use chipdock_plugin_api::export_plugin;

export_plugin! { name: "vulkan", settings: [device::VALIDATION] }
