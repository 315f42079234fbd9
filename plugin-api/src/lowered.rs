//! Shared parts of code generators for lowered modules: reading requests, reporting diagnostics,
//! describing functions.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::validate::validate;
use chipdock_ir::{AttrValue, Diagnostic, IrModule, PrimFunc, Span, Stage, Target, attr, wire};
use serde_json::{Map, Value, json};

use crate::{BuildRequest, BuildSession, Error, ErrorKind};

/// Greatest alignment of a section (C.26).
const ALIGNMENT_BYTES_MAX: u64 = 65536;

/// A build request, parsed and checked.
#[derive(Clone, Debug)]
pub struct LoweredRequest {
    /// The module, valid at the stage that was asked for.
    pub module: IrModule,
    /// The target.
    pub target: Target,
    /// The file from which the module was first read, if known.
    pub file: Option<Arc<str>>,
    /// The build options; empty for none.
    pub options: Map<String, Value>,
}

impl LoweredRequest {
    /// Reads a request for the target kind `kind`, whose stage is `stage`.
    ///
    /// # Errors
    ///
    /// `ValueError`: the module, the target or the options cannot be read, or the module is not
    /// valid at that stage.
    pub fn read(request: &BuildRequest<'_>, kind: &str, stage: Stage) -> Result<Self, Error> {
        let wrong = |what: String| Error::new(ErrorKind::VALUE_ERROR, format!("target {kind}: {what}"));
        aligned(request).map_err(wrong)?;
        let sections =
            |name: &str| request.sections().find(|section| section.name == name).map(|section| section.data);
        let document = wire::read_document_with(request.ir, &sections)
            .map_err(|error| wrong(format!("the module cannot be read: {error}")))?;
        validate(&document.module, stage)
            .map_err(|problems| wrong(lowered_wrong(&problems, document.file.as_deref(), stage)))?;
        let target = serde_json::from_str(request.target_json)
            .map_err(|error| error.to_string())
            .and_then(|json| Target::from_canonical_json(&json))
            .map_err(|error| wrong(format!("the target cannot be read: {error}")))?;
        let options = match request.options_json.trim() {
            "" => Map::new(),
            text => serde_json::from_str(text)
                .map_err(|error| wrong(format!("the build options are not a JSON object: {error}")))?,
        };
        Ok(Self { module: document.module, target, file: document.file, options })
    }

    /// Returns the file whose lines the generated text names for debuggers: that of the module, if
    /// the build option `debug` asks for it.
    ///
    /// # Errors
    ///
    /// `ValueError`: the option is not a boolean.
    pub fn debug_file(&self, kind: &str) -> Result<Option<String>, Error> {
        match self.options.get("debug") {
            None | Some(Value::Null | Value::Bool(false)) => Ok(None),
            Some(Value::Bool(true)) => Ok(Some(self.file.as_deref().unwrap_or("<kernel>").to_owned())),
            Some(found) => Err(Error::new(
                ErrorKind::VALUE_ERROR,
                format!("target {kind}: build option 'debug': expected true or false, found {found}"),
            )),
        }
    }
}

/// Checks that each section of a request lies where its alignment says (C.44).
fn aligned(request: &BuildRequest<'_>) -> Result<(), String> {
    for section in request.sections() {
        let (name, alignment) = (section.name, section.alignment_bytes);
        if !alignment.is_power_of_two() || alignment > ALIGNMENT_BYTES_MAX {
            return Err(format!(
                "section \"{name}\" of the request: expected an alignment that is a power of two up to \
                 {ALIGNMENT_BYTES_MAX}, found {alignment}"
            ));
        }
        let address = section.data.as_ptr() as u64;
        if !section.data.is_empty() && !address.is_multiple_of(alignment) {
            return Err(format!(
                "section \"{name}\" of the request: expected bytes at a multiple of {alignment}, found address \
                 {address:#x}"
            ));
        }
    }
    Ok(())
}

/// Returns the message for a module that is not valid at the requested stage: the kernel passed
/// validation, so the lowering is at fault. A position is shown with the kernel's file, or not at
/// all.
fn lowered_wrong(problems: &[Diagnostic], file: Option<&str>, stage: Stage) -> String {
    let first = match (problems.first(), file) {
        (None, _) => String::new(),
        (Some(problem), Some(file)) if problem.span != Span::NONE => format!("{file}:{problem}"),
        (Some(problem), _) => Diagnostic { span: Span::NONE, ..problem.clone() }.to_string(),
    };
    format!(
        "internal error: the module as it was lowered is not valid at stage {stage}; no mistake of the kernel, please \
         report it: {first} ({} in all)",
        problems.len()
    )
}

/// The diagnostics that a reader needs: each message once for a line of a function. Those without a
/// position are left out where the message has one elsewhere: one type that is missing is in every
/// step of what a function is computed by.
fn distinct(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let placed = diagnostics.iter().filter(|it| it.span != Span::NONE);
    let placed: HashSet<_> = placed.map(|it| (&it.function, &it.message)).collect();
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for it in diagnostics {
        let is_needed = it.span != Span::NONE || !placed.contains(&(&it.function, &it.message));
        if is_needed && seen.insert((&it.function, &it.message, it.span.line)) {
            kept.push(it);
        }
    }
    kept
}

