//! `target.build.cuda`: writes a module of kernels as CUDA C and compiles it to PTX or a cubin.
//!
//! The artifact has kind `cuda`. Its section `source` is always present; `code` contains PTX (text,
//! without a terminating zero) or a cubin, as `format` of the index says, and is absent if that is
//! `cuda`. `options` of the index are the target options for a compiler that compiles the source
//! later.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{Child, Diagnostic, IrModule, PrimFunc, Span, Stage, Stmt, StmtKind, StorageScope, Target};
use chipdock_plugin_api::hooks::Hook;
use chipdock_plugin_api::lowered::{self, LoweredRequest};
use chipdock_plugin_api::source::{SOURCE, SourceTarget, Unwritten, Written};
use chipdock_plugin_api::{BuildRequest, BuildSession, Error, ErrorKind, HostRef, SectionKind, kernel};
use serde_json::{Value, json};

use crate::compiler::{self, Choice, Compiled, Format, Job, Settings};
use crate::dialect::CudaDialect;

/// The module kind, which selects the loader.
pub(crate) const KIND: &str = "cuda";
/// The section that contains the compiled code.
pub(crate) const CODE: &str = "code";
/// Maximum shared memory of constant size per block on every architecture; larger memory must be
/// dynamic.
const STATIC_SHARED_BYTES_MAX: i128 = 48 * 1024;

/// The code generator of target `cuda`, which also runs the compiler.
#[derive(Clone, Copy)]
pub(crate) struct CudaTarget {
    host: HostRef,
}

/// Writes a module for a target; the same input gives the same text. With a file, debuggers and
/// messages of the compiler refer to its lines.
pub(crate) fn write(
    module: &IrModule,
    target: &Target,
    file: Option<String>,
) -> Result<Written, Vec<Diagnostic>> {
    let mut diagnostics = limits(module);
    let has_lines = file.is_some();
    let source = write_module(module, &CudaDialect { file }).map_err(|mut found| {
        found.append(&mut diagnostics);
        found
    })?;
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let functions: Vec<Value> =
        source.functions_of(module).map(|(symbol, function)| kernel::describe(symbol, function)).collect();
    let mut options = json!({
        "arch": target.str("arch").unwrap_or(crate::target_kind::ARCH_DEFAULT),
        "fast-math": target.bool("fast-math").unwrap_or(false),
    });
    if has_lines {
        options["line-info"] = true.into();
    }
    let index = json!({ "module_kind": KIND, "format": "cuda", "functions": functions, "options": options });
    Ok(Written { index, source: source.text })
}

/// Reports requirements of a module that exceed every device.
fn limits(module: &IrModule) -> Vec<Diagnostic> {
    let shared = |function: &PrimFunc| {
        let body: i128 = static_shared_bytes(&function.body);
        let above = function.alloc_buffers.iter().filter(|buffer| buffer.scope == StorageScope::SHARED);
        above.fold(body, |sum, buffer| sum.saturating_add(size_bytes(buffer)))
    };
    let sizes = module.functions.iter().map(|function| (function, shared(function)));
    sizes
        .filter(|(_, bytes)| *bytes > STATIC_SHARED_BYTES_MAX)
        .map(|(function, bytes)| Diagnostic {
            function: function.name.clone(),
            span: Span::NONE,
            node: String::new(),
            message: format!(
                "target {KIND}: {bytes} bytes of shared memory of constant size; at most {STATIC_SHARED_BYTES_MAX} are \
                 possible, allocate what is more in scope shared.dyn"
            ),
        })
        .collect()
}

fn size_bytes(buffer: &chipdock_ir::Buffer) -> i128 {
    let element = buffer.dtype.lane_size_bytes() as i128 * i128::from(buffer.dtype.lanes);
    buffer.constant_size().unwrap_or(0).saturating_mul(element)
}

fn static_shared_bytes(s: &Stmt) -> i128 {
    let mut sum: i128 = match &s.kind {
        StmtKind::AllocBuffer { buffer, .. } if buffer.scope == StorageScope::SHARED => size_bytes(buffer),
        _ => 0,
    };
    s.for_each_child(&mut |child| {
        if let Child::Stmt(s) = child {
            sum = sum.saturating_add(static_shared_bytes(s));
        }
    });
    sum
}

/// The format to compile a source to, if any: the target's, otherwise PTX.
fn format(target: &Target) -> Result<Option<Format>, Error> {
    match target.str("format") {
        Some("cuda") => Ok(None),
        Some("cubin") => Ok(Some(Format::Cubin)),
        None | Some("ptx") => Ok(Some(Format::Ptx)),
        Some(other) => Err(Error::new(
            ErrorKind::VALUE_ERROR,
            format!("target {KIND}: option 'format': expected cuda, ptx or cubin, found \"{other}\""),
        )),
    }
}

