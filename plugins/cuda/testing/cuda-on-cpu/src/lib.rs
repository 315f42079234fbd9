//! A plugin for tests: host memory as `device_api.cuda`, and a loader that runs the CUDA C of an
//! artifact on the processor. clang compiles it as C++ after `shim.h`; the threads of a block are
//! fibres, one block after the other.
//!
//! It checks the meaning of the text: indices, barriers, warps, atomics, conversions. It does not
//! find races between barriers or exceeded resource limits, and does not test NVIDIA's compiler,
//! which has tests of its own.

//!
//! It has the function `cuda.postprocess_source` too, so that every source that it runs has come
//! through there.

mod device_api;
mod loader;
mod postprocess;

use chipdock_plugin_api::cpu::CpuDeviceApi;
use chipdock_plugin_api::{export_plugin, register_device_api, register_function, register_module_loader};

export_plugin! { name: "chipdock-cuda-on-cpu" }

register_device_api!("cuda", 2, |context| Box::new(device_api::Processor(CpuDeviceApi::new(context.host()))));
register_module_loader!("cuda", |context| Box::new(loader::Loader { host: context.host() }));
register_function!("cuda.postprocess_source", postprocess::marked);
