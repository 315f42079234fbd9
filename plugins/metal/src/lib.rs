//! Target `metal`: Metal Shading Language for Apple GPUs. A code generator without a device API
//! yet.
//!
//! * `target.kind.metal` (`target_kind`): the options, defined by the schema alone.
//! * `target.build.metal` (`codegen`): a module to one MSL text, through the `dialect`.

mod codegen;
mod dialect;
mod target_kind;

#[cfg(test)]
mod tests;

use chipdock_plugin_api::source::SourceCodegen;
use chipdock_plugin_api::{export_plugin, register_codegen, register_target_kind};

use codegen::MetalTarget;

export_plugin! { name: "metal" }

register_target_kind!("metal", include_str!("target_kind.json"), |_| Box::new(target_kind::MetalTargetKind));
register_codegen!("metal", "1.0.0", "1.0.0", |context| Box::new(SourceCodegen::new(context, MetalTarget)));
