//! `chipdock build`: compiles a kernel file, and writes the requested output.

mod library;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chipdock_host::artifact::{Artifact, Section};
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use chipdock_host::{ErrorKind, Host, Schedule};
use chipdock_ir::{IrModule, print};
use serde_json::json;

use super::{alone_on_standard_output, check_named_are_used, failure};
use crate::args::{BuildArgs, Emit, GlobalArgs};
use crate::compile::{self, Build, Purpose};
use crate::destination::Destination;
use crate::kernel::KernelFile;
use crate::progress::Progress;
use crate::report::{Exit, Failure, Result, quoted};
use crate::{destination, output, streams, table};

/// Suffix of static libraries, which are not written.
const STATIC: &str = "a";
/// Format and suffix of an object file.
const OBJECT: &str = "o";

/// Output of the command.
struct Product {
    what: &'static str,
    bytes: Vec<u8>,
    is_text: bool,
    /// The contents of the file beside it, for a library whose device code is not in it.
    aside: Option<Vec<u8>>,
    /// Result of the compilation; None when the module was only read or scheduled.
    build: Option<Build>,
}

/// Runs the command.
pub(crate) fn run(args: &BuildArgs, global: &GlobalArgs) -> Result<()> {
    let ending = ending(args.output.as_deref());
    let emit = wanted(args, global, &ending)?;
    let aside = library::aside(args, emit);
    let named = args.output.as_deref().map(|path| ("the output".to_owned(), path));
    let beside = aside.as_deref().map(|path| ("the device code".to_owned(), path));
    let mut destinations = Destination::of_all(named.into_iter().chain(beside))?.into_iter();
    let (destination, aside) = (destinations.next(), destinations.next());
    alone_on_standard_output(destination.as_ref(), global)?;
    let kernel = KernelFile::read(&args.kernel.kernel)?;
    let mut module = match &kernel.function {
        Some(_) => kernel.module_of(kernel.chosen()?),
        None => kernel.module.clone(),
    };
    let product = {
        let progress = Progress::new(global);
        produce(args, global, &kernel, &mut module, emit, &ending, &progress)?
    };
    deliver(args, global, &module, &product, (destination, aside))
}

/// Returns the files that the command may write.
pub(crate) fn output_files(args: &BuildArgs) -> Vec<PathBuf> {
    let emit = args.emit.or_else(|| by_ending(&ending(args.output.as_deref())));
    args.output.clone().into_iter().chain(library::aside(args, emit)).collect()
}

/// Returns the output to write, by `--emit` and the suffix of OUT, which must agree.
fn wanted(args: &BuildArgs, global: &GlobalArgs, ending: &str) -> Result<Option<Emit>> {
    let emit = args.emit.or_else(|| by_ending(ending));
    if ending == STATIC {
        return Err(Failure::input("a static library is not written")
            .help("write the object file, -o OUT.o, and pack it with ar; or a shared library, -o OUT.so"));
    }
    library::check(args, emit)?;
    if let (Some(emit), Some(by_ending)) = (args.emit, by_ending(ending))
        && emit != by_ending
    {
        let what = format!("--emit {} and a file .{ending} do not go together", name(emit));
        return Err(Failure::input(what).help(format!(
            "leave --emit out to write {}, or give the file another ending",
            name(by_ending)
        )));
    }
    let binary = match emit {
        Some(Emit::Artifact) => Some(("an artifact", "-o OUT.chipdock")),
        Some(Emit::Object) => Some(("an object file", "-o OUT.o")),
        Some(Emit::Spv) => Some(("SPIR-V", "-o OUT.spv")),
        Some(Emit::Library) => Some(("a library", "-o OUT.so")),
        Some(Emit::Archive) => Some(("an archive", "-o OUT.tar")),
        _ => None,
    };
    if let Some((what, option)) = binary
        && args.output.is_none()
        && (global.json || streams::results_are_watched())
    {
        return Err(Failure::input(format!("{what} is not text")).help(format!("name a file: {option}")));
    }
    Ok(emit)
}

