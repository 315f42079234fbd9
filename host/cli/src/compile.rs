//! What `build` and `run` share: target, compilation, diagnostics with their lines.

use std::sync::Arc;
use std::time::Instant;

use chipdock_host::{
    CompileCache, CompileOptions, Compiled, Device, Error, ErrorKind, Host, Schedule, Severity, TargetSource,
};
use chipdock_ir::json::parse_unique;
use chipdock_ir::{IrModule, Target};
use serde_json::{Map, Value};

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

/// The target of `--target` and `--host`, or the default ones.
///
/// # Errors
///
/// What the host says of an invalid target; exit code 2 when JSON names a host and `--host` too.
pub(crate) fn target(host: &Host, args: &KernelArgs) -> Result<Arc<Target>> {
    let source = match (&args.target, &args.host) {
        (None, None) => return host.default_host().map_err(|error| plugin_failure(&error)),
        (Some(target), None) => TargetSource::from(target.as_str()),
        (target, Some(host_text)) => {
            let text = match target {
                Some(text) => text.clone(),
                None => host.default_host().map_err(|error| plugin_failure(&error))?.kind.clone(),
            };
            TargetSource::from(Value::Object(with_host(&text, host_text)?))
        }
    };
    host.target(source).map_err(|error| failure(&error))
}

/// The same target, with what the device that it is to run on says of itself where nobody set it. A host's target says
/// all of itself.
///
/// # Errors
///
/// What the host says of an invalid target.
pub(crate) fn target_on(
    host: &Host,
    args: &KernelArgs,
    target: Arc<Target>,
    device_id: i32,
) -> Result<Arc<Target>> {
    let Some(text) = &args.target else { return Ok(target) };
    if host.capabilities(&target).map_err(|error| plugin_failure(&error))?.is_host {
        return Ok(target);
    }
    let mut object = match &args.host {
        Some(host_text) => with_host(text, host_text)?,
        None => object_of(text)?,
    };
    object.entry("from_device").or_insert(device_id.into());
    host.target(Value::Object(object)).map_err(|error| failure(&error))
}

/// A target's name or JSON as an object.
fn object_of(target: &str) -> Result<Map<String, Value>> {
    if !target.trim_start().starts_with('{') {
        return Ok(Map::from_iter([("kind".to_owned(), Value::from(target))]));
    }
    match parse_unique(target) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(Failure::input(format!("the target is not a JSON object: found {other}"))),
        Err(error) => Err(Failure::input(format!("the target is not a JSON object: {error}"))),
    }
}

/// A target's name or JSON with a host in it.
fn with_host(target: &str, host: &str) -> Result<Map<String, Value>> {
    let mut object = object_of(target)?;
    if object.get("host").is_some_and(|host| !host.is_null()) {
        return Err(Failure::input("the target names a host and --host names one too").help("leave one out"));
    }
    let host = if host.trim_start().starts_with('{') {
        parse_unique(host)
            .map_err(|error| Failure::input(format!("the host is not a JSON object: {error}")))?
    } else {
        Value::from(host)
    };
    object.insert("host".to_owned(), host);
    Ok(object)
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
    target: &Arc<Target>,
    args: &KernelArgs,
    purpose: Purpose<'_>,
    progress: &Progress,
) -> Result<Build> {
    progress.step(format!("compiling {} for {}", kernel.path.display(), target.kind));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_host_is_put_into_a_target() {
        assert_eq!(
            Value::Object(with_host("toy", "other").unwrap()),
            json!({"kind": "toy", "host": "other"})
        );
        assert_eq!(
            Value::Object(
                with_host(r#"{"kind": "toy", "x": 1, "host": null}"#, r#"{"kind": "other"}"#).unwrap()
            ),
            json!({"kind": "toy", "x": 1, "host": {"kind": "other"}})
        );
        for (target, host) in [(r#"{"host": "a"}"#, "b"), ("{", "b"), ("toy", "{")] {
            assert_eq!(with_host(target, host).unwrap_err().exit, crate::report::Exit::Input);
        }
    }
}
