//! Compilation: a kernel's text for a target.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use chipdock_host::library::TvmFfi;
use chipdock_host::shown::harmless;
use chipdock_host::{CompileOptions, Compiled, Host, Scheduling};
use chipdock_ir::{Diagnostic, IrModule, Span, print, wire};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, Function};
use chipdock_script::{Cause, ScriptError};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::hosts::target_of;
use crate::objects::{ModuleObject, TargetObject, arg, object, of, raised};
use crate::progress::{Progress, Spans, Step, of_codegens};
use crate::signals;

/// How often signals are looked for while a build runs.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Options of a compilation, as a JSON object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// Name of the file for messages.
    file: String,
    /// Target of the host functions.
    host: Option<String>,
    /// Device, `NAME` or `NAME:ID`, of which the target takes what its source does not set.
    device: Option<String>,
    /// `auto` or `none`.
    schedule: SchedulingWord,
    threads_max: u32,
    /// Outputs of the code generator that are wanted, such as `source` and `asm`.
    emit: Vec<String>,
    /// Options of the code generator.
    codegen: Map<String, Value>,
    /// False: the compile cache is not used.
    cache: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SchedulingWord {
    #[default]
    Auto,
    None,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            file: "<kernel>".to_owned(),
            host: None,
            device: None,
            schedule: SchedulingWord::Auto,
            threads_max: 0,
            emit: Vec::new(),
            codegen: Map::new(),
            cache: true,
        }
    }
}

impl Options {
    fn read(text: Option<&str>) -> Result<Self, Error> {
        let Some(text) = text else { return Ok(Self::default()) };
        serde_json::from_str(text).map_err(|error| {
            let message = format!(
                "options: {error}; expected a JSON object with any of file, host, device, schedule (\"auto\" or \"none\"), threads_max, \
                 emit, codegen, cache"
            );
            Error::new(ErrorKind::VALUE_ERROR, message)
        })
    }

    fn of_host(&self, host: &Host) -> Result<CompileOptions, Error> {
        let opened = if self.cache { host.compile_cache() } else { Ok(None) };
        let cache = opened.map_err(raised)?.map(Arc::new);
        let mut options = self.codegen.clone();
        if !self.emit.is_empty() {
            options.insert("emit".to_owned(), Value::from(self.emit.clone()));
        }
        Ok(CompileOptions {
            schedule: match self.schedule {
                SchedulingWord::Auto => Scheduling::Auto,
                SchedulingWord::None => Scheduling::None,
            },
            threads_max: self.threads_max,
            options,
            file: Some(self.file.clone()),
            cache,
            ..CompileOptions::default()
        })
    }
}

/// Reads a module: TVMScript, or a document of the wire format, which begins with a brace.
fn parsed(source: &str, file: &str) -> Result<IrModule, Error> {
    if source.trim_start().starts_with('{') {
        return wire::read(source).map_err(|error| {
            Error::new(ErrorKind::VALUE_ERROR, format!("{file}: not a module in the wire format: {error}"))
        });
    }
    chipdock_script::parse(source, file).map_err(|errors| {
        let kind = match errors.cause() {
            Cause::Script => ErrorKind::VALUE_ERROR,
            Cause::Environment => ErrorKind::UNAVAILABLE,
            Cause::Internal => ErrorKind::INTERNAL,
        };
        Error::new(kind, errors.to_string())
    })
}

/// Makes of a compilation's error one that shows the lines that it is about.
fn with_lines(error: &chipdock_host::Error, source: &str, file: &str) -> Error {
    if error.diagnostics().iter().all(|diagnostic| diagnostic.span == Span::NONE) {
        return raised(error.clone());
    }
    let speaker = error.speaker().map(|plugin| format!("plugin \"{plugin}\" says: ")).unwrap_or_default();
    let shown = |diagnostic: &Diagnostic| {
        let diagnostic = &Diagnostic {
            message: format!("{speaker}{}", harmless(&diagnostic.message)),
            ..diagnostic.clone()
        };
        let line = usize::try_from(diagnostic.span.line).ok().and_then(|line| line.checked_sub(1));
        let Some(text) = line.and_then(|line| source.lines().nth(line)) else {
            return diagnostic.to_string();
        };
        let within = Diagnostic { span: Span::NONE, ..diagnostic.clone() };
        ScriptError {
            file: file.into(),
            line: diagnostic.span.line,
            column: diagnostic.span.column.max(1),
            length: 1,
            message: within.to_string(),
            source_line: text.to_owned(),
        }
        .to_string()
    };
    let mut message = harmless(error.message());
    for diagnostic in error.diagnostics() {
        message.push('\n');
        message.push_str(&shown(diagnostic));
    }
    if !error.advice().is_empty() {
        message.push('\n');
        message.push_str(error.advice());
    }
    Error::new(error.kind().clone(), message)
}