/// Returns the word of the command line, and of the code generator's option, for an output.
fn name(emit: Emit) -> &'static str {
    match emit {
        Emit::Ir => "ir",
        Emit::Schedule => "schedule",
        Emit::Source => "source",
        Emit::Ll => "ll",
        Emit::Asm => "asm",
        Emit::Spv => "spv",
        Emit::Object => "object",
        Emit::Artifact => "artifact",
        Emit::Library => "library",
        Emit::Archive => "archive",
    }
}

fn produce(
    args: &BuildArgs,
    global: &GlobalArgs,
    kernel: &KernelFile,
    module: &mut IrModule,
    emit: Option<Emit>,
    ending: &str,
    progress: &Progress,
) -> Result<Product> {
    let text = |what, text: String| {
        let bytes = (text.trim_end().to_owned() + "\n").into_bytes();
        Product { what, bytes, is_text: true, aside: None, build: None }
    };
    if emit == Some(Emit::Ir) {
        return Ok(text("ir", print::module(module)));
    }
    let host = Host::new(compile::host_options(&args.kernel, global)?).map_err(|error| failure(&error))?;
    check_named_are_used(&host, global)?;
    let device = args.device.as_deref().map(compile::device_choice).transpose()?;
    let target = match device {
        Some(device) => {
            let first = module.functions.first().filter(|_| args.kernel.target.is_none()).cloned();
            compile::target_on(&host, &args.kernel, first.as_ref(), module, device, progress)?
        }
        None => compile::target(&host, &args.kernel)?,
    };
    let module = &*module;
    if emit == Some(Emit::Schedule) {
        let schedule = compile::schedule(&args.kernel);
        let steps = match schedule {
            Schedule::None => Ok(Vec::new()),
            Schedule::Auto => host.schedule_steps(module, &target),
        };
        let steps = steps.map_err(|error| compile::with_lines(&error, kernel))?;
        let scheduled = host.schedule(module, &target, schedule);
        let scheduled = scheduled.map_err(|error| compile::with_lines(&error, kernel))?;
        return Ok(text("schedule", as_comments(&steps) + &print::module(&scheduled)));
    }
    let wish = match emit {
        Some(emit @ (Emit::Source | Emit::Ll | Emit::Asm)) => Some(name(emit)),
        // The text, or the format by the suffix: the artifact shows which.
        None => Some(name(Emit::Source)),
        _ => None,
    };
    let purpose = Purpose { wish, device: target.device() };
    compile::tell_kept(&args.kernel, module, &target, &host, progress);
    let build = compile::compile(&host, kernel, module, &target, &args.kernel, purpose, progress)?;
    if let Some(emit @ (Emit::Library | Emit::Archive)) = emit {
        let exported = library::exported(args, &host, &build, emit, progress)?;
        let aside = exported.aside.map(|(_, bytes)| bytes);
        let (what, bytes) = (name(emit), exported.library);
        return Ok(Product { what, bytes, is_text: false, aside, build: Some(build) });
    }
    let own = build.compiled.of_target();
    let (what, bytes, is_text) = match emit {
        Some(Emit::Artifact) => {
            ("artifact", build.compiled.artifact.to_bytes().map_err(|error| failure(&error))?, false)
        }
        Some(Emit::Object) => ("object", object(&host, &build)?, false),
        Some(emit @ (Emit::Ll | Emit::Asm)) => (name(emit), by_format(own, name(emit), &build)?, true),
        Some(emit @ Emit::Spv) => (name(emit), by_its_ending(own, name(emit), "", &build)?, false),
        None if !ending.is_empty() => {
            let bytes = by_its_ending(own, ending, &target.kind().source_ending, &build)?;
            let is_text = std::str::from_utf8(&bytes).is_ok();
            (if is_text { "source" } else { "code" }, bytes, is_text)
        }
        _ => ("source", source(own, &build)?, true),
    };
    Ok(Product { what, bytes, is_text, aside: None, build: Some(build) })
}

