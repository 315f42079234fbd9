//! `target.build.c`: a module at stage `host` to one C file.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{Diagnostic, IrModule, Stage, Target};
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::{BuildRequest, BuildSession, Codegen, Error, ErrorKind, SectionKind};
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

/// Builds a module for a target; the same input gives the same bytes. With a file, debuggers and messages of the compiler
/// point to its lines.
pub(crate) fn build(
    module: &IrModule,
    target: &Target,
    file: Option<String>,
) -> Result<Built, Vec<Diagnostic>> {
    let flags: &[&str] = if file.is_some() { &["-g"] } else { &[] };
    let source = write_module(module, &CDialect { file })?;
    let by_name = module.by_name();
    let functions: Vec<Value> = source
        .functions
        .iter()
        .filter_map(|function| Some((function, *by_name.get(&*function.name)?)))
        .map(|(function, prim_func)| lowered::describe(&function.symbol, prim_func))
        .collect();
    let mut options: serde_json::Map<String, Value> = COMPILER_OPTIONS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), target.options.get(*name)?.clone())))
        .collect();
    if !flags.is_empty() {
        options.insert("further-flags".to_owned(), json!(flags));
    }
    let index = json!({ "module_kind": KIND, "format": "c", "functions": functions, "options": options });
    Ok(Built { index, source: source.text })
}

/// The file whose lines the source names: that of the module, when the build option `debug` asks for it.
fn debug_file(read: &LoweredRequest) -> Result<Option<String>, Error> {
    match read.options.get("debug") {
        None | Some(Value::Null | Value::Bool(false)) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(read.file.as_deref().unwrap_or("<kernel>").to_owned())),
        Some(found) => Err(Error::new(
            ErrorKind::VALUE_ERROR,
            format!("target {KIND}: build option 'debug': expected true or false, found {found}"),
        )),
    }
}

impl Codegen for CCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Host)?;
        lowered::report(&unsupported(&read.module, &CDialect::default()), session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Host)?;
        if session.is_cancelled() {
            return Err(lowered::cancelled(KIND));
        }
        let file = debug_file(&read)?;
        match build(&read.module, &read.target, file) {
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
