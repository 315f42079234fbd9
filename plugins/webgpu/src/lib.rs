//! Target `webgpu`: WGSL for WebGPU. A code generator without a device API yet.
//!
//! * `target.kind.webgpu` (`target_kind`): the options, and the check of warps against subgroups.
//! * `target.build.webgpu` (`codegen`): a module to one WGSL text, through the `dialect`.

mod codegen;
mod dialect;
mod target_kind;

#[cfg(test)]
mod tests;

use chipdock_plugin_api::source::SourceCodegen;
use chipdock_plugin_api::{export_plugin, register_codegen, register_target_kind};

use codegen::WebGpuTarget;

export_plugin! { name: "webgpu" }

register_target_kind!("webgpu", include_str!("target_kind.json"), |_| Box::new(
    target_kind::WebGpuTargetKind
));
register_codegen!("webgpu", "1.0.0", "1.0.0", |context| Box::new(SourceCodegen::new(context, WebGpuTarget)));
