//! Host memory as `device_api.cpu`. The target's code generator comes with an issue of its own.

use chipdock_plugin_api::abi::CHIPDOCK_DEVICE_CPU;
use chipdock_plugin_api::{cpu, export_plugin, register_device_api};

#[allow(dead_code, unused_imports, reason = "the code generator that uses it comes next")]
mod llvm;
#[allow(dead_code, reason = "the same")]
mod names;
#[allow(dead_code, reason = "the same")]
mod target;
#[allow(dead_code, reason = "the same")]
mod target_kind;
#[cfg(test)]
mod tests;
#[allow(dead_code, reason = "the same")]
mod trial;
#[allow(dead_code, reason = "the same")]
mod triple;

export_plugin! { name: "cpu-llvm" }

register_device_api!(cpu::NAME, CHIPDOCK_DEVICE_CPU, |host| Box::new(cpu::CpuDeviceApi::new(host)));
