//! `target.build.reference` and `target.build.reference_one_thread`: the artifact is the module as
//! it was given, checked, in canonical wire form.

use std::sync::atomic::{AtomicU64, Ordering};

use chipdock_interpret::{ErrorKind as Interpreted, Interpreter};
use chipdock_ir::{Diagnostic, IrModule, Span, Stage, wire};
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::{BuildRequest, BuildSession, Codegen, Error, ErrorKind, SectionKind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::device_api::NAME;
use crate::entry::PackedEntry;
use crate::fault;
use crate::limits;
use crate::mutate::mutated;

/// Format of the artifact: a reader of another format is older or newer.
pub(crate) const FORMAT: &str = "wire-1";
/// Name of the section that contains the module.
pub(crate) const SECTION: &str = "module";

/// What a target kind is named, and the stage of the modules that it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) kind: &'static str,
    pub(crate) stage: Stage,
}

/// The kind with threads.
pub(crate) const AS_READ: Taken = Taken { kind: NAME, stage: Stage::Blocks };
/// The kind without.
pub(crate) const ONE_THREAD: Taken = Taken { kind: "reference_one_thread", stage: Stage::Flattened };

/// The code generator of a target kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferenceCodegen(pub(crate) Taken);

impl ReferenceCodegen {
    fn read(&self, request: &BuildRequest<'_>) -> Result<LoweredRequest, Error> {
        LoweredRequest::read(request, self.0.kind, self.0.stage)
    }
}

