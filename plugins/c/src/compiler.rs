//! The system's C compiler.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};
use std::process::Output;

use chipdock_plugin_api::files::cache::Key;
use chipdock_plugin_api::files::scratch::Scratch;
use chipdock_plugin_api::object_code::needs;
use chipdock_plugin_api::process::temporary_folder;
use chipdock_plugin_api::{Error, ErrorKind, HostRef, Setting};
use serde_json::Value;

use crate::cache::{Cache, Compiler};

/// The setting that names the compiler, with arguments of its own.
pub(crate) const COMPILER: Setting<String> = Setting::str(
    "compiler",
    "The C compiler and what it is told beside, in words; empty or not set, cc, gcc or clang on PATH.",
)
.variables(&["CC"]);

/// Maximum size in bytes of an object file, far more than compilers make of a kernel.
const OBJECT_BYTES_MAX: u64 = 1 << 30;

/// Options passed to the compiler besides the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) march: Option<String>,
    pub(crate) mcpu: Option<String>,
    pub(crate) opt_level: Option<i64>,
    pub(crate) is_fast_math: bool,
    /// Flags after all others; only tests have any.
    #[cfg(test)]
    pub(crate) further: Vec<String>,
}

impl Options {
    /// Reads `options` of an artifact's index.
    pub(crate) fn from_index(index: &Value) -> Self {
        let options = &index["options"];
        let text = |name: &str| options[name].as_str().map(str::to_owned);
        Self {
            march: text("march"),
            mcpu: text("mcpu"),
            opt_level: options["opt-level"].as_i64(),
            is_fast_math: options["fast-math"].as_bool().unwrap_or(false),
            #[cfg(test)]
            further: serde_json::from_value(options["further-flags"].clone()).unwrap_or_default(),
        }
    }

    fn flags(&self, form: OutputKind, with_native: bool) -> Vec<String> {
        let level = self.opt_level.unwrap_or(3).clamp(0, 3);
        let mut flags: Vec<String> = ["-std=gnu11", "-fPIC", "-fvisibility=hidden", "-w"]
            .into_iter()
            .chain(form.flags().iter().copied())
            // Choices that the IR leaves open: errno, traps, and whether a product and a sum are
            // rounded once or twice.
            .chain(["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"])
            .map(str::to_owned)
            .collect();
        flags.push(format!("-O{level}"));
        match &self.march {
            Some(march) => flags.push(format!("-march={march}")),
            None if with_native => flags.push("-march=native".to_owned()),
            None => {}
        }
        if cfg!(any(target_arch = "x86_64", target_arch = "x86")) && (self.march.is_some() || with_native) {
            // Vectors of the program have as many lanes as a register; half of them at a time would
            // pass through memory.
            flags.push("-mprefer-vector-width=512".to_owned());
        }
        if let Some(mcpu) = &self.mcpu {
            let tune =
                if cfg!(any(target_arch = "x86_64", target_arch = "x86")) { "-mtune" } else { "-mcpu" };
            flags.push(format!("{tune}={mcpu}"));
        }
        if self.is_fast_math {
            // Not -ffast-math: linked into a library, that changes the float mode of the whole
            // process. Nor -fassociative-math: the polynomials that the passes make of exp and its
            // like round by adding a big number.
            let fast = ["-fno-signed-zeros", "-freciprocal-math", "-ffinite-math-only"];
            flags.extend(fast.into_iter().map(str::to_owned));
        }
        #[cfg(test)]
        flags.extend(self.further.iter().cloned());
        flags
    }
}

/// What a source is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputKind {
    /// A library for this process.
    Library,
    /// An object file for linkers, whose bytes depend on the source, the options and the compiler
    /// alone (M.17).
    Object,
}

impl OutputKind {
    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Library => &["-shared"],
            // The setting may ask for objects that only the compiler's own linker reads.
            Self::Object => &["-c", "-fno-lto"],
        }
    }

    /// The names of source and output in their folder.
    fn names(self, folder: &Scratch) -> (String, String) {
        match self {
            // The name must be new: the dynamic linker takes a path that it knows for the library
            // already loaded from it.
            Self::Library => (folder.file_name("c"), folder.file_name("so")),
            // Compilers write the name of the source into the object.
            Self::Object => ("module.c".to_owned(), "module.o".to_owned()),
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Library => "a library",
            Self::Object => "an object file",
        }
    }
}

/// A compiled library; its folder is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) library: PathBuf,
    /// Whether it comes from the cache, so that no compiler ran (CLIB-O3).
    pub(crate) is_kept: bool,
    _folder: Scratch,
}

/// A program with its own arguments, and the origin of its name.
struct Candidate {
    words: Vec<String>,
}

impl Candidate {
    /// Returns the compiler as it is used for that form: for an object without words that mean the
    /// processor at hand.
    fn of_form(mut self, form: OutputKind) -> Self {
        if form == OutputKind::Object {
            let own = ["-march=native", "-mcpu=native", "-mtune=native"];
            self.words.retain(|word| !own.contains(&word.as_str()));
        }
        self
    }