/// Reports diagnostics as errors, each with its position; a message once for each line of a
/// function.
///
/// # Errors
///
/// The host's error for a diagnostic that it could not store.
pub fn report(diagnostics: &[Diagnostic], session: &BuildSession<'_>) -> Result<(), Error> {
    for diagnostic in distinct(diagnostics) {
        let Diagnostic { function, span, node, message } = diagnostic;
        let raw = crate::Diagnostic::error(message).at(span.line, span.column).function(function).node(node);
        session.diagnostic(&raw)?;
    }
    Ok(())
}

/// Makes the error of a build whose diagnostics were reported: the first diagnostic, and the number
/// of others.
#[must_use]
pub fn unsupported(diagnostics: &[Diagnostic]) -> Error {
    let diagnostics = distinct(diagnostics);
    let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
    let more = match diagnostics.len() {
        0 | 1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    Error::new(ErrorKind::UNSUPPORTED, format!("{first}{more}"))
}

/// Makes the error of a build that the caller has cancelled.
#[must_use]
pub fn cancelled(kind: &str) -> Error {
    Error::new(ErrorKind::CANCELLED, format!("target {kind}: the build was cancelled"))
}

/// Returns the fingerprint of a code generator whose bytes depend on its own code alone: its name
/// and version (C.35).
#[must_use]
pub fn fingerprint(kind: &str, version: &str) -> String {
    format!("{kind} {version}")
}

/// Describes a packed host function as an artifact's index does.
#[must_use]
pub fn describe(symbol: &str, function: &PrimFunc) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_reported_once_for_a_line() {
        let at = |function: &str, line: u32, node: &str, message: &str| Diagnostic {
            function: function.into(),
            span: if line == 0 { Span::NONE } else { Span { line, column: 7 } },
            node: node.to_owned(),
            message: message.to_owned(),
        };
        let all = [
            at("f", 0, "a", "has no float64"),
            at("f", 8, "b", "has no float64"),
            at("f", 8, "c", "has no float64"),
            at("f", 9, "c", "has no float64"),
            at("f", 8, "c", "has no int64"),
            at("g", 0, "a", "has no float64"),
            at("g", 0, "b", "has no float64"),
        ];
        let nodes: Vec<_> =
            distinct(&all).iter().map(|it| (&*it.function, it.span.line, &*it.node)).collect();
        assert_eq!(nodes, [("f", 8, "b"), ("f", 9, "c"), ("f", 8, "c"), ("g", 0, "a")]);
        assert!(unsupported(&all).message().ends_with("(and 3 more)"), "{}", unsupported(&all));
    }

    /// C.44: bytes that do not lie where their alignment says, and alignments that are none.
    #[test]
    fn c44_a_section_keeps_its_alignment() {
        use chipdock_abi::{ChipdockBuildRequest, ChipdockSection};

        use crate::text::str_out;

        #[repr(align(64))]
        struct Aligned([u8; 64]);
        let bytes = Aligned([0; 64]);
        let check = |alignment_bytes: u64, skipped: usize| {
            let section = ChipdockSection {
                name: str_out("k"),
                kind: str_out("constants"),
                alignment_bytes,
                data: bytes.0[skipped..].as_ptr().cast(),
                size_bytes: 4,
            };
            let raw = ChipdockBuildRequest {
                ir: str_out("{}"),
                target_json: str_out("{}"),
                options_json: str_out(""),
                sections: &section,
                sections_count: 1,
                threads_max: 1,
                flags: 0,
                next: core::ptr::null(),
            };
            // SAFETY: C.3, the request and its section live until the end of this call.
            let request = unsafe { BuildRequest::from_raw(&raw) }?;
            LoweredRequest::read(&request, "c", Stage::Host).map(drop)
        };
        for (alignment, skipped, words) in [
            (64, 4, "expected bytes at a multiple of 64"),
            (3, 0, "a power of two"),
            (0, 0, "a power of two"),
            (1 << 17, 0, "a power of two up to 65536"),
        ] {
            let error = check(alignment, skipped).unwrap_err();
            assert_eq!(error.kind().as_str(), "ValueError", "{error:?}");
            assert!(error.message().contains(words), "{alignment}: {}", error.message());
        }
        for (alignment, skipped) in [(64, 0), (4, 4), (1, 3)] {
            let message = check(alignment, skipped).unwrap_err().message().to_string();
            assert!(!message.contains("section"), "the empty document is the next mistake: {message}");
        }
    }

    #[test]
    fn a_module_that_was_lowered_wrong_is_an_internal_error_at_the_line_of_the_kernel() {
        let span = Span { line: 29, column: 13 };
        let (function, message) = ("f".into(), "expected x".to_owned());
        let problem = Diagnostic { function, span, node: String::new(), message };
        let with_file = lowered_wrong(std::slice::from_ref(&problem), Some("k.py"), Stage::Device);
        assert!(with_file.starts_with("internal error: "), "{with_file}");
        assert!(with_file.ends_with("report it: k.py:29:13: in f: expected x (1 in all)"), "{with_file}");
        // Without the file, the position would refer to a text that the user has never seen.
        let without = lowered_wrong(&[problem], None, Stage::Device);
        assert!(without.ends_with("report it: in f: expected x (1 in all)"), "{without}");
    }
}
