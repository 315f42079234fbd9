//! `target.build.metal`: a module at stage `device` to one MSL text.
//!
//! The artifact has a section `source` (MSL, one `kernel` function for each kernel), a section
//! `code` where the hook `metal.compile_source` made one (a Metal library), and this index:
//!
//! ```json
//! {
//!   "module_kind": "metal",
//!   "format": "msl",
//!   "functions": [{"name": "f_kernel", "symbol": "f_kernel", "args": ["handle", "int64"],
//!                  "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"],
//!                  "options": {"workgroup_size": [64, 1, 1]}}],
//!   "options": {"compile_options": {"fast_math": false, "language_version": "2.3"}}
//! }
//! ```
//!
//! * `functions`: as `chipdock_plugin_api::kernel::describe` writes it. Argument i is
//!   `[[buffer(i)]]`: a buffer, or the bytes of a scalar with the size of its type (a boolean is
//!   one byte), as `setBytes` passes them. If the size of dynamic shared memory is a launch
//!   parameter, `[[threadgroup(0)]]` has that many bytes, rounded up to a multiple of 16.
//! * `workgroup_size`: threads per block on the axes x, y, z; 0 on an axis whose extent is only
//!   known at launch.
//! * `compile_options`: options for the Metal compiler; the text relies on the IEEE rules that fast
//!   math drops.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{Diagnostic, IrModule, Stage, Target};
use chipdock_plugin_api::lowered::LoweredRequest;
use chipdock_plugin_api::source::{SourceTarget, Unwritten, Written};
use chipdock_plugin_api::{Error, kernel};
use serde_json::{Value, json};

use crate::dialect::MslDialect;

/// The module kind, which selects the loader.
pub(crate) const KIND: &str = "metal";
/// The code generator of target `metal`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetalTarget;

/// The dialect of a target.
pub(crate) fn dialect(target: &Target) -> MslDialect {
    let is_set = |name: &str| target.bool(name) == Some(true);
    MslDialect {
        has_bfloat: is_set("supports_bfloat16"),
        has_atomic_float: is_set("supports_atomic_float"),
        has_simdgroups: is_set("supports_simdgroups"),
    }
}

/// The lowest version of the language that the options require.
fn language_version(dialect: &MslDialect) -> &'static str {
    match (dialect.has_bfloat, dialect.has_atomic_float) {
        (true, _) => "3.1",
        (false, true) => "3.0",
        (false, false) => "2.3",
    }
}

/// Builds a module for a target; the same input gives the same bytes.
pub(crate) fn build(module: &IrModule, target: &Target) -> Result<Written, Vec<Diagnostic>> {
    let dialect = dialect(target);
    let source = write_module(module, &dialect)?;
    let functions: Vec<Value> = source
        .functions_of(module)
        .map(|(symbol, function)| {
            let mut entry = kernel::describe(symbol, function);
            let extents = kernel::block_extents(function);
            let workgroup_size = extents.map(|extent| extent.unwrap_or(0).max(0));
            entry["options"] = json!({ "workgroup_size": workgroup_size });
            entry
        })
        .collect();
    let index = json!({
        "module_kind": KIND,
        "format": "msl",
        "functions": functions,
        "options": {
            "compile_options": { "fast_math": false, "language_version": language_version(&dialect) },
        },
    });
    Ok(Written { index, source: source.text })
}

impl SourceTarget for MetalTarget {
    const KIND: &'static str = KIND;
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STAGE: Stage = Stage::Device;

    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic> {
        unsupported(&request.module, &dialect(&request.target))
    }

    /// Metal's compiler runs on Apple's systems alone: a program may bring what stands for it.
    fn compiles(&self, _request: &LoweredRequest) -> Result<bool, Error> {
        Ok(true)
    }

    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten> {
        Ok(build(&request.module, &request.target)?)
    }
}
