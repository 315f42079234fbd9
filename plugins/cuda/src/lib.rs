//! Target `cuda`: CUDA C for NVIDIA GPUs, compiled by NVRTC or nvcc.
//!
//! * `device_api.cuda` (`device_api`): memory, copies and streams (`memory`, `hardware`) over the driver (`driver`), which is
//!   opened when it is first needed.
//! * `target.kind.cuda` (`target_kind`): the options, and the check of architectures.
//! * `target.build.cuda` (`codegen`): a module of kernels to CUDA C (`dialect`), which a function may change
//!   (`postprocess`), and that to PTX or a cubin (`compiler`).

mod codegen;
mod compiler;
mod device_api;
mod dialect;
#[expect(dead_code, reason = "launches come with the loader")]
mod driver;
#[expect(dead_code, reason = "launches come with the loader")]
mod hardware;
mod memory;
mod postprocess;
mod target_kind;

#[cfg(test)]
mod tests;

use chipdock_plugin_api::{export_plugin, register_codegen, register_device_api, register_target_kind};

export_plugin! { name: "cuda" }

register_device_api!("cuda", device_api::DEVICE_TYPE, |host| {
    Box::new(device_api::CudaDeviceApi(hardware::Hardware::of(host)))
});
register_target_kind!("cuda", include_str!("target_kind.json"), |_| Box::new(target_kind::CudaTargetKind));
register_codegen!("cuda", "1.0.0", "1.2.0", |host| Box::new(codegen::CudaCodegen::new(host)));
