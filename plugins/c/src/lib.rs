//! Target `c`: host functions as C11 source, compiled by the system's compiler when they are
//! loaded.
//!
//! * `target.kind.c` (`target_kind`): the options, and the check of processor names.
//! * `target.build.c` (`codegen`): a module to one self-contained C file, through the `dialect`;
//!   `moved`: halves that are only moved.
//! * `module.load.c` (`loader`): runs the compiler (`compiler`: of the setting, of `CC` or of
//!   PATH), then `dlopen`; libraries compiled before come from the `cache`. Its interface `object`
//!   1 delivers the compiler's object file instead.

mod cache;
mod codegen;
mod compiler;
mod dialect;
mod loader;
mod moved;
mod target_kind;

#[cfg(test)]
mod tests;

use chipdock_plugin_api::object_code::{OBJECT, Objects};
use chipdock_plugin_api::source::SourceCodegen;
use chipdock_plugin_api::{
    Context, export_plugin, register_codegen, register_interface, register_module_loader,
    register_target_kind,
};

use codegen::CTarget;

export_plugin! { name: "c", settings: [compiler::COMPILER, cache::FOLDER, cache::ANSWERS] }

register_target_kind!("c", include_str!("target_kind.json"), |_| Box::new(target_kind::CTargetKind));
register_codegen!("c", "1.0.0", "1.0.0", |context| Box::new(SourceCodegen::new(context, CTarget)));
register_module_loader!("c", |context| Box::new(loader::CLoader(context.host())));
register_interface!("module.load.c", OBJECT, |context: &Context| -> Box<dyn Objects> {
    Box::new(loader::CLoader(context.host()))
});
