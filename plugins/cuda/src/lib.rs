//! Target `cuda`: CUDA C for NVIDIA GPUs, compiled by NVRTC or nvcc.
//!
//! * `device_api.cuda` (`device_api`): memory, copies and streams (`memory`, `hardware`) over the driver (`driver`), which is
//!   opened when it is first needed.

mod device_api;
#[expect(dead_code, reason = "launches come with the loader")]
mod driver;
#[expect(dead_code, reason = "launches come with the loader")]
mod hardware;
mod memory;

use chipdock_plugin_api::{SchemaOnly, export_plugin, register_device_api, register_target_kind};

export_plugin! { name: "cuda" }

register_device_api!("cuda", device_api::DEVICE_TYPE, |host| {
    Box::new(device_api::CudaDeviceApi(hardware::Hardware::of(host)))
});
register_target_kind!("cuda", include_str!("target_kind.json"), |_| Box::new(SchemaOnly));
