//! `chipdock build`: a kernel file compiled, and what of it is asked for written.

use std::io::IsTerminal as _;
use std::path::Path;

use chipdock_host::Host;
use chipdock_host::artifact::Artifact;
use chipdock_ir::{IrModule, print};
use serde_json::json;

use super::{failure, host_options};
use crate::args::{BuildArgs, Emit, GlobalArgs};
use crate::compile::{self, Build};
use crate::kernel::KernelFile;
use crate::progress::Progress;
use crate::report::{Failure, Result, quoted};
use crate::{output, table};

/// Endings of libraries and archives, whose writing is yet to come.
const LATER: &[&str] = &["so", "tar", "o", "a"];

/// What is written, once it is known.
struct Product {
    what: &'static str,
    bytes: Vec<u8>,
    is_text: bool,
    /// What it was compiled to; nothing when it only was read or scheduled.
    build: Option<Build>,
}

/// Compiles.
pub(crate) fn run(args: &BuildArgs, global: &GlobalArgs) -> Result<()> {
    let ending = ending(args.output.as_deref());
    let emit = args.emit.or_else(|| by_ending(&ending));
    if emit.is_none() && LATER.contains(&ending.as_str()) {
        let what = format!("writing a .{ending} is not supported yet");
        return Err(
            Failure::input(what).help("write the source (--emit source) or the artifact (--emit artifact)")
        );
    }
    if let Some(path) = &args.output {
        output::check_writable(path)?;
    }
    if emit == Some(Emit::Artifact)
        && args.output.is_none()
        && (global.json || std::io::stdout().is_terminal())
    {
        return Err(Failure::input("an artifact is no text").help("name a file: -o OUT.artifact"));
    }
    let kernel = KernelFile::read(&args.kernel.kernel)?;
    let module = match &kernel.function {
        Some(_) => kernel.module_of(kernel.chosen()?),
        None => kernel.module.clone(),
    };
    let product = {
        let progress = Progress::new(global);
        produce(args, global, &kernel, &module, emit, &ending, &progress)?
    };
    deliver(args, global, &module, &product)
}

fn produce(
    args: &BuildArgs,
    global: &GlobalArgs,
    kernel: &KernelFile,
    module: &IrModule,
    emit: Option<Emit>,
    ending: &str,
    progress: &Progress,
) -> Result<Product> {
    let text = |what, text: String| {
        let bytes = (text.trim_end().to_owned() + "\n").into_bytes();
        Product { what, bytes, is_text: true, build: None }
    };
    if emit == Some(Emit::Ir) {
        return Ok(text("ir", print::module(module)));
    }
    let host = Host::new(host_options(global)?).map_err(|error| failure(&error))?;
    if emit == Some(Emit::Schedule) {
        let target = compile::target(&host, &args.kernel)?;
        let scheduled = host.schedule(module, &target, compile::schedule(&args.kernel));
        let scheduled = scheduled.map_err(|error| compile::with_lines(&error, kernel))?;
        return Ok(text("schedule", print::module(&scheduled)));
    }
    let build = compile::compile(&host, kernel, module, &args.kernel, progress)?;
    let artifact = of_target(&build.compiled.artifact, &build.target().to_json().to_string());
    let (what, bytes) = match emit {
        Some(Emit::Artifact) => {
            ("artifact", build.compiled.artifact.to_bytes().map_err(|error| failure(&error))?)
        }
        Some(Emit::Ll) => ("ll", by_format(artifact, "ll", &build)?),
        Some(Emit::Asm) => ("asm", by_format(artifact, "asm", &build)?),
        _ => ("source", source(artifact, emit, ending, &build)?),
    };
    Ok(Product { what, bytes, is_text: what != "artifact", build: Some(build) })
}

/// The artifact of the target itself: a device's is imported by that of its host functions.
fn of_target<'a>(artifact: &'a Artifact, target_json: &str) -> &'a Artifact {
    let imported = artifact.imports().iter().find(|import| import.target_json() == target_json);
    imported.map_or(artifact, AsRef::as_ref)
}

