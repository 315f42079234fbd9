//! `chipdock run`: runs a kernel, or a function that was built, on `.npy` files.

pub(crate) mod bind;
mod call;
mod clock;
pub(crate) mod scalar;
mod show;

use std::path::PathBuf;

use chipdock_host::{Device, DeviceChoice, Host, HostOptions};
use chipdock_ir::PrimFunc;

use crate::args::{GlobalArgs, RunArgs};
use crate::built::Built;
use crate::command::{alone_on_standard_output, check_named_are_used, failure};
use crate::compile::{self, Purpose};
use crate::destination::Destination;
use crate::kernel::KernelFile;
use crate::progress::Progress;
use crate::report::{Failure, Result};
use crate::{destination, npy};
use bind::{Argument, Input, Setting};

/// `--in` and `--out`: a buffer and a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BufferFile {
    pub(crate) buffer: String,
    pub(crate) path: PathBuf,
}

/// Runs a function.
pub(crate) fn run(args: &RunArgs, global: &GlobalArgs) -> Result<()> {
    let inputs = buffer_files("--in", &args.inputs)?;
    let outputs = buffer_files("--out", &args.outputs)?;
    let settings = settings(&args.values)?;
    let device = args.device.as_deref().map_or(Ok(DeviceChoice::First), compile::device_choice)?;
    match Built::read(&args.kernel)? {
        Some(built) => {
            let chosen = built.chosen()?;
            let wanted = Wanted { args, global, function: &chosen.function, inputs, outputs, settings };
            wanted.run(|host, _| {
                let device = built.device(host, &chosen, device)?;
                let (target, of_host) = (chosen.target.clone(), chosen.host.clone());
                let origin = show::Origin { target, host: of_host, compiled: None };
                Ok(Code { source: call::Source::File(&built.file), device, origin })
            })
        }
        None => {
            let kernel = KernelFile::read(&args.kernel.kernel)?;
            let function = kernel.chosen()?;
            let wanted = Wanted { args, global, function, inputs, outputs, settings };
            wanted.run(|host, progress| compiled(host, &kernel, function, args, device, progress))
        }
    }
}

/// A run of a function, as it was asked for.
struct Wanted<'a> {
    args: &'a RunArgs,
    global: &'a GlobalArgs,
    function: &'a PrimFunc,
    inputs: Vec<BufferFile>,
    outputs: Vec<BufferFile>,
    settings: Vec<Setting>,
}

/// What is called, and where.
struct Code<'a> {
    source: call::Source<'a>,
    device: Device,
    origin: show::Origin,
}

impl Wanted<'_> {
    /// Checks the arguments, then makes the code runnable by `code`, and calls it.
    fn run<'a>(self, code: impl FnOnce(&Host, &Progress) -> Result<Code<'a>>) -> Result<()> {
        let Self { args, global, function, inputs, outputs, settings } = self;
        let destinations = destinations(function, &outputs)?;
        alone_on_standard_output(&destinations, global)?;
        let arguments = bind::bind(function, read_inputs(function, &inputs)?, &settings)?;

        let progress = Progress::new(global);
        let host_options =
            HostOptions { threads: args.threads, ..compile::host_options(&args.kernel, global)? };
        let host = Host::new(host_options).map_err(|error| failure(&error))?;
        check_named_are_used(&host, global)?;
        let Code { source, device, origin } = code(&host, &progress)?;
        let outcome = call::call(&host, &source, function, &device, &arguments, args.repeat, &progress)?;
        progress.step("writing the outputs");
        let took_standard_output = destinations.iter().any(Destination::is_standard_output);
        tracing::info_span!("outputs")
            .in_scope(|| write_outputs(&outputs, destinations, &arguments, &outcome))?;
        drop(progress);
        if took_standard_output {
            return Ok(());
        }
        let threads = host.threads();
        let shown =
            show::Shown { function, origin: &origin, threads, outcome: &outcome, arguments: &arguments };
        shown.print(&inputs, &outputs, global.json)
    }
}

/// Compiles the function of a kernel file for a device, which is opened before.
fn compiled<'a>(
    host: &Host,
    kernel: &KernelFile,
    function: &PrimFunc,
    args: &RunArgs,
    device: DeviceChoice,
    progress: &Progress,
) -> Result<Code<'a>> {
    let mut module = kernel.module_of(function);
    let target = compile::target_on(host, &args.kernel, Some(function), &mut module, device, progress)?;
    let device = call::device(&target)?.clone();
    let purpose = Purpose { wish: None, device: Some(&device) };
    let build = compile::compile(host, kernel, &module, &target, &args.kernel, purpose, progress)?;
    let origin = show::Origin {
        target: build.target().to_json(),
        host: build.host().to_json(),
        compiled: Some((build.seconds, build.compiled.cached)),
    };
    Ok(Code { source: call::Source::Artifact(build.compiled.artifact), device, origin })
}

