//! Target `cuda`: CUDA C for NVIDIA GPUs, compiled by NVRTC or nvcc.

use chipdock_plugin_api::{SchemaOnly, export_plugin, register_target_kind};

export_plugin! { name: "cuda" }

register_target_kind!("cuda", include_str!("target_kind.json"), |_| Box::new(SchemaOnly));