/// The generated text; asked for by an ending, it has to be of that format.
fn source(artifact: &Artifact, emit: Option<Emit>, ending: &str, build: &Build) -> Result<Vec<u8>> {
    let format = &artifact.index().format;
    let kind = &build.target().kind;
    if emit.is_none() && !ending.is_empty() && ending != format {
        let what = format!("target {kind} delivers .{format}, not .{ending}");
        return Err(Failure::input(what)
            .help(format!("name the file OUT.{format}, or say what to write with --emit")));
    }
    let text = artifact.source().ok_or_else(|| {
        Failure::input(format!("target {kind} delivers {format} without a source text"))
            .help("write the artifact: --emit artifact")
    })?;
    Ok(text.as_bytes().to_vec())
}

/// The text of a format: the artifact's own, or a section of that name.
fn by_format(artifact: &Artifact, format: &str, build: &Build) -> Result<Vec<u8>> {
    let own = (artifact.index().format == format).then(|| artifact.source()).flatten();
    let section = || Some(artifact.section(format)?.data().to_vec());
    own.map(|text| text.as_bytes().to_vec()).or_else(section).ok_or_else(|| {
        let kind = &build.target().kind;
        let sections = quoted(artifact.sections().iter().map(|section| section.name().to_owned()));
        Failure::input(format!(
            "target {kind} does not go through {format}; it delivers {}",
            artifact.index().format
        ))
        .help(format!("--emit source, or --emit artifact with the sections {sections}"))
    })
}

fn deliver(args: &BuildArgs, global: &GlobalArgs, module: &IrModule, product: &Product) -> Result<()> {
    if let Some(path) = &args.output {
        output::write_file(path, &product.bytes)?;
    }
    if global.json {
        return output::print_json(&to_json(args, module, product));
    }
    let Some(path) = &args.output else {
        return output::print_bytes(&product.bytes);
    };
    let size = product.bytes.len();
    let made = match &product.build {
        Some(build) => {
            format!(" for {}, compiled in {}", build.target().kind, table::duration(build.seconds))
        }
        None => String::new(),
    };
    output::print(&format!("{}: {}{made}, {size} bytes\n", path.display(), product.what))
}

fn to_json(args: &BuildArgs, module: &IrModule, product: &Product) -> serde_json::Value {
    let build = product.build.as_ref();
    let names: Vec<&str> = module.functions.iter().map(|function| &*function.name).collect();
    let index = build.map(|build| build.compiled.artifact.index());
    let text = (product.is_text && args.output.is_none()).then(|| String::from_utf8_lossy(&product.bytes));
    json!({
        "schema": "chipdock.build/1",
        "functions": names,
        "emit": product.what,
        "output": args.output,
        "size_bytes": product.bytes.len(),
        "text": text,
        "target": build.map(|build| build.target().to_json()),
        "host": build.map(|build| build.host().to_json()),
        "module_kind": index.map(|index| &index.module_kind),
        "format": index.map(|index| &index.format),
        "compile_seconds": build.map(|build| build.seconds),
    })
}

/// The ending of a file's name, in lower case; nothing when there is none.
fn ending(path: Option<&Path>) -> String {
    let ending = path.and_then(|path| path.extension()).unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

/// Endings that say what is written whatever the target is. Others are held against the format of the target.
fn by_ending(ending: &str) -> Option<Emit> {
    match ending {
        "ll" => Some(Emit::Ll),
        "s" | "asm" => Some(Emit::Asm),
        "artifact" => Some(Emit::Artifact),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_says_what_is_written() {
        for (path, emit) in [
            ("x.ll", Some(Emit::Ll)),
            ("x.S", Some(Emit::Asm)),
            ("x.artifact", Some(Emit::Artifact)),
            ("x.so", None),
            ("x", None),
        ] {
            assert_eq!(by_ending(&ending(Some(Path::new(path)))), emit, "{path}");
        }
    }
}