/// Compiles on a thread of its own, so that the caller's can look for signals and report progress:
/// Ctrl-C in Python gives the build up, and so does an error of what is called.
fn compiled(
    host: &Host,
    module: &IrModule,
    target: &TargetObject,
    options: &CompileOptions,
    progress: Option<&Progress>,
) -> Compilation {
    let tvm_ffi = TvmFfi::present();
    if tvm_ffi.is_none() && progress.is_none() {
        return Compilation::Done(host.compile(module, &target.0, options).map(Box::new));
    }
    let cancel = Arc::clone(&options.cancel);
    thread::scope(|scope| {
        // The build holds the only sender: the end of the channel is its end.
        let (steps, waits) = channel::<Step>();
        let is_reported = progress.is_some();
        let build = scope.spawn(move || {
            if is_reported {
                let on_step = Some(of_codegens(steps.clone()));
                let options = CompileOptions { on_step, ..options.clone() };
                let build = || host.compile(module, &target.0, &options);
                tracing::subscriber::with_default(Spans::new(steps), build)
            } else {
                let built = host.compile(module, &target.0, options);
                drop(steps);
                built
            }
        });
        loop {
            let step = match waits.recv_timeout(SIGNALS_EVERY) {
                Ok(step) => Some(step),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            // Signals first: TVM-FFI before 0.1.13 drops what a handler raises within the function.
            let going_on = signals::none_raised().and_then(|()| match (&step, progress) {
                (Some(step), Some(progress)) => progress.step(step),
                _ => Ok(()),
            });
            if let Err(error) = going_on {
                cancel.store(true, Ordering::Relaxed);
                let _ = build.join();
                return Compilation::Interrupted(error);
            }
        }
        match build.join() {
            // Ctrl-C of a terminal ends a compiler that the build runs, too: that is no error of
            // its own.
            Ok(Err(error)) => signals::none_raised()
                .map_or_else(Compilation::Interrupted, |()| Compilation::Done(Err(error))),
            Ok(built) => Compilation::Done(built.map(Box::new)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

enum Compilation {
    Done(Result<Box<Compiled>, chipdock_host::Error>),
    /// With the error of the function that reports progress, or the one that stands for a signal.
    Interrupted(Error),
}

pub(crate) fn compile(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let source: String = arg(args[1], "source")?;
    let options: Option<String> = arg(args[3], "options")?;
    let options = Options::read(options.as_deref())?;
    let module = parsed(&source, &options.file)?;
    let target = target_of(host, args[2], options.host.as_deref(), options.device.as_deref())?;
    let of_host = options.of_host(host)?;
    let progress: Option<Function> = arg(args[4], "progress")?;
    let progress = progress.map(Progress::new);
    let report = |step: &str, detail: &str| {
        signals::none_raised()?;
        progress.as_ref().map_or(Ok(()), |progress| progress.report(step, detail))
    };
    let built = match compiled(host, &module, &target, &of_host, progress.as_ref()) {
        Compilation::Done(built) => built.map_err(|error| with_lines(&error, &source, &options.file))?,
        Compilation::Interrupted(error) => return Err(error),
    };
    report("load", &built.target.kind().name)?;
    let module = host.load_compiled(&built.artifact).map_err(raised)?;
    report("done", if built.cached { "cached" } else { "built" })?;
    Ok(object(ModuleObject { host: host.clone(), module, compiled: Some(Arc::from(built)) }))
}

pub(crate) fn lower(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let source: String = arg(args[1], "source")?;
    let options: Option<String> = arg(args[3], "options")?;
    let options = Options::read(options.as_deref())?;
    let module = parsed(&source, &options.file)?;
    let target = target_of(host, args[2], options.host.as_deref(), options.device.as_deref())?;
    let schedule = options.of_host(host)?.schedule;
    let lowered = host
        .schedule(&module, &target.0, schedule)
        .map_err(|error| with_lines(&error, &source, &options.file))?;
    Ok(print::module(&lowered).as_str().into())
}
