//! Common parts of `build` and `run`: target, compilation, diagnostics with their lines.

use std::sync::Arc;
use std::time::Instant;

use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use chipdock_host::{
    CompileOptions, Compiled, Device, DeviceChoice, Error, ErrorKind, Host, HostOptions, ResolvedTarget,
    Scheduling, Severity, TargetRequest,
};
use chipdock_ir::{IrModule, PrimFunc, Target, attr};
use serde_json::Value;

use crate::args::{GlobalArgs, KernelArgs, SchedulingArg};
use crate::command::{failure, plugin_failure, said_by};
use crate::kernel::KernelFile;
use crate::progress::Progress;
use crate::report::{Failure, Result};

/// A compiled module, with the time that it took.
pub(crate) struct Build {
    pub(crate) compiled: Compiled,
    pub(crate) seconds: f64,
}

impl Build {
    /// Returns the target that it was compiled for.
    pub(crate) fn target(&self) -> &Target {
        self.compiled.target.target()
    }

    /// Returns the target that its host functions were compiled for.
    pub(crate) fn host(&self) -> &Target {
        self.compiled.host.target()
    }
}

/// Returns the target of `--target` and `--host`, or the default ones.
///
/// # Errors
///
/// The host's error for an invalid target.
pub(crate) fn target(host: &Host, args: &KernelArgs) -> Result<Arc<ResolvedTarget>> {
    target_or(host, args, None, None)
}

/// Returns the target of `--target` and `--host`; without `--target` that which the function names,
/// else the default one.
///
/// # Errors
///
/// As of [`target`]; for a missing device.
fn target_or(
    host: &Host,
    args: &KernelArgs,
    own: Option<&Arc<Target>>,
    device: Option<DeviceChoice>,
) -> Result<Arc<ResolvedTarget>> {
    let mut request = match (&args.target, own) {
        (Some(text), _) => TargetRequest::new(text.as_str()),
        (None, Some(own)) => TargetRequest::named(own),
        (None, None) => TargetRequest::default(),
    };
    if let Some(host) = &args.host {
        request = request.host(host.as_str());
    }
    if let Some(device) = device {
        request = request.device(device);
    }
    host.target(request).map_err(|error| failure(&error))
}

/// Returns the target of a module that is compiled for a device: what neither `--target` nor the
/// function's own target sets is the device's. Functions that name the target of `function` are
/// compiled for it too.
///
/// # Errors
///
/// As of [`target`]; the host's for a missing device, or one that the kind does not run on.
pub(crate) fn target_on(
    host: &Host,
    args: &KernelArgs,
    function: Option<&PrimFunc>,
    module: &mut IrModule,
    device: DeviceChoice,
    progress: &Progress,
) -> Result<Arc<ResolvedTarget>> {
    let own = function.and_then(KernelFile::target_of);
    let target = target_or(host, args, own, Some(device))?;
    if let Some(function) = function {
        tell_overridden(host, args, function, &target, progress);
        let is_own = |each: &&mut PrimFunc| KernelFile::target_of(each) == own;
        module.functions.iter_mut().filter(is_own).for_each(|each| {
            each.attrs.remove(attr::TARGET);
        });
    }
    Ok(target)
}

/// Parses `NAME:ID`, or `NAME` for the first device.
///
/// # Errors
///
/// Exit code 2 for another text.
pub(crate) fn device_choice(text: &str) -> Result<DeviceChoice> {
    let wrong = || {
        Failure::input(format!("--device {text}: expected NAME:ID"))
            .help("as in --device cpu:0; chipdock devices lists them")
    };
    match text.split_once(':') {
        None if !text.is_empty() => Ok(DeviceChoice::Named { name: text.to_owned(), id: 0 }),
        Some((name, id)) if !name.is_empty() => {
            let id = id.parse::<i32>().ok().filter(|id| *id >= 0).ok_or_else(wrong)?;
            Ok(DeviceChoice::Named { name: name.to_owned(), id })
        }
        _ => Err(wrong()),
    }
}

/// Warns if a function is compiled for another target than the one that it names: `--target` goes
/// before it.
fn tell_overridden(
    host: &Host,
    args: &KernelArgs,
    function: &PrimFunc,
    target: &ResolvedTarget,
    progress: &Progress,
) {
    let Some(own) = KernelFile::target_of(function).filter(|_| args.target.is_some()) else { return };
    let is_same = host.target(TargetRequest::named(own)).is_ok_and(|own| own.id() == target.id());
    if !is_same {
        progress.warn(&format!(
            "function \"{}\" names the target {}, and is compiled for that of --target",
            function.name,
            shown(&own.to_json().to_string(), LINE_CHARS_MAX)
        ));
    }
}