/// Returns the checksum that detects a change of the index or of the section.
pub(crate) fn checksum(functions: &Value, options: &Value, section: &[u8]) -> String {
    let mut hash = Sha256::new();
    for text in [functions.to_string(), options.to_string()] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.update(section);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns every construct of a module that this target does not support, and a description of each
/// function.
fn examine(read: &LoweredRequest) -> (Vec<Diagnostic>, Vec<Value>) {
    let mut problems = limits::problems(&read.module, &read.target);
    let mut functions = Vec::new();
    let target = std::sync::Arc::new(read.target.clone());
    for function in &read.module.functions {
        match PackedEntry::new(function, &target, 0) {
            Ok(entry) => functions.extend(entry.function().map(|e| lowered::describe(&function.name, e))),
            Err(error) => problems.extend(error.diagnostics),
        }
        problems.extend(refused(read, &function.name));
    }
    problems.dedup();
    (problems, functions)
}

/// Returns the constructs of a function that the interpreter does not support.
fn refused(read: &LoweredRequest, function: &str) -> Vec<Diagnostic> {
    let found = Interpreter::new(&read.module).refused(function).unwrap_or_else(|error| vec![error]);
    let of_this = found.into_iter().filter(|error| &*error.function == function);
    of_this
        .map(|error| Diagnostic {
            function: error.function,
            span: error.span,
            node: String::new(),
            message: match error.kind {
                Interpreted::Unsupported { what } => {
                    format!("expected what target \"{}\" can run, found {what}", read.target.kind)
                }
                kind => kind.to_string(),
            },
        })
        .collect()
}

fn document(read: &LoweredRequest) -> Result<String, Error> {
    let options = wire::WriteOptions {
        positions: has_positions(&read.module),
        file: read.file.as_deref(),
        ..wire::WriteOptions::default()
    };
    wire::write_with(&read.module, &options)
        .map_err(|error| Error::new(ErrorKind::INTERNAL, format!("target {NAME}: {error}")))
}

/// Returns true if any node of the module has a position.
fn has_positions(module: &IrModule) -> bool {
    let mut found = false;
    for function in &module.functions {
        function.body.walk(&mut |child| {
            found |= match child {
                chipdock_ir::Child::Expr(expr) => expr.span != Span::NONE,
                chipdock_ir::Child::Stmt(stmt) => stmt.span != Span::NONE,
            };
        });
    }
    found
}

/// Reports the constructs that this target does not support.
fn report(mut problems: Vec<Diagnostic>, session: &BuildSession<'_>) -> Result<(), Error> {
    for problem in &mut problems {
        // C.31: a line that the document does not have.
        if fault::is("diagnostic-misplaced") {
            problem.span = Span { line: 1_000_000, column: 1 };
        }
        // C.31: the place stands in the message.
        if fault::is("place-in-the-message") {
            problem.message = format!("3:1: {}", problem.message);
        }
    }
    lowered::report(&problems, session)
}

/// Faults in reading a request.
fn check_request(request: &BuildRequest<'_>) -> Result<(), Error> {
    // C.34: what no node refers to is not ignored.
    if fault::is("sections-refused") && request.sections().next().is_some() {
        return Err(Error::new(ErrorKind::VALUE_ERROR, "expected no sections, found one"));
    }
    // C.33: no text is no object.
    if fault::is("empty-options-refused") && request.options_json.is_empty() {
        return Err(Error::new(ErrorKind::VALUE_ERROR, "expected options, found no text"));
    }
    Ok(())
}

fn check_cancelled(session: &BuildSession<'_>) -> Result<(), Error> {
    // C.6: who gave up waits all the same.
    if session.is_cancelled() && !fault::is("cancel-ignored") {
        Err(lowered::cancelled(NAME))
    } else {
        Ok(())
    }
}

impl Codegen for ReferenceCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let read = self.read(request)?;
        // C.5: nothing is listed.
        if fault::is("unsupported-lists-nothing") {
            return Ok(());
        }
        // C.5: what is built all the same is listed.
        if fault::is("unsupported-lists-what-it-builds") {
            let diagnostic = chipdock_plugin_api::Diagnostic::error("expected something else");
            return session.diagnostic(&diagnostic);
        }
        check_request(request)?;
        report(examine(&read).0, session)
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        check_cancelled(session)?;
        check_request(request)?;
        let read = self.read(request)?;
        let (problems, functions) = examine(&read);
        // C.6: more threads than allowed.
        if fault::is("thread-cap-ignored") {
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| std::thread::sleep(std::time::Duration::from_millis(20)));
                }
            });
        }
        if !problems.is_empty() {
            let error = lowered::unsupported(&problems);
            // C.5: the error alone is all that it says.
            if !fault::is("build-reports-nothing") {
                report(problems, session)?;
            }
            return Err(error);
        }
        check_cancelled(session)?;
        let read = LoweredRequest { module: mutated(read.module), ..read };
        let document = document(&read)?;
        let functions = Value::from(functions);
        let mut options = json!({
            "arch": read.target.str("arch").unwrap_or_default(),
            "synchronous": read.target.bool("synchronous").unwrap_or(false),
            "stage": self.0.stage,
        });
        // C.1: each build is another.
        if fault::is("build-not-deterministic") {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            options["built_at_ns"] = json!(now.map_or(0, |now| now.as_nanos() as u64));
        }
        options["checksum"] = checksum(&functions, &options, document.as_bytes()).into();
        let index = json!({
            "module_kind": NAME,
            "format": FORMAT,
            "functions": functions,
            "options": options,
        });
        check_cancelled(session)?;
        session.section(SECTION, SectionKind::Code, 8, document.as_bytes())?;
        for data in wire::sections(&read.module) {
            session.section(data.digest(), SectionKind::Constants, 1, data.bytes())?;
        }
        session.index(&index.to_string())
    }

    /// Returns a constant text, because the artifact depends only on the request and on this code.
    fn fingerprint(&self, _request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        // C.35: a text that says nothing.
        if fault::is("fingerprint-empty") {
            return Ok(Some(String::new()));
        }
        // C.36: another each time.
        if fault::is("fingerprint-changes") {
            static ASKED: AtomicU64 = AtomicU64::new(0);
            return Ok(Some(ASKED.fetch_add(1, Ordering::Relaxed).to_string()));
        }
        Ok(Some(lowered::fingerprint(self.0.kind, env!("CARGO_PKG_VERSION"))))
    }
}