/// Compiles a source with the options of an artifact's index or a target.
///
/// # Errors
///
/// Any error of [`compiler::compile`].
pub(crate) fn compile(
    settings: &Settings,
    source: &str,
    options: &Value,
    format: Format,
    choice: Choice,
    step: &dyn Fn(&str),
) -> Result<Compiled, Error> {
    let job = Job {
        source,
        arch: options["arch"].as_str().unwrap_or(crate::target_kind::ARCH_DEFAULT),
        format,
        is_fast_math: options["fast-math"].as_bool().unwrap_or(false),
        has_line_info: options["line-info"].as_bool().unwrap_or(false),
    };
    compiler::compile(settings, &job, choice, step)
}

/// Returns what the hook `compile_source` made: PTX if it is text, otherwise a cubin (an ELF file).
///
/// # Errors
///
/// `ValueError`: it is not what the target asks for.
fn of_hook(target: &Target, code: Vec<u8>) -> Result<Compiled, Error> {
    let hook = Hook::Compile.function(KIND);
    let found = match code.starts_with(b"\x7fELF") {
        true => Format::Cubin,
        false if !code.is_empty() && core::str::from_utf8(&code).is_ok() => Format::Ptx,
        false => {
            let message =
                format!("{hook}: expected PTX or a cubin, found {} bytes that are neither", code.len());
            return Err(Error::new(ErrorKind::VALUE_ERROR, message));
        }
    };
    match format(target)? {
        Some(wanted) if target.str("format").is_some() && wanted != found => Err(Error::new(
            ErrorKind::VALUE_ERROR,
            format!(
                "{hook}: expected {}, as the target's option 'format' says, found {}",
                wanted.name(),
                found.name()
            ),
        )),
        _ => Ok(Compiled { code, format: found, compiler: hook }),
    }
}

impl CudaTarget {
    pub(crate) fn new(host: HostRef) -> Self {
        Self { host }
    }

    /// Compiles the written source, unless the target requests only the source. If the target does
    /// not say and there is no compiler, the source alone is delivered, with a note.
    fn code(
        &self,
        read: &LoweredRequest,
        written: &Written,
        session: &BuildSession<'_>,
    ) -> Result<Option<Compiled>, Error> {
        let choice = Choice::from_target(&read.target)?;
        let is_requested =
            read.target.str("format").is_some() || matches!(choice, Choice::Nvrtc | Choice::Nvcc);
        let Some(format) = format(&read.target)?.filter(|_| choice != Choice::None) else { return Ok(None) };
        let (settings, options) = (Settings::read(self.host)?, &written.index["options"]);
        match compile(&settings, &written.source, options, format, choice, &|text| session.step(text)) {
            Err(error) if !is_requested && error.kind() == ErrorKind::UNAVAILABLE => {
                let message = format!("only CUDA C was written: {}", error.message());
                session.diagnostic(&chipdock_plugin_api::Diagnostic::note(&message))?;
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

impl SourceTarget for CudaTarget {
    const KIND: &'static str = KIND;
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const STAGE: Stage = Stage::Device;

    fn unsupported(&self, request: &LoweredRequest) -> Vec<Diagnostic> {
        let mut diagnostics = unsupported(&request.module, &CudaDialect::default());
        diagnostics.extend(limits(&request.module));
        diagnostics
    }

    fn write(&self, request: &LoweredRequest) -> Result<Written, Unwritten> {
        let file = request.debug_file(KIND)?;
        Ok(write(&request.module, &request.target, file)?)
    }

    /// A target for the source alone, or without a compiler, has no code.
    fn compiles(&self, request: &LoweredRequest) -> Result<bool, Error> {
        Ok(format(&request.target)?.is_some() && Choice::from_target(&request.target)? != Choice::None)
    }

    fn deliver(
        &self,
        _request: &BuildRequest<'_>,
        read: &LoweredRequest,
        mut written: Written,
        code: Option<Vec<u8>>,
        session: &BuildSession<'_>,
    ) -> Result<(), Error> {
        let compiled = match code {
            Some(code) => Some(of_hook(&read.target, code)?),
            None => self.code(read, &written, session)?,
        };
        session.section(SOURCE, SectionKind::Source, 1, written.source.as_bytes())?;
        if let Some(compiled) = compiled {
            written.index["format"] = compiled.format.name().into();
            written.index["options"]["compiler"] = compiled.compiler.into();
            session.section(CODE, SectionKind::Code, 16, &compiled.code)?;
        }
        session.index(&written.index.to_string())
    }

    /// Identifies the inputs besides the request and the hooks: this code, and the compiler that is
    /// found, if one is needed.
    fn fingerprint(&self, request: &BuildRequest<'_>) -> Result<Option<String>, Error> {
        let read = LoweredRequest::read(request, KIND, Stage::Device)?;
        let own = lowered::fingerprint(KIND, env!("CARGO_PKG_VERSION"));
        let is_hooked = self.compiles(&read)? && self.host.function(&Hook::Compile.function(KIND))?.is_some();
        let choice = match format(&read.target)? {
            // The hook's own fingerprint identifies it.
            Some(_) if is_hooked => return Ok(Some(own)),
            Some(_) => Choice::from_target(&read.target)?,
            None => Choice::None,
        };
        Ok(compiler::fingerprint(&Settings::read(self.host)?, choice)
            .map(|compiler| format!("{own}; {compiler}")))
    }
}
