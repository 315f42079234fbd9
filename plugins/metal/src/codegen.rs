//! `target.build.metal`: a module at stage `device` to one MSL text.
//!
//! The artifact has one section `source` (MSL, one `kernel` function for each kernel) and this index:
//!
//! ```json
//! {
//!   "module_kind": "metal",
//!   "format": "msl",
//!   "functions": [{"name": "f_kernel", "symbol": "f_kernel", "args": ["handle", "int64"],
//!                  "launch_params": ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"],
//!                  "workgroup_size": [64, 1, 1]}],
//!   "compile_options": {"fast_math": false, "language_version": "2.3"}
//! }
//! ```
//!
//! * `functions`: as `chipdock_plugin_api::kernel::describe` writes it. Argument i is `[[buffer(i)]]`: a buffer, or the
//!   bytes of a scalar of the size that its type says (a boolean is one byte), as `setBytes` passes them. Where the launch
//!   tells the bytes of dynamic shared memory, `[[threadgroup(0)]]` has that many, rounded up to a multiple of 16.
//! * `workgroup_size`: threads of a block on the axes x, y, z; 0 on an axis whose extent the launch alone tells.
//! * `compile_options`: what the Metal compiler is told; the text relies on the IEEE rules that fast math drops.

use chipdock_codegen_source::{unsupported, with_lanes_at_most, without_moved_pointers, write_module};
use chipdock_ir::{Child, Diagnostic, IrModule, PrimFunc, Stage, StmtKind, Target, ThreadAxis};
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::{BuildRequest, BuildSession, Codegen, Error, SectionKind, kernel};
use serde_json::{Value, json};

use crate::dialect::MslDialect;

/// The module kind: who loads it.
pub(crate) const KIND: &str = "metal";
/// The section that holds the source.
pub(crate) const SOURCE: &str = "source";

/// The code generator of target `metal`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetalCodegen;

/// What a build delivers.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) index: Value,
    pub(crate) source: String,
}

/// The dialect of a target.
pub(crate) fn dialect(target: &Target) -> MslDialect {
    let is_set = |name: &str| target.bool(name) == Some(true);
    MslDialect {
        has_bfloat: is_set("supports_bfloat16"),
        has_atomic_float: is_set("supports_atomic_float"),
        has_simdgroups: is_set("supports_simdgroups"),
    }
}

/// The least version of the language that the options ask for.
fn language_version(dialect: &MslDialect) -> &'static str {
    match (dialect.has_bfloat, dialect.has_atomic_float) {
        (true, _) => "3.1",
        (false, true) => "3.0",
        (false, false) => "2.3",
    }
}

/// Threads of a block on the axes x, y, z; 0 where that is not constant.
fn workgroup_size(function: &PrimFunc) -> [i64; 3] {
    let mut size = [1; 3];
    function.body.walk(&mut |child| {
        let Child::Stmt(s) = child else { return };
        let StmtKind::LaunchThread { axis, extent, .. } = &s.kind else { return };
        let place = match axis {
            ThreadAxis::ThreadX => 0,
            ThreadAxis::ThreadY => 1,
            ThreadAxis::ThreadZ => 2,
            _ => return,
        };
        size[place] = extent.as_int().and_then(|extent| i64::try_from(extent).ok()).unwrap_or(0).max(0);
    });
    size
}

/// The module without what MSL has not: pointers that are moved by bytes, vectors of more than 4 lanes.
fn plain(module: &IrModule) -> IrModule {
    with_lanes_at_most(&without_moved_pointers(module), 4)
}

/// Builds a module for a target; the same input gives the same bytes.
pub(crate) fn build(module: &IrModule, target: &Target) -> Result<Built, Vec<Diagnostic>> {
    let dialect = dialect(target);
    let module = &plain(module);
    let source = write_module(module, &dialect)?;
    let by_name = module.by_name();
    let functions: Vec<Value> = source
        .functions
        .iter()
        .filter_map(|function| Some((function, *by_name.get(&*function.name)?)))
        .map(|(function, prim_func)| {
            let mut entry = kernel::describe(&function.symbol, prim_func);
            entry["workgroup_size"] = json!(workgroup_size(prim_func));
            entry
        })
        .collect();
    let index = json!({
        "module_kind": KIND,
        "format": "msl",
        "functions": functions,
        "compile_options": { "fast_math": false, "language_version": language_version(&dialect) },
    });
    Ok(Built { index, source: source.text })
}

impl Codegen for MetalCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Device)?;
        lowered::report(&unsupported(&plain(&read.module), &dialect(&read.target)), session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Device)?;
        if session.is_cancelled() {
            return Err(lowered::cancelled(KIND));
        }
        match build(&read.module, &read.target) {
            Ok(built) => {
                session.section(SOURCE, SectionKind::Source, 1, built.source.as_bytes())?;
                session.index(&built.index.to_string())
            }
            Err(diagnostics) => {
                lowered::report(&diagnostics, session)?;
                Err(lowered::unsupported(&diagnostics))
            }
        }
    }

    /// The artifact is text, which the request and this code make alone; drivers and compilers see it when it is loaded.
    fn fingerprint(&self, _request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        Ok(Some(lowered::fingerprint(KIND, env!("CARGO_PKG_VERSION"))))
    }
}
