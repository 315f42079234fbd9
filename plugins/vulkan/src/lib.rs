//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `artifact`: what the code generator writes and the loader reads.
//! * `device_api.vulkan` (`device_api`): all devices, their memory and streams (`device`), shared by what one host uses;
//!   the interface that opens a lost device again, and the hooks with which the conformance suite makes one fail.
//! * `module.load.vulkan` (`loader`): artifacts, pipelines and launches (`module`).
//! * `timer`: the interface of that name.

mod artifact;
mod device;
mod device_api;
mod loader;
mod module;
#[cfg(test)]
mod tests;
mod timer;

use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::{
    Context, export_plugin, register_device_api, register_interface, register_module_loader,
};

use device::Hardware;

export_plugin! { name: "vulkan", settings: [device::VALIDATION, module::cache::FOLDER] }

register_device_api!(device::NAME, device::DEVICE_TYPE, |context| Box::new(device_api::VulkanDeviceApi(
    context.state::<Hardware>()
)));
register_interface!("device_api.vulkan", RESET, |context: &Context| -> Box<dyn Reset> {
    Box::new(device_api::Reopen(context.state::<Hardware>()))
});
register_module_loader!("vulkan", |context| Box::new(loader::VulkanLoader {
    host: context.host(),
    hardware: context.state::<Hardware>()
}));
