//! A plugin in software that keeps every clause of the contract: devices with their own memory and
//! streams, and a code generator whose artifacts the reference interpreter runs, including
//! functions for threads.
//!
//! The conformance suite is tested with it: unchanged, it passes at level Full. A mutant is a copy
//! of the library with one fault enabled, see `fault.rs`.
//!
//! * `device_api.reference` (`device_api`): two devices (`hardware`), their memory (`memory`) and
//!   streams (`stream`).
//! * `target.kind.reference` (`target_kind`), `target.build.reference` (`codegen`, `limits`): a
//!   module as it was read.
//! * `target.kind.reference_one_thread`, `target.build.reference_one_thread`: a device without
//!   thread axes, which takes a module whose buffers are flat.
//! * `module.load.reference` (`loader`): functions whose arguments are checked (`entry`, `call`)
//!   and that run on the interpreter (`launch`), as views of memory where they overlap (`views`).
//! * Interfaces: marks of streams (`timer`), values that rise with their work (`timeline`), native
//!   handles and host memory (`external`), addresses of memory (`map`), memory and workspace in the
//!   order of a stream (`ordered`), copies that are replayed (`graph`).
//! * Plain functions, and the interface that opens a lost device again (`functions`).

mod call;
mod codegen;
mod device_api;
mod entry;
mod external;
mod faulty;
mod functions;
mod graph;
mod hardware;
mod launch;
mod limits;
mod loader;
mod map;
mod memory;
mod mutate;
mod ordered;
mod stream;
mod target_kind;
mod timeline;
mod timer;
mod views;

pub(crate) mod fault;

use chipdock_plugin_api::external::{EXTERNAL, External};
use chipdock_plugin_api::graph::{GRAPH, Graphs};
use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::map::{MAP, Map};
use chipdock_plugin_api::memory_async::{AsyncMemory, MEMORY_ASYNC};
use chipdock_plugin_api::timeline::{TIMELINE, Timelines};
use chipdock_plugin_api::timer::{TIMER, Timer};
use chipdock_plugin_api::workspace::{WORKSPACE, Workspace};
use chipdock_plugin_api::{
    Context, export_plugin, register_codegen, register_device_api, register_interface,
    register_module_loader, register_target_kind,
};

use hardware::Hardware;

export_plugin! { name: "reference" }

// Device type 0: the host gives it a number of its own.
register_device_api!("reference", 0, |context| {
    fault::at_init();
    Box::new(faulty::Faulty::new(device_api::ReferenceDeviceApi::new(context.state::<Hardware>())))
});
register_interface!("device_api.reference", RESET, |context: &Context| -> Box<dyn Reset> {
    Box::new(functions::Reopen(context.state::<Hardware>()))
});
register_interface!("device_api.reference", TIMER, |context: &Context| -> Box<dyn Timer> {
    Box::new(timer::ReferenceTimer(context.state::<Hardware>()))
});
register_interface!("device_api.reference", TIMELINE, |context: &Context| -> Box<dyn Timelines> {
    Box::new(timeline::ReferenceTimelines::new(context.state::<Hardware>()))
});
register_interface!("device_api.reference", EXTERNAL, |context: &Context| -> Box<dyn External> {
    Box::new(external::ReferenceExternal(context.state::<Hardware>()))
});
register_interface!("device_api.reference", MAP, |context: &Context| -> Box<dyn Map> {
    Box::new(map::ReferenceMap(context.state::<Hardware>()))
});
register_interface!("device_api.reference", MEMORY_ASYNC, |context: &Context| -> Box<dyn AsyncMemory> {
    Box::new(ordered::ReferenceAsyncMemory(context.state::<Hardware>()))
});
register_interface!("device_api.reference", WORKSPACE, |context: &Context| -> Box<dyn Workspace> {
    Box::new(ordered::ReferenceWorkspace(context.state::<Hardware>()))
});
register_interface!("device_api.reference", GRAPH, |context: &Context| -> Box<dyn Graphs> {
    Box::new(graph::ReferenceGraphs::new(context.state::<Hardware>()))
});
register_target_kind!("reference", include_str!("target_kind.json"), |_| {
    Box::new(target_kind::ReferenceTargetKind)
});
register_target_kind!("reference_one_thread", include_str!("target_kind_one_thread.json"), |_| {
    Box::new(target_kind::ReferenceTargetKind)
});
register_codegen!("reference", "1.0.0", "1.0.0", |_| Box::new(codegen::ReferenceCodegen(codegen::AS_READ)));
register_codegen!("reference_one_thread", "1.0.0", "1.0.0", |_| {
    Box::new(codegen::ReferenceCodegen(codegen::ONE_THREAD))
});
register_module_loader!("reference", |context| {
    Box::new(loader::ReferenceLoader { host: context.host(), hardware: context.state::<Hardware>() })
});
