//! Target `opencl`: OpenCL C, built by the driver of any OpenCL device.

use chipdock_plugin_api::{SchemaOnly, export_plugin, register_target_kind};

export_plugin! { name: "opencl" }

register_target_kind!("opencl", include_str!("target_kind.json"), |_| Box::new(SchemaOnly));
