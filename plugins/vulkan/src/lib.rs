//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `device_api.vulkan` (`device_api`): all devices, their memory and streams (`device`).
//! * `target.kind.vulkan` (`target_kind`): the options, which of them must agree, and which types they bring.
//! * `artifact`: what the code generator writes and the loader reads.
//! * `target.build.vulkan` (`codegen`): a module at stage `device` to SPIR-V words, by the generator in `spirv`.

mod artifact;
mod codegen;
mod device;
mod spirv;
mod target_kind;

use chipdock_plugin_api::{export_plugin, register_codegen, register_target_kind};

export_plugin! { name: "vulkan", settings: [device::VALIDATION] }

register_target_kind!("vulkan", include_str!("target_kind.json"), |_| Box::new(
    target_kind::VulkanTargetKind
));
register_codegen!("vulkan", "1.0.0", "1.3.0", |_| Box::new(codegen::VulkanCodegen));
