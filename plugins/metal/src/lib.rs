//! Target `metal`: Metal Shading Language for Apple GPUs.

use chipdock_plugin_api::{SchemaOnly, export_plugin, register_target_kind};

export_plugin! { name: "metal" }

register_target_kind!("metal", include_str!("target_kind.json"), |_| Box::new(SchemaOnly));
