//! Target `llvm`: host functions as native code, through LLVM, opened at run time. Device API
//! `cpu`: host memory.
//!
//! * `device_api.cpu`: implemented in the plugin API; needs no LLVM.
//! * `target.kind.llvm` (`target_kind`): the options, filled in and checked, with facts from
//!   `names`, `triple`, `trial`.
//! * `target.build.llvm` (`codegen`, `target`): a module to one object file.
//! * `module.load.llvm` (`loader`, `runs_here`): loads an object as functions of this process, by
//!   `linker` or by LLVM's. Its interface `object` 1 delivers the object for linkers.
//! * `llvm`: bindings of the library. `cache`: what it answered to earlier processes.

mod cache;
mod codegen;
mod linker;
mod llvm;
mod loader;
mod names;
mod runs_here;
mod target;
mod target_kind;
#[cfg(test)]
mod tests;
mod trial;
mod triple;

use chipdock_plugin_api::abi::CHIPDOCK_DEVICE_CPU;
use chipdock_plugin_api::object_code::{OBJECT, Objects};
use chipdock_plugin_api::{
    Context, cpu, export_plugin, register_codegen, register_device_api, register_interface,
    register_module_loader, register_target_kind,
};

export_plugin! {
    name: "cpu-llvm",
    settings: [llvm::LIBRARY, cache::SETTING, llvm::naming::PERF_MAP, llvm::naming::GDB]
}

register_device_api!(cpu::NAME, CHIPDOCK_DEVICE_CPU, |context| Box::new(cpu::CpuDeviceApi::new(
    context.host()
)));
register_target_kind!("llvm", include_str!("target_kind.json"), |context| Box::new(
    target_kind::LlvmTargetKind(context.host())
));
register_codegen!("llvm", "1.0.0", "1.0.0", |context| Box::new(codegen::LlvmCodegen::new(context.host())));
register_module_loader!("llvm", |context| Box::new(loader::LlvmLoader(context.host())));
register_interface!("module.load.llvm", OBJECT, |context: &Context| -> Box<dyn Objects> {
    Box::new(loader::LlvmLoader(context.host()))
});
