//! What `build` and `run` share: target, compilation, diagnostics with their lines.

use std::sync::Arc;
use std::time::Instant;

use chipdock_host::{
    CompileCache, CompileOptions, Compiled, Device, DeviceChoice, Error, ErrorKind, Host, ResolvedTarget,
    Schedule, Severity, TargetRequest,
};
use chipdock_ir::{IrModule, Target};
use serde_json::Value;

use crate::args::{KernelArgs, ScheduleArg};
use crate::command::{failure, plugin_failure};
use crate::kernel::KernelFile;
use crate::progress::Progress;
use crate::report::{Failure, Result};

/// A compiled module, and how long it took.
pub(crate) struct Build {
    pub(crate) compiled: Compiled,
    pub(crate) seconds: f64,
}

impl Build {
    /// What it was compiled for.
    pub(crate) fn target(&self) -> &Target {
        &self.compiled.target
    }

    /// What its host functions were compiled for.
    pub(crate) fn host(&self) -> &Target {
        &self.compiled.host
    }
}

/// The target of `--target` and `--host`, or the default ones; for a device where one is chosen.
///
/// # Errors
///
/// What the host says of an invalid target, or of a device that is not there.
pub(crate) fn target(
    host: &Host,
    args: &KernelArgs,
    device: Option<DeviceChoice>,
) -> Result<Arc<ResolvedTarget>> {
    let mut request = args.target.as_deref().map_or_else(TargetRequest::default, TargetRequest::new);
    if let Some(host) = &args.host {
        request = request.host(host.as_str());
    }
    if let Some(device) = device {
        request = request.device(device);
    }
    host.resolve(request).map_err(|error| failure(&error))
}

/// The option of a build by which a code generator is asked for more than it delivers unasked.
const EMIT_OPTION: &str = "emit";

/// What a module is compiled for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Purpose<'a> {
    /// What is asked for beyond what is needed to load it.
    pub(crate) wish: Option<&'a str>,
    /// Where it is to run, if that is known.
    pub(crate) device: Option<&'a Device>,
}

/// Compiles a module of a kernel file, or finds it in the cache. Warnings go to standard error.
///
/// # Errors
///
/// What the host says; diagnostics show the lines of the file that they are about.
pub(crate) fn compile(
    host: &Host,
    kernel: &KernelFile,
    module: &IrModule,
    target: &Arc<ResolvedTarget>,
    args: &KernelArgs,
    purpose: Purpose<'_>,
    progress: &Progress,
) -> Result<Build> {
    progress.step(format!("compiling {} for {}", kernel.path.display(), target.kind().name));
    let mut options =
        CompileOptions { file: Some(kernel.path.to_string_lossy().into_owned()), ..options(args, progress)? };
    options.device = purpose.device.cloned();
    options.options.extend(purpose.wish.map(|wish| (EMIT_OPTION.to_owned(), Value::from(vec![wish]))));
    let started = Instant::now();
    let compiled = host.compile(module, target, &options).map_err(|error| with_lines(&error, kernel))?;
    let seconds = started.elapsed().as_secs_f64();
    // No pass relies on what a block declares, so this is for whoever asks.
    for problem in kernel.problems(&kernel.warnings) {
        progress.note(&format!("{} ({})", problem.what, problem.place));
    }
    for message in &compiled.messages {
        for problem in kernel.problems(std::slice::from_ref(&message.diagnostic)) {
            let line = format!("{} ({})", problem.what, problem.place);
            match message.severity {
                Severity::Note => progress.note(&line),
                Severity::Warning | Severity::Error => progress.warn(&line),
            }
        }
    }
    Ok(Build { compiled, seconds })
}

/// How it is compiled.
fn options(args: &KernelArgs, progress: &Progress) -> Result<CompileOptions> {
    let cache = if args.no_cache { None } else { cache(progress)?.map(Arc::new) };
    Ok(CompileOptions { schedule: schedule(args), cache, ..CompileOptions::default() })
}

/// Where builds are kept. A folder that cannot be used is no reason not to compile; a size that is none is the user's word.
fn cache(progress: &Progress) -> Result<Option<CompileCache>> {
    match CompileCache::of_process() {
        Err(error) if *error.kind() == ErrorKind::Io => {
            progress.note(&error.to_string());
            Ok(None)
        }
        found => found.map_err(|error| failure(&error)),
    }
}

/// Whether functions without a schedule get one.
pub(crate) fn schedule(args: &KernelArgs) -> Schedule {
    match args.schedule {
        ScheduleArg::Auto => Schedule::Auto,
        ScheduleArg::None => Schedule::None,
    }
}

/// A failed compilation, each diagnostic with its line.
pub(crate) fn with_lines(error: &Error, kernel: &KernelFile) -> Failure {
    // What a kernel or an option can be refused for; another word of a code generator is about itself.
    let is_answer = matches!(error.kind(), ErrorKind::Value | ErrorKind::Unsupported);
    let mut failed = if is_answer { failure(error) } else { plugin_failure(error) };
    failed.problems.truncate(1);
    failed.problems.extend(kernel.problems(error.diagnostics()));
    failed.in_file(&kernel.path)
}