/// Steps of default schedules as comments of a script.
fn as_comments(steps: &[(Arc<str>, String)]) -> String {
    let of = |(name, steps): &(Arc<str>, String)| {
        let lines: String = steps.lines().map(|line| format!("#     {line}\n")).collect();
        format!(
            "# The default schedule of \"{name}\", as a value of its attribute \"chipdock.schedule\":\n{lines}\n"
        )
    };
    steps.iter().map(of).collect()
}

/// Returns the generated text.
fn source(artifact: &Artifact, build: &Build) -> Result<Vec<u8>> {
    let text = artifact.source().ok_or_else(|| {
        let (kind, format) = (&build.target().kind, &artifact.index().format);
        Failure::input(format!("target {kind} delivers {format} without a source text"))
            .help(format!("write what it delivers: -o OUT.{format}, or the artifact: -o OUT.chipdock"))
    })?;
    Ok(text.as_bytes().to_vec())
}

/// Returns the target's own output, requested by a suffix that must be its format, or the ending of files with its text.
fn by_its_ending(artifact: &Artifact, ending: &str, of_source: &str, build: &Build) -> Result<Vec<u8>> {
    let format = &artifact.index().format;
    if ending == of_source && ending != format {
        return source(artifact, build);
    }
    if ending != format {
        let text =
            if of_source.is_empty() { String::new() } else { format!(", or its text as .{of_source}") };
        let what = format!("target {} delivers .{format}{text}, not .{ending}", build.target().kind);
        return Err(Failure::input(what)
            .help(format!("name the file OUT.{format}, or say what to write with --emit")));
    }
    code(artifact).ok_or_else(|| no_code(artifact, build))
}

/// Returns the code itself: its first section, or its text.
fn code(artifact: &Artifact) -> Option<Vec<u8>> {
    let of_kind = |kind: &str| artifact.sections().iter().find(|section| section.kind() == kind);
    Some(of_kind("code").or_else(|| of_kind("source"))?.data().to_vec())
}

fn no_code(artifact: &Artifact, build: &Build) -> Failure {
    let sections = quoted(artifact.sections().iter().map(|section| section.name().to_owned()));
    let what = format!(
        "target {} delivered no code; the sections of its artifact are {sections}",
        build.target().kind
    );
    Failure::new(Exit::Plugin, what).help("this is a defect of the plugin; report it to its makers")
}

/// The object file of the host functions: what their loader makes, or code that is an object file as it is.
fn object(host: &Host, build: &Build) -> Result<Vec<u8>> {
    let artifact = &build.compiled.artifact;
    if let Some(import) = artifact.imports().first() {
        let what = format!(
            "an object file holds host functions alone; these launch device code for {} ({})",
            build.target().kind,
            import.index().format
        );
        return Err(Failure::input(what)
            .help("write both as one artifact: -o OUT.chipdock, or as one library: -o OUT.so"));
    }
    match host.object(artifact) {
        Err(error) if *error.kind() == ErrorKind::Unsupported && artifact.index().format == OBJECT => {
            code(artifact).ok_or_else(|| no_code(artifact, build))
        }
        made => made.map_err(|error| failure(&error)),
    }
}

/// Returns the text of a format: the artifact's own, or a section of that name.
fn by_format(artifact: &Artifact, format: &str, build: &Build) -> Result<Vec<u8>> {
    let own = (artifact.index().format == format).then(|| artifact.source()).flatten();
    let section = || Some(artifact.section(format)?.data().to_vec());
    own.map(|text| text.as_bytes().to_vec()).or_else(section).ok_or_else(|| {
        let (kind, delivers) = (&build.target().kind, &artifact.index().format);
        let instead = if artifact.source().is_some() {
            "--emit source shows what it writes".to_owned()
        } else {
            format!("-o OUT.{delivers} writes that")
        };
        let what = format!("target {kind} does not go through {format}; it delivers {delivers}");
        Failure::input(what)
            .help(format!("{instead}; or name another --target, which chipdock targets lists"))
    })
}

