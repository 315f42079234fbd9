//! Target `vulkan`: SPIR-V, run by any Vulkan device.
//!
//! * `artifact`: what the code generator writes and the loader reads.
//! * `target.build.vulkan` (`codegen`): a module at stage `device` to SPIR-V words, by the generator in `spirv`.

mod artifact;
mod codegen;
mod spirv;

use chipdock_plugin_api::{export_plugin, register_codegen};

export_plugin! { name: "vulkan" }

register_codegen!("vulkan", "1.0.0", "1.3.0", |_| Box::new(codegen::VulkanCodegen));
