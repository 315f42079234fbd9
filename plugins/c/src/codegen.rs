//! `target.build.c`: a module at stage `host` to one C file.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{Diagnostic, IrModule, Stage, Target};
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::{BuildRequest, BuildSession, Codegen, Error, SectionKind};
use serde_json::{Value, json};

use crate::dialect::CDialect;

/// The module kind and the format of what is built: who loads it, and what the bytes are.
pub(crate) const KIND: &str = "c";
/// The section that holds the source.
pub(crate) const SOURCE: &str = "source";
/// Options of the target that the compiler is told when the module is loaded.
const COMPILER_OPTIONS: &[&str] = &["march", "mcpu", "opt-level", "fast-math"];

/// The code generator of target `c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CCodegen;

/// What a build delivers.
pub(crate) struct Built {
    pub(crate) index: Value,
    pub(crate) source: String,
}

/// Builds a module for a target; the same input gives the same bytes.
pub(crate) fn build(module: &IrModule, target: &Target) -> Result<Built, Vec<Diagnostic>> {
    let source = write_module(module, &CDialect)?;
    let functions: Vec<Value> = source
        .functions
        .iter()
        .filter_map(|function| Some((function, module.function(&function.name)?)))
        .map(|(function, prim_func)| lowered::describe(&function.symbol, prim_func))
        .collect();
    let options: serde_json::Map<String, Value> = COMPILER_OPTIONS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), target.options.get(*name)?.clone())))
        .collect();
    let index = json!({ "module_kind": KIND, "format": "c", "functions": functions, "options": options });
    Ok(Built { index, source: source.text })
}

impl Codegen for CCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Host)?;
        lowered::report(&unsupported(&read.module, &CDialect), session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Host)?;
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
}
