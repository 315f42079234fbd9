//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `artifact`: what the code generator writes and the loader reads.
//! * `device_api.vulkan` (`device_api`): all devices, their memory and streams (`device`).
//! * `module.load.vulkan` (`loader`): artifacts, pipelines and launches (`module`).

mod artifact;
mod device;
mod loader;
mod module;
#[cfg(test)]
mod tests;

use chipdock_plugin_api::{export_plugin, register_module_loader};

use device::Hardware;

export_plugin! { name: "vulkan", settings: [device::VALIDATION, module::cache::FOLDER] }

register_module_loader!("vulkan", |context| Box::new(loader::VulkanLoader {
    host: context.host(),
    hardware: context.state::<Hardware>()
}));