    /// Returns true if the compiler is to compile for the machine that it runs on.
    fn takes_native(&self, form: OutputKind, options: &Options) -> bool {
        if form == OutputKind::Object {
            return false;
        }
        let is_own = |word: &String| word.starts_with("-march=") || word.starts_with("-mcpu=");
        options.march.is_none() && !self.words.iter().any(is_own)
    }
}

/// The compilers to try: only the one that the setting (`CC`) names, if it is set, otherwise the
/// usual names.
fn candidates(cc: Option<&str>) -> (Vec<Candidate>, String) {
    let words: Vec<String> = cc.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        let names = ["cc", "gcc", "clang"];
        let all = names.iter().map(|name| Candidate { words: vec![(*name).to_owned()] }).collect();
        return (all, format!("{} on PATH", names.join(", ")));
    }
    let tried = format!("{} (from the setting compiler or the variable CC)", words[0]);
    (vec![Candidate { words }], tried)
}

/// Compiles a source to a shared library in a temporary folder of its own, or takes the library
/// from `cache`.
///
/// # Errors
///
/// `Unavailable`: there is no compiler. `IoError`: the temporary folder cannot be written.
/// `ValueError`: the compiler does not know the processor that the target names; or the setting's
/// value cannot be used. `InternalError`: the compiler rejected the source. No file remains (M.8).
pub(crate) fn compile(
    host: HostRef,
    source: &str,
    options: &Options,
    cache: Option<&Cache>,
) -> Result<Compiled, Error> {
    let cc = host.setting(&COMPILER)?;
    compile_in(source, options, cc.as_deref(), &temporary_folder(), cache)
}

#[cfg(test)]
pub(crate) fn compile_with(
    source: &str,
    options: &Options,
    cc: Option<&str>,
    parent: &Path,
) -> Result<Compiled, Error> {
    compile_in(source, options, cc, parent, None)
}

pub(crate) fn compile_in(
    source: &str,
    options: &Options,
    cc: Option<&str>,
    parent: &Path,
    cache: Option<&Cache>,
) -> Result<Compiled, Error> {
    let source = format!("{source}{}", needs::c_text("default"));
    let Made { folder, name, candidate, is_kept } =
        make(OutputKind::Library, &source, options, cc, parent, cache)?;
    let library = folder.library(&name);
    let library = library.map_err(|error| not_usable(OutputKind::Library, &candidate, &error))?;
    Ok(Compiled { library, is_kept, _folder: folder })
}

/// Compiles a source to an object file, or takes it from `cache`.
///
/// # Errors
///
/// As [`compile`].
pub(crate) fn object(
    host: HostRef,
    source: &str,
    options: &Options,
    cache: Option<&Cache>,
) -> Result<Vec<u8>, Error> {
    let cc = host.setting(&COMPILER)?;
    object_in(source, options, cc.as_deref(), &temporary_folder(), cache)
}

pub(crate) fn object_in(
    source: &str,
    options: &Options,
    cc: Option<&str>,
    parent: &Path,
    cache: Option<&Cache>,
) -> Result<Vec<u8>, Error> {
    let source = format!("{source}{}", needs::c_text("hidden"));
    let Made { folder, name, candidate, .. } = make(OutputKind::Object, &source, options, cc, parent, cache)?;
    let object = folder.read(&name, OBJECT_BYTES_MAX);
    object.map_err(|error| not_usable(OutputKind::Object, &candidate, &error))
}

/// Output of a compiler in its folder.
struct Made {
    folder: Scratch,
    name: String,
    candidate: Candidate,
    is_kept: bool,
}

fn make(
    form: OutputKind,
    source: &str,
    options: &Options,
    cc: Option<&str>,
    parent: &Path,
    cache: Option<&Cache>,
) -> Result<Made, Error> {
    let unwritable = |error: &std::io::Error| unwritable(parent, error);
    let folder = Scratch::within(parent, "c").map_err(|error| unwritable(&error))?;
    let (source_name, name) = form.names(&folder);
    let job = Job { form, folder: &folder, source: &source_name, output: &name };
    let (candidates, tried) = candidates(cc);
    let mut is_written = false;
    for candidate in candidates {
        let candidate = candidate.of_form(form);
        let place = cache.and_then(|cache| CacheSlot::find(cache, &candidate, source, options, &job));
        let kept = place.as_ref().and_then(|place| place.cache.read(&place.key));
        if let Some(bytes) = kept {
            folder.write(&name, &bytes).map_err(|error| unwritable(&error))?;
            return Ok(Made { folder, name, candidate, is_kept: true });
        }
        if !is_written {
            folder.write(&source_name, source.as_bytes()).map_err(|error| unwritable(&error))?;
            is_written = true;
        }
        match run(&candidate, options, &job)? {
            None => {}
            Some(output) if output.status.success() => {
                if let Some(CacheSlot { cache, compiler, key }) = &place {
                    compiler.keep(cache, key, &folder, &name);
                }
                return Ok(Made { folder, name, candidate, is_kept: false });
            }
            Some(output) => {
                return Err(unknown_processor(&candidate, &output, options)
                    .unwrap_or_else(|| refused(&candidate, &output)));
            }
        }
    }
    let purpose = match form {
        OutputKind::Library => "load a module of target c",
        OutputKind::Object => "make an object file of a module of target c",
    };
    let message = format!(
        "expected a C compiler to {purpose}, found none: tried {tried}; install one (for instance the package gcc or \
         clang) or let CC name it"
    );
    Err(Error::new(ErrorKind::UNAVAILABLE, message))
}

