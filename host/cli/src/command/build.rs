//! `chipdock build`: compiles a kernel file, and writes the requested output.

mod library;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chipdock_host::artifact::{Artifact, Section};
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use chipdock_host::{ErrorKind, Host, Scheduling};
use chipdock_ir::{IrModule, print};
use serde_json::json;

use super::{alone_on_standard_output, check_named_are_used, failure};
use crate::args::{BuildArgs, Emit, GlobalArgs, Output};
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
/// Kind of sections with text.
const SOURCE_KIND: &str = "source";

/// Output of the command.
struct Product {
    what: Cow<'static, str>,
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
    let aside = library::aside(args, emit.as_ref());
    let named = args.output.as_deref().map(|path| ("the output".to_owned(), path));
    let device_code = aside.as_deref().map(|path| ("the device code".to_owned(), path));
    let mut destinations = Destination::of_all(named.into_iter().chain(device_code))?.into_iter();
    let (destination, aside) = (destinations.next(), destinations.next());
    alone_on_standard_output(destination.as_ref(), global)?;
    let kernel = KernelFile::read(&args.kernel.kernel)?;
    let mut module = match &kernel.function {
        Some(_) => kernel.module_of(kernel.chosen()?),
        None => kernel.module.clone(),
    };
    let product = {
        let progress = Progress::new(global);
        produce(args, global, &kernel, &mut module, emit.as_ref(), &ending, &progress)?
    };
    deliver(args, global, &module, &product, (destination, aside))
}

/// Returns the files that the command may write.
pub(crate) fn output_files(args: &BuildArgs) -> Vec<PathBuf> {
    let emit = asked(args, &ending(args.output.as_deref()));
    args.output.clone().into_iter().chain(library::aside(args, emit.as_ref())).collect()
}

/// Returns the output that is asked for, by `--emit` or the suffix of OUT; `None` leaves it to the
/// target.
fn asked(args: &BuildArgs, ending: &str) -> Option<Output> {
    args.emit.clone().or_else(|| by_ending(ending).map(Output::Own))
}

/// Returns the output to write, by `--emit` and the suffix of OUT, which must agree.
fn wanted(args: &BuildArgs, global: &GlobalArgs, ending: &str) -> Result<Option<Output>> {
    let emit = asked(args, ending);
    if ending == STATIC {
        return Err(Failure::input("a static library is not written")
            .help("write the object file, -o OUT.o, and pack it with ar; or a shared library, -o OUT.so"));
    }
    library::check(args, emit.as_ref())?;
    if let (Some(emit), Some(by_ending)) = (&args.emit, by_ending(ending))
        && *emit != Output::Own(by_ending)
    {
        let what = format!("--emit {} and a file .{ending} do not go together", emit.name());
        return Err(Failure::input(what).help(format!(
            "leave --emit out to write {}, or give the file another ending",
            by_ending.name()
        )));
    }
    let binary = match &emit {
        Some(Output::Own(Emit::Artifact)) => Some(("an artifact", "chipdock")),
        Some(Output::Own(Emit::Object)) => Some(("an object file", OBJECT)),
        Some(Output::Own(Emit::Library)) => Some(("a library", "so")),
        Some(Output::Own(Emit::Archive)) => Some(("an archive", "tar")),
        _ => None,
    };
    if let Some((what, ending)) = binary {
        check_goes_to_a_file(args, global, what, ending)?;
    }
    Ok(emit)
}

/// Refuses to show what is not text.
fn check_goes_to_a_file(args: &BuildArgs, global: &GlobalArgs, what: &str, ending: &str) -> Result<()> {
    if args.output.is_none() && (global.json || streams::results_are_watched()) {
        let failure = Failure::input(format!("{what} is not text"));
        return Err(failure.help(format!("name a file: -o OUT.{ending}")));
    }
    Ok(())
}

