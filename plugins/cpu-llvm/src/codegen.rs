//! `target.build.llvm`: a module at stage `host` to one object file, through textual IR and LLVM.
//!
//! * **LLBUILD-B1** The artifact has kind `llvm` and format `o`; section `code` contains the
//!   object.
//! * **LLBUILD-B2** The index lists the functions by their names for callers, and has `options`:
//!   the triple, processor and features that the object was made for, from which the loader decides
//!   whether it runs on a machine.
//! * **LLBUILD-B3** Option `emit`, a word or a list of them, adds sections: `source` (and
//!   `ll-unoptimized`), the IR as written; `ll`, the IR as optimised; `asm` or `s`, the assembly.
//!   Other words are ignored.
//! * **LLBUILD-B4** Option `debug` says whether code has line information for the source file; by
//!   default it has, if the file is known.
//! * **LLBUILD-B5** The same request and the same libLLVM give the same bytes (C.1), and the
//!   fingerprint identifies the libLLVM. One thread works at a time (C.6).
//! * **LLBUILD-B6** The object for a named processor, or with named features, has the text of the
//!   extensions that it may use (M.20).

use chipdock_codegen_llvm::{Options, Text, write_module};
use chipdock_ir::Stage;
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::object_code::needs;
use chipdock_plugin_api::{
    BuildRequest, BuildSession, Codegen, Diagnostic, Error, ErrorKind, HostRef, SectionKind,
};
use serde_json::{Map, Value, json};

use crate::llvm::{MachineOptions, Wanted, chosen, compile, library_of};
use crate::target::CpuTarget;
use crate::target_kind::NAME;

/// The format of artifacts.
pub(crate) const FORMAT: &str = "o";
/// The section that contains the object.
pub(crate) const CODE: &str = "code";
/// Alignment of the object's section, required by its headers.
const CODE_ALIGNMENT_BYTES: u64 = 16;

/// The code generator of target `llvm`.
pub(crate) struct LlvmCodegen {
    host: HostRef,
}

/// A request after reading and writing its module.
struct Prepared {
    read: LoweredRequest,
    emit: Emit,
    target: CpuTarget,
    text: Text,
}

/// Sections requested besides the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Emit {
    source: bool,
    unoptimized: bool,
    optimized: bool,
    assembly: bool,
    /// The assembly, by the usual ending of its files.
    s: bool,
}

impl Emit {
    fn read(options: &Map<String, Value>) -> Result<Self, Error> {
        let words: Option<Vec<&str>> = match options.get("emit") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::String(word)) => Some(vec![word]),
            Some(Value::Array(words)) => words.iter().map(Value::as_str).collect(),
            Some(_) => None,
        };
        let words = words.ok_or_else(|| wrong_option("emit", "a string or a list of strings", options))?;
        let has = |word: &str| words.contains(&word);
        Ok(Self {
            source: has("source"),
            unoptimized: has("ll-unoptimized"),
            optimized: has("ll"),
            assembly: has("asm"),
            s: has("s"),
        })
    }
}

fn wrong_option(name: &str, expected: &str, options: &Map<String, Value>) -> Error {
    let found = options.get(name).cloned().unwrap_or_default();
    Error::new(
        ErrorKind::VALUE_ERROR,
        format!("target {NAME}: build option '{name}': expected {expected}, found {found}"),
    )
}

/// Decides whether code has line information (LLBUILD-B4).
fn debug(options: &Map<String, Value>, has_file: bool) -> Result<bool, Error> {
    match options.get("debug") {
        None | Some(Value::Null) => Ok(has_file),
        Some(Value::Bool(debug)) => Ok(*debug),
        Some(_) => Err(wrong_option("debug", "true or false", options)),
    }
}

/// The machine that an object was made for, in the form of the index (LLBUILD-B2).
fn machine(options: &MachineOptions) -> Value {
    json!({ "triple": options.triple, "cpu": options.cpu, "features": options.features })
}

/// The text of extensions in IR (LLBUILD-B6); empty where there are none.
fn needs_text(needed: &[&str]) -> String {
    if needed.is_empty() {
        return String::new();
    }
    let names = needed.join(" ");
    let symbol = needs::SYMBOL;
    format!("\n@{symbol} = hidden constant [{} x i8] c\"{names}\\00\", align 1\n", names.len() + 1)
}

impl Prepared {
    /// Reads the request and writes the module; the inner error lists unsupported nodes.
    fn new(
        host: HostRef,
        request: &BuildRequest<'_>,
    ) -> Result<Result<Self, Vec<chipdock_ir::Diagnostic>>, Error> {
        let read = LoweredRequest::read(request, NAME, Stage::Host)?;
        let emit = Emit::read(&read.options)?;
        let file = read.file.as_deref();
        let options = Options { debug: debug(&read.options, file.is_some())?, file };
        let target = CpuTarget::new(library_of(host)?, &read.target)?;
        let text = write_module(&read.module, &target, &options);
        Ok(text.map(|mut text| {
            text.text.push_str(&needs_text(target.needed()));
            Self { read, emit, target, text }
        }))
    }
}

impl LlvmCodegen {
    pub(crate) fn new(host: HostRef) -> Self {
        Self { host }
    }
}

impl Codegen for LlvmCodegen {
    fn unsupported(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        Prepared::new(self.host, request)?
            .map_or_else(|diagnostics| lowered::report(&diagnostics, session), |_| Ok(()))
    }

    fn build(&self, request: &BuildRequest<'_>, session: &BuildSession<'_>) -> Result<(), Error> {
        let Prepared { read, emit, target, text: written } = match Prepared::new(self.host, request)? {
            Ok(prepared) => prepared,
            Err(diagnostics) => {
                lowered::report(&diagnostics, session)?;
                return Err(lowered::unsupported(&diagnostics));
            }
        };
        if session.is_cancelled() {
            return Err(lowered::cancelled(NAME));
        }
        let llvm = library_of(self.host)?;
        let machine_options = target.machine_options();
        let wanted = Wanted { object: true, assembly: emit.assembly || emit.s, ir: emit.optimized };
        let output = compile(llvm, &written.text, machine_options, wanted, session)?;
        for note in &output.notes {
            session.diagnostic(&Diagnostic::new(note.severity, &note.message))?;
        }
        session.section(CODE, SectionKind::Code, CODE_ALIGNMENT_BYTES, &output.object)?;
        let texts = [
            ("source", emit.source, written.text.as_str()),
            ("ll-unoptimized", emit.unoptimized, &written.text),
            ("ll", emit.optimized, &output.ir),
            ("asm", emit.assembly, &output.assembly),
            ("s", emit.s, &output.assembly),
        ];
        for (name, _, text) in texts.iter().filter(|(_, is_wanted, _)| *is_wanted) {
            session.section(name, SectionKind::Source, 1, text.as_bytes())?;
        }
        let by_name = read.module.by_name();
        let functions: Vec<Value> = written
            .functions
            .iter()
            .filter_map(|function| Some((function, *by_name.get(&*function.name)?)))
            .map(|(function, prim_func)| lowered::describe(&function.symbol, prim_func))
            .collect();
        let index = json!({
            "module_kind": NAME,
            "format": FORMAT,
            "functions": functions,
            "options": machine(machine_options),
        });
        session.index(&index.to_string())
    }

    /// Identifies the inputs besides the request: this code, and the libLLVM that is found. `None`
    /// if its file is not known.
    fn fingerprint(&self, _request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        let own = lowered::fingerprint(NAME, env!("CARGO_PKG_VERSION"));
        Ok(chosen(self.host)?.fingerprint().map(|llvm| format!("{own}; {llvm}")))
    }
}
