//! `target.build.c`: a module at stage `host` to one C file.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{Diagnostic, IrModule, Stage, Target};
use chipdock_plugin_api::Error;
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::source::{SourceTarget, Unwritten, Written};
use serde_json::{Value, json};

use crate::dialect::CDialect;
use crate::moved;

/// The module kind and the format of artifacts: the loader, and the meaning of the bytes.
pub(crate) const KIND: &str = "c";
/// Options of the target that are passed to the compiler when the module is loaded.
const COMPILER_OPTIONS: &[&str] = &["march", "mcpu", "opt-level", "fast-math"];

/// The code generator of target `c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CTarget;

/// Builds a module for a target; the same input gives the same bytes. With a file, debuggers and
/// messages of the compiler point to its lines.
pub(crate) fn build(
    module: &IrModule,
    target: &Target,
    file: Option<String>,
) -> Result<Written, Vec<Diagnostic>> {
    let flags: &[&str] = if file.is_some() { &["-g"] } else { &[] };
    let module = &moved::as_bits(module);
    let source = write_module(module, &CDialect { file })?;
    let functions: Vec<Value> =
        source.functions_of(module).map(|(symbol, function)| lowered::describe(symbol, function)).collect();
    let mut options: serde_json::Map<String, Value> = COMPILER_OPTIONS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), target.options.get(*name)?.clone())))
        .collect();
    if !flags.is_empty() {
        options.insert("further-flags".to_owned(), json!(flags));
    }
    let index = json!({ "module_kind": KIND, "format": "c", "functions": functions, "options": options });
    Ok(Written { index, source: source.text })
}

impl SourceTarget for CTarget {
    const KIND: &'static str = KIND;
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STAGE: Stage = Stage::Host;

    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic> {
        unsupported(&request.module, &CDialect::default())
    }

    /// In place of the compiler that the loader runs.
    fn compiles(&self, _request: &LoweredRequest) -> Result<bool, Error> {
        Ok(true)
    }

    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten> {
        let file = request.debug_file(KIND)?;
        Ok(build(&request.module, &request.target, file)?)
    }
}