/// Returns the files of `--out`.
///
/// # Errors
///
/// Exit code 2 for one that is malformed.
pub(crate) fn output_files(args: &RunArgs) -> Result<Vec<PathBuf>> {
    Ok(buffer_files("--out", &args.outputs)?.into_iter().map(|file| file.path).collect())
}

fn buffer_files(option: &str, texts: &[String]) -> Result<Vec<BufferFile>> {
    let mut files: Vec<BufferFile> = Vec::new();
    for text in texts {
        let parts = text.split_once('=').filter(|(buffer, path)| !buffer.is_empty() && !path.is_empty());
        let (buffer, path) = parts.ok_or_else(|| {
            Failure::input(format!("{option} {text}: expected BUFFER=FILE.npy"))
                .help(format!("as in {option} A=a.npy"))
        })?;
        if files.iter().any(|file| file.buffer == buffer) {
            return Err(Failure::input(format!("{option} names buffer {buffer} twice")));
        }
        files.push(BufferFile { buffer: buffer.to_owned(), path: path.into() });
    }
    Ok(files)
}

fn settings(texts: &[String]) -> Result<Vec<Setting>> {
    let mut settings: Vec<Setting> = Vec::new();
    for text in texts {
        let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, value) = parts.ok_or_else(|| {
            Failure::input(format!("--set {text}: expected NAME=VALUE")).help("as in --set n=1024")
        })?;
        if settings.iter().any(|setting| setting.name == name) {
            return Err(Failure::input(format!("--set names {name} twice")));
        }
        settings.push(Setting { name: name.to_owned(), value: value.to_owned() });
    }
    Ok(settings)
}

/// Resolves the destination of each output, held before any work is done; errors that can be known
/// are reported then.
fn destinations(function: &PrimFunc, outputs: &[BufferFile]) -> Result<Vec<Destination>> {
    for file in outputs {
        let buffer = bind::find_buffer(function, &file.buffer)?;
        if npy::file_dtype(buffer.dtype).is_none() {
            let what = format!("buffer {} is {}, which no .npy file can hold", buffer.name, buffer.dtype);
            return Err(Failure::input(what));
        }
    }
    let named = outputs.iter().map(|file| (format!("buffer {}", file.buffer), file.path.as_path()));
    Destination::of_all(named)
}

fn read_inputs(function: &PrimFunc, files: &[BufferFile]) -> Result<Vec<Input>> {
    let read = |file: &BufferFile| {
        bind::find_buffer(function, &file.buffer)?;
        let array = npy::read(&file.path)?;
        Ok(Input { buffer: file.buffer.clone(), path: file.path.clone(), array })
    };
    files.iter().map(read).collect()
}

fn write_outputs(
    files: &[BufferFile],
    destinations: Vec<Destination>,
    arguments: &[Argument],
    outcome: &call::Outcome,
) -> Result<()> {
    let mut pending = Vec::new();
    for (file, destination) in files.iter().zip(destinations) {
        let of_buffer =
            |argument: &&Argument| matches!(argument, Argument::Tensor { name, .. } if *name == file.buffer);
        let Some(index) = arguments.iter().position(|argument| of_buffer(&argument)) else { continue };
        let Argument::Tensor { dtype, shape, .. } = &arguments[index] else { continue };
        let bytes = outcome.bytes(index)?;
        let dtype = npy::file_dtype(*dtype).unwrap_or(*dtype);
        pending.push(destination.prepare(|out| npy::write(out, dtype, shape, &bytes))?);
    }
    destination::commit(pending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_at_the_first_equals_sign() {
        let files = buffer_files("--in", &["A=x=y.npy".to_owned()]).unwrap();
        assert_eq!(files, [BufferFile { buffer: "A".to_owned(), path: "x=y.npy".into() }]);
        assert_eq!(settings(&["n=".to_owned()]).unwrap()[0].value, "");
        for wrong in ["A", "=a.npy", "A="] {
            assert!(buffer_files("--in", &[wrong.to_owned()]).is_err(), "{wrong}");
        }
        assert!(buffer_files("--out", &["A=a".to_owned(), "A=b".to_owned()]).is_err());
        assert!(settings(&["n=1".to_owned(), "n=1".to_owned()]).is_err());
        assert!(settings(&["n".to_owned()]).is_err());
    }
}
