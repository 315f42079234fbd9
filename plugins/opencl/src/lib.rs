//! Target `opencl`: OpenCL C, compiled by the driver of any OpenCL device.
//!
//! * `device_api.opencl` (`device_api`): all devices (`discovery`, `attributes`), their memory
//!   (`memory`) and streams (`stream`), shared by what one host uses (`hardware`).
//! * `target.kind.opencl` (`target_kind`): the options, and which of them must agree.
//! * `target.build.opencl` (`codegen`): a module at stage `device` to one file of OpenCL C, through
//!   the `dialect`.
//! * `module.load.opencl` (`loader`): programs (`program`), kept as files after they are built
//!   (`cache`), and their kernels' launches (`launch`), one by one if a driver requires it
//!   (`turns`).
//! * `hooks`: the interface that opens a lost device again, and the hooks with which the
//!   conformance suite makes one fail. `timer`, `timeline`, `graph`, `external`: interfaces.
//!   `driver`: bindings; `error`: mapping of its errors.

mod attributes;
mod cache;
mod codegen;
mod device_api;
mod dialect;
mod discovery;
mod driver;
mod error;
mod external;
mod graph;
mod hardware;
mod hooks;
mod launch;
mod loader;
mod memory;
mod program;
mod stream;
mod target_kind;
#[cfg(test)]
mod tests;
mod timeline;
mod timer;
mod turns;

use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::source::SourceCodegen;
use chipdock_plugin_api::{
    Context, export_plugin, register_codegen, register_device_api, register_interface,
    register_module_loader, register_target_kind,
};

use codegen::OpenClTarget;
use hardware::Hardware;

export_plugin! { name: "opencl", settings: [cache::FOLDER] }

register_device_api!(hardware::NAME, hardware::DEVICE_TYPE, |context| Box::new(device_api::OpenClDeviceApi(
    context.state::<Hardware>()
)));
register_interface!("device_api.opencl", RESET, |context: &Context| -> Box<dyn Reset> {
    Box::new(hooks::Reopen(context.state::<Hardware>()))
});
register_module_loader!("opencl", |context| Box::new(loader::OpenClLoader {
    host: context.host(),
    hardware: context.state::<Hardware>()
}));
register_target_kind!("opencl", include_str!("target_kind.json"), |_| Box::new(
    target_kind::OpenClTargetKind
));
register_codegen!("opencl", "1.0.0", "1.0.0", |context| Box::new(SourceCodegen::new(context, OpenClTarget)));
