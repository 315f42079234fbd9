//! `target.build.opencl`: a module at stage `device` to one file of OpenCL C.
//!
//! The artifact has one section `source` (OpenCL C 1.2) and this index:
//!
//! ```json
//! {
//!   "module_kind": "opencl",
//!   "format": "cl",
//!   "functions": [{"name": "f_kernel", "symbol": "f_kernel", "args": ["handle", "int64"],
//!                  "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"]}],
//!   "options": {"build_options": ["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"],
//!               "extensions": ["cl_khr_fp64"]}
//! }
//! ```
//!
//! * `functions`: as `chipdock_plugin_api::kernel::describe` writes it. A kernel's arguments are
//!   the IR's in order, each a buffer or a scalar with the size of its type (a boolean is one
//!   byte). If the size of dynamic shared memory is a launch parameter there is one more argument,
//!   the last: local memory of that many bytes (at least 1: drivers do not accept 0).
//! * `build_options`: the options for `clBuildProgram`, in order, joined by spaces. They include
//!   `-cl-fp32-correctly-rounded-divide-sqrt` if the module divides or takes square roots: a device
//!   without it cannot run the module.
//! * `extensions`: extensions that the device must support, sorted; a driver without one rejects
//!   the source, and the loader may report that earlier.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{BinaryOp, Callee, Diagnostic, ExprKind, IrModule, Op, Stage, Target};
use chipdock_plugin_api::kernel;
use chipdock_plugin_api::lowered::LoweredRequest;
use chipdock_plugin_api::source::{SourceTarget, Unwritten, Written};
use serde_json::{Value, json};

use crate::dialect::{EXTENSIONS, Features, OpenClDialect};

/// The module kind, which selects the loader.
pub(crate) const KIND: &str = "opencl";

/// The option for correctly rounded division and square root of float32.
pub(crate) const EXACT_DIVISION: &str = "-cl-fp32-correctly-rounded-divide-sqrt";

/// The code generator of target `opencl`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenClTarget;

/// Builds a module for a target; the same input gives the same bytes.
pub(crate) fn build(module: &IrModule, target: &Target) -> Result<Written, Vec<Diagnostic>> {
    let features = Features::from_target(target);
    let source = write_module(module, &OpenClDialect { features })?;
    let functions: Vec<Value> =
        source.functions_of(module).map(|(symbol, function)| kernel::describe(symbol, function)).collect();
    let extensions: Vec<&str> = EXTENSIONS
        .iter()
        .copied()
        .filter(|name| source.text.contains(&format!("#pragma OPENCL EXTENSION {name} :")))
        .collect();
    let index = json!({
        "module_kind": KIND,
        "format": "cl",
        "functions": functions,
        "options": {
            "build_options": build_options(features, &extensions, divides(module)),
            "extensions": extensions,
        },
    });
    Ok(Written { index, source: source.text })
}

/// Returns true if a module has divisions or square roots of floats: only such a module requires
/// exact ones of a device.
fn divides(module: &IrModule) -> bool {
    let mut divides = false;
    for function in &module.functions {
        function.body.walk_exprs(&mut |e| {
            divides |= e.dtype.is_float()
                && matches!(
                    e.kind,
                    ExprKind::Binary(BinaryOp::Div, ..) | ExprKind::Call { callee: Callee::Op(Op::Sqrt), .. }
                );
        });
    }
    divides
}

/// Options for the driver's compiler. Floats follow the IR unless the target requests speed.
fn build_options(features: Features, extensions: &[&str], divides: bool) -> Vec<&'static str> {
    // Subgroups need OpenCL C 2.0.
    let has_subgroups = extensions.contains(&"cl_khr_subgroups");
    let mut options = vec![if has_subgroups { "-cl-std=CL2.0" } else { "-cl-std=CL1.2" }];
    if features.is_fast {
        options.push("-cl-fast-relaxed-math");
    } else if features.divides && divides {
        options.push(EXACT_DIVISION);
    }
    options
}

impl SourceTarget for OpenClTarget {
    const KIND: &'static str = KIND;
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STAGE: Stage = Stage::Device;

    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic> {
        unsupported(&request.module, &OpenClDialect { features: Features::from_target(&request.target) })
    }

    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten> {
        Ok(build(&request.module, &request.target)?)
    }
}