/// The entry of a library in the cache (CLIB-O1).
struct CacheSlot<'a> {
    cache: &'a Cache,
    compiler: Compiler,
    key: Key,
}

impl<'a> CacheSlot<'a> {
    fn find(
        cache: &'a Cache,
        candidate: &Candidate,
        source: &str,
        options: &Options,
        job: &Job<'_>,
    ) -> Option<Self> {
        let compiler = Compiler::find(&candidate.words)?;
        let flags = options.flags(job.form, candidate.takes_native(job.form, options));
        let key = compiler.key(cache, &flags, source, job.folder)?;
        Some(Self { cache, compiler, key })
    }
}

/// What is made, and the names of the files in their folder.
struct Job<'a> {
    form: OutputKind,
    folder: &'a Scratch,
    source: &'a str,
    output: &'a str,
}

/// Runs a compiler; `None` if there is no such program.
fn run(candidate: &Candidate, options: &Options, job: &Job<'_>) -> Result<Option<Output>, Error> {
    let with_native = candidate.takes_native(job.form, options);
    let first = spawn(candidate, &options.flags(job.form, with_native), job)?;
    // A compiler that does not know its own machine can still compile for the machines of its kind.
    match first {
        Some(output) if !output.status.success() && with_native => {
            let second = spawn(candidate, &options.flags(job.form, false), job)?;
            Ok(Some(second.filter(|second| second.status.success()).unwrap_or(output)))
        }
        other => Ok(other),
    }
}

fn spawn(candidate: &Candidate, flags: &[String], job: &Job<'_>) -> Result<Option<Output>, Error> {
    let words = || candidate.words[1..].iter().chain(flags);
    let mut arguments: Vec<OsString> = words().map(OsString::from).collect();
    arguments.extend(["-o", job.output, job.source].map(OsString::from));
    match job.form {
        OutputKind::Library => arguments.extend(["-lm", "-ldl"].map(OsString::from)),
        // Debug information has the folder, whose name is random.
        OutputKind::Object if words().any(|word| word.starts_with("-g")) => {
            let folder = job.folder.path();
            let mut map = OsString::from("-ffile-prefix-map=");
            map.push(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
            map.push("=.");
            arguments.push(map);
        }
        OutputKind::Object => {}
    }
    match job.folder.run(OsStr::new(&candidate.words[0]), &arguments) {
        Ok(output) => Ok(Some(output)),
        Err(error) if error.kind() == IoKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("the C compiler {} could not be run: {error}", candidate.words[0]);
            Err(Error::new(ErrorKind::UNAVAILABLE, message))
        }
    }
}

fn unwritable(folder: &Path, error: &std::io::Error) -> Error {
    let message = format!(
        "expected to write a source file for the C compiler in {}, found: {error}; let TMPDIR name a folder that can be \
         written",
        folder.display()
    );
    Error::new(ErrorKind::IO, message)
}

/// The error for a compiler that succeeded without writing a usable output.
fn not_usable(form: OutputKind, candidate: &Candidate, error: &std::io::Error) -> Error {
    let message = format!(
        "expected {} of the C compiler `{}` that nobody else may write, found: {error}",
        form.noun(),
        candidate.words.join(" ")
    );
    Error::new(ErrorKind::IO, message)
}

/// The error for a processor name of the target that the compiler does not know; `None` for other
/// failures.
fn unknown_processor(candidate: &Candidate, output: &Output, options: &Options) -> Option<Error> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    for (option, name) in [("march", &options.march), ("mcpu", &options.mcpu)] {
        let Some(name) = name else { continue };
        let says = |line: &&str| {
            line.contains(name.as_str())
                && ["-march", "-mtune", "-mcpu", "target CPU"].iter().any(|word| line.contains(word))
        };
        if let Some(line) = stderr.lines().find(says) {
            let message = format!(
                "target c: option '{option}': the C compiler `{}` does not know \"{name}\" ({}); name another, or let \
                 CC name a newer compiler",
                candidate.words.join(" "),
                line.trim()
            );
            return Some(Error::new(ErrorKind::VALUE_ERROR, message));
        }
    }
    None
}

/// The error for a source that the compiler rejected: the first lines of its output, and how to see
/// the source.
fn refused(candidate: &Candidate, output: &Output) -> Error {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    let message = format!(
        "the C compiler `{}` refused what target c wrote ({}): {}. This is a bug of chipdock, unless CC names a compiler \
         that has no GNU vector types; `chipdock build --emit source` shows the source",
        candidate.words.join(" "),
        output.status,
        lines.join("; ")
    );
    Error::new(ErrorKind::INTERNAL, message)
}
