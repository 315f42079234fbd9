//! Target `webgpu`: WGSL for WebGPU.

use chipdock_plugin_api::{SchemaOnly, export_plugin, register_target_kind};

export_plugin! { name: "webgpu" }

register_target_kind!("webgpu", include_str!("target_kind.json"), |_| Box::new(SchemaOnly));