fn deliver(
    args: &BuildArgs,
    global: &GlobalArgs,
    module: &IrModule,
    product: &Product,
    (destination, aside): (Option<Destination>, Option<Destination>),
) -> Result<()> {
    let took_standard_output = destination.as_ref().is_some_and(Destination::is_standard_output);
    let mut pending = Vec::new();
    // The library comes last: it names the other file.
    for (destination, bytes) in [(aside, product.aside.as_ref()), (destination, Some(&product.bytes))] {
        if let (Some(destination), Some(bytes)) = (destination, bytes) {
            pending.push(destination.prepare(|out| out.write_all(bytes))?);
        }
    }
    destination::commit(pending)?;
    if took_standard_output {
        return Ok(());
    }
    if global.json {
        return output::print_json(&to_json(args, module, product));
    }
    let Some(path) = &args.output else {
        return output::print_product(&product.bytes);
    };
    let size = product.bytes.len();
    let made = match &product.build {
        Some(build) => {
            let how = if build.compiled.cached { "found in the cache in" } else { "compiled in" };
            format!(" for {}, {how} {}", build.target().kind, table::duration(build.seconds))
        }
        None => String::new(),
    };
    let shown = |path: &Path| shown(&path.display().to_string(), LINE_CHARS_MAX).into_owned();
    let mut text = format!("{}: {}{made}, {size} bytes\n", shown(path), product.what);
    if let (Some(bytes), Some(path)) = (&product.aside, library::aside_path(args)) {
        text.push_str(&format!("{}: its device code, {} bytes\n", shown(&path), bytes.len()));
    }
    output::print(&text)
}

fn to_json(args: &BuildArgs, module: &IrModule, product: &Product) -> serde_json::Value {
    let build = product.build.as_ref();
    let names: Vec<&str> = module.functions.iter().map(|function| &*function.name).collect();
    let index = build.map(|build| build.compiled.artifact.index());
    let text = (product.is_text && args.output.is_none()).then(|| String::from_utf8_lossy(&product.bytes));
    let sections = build.map(|build| {
        let sections = build.compiled.artifact.sections().iter();
        let section = |section: &Section| {
            json!({"name": section.name(), "kind": section.kind(), "size_bytes": section.data().len()})
        };
        sections.map(section).collect::<Vec<_>>()
    });
    json!({
        "schema": "chipdock.build/1",
        "functions": names,
        "emit": product.what,
        "output": args.output.as_ref().map(|path| path.to_string_lossy()),
        "size_bytes": product.bytes.len(),
        "text": text,
        "target": build.map(|build| build.target().to_json()),
        "host": build.map(|build| build.host().to_json()),
        "module_kind": index.map(|index| &index.module_kind),
        "format": index.map(|index| &index.format),
        "sections": sections,
        "aside": product.aside.as_ref().and(library::aside_path(args)).map(|path| path.to_string_lossy().into_owned()),
        "cached": build.map(|build| build.compiled.cached),
        "compile_seconds": build.map(|build| build.seconds),
    })
}

/// Returns the suffix of a file's name, in lower case; empty when there is none.
fn ending(path: Option<&Path>) -> String {
    let ending = path.and_then(|path| path.extension()).unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

/// Returns the output for a suffix that is the same for every target. Others are checked against the format of the target.
fn by_ending(ending: &str) -> Option<Emit> {
    match ending {
        "ll" => Some(Emit::Ll),
        "s" | "asm" => Some(Emit::Asm),
        OBJECT => Some(Emit::Object),
        "chipdock" | "artifact" => Some(Emit::Artifact),
        "so" => Some(Emit::Library),
        "tar" => Some(Emit::Archive),
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
            ("x.o", Some(Emit::Object)),
            ("x.chipdock", Some(Emit::Artifact)),
            ("x.artifact", Some(Emit::Artifact)),
            ("x.so", Some(Emit::Library)),
            ("x.tar", Some(Emit::Archive)),
            ("x.c", None),
            ("x", None),
        ] {
            assert_eq!(by_ending(&ending(Some(Path::new(path)))), emit, "{path}");
        }
    }
}