/// Warns of functions that `build` compiles for the target that they name, though `--target` names
/// another: one of that kind, or one for which no function is left. A module for several kinds has
/// functions that name one, as it should.
pub(crate) fn tell_kept(
    args: &KernelArgs,
    module: &IrModule,
    target: &ResolvedTarget,
    host: &Host,
    progress: &Progress,
) {
    if args.target.is_none() {
        return;
    }
    let is_for_nobody = module.functions.iter().all(|function| KernelFile::target_of(function).is_some());
    for function in &module.functions {
        let Some(own) = KernelFile::target_of(function) else { continue };
        if !is_for_nobody && own.kind != target.target().kind {
            continue;
        }
        if host.target(TargetRequest::named(own)).is_ok_and(|own| own.id() != target.id()) {
            progress.warn(&format!(
                "function \"{}\" is compiled for the target that it names, {}, and not for that of --target",
                function.name,
                shown(&own.to_json().to_string(), LINE_CHARS_MAX)
            ));
        }
    }
}

/// Build option that requests additional outputs of a code generator.
const EMIT_OPTION: &str = "emit";

/// Purpose of a compilation.
#[derive(Clone, Copy, Default)]
pub(crate) struct Purpose<'a> {
    /// Output that is requested beyond what is needed to load the module.
    pub(crate) wish: Option<&'a str>,
    /// Device that the module will run on, if that is known.
    pub(crate) device: Option<&'a Device>,
}

/// Compiles a module of a kernel file, or finds it in the cache. Warnings go to standard error.
///
/// # Errors
///
/// The host's error; diagnostics show the lines of the file that they are about.
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
        CompileOptions { file: Some(kernel.path.to_string_lossy().into_owned()), ..options(host, args)? };
    options.on_step = Some(progress.on_step());
    options.device = purpose.device.cloned();
    options.options.extend(purpose.wish.map(|wish| (EMIT_OPTION.to_owned(), Value::from(vec![wish]))));
    let started = Instant::now();
    let compiled = host.compile(module, target, &options).map_err(|error| with_lines(&error, kernel))?;
    let seconds = started.elapsed().as_secs_f64();
    // No pass relies on a block's declarations, so this is shown only on request.
    for problem in kernel.problems(&kernel.warnings) {
        progress.note(&format!("{} ({})", problem.what, problem.place));
    }
    for message in &compiled.messages {
        for problem in kernel.problems(std::slice::from_ref(&message.diagnostic)) {
            let line = format!("{} ({})", said_by(&message.plugin, &problem.what), problem.place);
            match message.severity {
                Severity::Note => progress.note(&line),
                Severity::Warning | Severity::Error => progress.warn(&line),
            }
        }
    }
    Ok(Build { compiled, seconds })
}

/// Returns the options of a host that compiles with these arguments.
///
/// # Errors
///
/// As [`command::host_options`](crate::command::host_options).
pub(crate) fn host_options(args: &KernelArgs, global: &GlobalArgs) -> Result<HostOptions> {
    Ok(HostOptions { remember: !args.no_cache, ..crate::command::host_options(global)? })
}

/// Returns the options of a compilation.
fn options(host: &Host, args: &KernelArgs) -> Result<CompileOptions> {
    let opened = if args.no_cache { Ok(None) } else { host.compile_cache() };
    let cache = opened.map_err(|error| failure(&error))?.map(Arc::new);
    Ok(CompileOptions { schedule: schedule(args), cache, ..CompileOptions::default() })
}

/// Returns whether functions without a schedule get one.
pub(crate) fn schedule(args: &KernelArgs) -> Scheduling {
    match args.schedule {
        SchedulingArg::Auto => Scheduling::Auto,
        SchedulingArg::None => Scheduling::None,
    }
}

/// Makes the failure of a compilation, each diagnostic with its line.
pub(crate) fn with_lines(error: &Error, kernel: &KernelFile) -> Failure {
    // Kinds for which a kernel or an option can be refused; another kind is a code generator's own
    // failure.
    let is_answer = matches!(error.kind(), ErrorKind::Value | ErrorKind::Unsupported);
    let mut failed = if is_answer { failure(error) } else { plugin_failure(error) };
    failed.problems.truncate(1);
    let mut problems = kernel.problems(error.diagnostics());
    if let Some(plugin) = error.speaker() {
        problems.iter_mut().for_each(|problem| problem.what = said_by(plugin, &problem.what));
    }
    failed.problems.extend(problems);
    failed.in_file(&kernel.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_a_name_and_a_number() {
        for (text, id) in [("cpu:3", 3), ("cpu", 0)] {
            assert_eq!(device_choice(text).unwrap(), DeviceChoice::Named { name: "cpu".to_owned(), id });
        }
        for wrong in ["", ":", ":0", "cpu:", "cpu:-1", "cpu:x", "cpu:99999999999", "cpu:0:1"] {
            assert!(device_choice(wrong).is_err(), "{wrong}");
        }
    }
}
