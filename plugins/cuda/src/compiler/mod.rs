//! From CUDA C to PTX or a cubin: NVRTC within the process, or the program nvcc.
//!
//! Which one: the option `compiler` says; `auto` is NVRTC where it is found, else nvcc. Neither asks a device. Nothing is
//! opened or run before the first target is made.

pub(crate) mod nvcc;
pub(crate) mod nvrtc;

use std::ffi::OsString;

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, HostRef};

/// Which compiler a target wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// NVRTC where it is found, else nvcc.
    Auto,
    Nvrtc,
    Nvcc,
    None,
}

impl Choice {
    /// What a target says.
    ///
    /// # Errors
    ///
    /// `ValueError`: a word that is none of them.
    pub(crate) fn of(target: &Target) -> Result<Self, Error> {
        match target.str("compiler") {
            None | Some("auto") => Ok(Self::Auto),
            Some("nvrtc") => Ok(Self::Nvrtc),
            Some("nvcc") => Ok(Self::Nvcc),
            Some("none") => Ok(Self::None),
            Some(other) => Err(Error::new(
                ErrorKind::VALUE_ERROR,
                format!(
                    "target cuda: option 'compiler': expected auto, nvrtc, nvcc or none, found \"{other}\""
                ),
            )),
        }
    }
}

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for an architecture and newer ones.
    Ptx,
    /// Machine code for one architecture.
    Cubin,
}

impl Format {
    /// As an artifact's index has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Cubin => "cubin",
        }
    }
}

/// A source and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) source: &'a str,
    /// `sm_90a`.
    pub(crate) arch: &'a str,
    pub(crate) format: Format,
    pub(crate) is_fast_math: bool,
    pub(crate) has_line_info: bool,
}

impl Job<'_> {
    /// The architecture as the compilers are told it: PTX is for a virtual one.
    fn architecture(&self) -> String {
        match (self.format, self.arch.strip_prefix("sm_")) {
            (Format::Ptx, Some(number)) => format!("compute_{number}"),
            _ => self.arch.to_owned(),
        }
    }

    /// Options that both compilers understand.
    fn options(&self) -> Vec<String> {
        let mut options =
            vec![format!("--gpu-architecture={}", self.architecture()), "--std=c++17".to_owned()];
        if self.is_fast_math {
            options.push("--use_fast_math".to_owned());
        } else {
            // The defaults, said: subnormals stay, quotients and roots are rounded to nearest, products may be fused with
            // sums (rule IR-N10).
            let exact = ["--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--fmad=true"];
            options.extend(exact.into_iter().map(str::to_owned));
        }
        if self.has_line_info {
            options.push("--generate-line-info".to_owned());
        }
        options
    }
}

/// What a compiler made.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) code: Vec<u8>,
    pub(crate) format: Format,
    /// Which compiler, and its version.
    pub(crate) compiler: String,
}

/// The architectures that a compiler knows.
#[derive(Clone, Debug)]
pub(crate) struct Architectures {
    pub(crate) compiler: String,
    pub(crate) names: Vec<String>,
}

/// A compiler that was found.
enum Found {
    Nvrtc(&'static nvrtc::Nvrtc),
    Nvcc(nvcc::Nvcc),
}

/// What a host's settings say about compilers.
#[derive(Default)]
pub(crate) struct Settings {
    nvrtc: Option<OsString>,
    wheels: Option<OsString>,
    nvcc: Option<OsString>,
}

impl Settings {
    /// Those of a host.
    ///
    /// # Errors
    ///
    /// What the host says of one.
    pub(crate) fn of(host: HostRef) -> Result<Self, Error> {
        Ok(Self {
            nvrtc: nvrtc::named(host, &nvrtc::LIBRARY)?,
            wheels: nvrtc::named(host, &nvrtc::WHEELS)?,
            nvcc: nvrtc::named(host, &nvcc::PROGRAM)?,
        })
    }
}

fn find(settings: &Settings, choice: Choice) -> Result<Found, Error> {
    let nvrtc = || nvrtc::library(settings).map(Found::Nvrtc);
    let nvcc = || nvcc::find(settings).map(Found::Nvcc);
    let missing = |why: String| Error::new(ErrorKind::UNAVAILABLE, why);
    match choice {
        Choice::Nvrtc => nvrtc().map_err(missing),
        Choice::Nvcc => nvcc().map_err(missing),
        Choice::Auto => nvrtc().or_else(|first| {
            nvcc().map_err(|second| missing(format!("{first} Nor was nvcc found: {second}")))
        }),
        Choice::None => Err(missing("option 'compiler' of target cuda is \"none\"".to_owned())),
    }
}

/// What tells the compiler that would be taken from others: "none" without one, nothing where that is not known.
///
/// Of nvcc it is not: it runs the system's preprocessor, and reads options from the environment. No program is run to ask.
pub(crate) fn fingerprint(settings: &Settings, choice: Choice) -> Option<String> {
    if matches!(choice, Choice::Auto | Choice::Nvrtc)
        && let Ok(nvrtc) = nvrtc::library(settings)
    {
        return nvrtc.fingerprint();
    }
    let takes_nvcc = matches!(choice, Choice::Auto | Choice::Nvcc);
    (!takes_nvcc || !nvcc::may_be_found(settings)).then(|| "none".to_owned())
}

/// Compiles a source.
///
/// # Errors
///
/// * `Unavailable`: the compiler that is wanted is not there, with what was tried and the package that has it.
/// * `ValueError`: it does not know the architecture.
/// * `InternalError`: it refused the source; the message has its log.
pub(crate) fn compile(settings: &Settings, job: &Job<'_>, choice: Choice) -> Result<Compiled, Error> {
    match find(settings, choice)? {
        Found::Nvrtc(nvrtc) => nvrtc.compile(job),
        Found::Nvcc(nvcc) => nvcc.compile(job),
    }
}

/// What the compiler that would be taken says it knows; nothing without one.
pub(crate) fn architectures(settings: &Settings, choice: Choice) -> Option<Architectures> {
    match find(settings, choice).ok()? {
        Found::Nvrtc(nvrtc) => nvrtc.architectures(),
        Found::Nvcc(nvcc) => nvcc.architectures(),
    }
}

/// The compiler said no: its first errors, and how to see the source.
fn refused(compiler: &str, job: &Job<'_>, log: &str) -> Error {
    let is_error = |line: &&str| line.contains("error");
    let mut lines: Vec<&str> = log.lines().filter(is_error).take(6).collect();
    if lines.is_empty() {
        lines = log.lines().filter(|line| !line.trim().is_empty()).take(6).collect();
    }
    let message = format!(
        "{compiler} refused what target cuda wrote for {}: {}. This is a bug of chipdock, unless a function {} changed the \
         source; `chipdock build --emit source` shows it",
        job.architecture(),
        lines.join("; "),
        crate::postprocess::FUNCTION,
    );
    Error::new(ErrorKind::INTERNAL, message)
}

/// The names of architectures of those numbers: each, and from sm_90 on the variants that only that one, or its family, has.
fn variants(numbers: impl Iterator<Item = u32>) -> Vec<String> {
    let all = numbers.flat_map(|number| {
        let suffixes: &[&str] = match number {
            0..90 => &[""],
            90..100 => &["", "a"],
            _ => &["", "a", "f"],
        };
        suffixes.iter().map(move |suffix| format!("sm_{number}{suffix}"))
    });
    all.collect()
}
