//! Libraries and archives of `build`: what other programs load.

use std::path::PathBuf;

use chipdock_host::{DeviceCode, ExportOptions, Exported, Host};

use crate::args::{BuildArgs, DeviceCodeArg, Emit, Output};
use crate::command::failure;
use crate::compile::Build;
use crate::progress::Progress;
use crate::report::{Failure, Result};

/// Returns the file that has the device code of a library, where it is not in the library: OUT with
/// another suffix.
pub(super) fn aside_path(args: &BuildArgs) -> Option<PathBuf> {
    args.output.as_ref().map(|path| path.with_extension("chipdock"))
}

/// As [`aside_path`], where the command line asks for such a file.
pub(super) fn aside(args: &BuildArgs, emit: Option<&Output>) -> Option<PathBuf> {
    let is_wanted = args.device_code == DeviceCodeArg::Aside && is_library(emit);
    aside_path(args).filter(|_| is_wanted)
}

fn is_library(emit: Option<&Output>) -> bool {
    matches!(emit, Some(Output::Own(Emit::Library | Emit::Archive)))
}

/// Refuses options of libraries with another output.
pub(super) fn check(args: &BuildArgs, emit: Option<&Output>) -> Result<()> {
    let refused = |option: &str, of: &str| {
        Err(Failure::input(format!("{option} is for {of}"))
            .help("write one: -o OUT.so, or --emit library -o OUT; or leave the option out"))
    };
    match emit {
        _ if args.device_code == DeviceCodeArg::Aside && !is_library(emit) => {
            refused("--device-code aside", "libraries and archives")
        }
        Some(Output::Own(Emit::Library)) => Ok(()),
        _ if args.linker.is_some() => refused("--linker", "libraries"),
        _ => Ok(()),
    }
}

/// Links the library, or packs the archive.
pub(super) fn exported(
    args: &BuildArgs,
    host: &Host,
    build: &Build,
    emit: Emit,
    progress: &Progress,
) -> Result<Exported> {
    let device_code = match args.device_code {
        DeviceCodeArg::Embedded => DeviceCode::Embedded,
        DeviceCodeArg::Aside => DeviceCode::Aside,
    };
    let aside = aside_path(args).and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let options = ExportOptions { device_code, linker: args.linker.clone(), aside };
    let name = args.output.as_ref().and_then(|path| path.file_name()).unwrap_or_default();
    let (name, artifact) = (name.to_string_lossy(), &build.compiled.artifact);
    let made = if emit == Emit::Archive {
        progress.step("packing the archive");
        host.export_archive(artifact, &name, &options)
    } else {
        progress.step("linking the library");
        host.export_library(artifact, &name, &options)
    };
    made.map_err(|error| failure(&error))
}
