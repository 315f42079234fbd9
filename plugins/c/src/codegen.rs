//! `target.build.c`: a module at stage `host` to one C file.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::validate::validate;
use chipdock_ir::{AttrValue, Diagnostic, IrModule, PrimFunc, Stage, Target, attr, wire};
use chipdock_plugin_api::{BuildRequest, BuildSession, Codegen, Error, ErrorKind, SectionKind, Severity};
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
        .map(|(function, prim_func)| describe(&function.symbol, prim_func))
        .collect();
    let options: serde_json::Map<String, Value> = COMPILER_OPTIONS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), target.options.get(*name)?.clone())))
        .collect();
    let index = json!({ "module_kind": KIND, "format": "c", "functions": functions, "options": options });
    Ok(Built { index, source: source.text })
}

/// A function as the artifact's index has it.
fn describe(symbol: &str, function: &PrimFunc) -> Value {
    let text = |name: &str| match function.attrs.get(name) {
        Some(AttrValue::Str(text)) => Some(text.to_string()),
        _ => None,
    };
    let args: Vec<String> = match function.attrs.get(attr::ARG_TYPES) {
        Some(AttrValue::List(list)) => list
            .iter()
            .filter_map(|value| if let AttrValue::Str(text) = value { Some(text.to_string()) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    let name = text(attr::SOURCE_NAME)
        .unwrap_or_else(|| symbol.strip_prefix("__tvm_ffi_").unwrap_or(symbol).to_owned());
    let doc = text(attr::SIGNATURE).unwrap_or_default();
    json!({ "name": name, "symbol": symbol, "args": args, "launch_params": [], "doc": doc })
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// The request's module, which is valid past this, and its target.
fn read(request: &BuildRequest<'_>) -> Result<(IrModule, Target), Error> {
    let module = wire::read(request.ir)
        .map_err(|error| value_error(format!("target c: the module cannot be read: {error}")))?;
    validate(&module, Stage::Host).map_err(|problems| {
        let first = problems.first().map(ToString::to_string).unwrap_or_default();
        value_error(format!(
            "target c: expected a valid module at stage host: {first} ({} in all)",
            problems.len()
        ))
    })?;
    let target = serde_json::from_str(request.target_json)
        .map_err(|error| error.to_string())
        .and_then(|json| Target::from_canonical_json(&json))
        .map_err(|error| value_error(format!("target c: the target cannot be read: {error}")))?;
    Ok((module, target))
}

fn report(diagnostics: &[Diagnostic], session: &BuildSession<'_>) -> Result<(), Error> {
    for diagnostic in diagnostics {
        let mut message = diagnostic.message.clone();
        if diagnostic.span.line != 0 {
            message = format!("{}:{}: {message}", diagnostic.span.line, diagnostic.span.column);
        }
        session.diagnostic(Severity::Error, &diagnostic.function, &diagnostic.node, &message)?;
    }
    Ok(())
}

impl Codegen for CCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let (module, _) = read(request)?;
        report(&unsupported(&module, &CDialect), session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let (module, target) = read(request)?;
        if session.is_cancelled() {
            return Err(Error::new(ErrorKind::CANCELLED, "target c: the build was cancelled"));
        }
        match build(&module, &target) {
            Ok(built) => {
                session.section(SOURCE, SectionKind::Source, 1, built.source.as_bytes())?;
                session.index(&built.index.to_string())
            }
            Err(diagnostics) => {
                report(&diagnostics, session)?;
                let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
                let more = match diagnostics.len() {
                    0 | 1 => String::new(),
                    n => format!(" (and {} more)", n - 1),
                };
                Err(Error::new(ErrorKind::UNSUPPORTED, format!("{first}{more}")))
            }
        }
    }
}