fn produce(
    args: &BuildArgs,
    global: &GlobalArgs,
    kernel: &KernelFile,
    module: &mut IrModule,
    emit: Option<&Output>,
    ending: &str,
    progress: &Progress,
) -> Result<Product> {
    let text = |emit: Emit, text: String| {
        let bytes = (text.trim_end().to_owned() + "\n").into_bytes();
        Product { what: emit.name().into(), bytes, is_text: true, aside: None, build: None }
    };
    if emit == Some(&Output::Own(Emit::Ir)) {
        return Ok(text(Emit::Ir, print::module(module)));
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
    if emit == Some(&Output::Own(Emit::Schedule)) {
        let schedule = compile::schedule(&args.kernel);
        let steps = match schedule {
            Scheduling::None => Ok(Vec::new()),
            Scheduling::Auto => host.schedule_steps(module, &target),
        };
        let steps = steps.map_err(|error| compile::with_lines(&error, kernel))?;
        let scheduled = host.schedule(module, &target, schedule);
        let scheduled = scheduled.map_err(|error| compile::with_lines(&error, kernel))?;
        return Ok(text(Emit::Schedule, as_comments(&steps) + &print::module(&scheduled)));
    }
    let emit = emit.cloned().unwrap_or_else(|| by_target(ending, &target.kind().source_ending));
    let source = Emit::Source.name();
    let wish = match &emit {
        Output::Own(Emit::Source) => Some(source.as_str()),
        Output::Own(_) => None,
        Output::Format(word) => Some(word.as_str()),
    };
    let purpose = Purpose { wish, device: target.device() };
    compile::tell_kept(&args.kernel, module, &target, &host, progress);
    let build = compile::compile(&host, kernel, module, &target, &args.kernel, purpose, progress)?;
    let product = match emit {
        Output::Own(emit) => own(args, &host, build, emit, progress)?,
        Output::Format(word) => of_format(args, build, &word)?,
    };
    if !product.is_text
        && let Some(Output::Format(word)) = &args.emit
    {
        check_goes_to_a_file(args, global, word, word)?;
    }
    Ok(product)
}

/// Returns an output that is Chipdock's own.
fn own(args: &BuildArgs, host: &Host, build: Build, emit: Emit, progress: &Progress) -> Result<Product> {
    let mut aside = None;
    let bytes = match emit {
        Emit::Library | Emit::Archive => {
            let exported = library::exported(args, host, &build, emit, progress)?;
            aside = exported.aside.map(|(_, bytes)| bytes);
            exported.library
        }
        Emit::Artifact => build.compiled.artifact.to_bytes().map_err(|error| failure(&error))?,
        Emit::Object => object(host, &build)?,
        Emit::Ir | Emit::Schedule | Emit::Source => source(build.compiled.of_target(), &build)?,
    };
    let is_text = emit == Emit::Source;
    Ok(Product { what: emit.name().into(), bytes, is_text, aside, build: Some(build) })
}

/// Returns an output that is a format of the target's plugin: its code, or a section of that name.
fn of_format(args: &BuildArgs, build: Build, word: &str) -> Result<Product> {
    let artifact = build.compiled.of_target();
    let is_code = artifact.index().format == word;
    let found = if is_code { code(artifact) } else { artifact.section(word) };
    let section = found.ok_or_else(|| not_offered(artifact, word, &build))?;
    let (bytes, is_text) = (section.data().to_vec(), is_text(section));
    let what = match (&args.emit, is_text) {
        (None, true) if is_code => Emit::Source.name().into(),
        (None, false) if is_code => "code".into(),
        _ => Cow::Owned(word.to_owned()),
    };
    Ok(Product { what, bytes, is_text, aside: None, build: Some(build) })
}

/// Returns true for a section that a person can read.
fn is_text(section: &Section) -> bool {
    let is_utf8 = || std::str::from_utf8(section.data()).is_ok_and(|text| !text.contains('\0'));
    section.kind() == SOURCE_KIND || is_utf8()
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

/// Returns the code itself: its first section, or its text.
fn code(artifact: &Artifact) -> Option<&Section> {
    let of_kind = |kind: &str| artifact.sections().iter().find(|section| section.kind() == kind);
    of_kind("code").or_else(|| of_kind(SOURCE_KIND))
}

fn no_code(artifact: &Artifact, build: &Build) -> Failure {
    let sections = quoted(artifact.sections().iter().map(|section| section.name().to_owned()));
    let what = format!(
        "target {} delivered no code; the sections of its artifact are {sections}",
        build.target().kind
    );
    Failure::new(Exit::Plugin, what).help("this is a defect of the plugin; report it to its makers")
}

/// Makes the failure for a format that only the target of the host functions has, or that has no
/// code. One that neither has fails in the host, with what there is (COMPILE-C9).
fn not_offered(artifact: &Artifact, word: &str, build: &Build) -> Failure {
    let (kind, format) = (&build.target().kind, &artifact.index().format);
    if format == word {
        return no_code(artifact, build);
    }
    Failure::input(format!("expected an output of target {kind}, which delivers {format}; found {word}"))
        .help(format!("-o OUT.{format} writes that; or name another --target, which chipdock targets lists"))
}

/// The object file of the host functions: what their loader makes, or code that is an object file
/// as it is.
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
            let code = code(artifact).ok_or_else(|| no_code(artifact, build))?;
            Ok(code.data().to_vec())
        }
        made => made.map_err(|error| failure(&error)),
    }
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

/// Returns the output for a suffix that is the same for every target. Others are the target's.
fn by_ending(ending: &str) -> Option<Emit> {
    match ending {
        OBJECT => Some(Emit::Object),
        "chipdock" | "artifact" => Some(Emit::Artifact),
        "so" => Some(Emit::Library),
        "tar" => Some(Emit::Archive),
        _ => None,
    }
}

/// Returns the output for another suffix: the text, for none and for the ending of files with the
/// target's text, else the format of that word.
fn by_target(ending: &str, of_source: &str) -> Output {
    if ending.is_empty() || ending == of_source {
        return Output::Own(Emit::Source);
    }
    Output::Format(ending.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_extension_selects_the_output() {
        let format = |word: &str| Output::Format(word.to_owned());
        for (path, output) in [
            ("x.ll", format("ll")),
            ("x.S", format("s")),
            ("x.o", Output::Own(Emit::Object)),
            ("x.chipdock", Output::Own(Emit::Artifact)),
            ("x.artifact", Output::Own(Emit::Artifact)),
            ("x.so", Output::Own(Emit::Library)),
            ("x.tar", Output::Own(Emit::Archive)),
            ("x.c", format("c")),
            ("x.text", Output::Own(Emit::Source)),
            ("x", Output::Own(Emit::Source)),
        ] {
            let ending = ending(Some(Path::new(path)));
            let found = by_ending(&ending).map_or_else(|| by_target(&ending, "text"), Output::Own);
            assert_eq!(found, output, "{path}");
        }
    }
}
