//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `device_api.vulkan` (`device_api`): all devices, their memory and streams (`device`), shared
//!   by what one host uses; the interface that opens a lost device again, and the hooks with which
//!   the conformance suite makes one fail.
//! * `driver`: what calls Vulkan.
//! * `target.kind.vulkan` (`target_kind`): the options, which of them must agree, and which types
//!   they bring.
//! * `target.build.vulkan` (`codegen`): a module at stage `device` to SPIR-V words, by the
//!   generator in `spirv`.
//! * `artifact`: what the code generator writes and the loader reads.
//! * `module.load.vulkan` (`loader`): artifacts, pipelines and launches (`program`).
//! * `timer`, `timeline`, `graph`: the interfaces of those names. `validator`: the program that
//!   checks modules in tests.

mod artifact;
mod codegen;
mod device;
mod device_api;
mod driver;
mod graph;
mod loader;
mod program;
mod spirv;
mod target_kind;
#[cfg(test)]
mod tests;
mod timeline;
mod timer;
mod validator;

use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::{
    Context, export_plugin, register_codegen, register_device_api, register_interface,
    register_module_loader, register_target_kind,
};

use device::Hardware;

export_plugin! { name: "vulkan", settings: [device::VALIDATION, program::cache::FOLDER, validator::VALIDATOR] }

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
register_target_kind!("vulkan", include_str!("target_kind.json"), |_| Box::new(
    target_kind::VulkanTargetKind
));
register_codegen!("vulkan", "1.0.0", "1.0.0", |context| Box::new(codegen::VulkanCodegen {
    host: context.host()
}));
