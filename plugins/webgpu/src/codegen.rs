//! `target.build.webgpu`: a module at stage `device` to one WGSL text.
//!
//! The artifact has one section `source` (WGSL, one entry point for each kernel) and this index:
//!
//! ```json
//! {
//!   "module_kind": "webgpu",
//!   "format": "wgsl",
//!   "functions": [{"name": "f_kernel", "symbol": "f_kernel", "args": ["handle", "int32", "int32"],
//!                  "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"],
//!                  "options": {
//!                    "workgroup_size": [64, 1, 1],
//!                    "bindings": [{"binding": 0, "access": "read"}, {"offset_bytes": 0, "type": "i32"},
//!                                 {"offset_bytes": 4, "type": "i32"}],
//!                    "uniform": {"binding": 1, "size_bytes": 8},
//!                    "dynamic_shared": {"override": "cd_words_of_f_kernel"}}}],
//!   "options": {"features": ["shader-f16"], "storage_buffers": 9, "subgroup_size": 32}
//! }
//! ```
//!
//! * `functions`: as `chipdock_plugin_api::kernel::describe` writes it. `bindings` are for a
//!   loader: for each argument, in order, either a storage buffer of group 0, or a member of the
//!   uniform struct. All members have 4 bytes. A loader refuses an integer that does not fit its
//!   type.
//! * `uniform`: absent if there are no scalars.
//! * `dynamic_shared`: absent if there is none; the constant of the pipeline is the launch's bytes
//!   in words of 4, rounded up, at least 1.
//! * `workgroup_size`: a launch with other extents is refused.
//! * `storage_buffers`: absent if 8 suffice, which every device supports; otherwise the
//!   `maxStorageBuffersPerShaderStage` that the device must support.
//! * `features`: features that the device must support, sorted. `subgroup_size`: with the feature
//!   `subgroups`, the size that the device's subgroups must have.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{AttrValue, DType, Diagnostic, IrModule, Param, PrimFunc, Stage, Target, attr};
use chipdock_plugin_api::kernel;
use chipdock_plugin_api::lowered::LoweredRequest;
use chipdock_plugin_api::source::{SourceTarget, Unwritten, Written};
use serde_json::{Value, json};

use crate::dialect::{Binding, WgslDialect, bindings, dynamic_words};

/// The module kind, which selects the loader.
pub(crate) const KIND: &str = "webgpu";

/// Storage buffers per kernel that every device supports: the default of
/// `maxStorageBuffersPerShaderStage`.
const STORAGE_BUFFERS: usize = 8;

/// The code generator of target `webgpu`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebGpuTarget;

/// The dialect of a target.
pub(crate) fn dialect(target: &Target) -> WgslDialect {
    let has_subgroups = target.bool("supports_subgroups") == Some(true);
    let subgroup_size = has_subgroups.then(|| target.int("thread_warp_size").unwrap_or(1));
    WgslDialect::new(
        target.bool("supports_float16") == Some(true),
        subgroup_size,
        target.str("wgsl_dialect") != Some("naga"),
    )
}

/// The description of a kernel for the index.
fn describe(symbol: &str, function: &PrimFunc) -> Value {
    let types: Vec<DType> = function
        .params
        .iter()
        .map(|param| match param {
            Param::Buffer(_) => DType::HANDLE,
            Param::Var(var) => var.dtype,
        })
        .collect();
    let (places, uniform) = bindings(&types);
    let mut entry = kernel::describe(symbol, function);
    let written = written(function);
    let places: Vec<Value> = places
        .iter()
        .zip(&function.params)
        .map(|(place, param)| match place {
            Binding::Buffer(number) => {
                let is_written = matches!(param, Param::Var(var) if written.contains(&var.address()));
                json!({ "binding": number, "access": if is_written { "read_write" } else { "read" } })
            }
            Binding::Scalar { offset_bytes, type_name } => {
                json!({ "offset_bytes": offset_bytes, "type": type_name })
            }
        })
        .collect();
    let scalars = types.iter().filter(|dtype| !dtype.is_handle()).count();
    let workgroup_size = kernel::block_extents(function).map(|extent| extent.unwrap_or(1).max(1));
    entry["options"] = json!({ "bindings": places, "workgroup_size": workgroup_size });
    if let Some(number) = uniform {
        entry["options"]["uniform"] = json!({ "binding": number, "size_bytes": scalars * 4 });
    }
    let is_dynamic = match function.attrs.get(attr::KERNEL_LAUNCH_PARAMS) {
        Some(AttrValue::List(list)) => list
            .iter()
            .any(|value| matches!(value, AttrValue::Str(text) if &**text == kernel::DYNAMIC_SHARED)),
        _ => false,
    };
    if is_dynamic {
        entry["options"]["dynamic_shared"] = json!({ "override": dynamic_words(symbol) });
    }
    entry
}

/// Data variables through which a function writes.
fn written(function: &PrimFunc) -> std::collections::HashSet<usize> {
    chipdock_ir::analysis::Usage::of(&function.body).written
}

fn n_buffers(function: &PrimFunc) -> usize {
    let is_buffer = |param: &&Param| {
        matches!(param, Param::Buffer(_)) || matches!(param, Param::Var(var) if var.dtype.is_handle())
    };
    function.params.iter().filter(is_buffer).count()
}

/// Builds a module for a target; the same input gives the same bytes.
pub(crate) fn build(module: &IrModule, target: &Target) -> Result<Written, Vec<Diagnostic>> {
    let dialect = dialect(target);
    let source = write_module(module, &dialect)?;
    let functions: Vec<Value> =
        source.functions_of(module).map(|(symbol, function)| describe(symbol, function)).collect();
    let mut options = json!({});
    let most = source.functions_of(module).map(|(_, function)| n_buffers(function)).max().unwrap_or(0);
    if most > STORAGE_BUFFERS {
        options["storage_buffers"] = json!(most);
    }
    let features = dialect.features();
    if features.contains(&"subgroups") {
        options["subgroup_size"] = json!(dialect.subgroup_size);
    }
    options["features"] = json!(features);
    let index = json!({ "module_kind": KIND, "format": "wgsl", "functions": functions, "options": options });
    Ok(Written { index, source: source.text })
}

impl SourceTarget for WebGpuTarget {
    const KIND: &'static str = KIND;
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STAGE: Stage = Stage::Device;

    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic> {
        unsupported(&request.module, &dialect(&request.target))
    }

    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten> {
        Ok(build(&request.module, &request.target)?)
    }
}
