//! Target `cuda`: CUDA C for NVIDIA GPUs, compiled by NVRTC or nvcc.
//!
//! * `device_api.cuda` (`device_api`): memory, copies and streams (`hardware`) over the driver
//!   (`driver`), which is opened when it is first needed; its interfaces `reset`, `timer`,
//!   `timeline`, `graph`, `external`, `memory.async` (`pools`).
//! * `module.load.cuda` (`loader`): kernels from source, PTX or a cubin (`artifact`), loaded and
//!   launched (`program`).
//! * `target.kind.cuda` (`target_kind`): the options, and the check of architectures.
//! * `target.build.cuda` (`codegen`): CUDA C (`dialect`), compiled to PTX or a cubin (`compiler`).

mod artifact;
mod codegen;
mod compiler;
mod device_api;
mod dialect;
mod driver;
mod external;
mod graph;
mod hardware;
mod loader;
mod pools;
mod program;
mod target_kind;
#[cfg(test)]
mod tests;
mod timeline;
mod timer;

use chipdock_plugin_api::external::{EXTERNAL, External};
use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::source::SourceCodegen;
use chipdock_plugin_api::{
    Context, export_plugin, register_codegen, register_device_api, register_interface,
    register_module_loader, register_target_kind,
};
use hardware::Hardware;

export_plugin! {
    name: "cuda",
    settings: [compiler::nvrtc::LIBRARY, compiler::nvrtc::WHEELS, compiler::nvcc::PROGRAM],
}

register_device_api!("cuda", device_api::DEVICE_TYPE, |context| {
    Box::new(device_api::CudaDeviceApi(context.state::<Hardware>()))
});
register_interface!("device_api.cuda", RESET, |context: &Context| -> Box<dyn Reset> {
    Box::new(device_api::CudaReset(context.state()))
});
register_interface!("device_api.cuda", EXTERNAL, |context: &Context| -> Box<dyn External> {
    Box::new(external::CudaExternal(context.state::<Hardware>()))
});
register_target_kind!("cuda", include_str!("target_kind.json"), |context| Box::new(
    target_kind::CudaTargetKind(context.host())
));
register_codegen!("cuda", "1.0.0", "1.0.0", |context| Box::new(SourceCodegen::new(
    context,
    codegen::CudaTarget::new(context.host())
)));
register_module_loader!("cuda", |context| {
    Box::new(loader::CudaLoader { host: context.host(), hardware: context.state::<Hardware>() })
});
