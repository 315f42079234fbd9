//! Compilation of CUDA C to PTX or a cubin: by NVRTC in this process, or by the program nvcc.
//!
//! The option `compiler` selects one; `auto` is NVRTC if it is found, otherwise nvcc. Neither
//! queries a device. Nothing is opened or run before the first target is created.

pub(crate) mod nvcc;
pub(crate) mod nvrtc;

use std::ffi::OsString;

use chipdock_ir::Target;
use chipdock_plugin_api::hooks::Hook;
use chipdock_plugin_api::{Error, ErrorKind, HostRef};

/// The compiler that a target selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// NVRTC if it is found, otherwise nvcc.
    Auto,
    Nvrtc,
    Nvcc,
    None,
}

impl Choice {
    /// Reads the choice of a target.
    ///
    /// # Errors
    ///
    /// `ValueError`: an unknown word.
    pub(crate) fn from_target(target: &Target) -> Result<Self, Error> {
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

/// Output format of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for an architecture and all newer ones.
    Ptx,
    /// Machine code for one architecture.
    Cubin,
}

impl Format {
    /// The name of the format in an artifact's index.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Cubin => "cubin",
        }
    }
}

/// A source, and the requested output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) source: &'a str,
    /// Name of the architecture, such as `sm_90a`.
    pub(crate) arch: &'a str,
    pub(crate) format: Format,
    pub(crate) is_fast_math: bool,
    pub(crate) has_line_info: bool,
}

impl Job<'_> {
    /// The architecture option of the compilers: PTX is for a virtual architecture.
    fn architecture(&self) -> String {
        match (self.format, self.arch.strip_prefix("sm_")) {
            (Format::Ptx, Some(number)) => format!("compute_{number}"),
            _ => self.arch.to_owned(),
        }
    }

    /// Options that both compilers support.
    fn options(&self) -> Vec<String> {
        let mut options =
            vec![format!("--gpu-architecture={}", self.architecture()), "--std=c++17".to_owned()];
        if self.is_fast_math {
            options.push("--use_fast_math".to_owned());
        } else {
            // The defaults, made explicit: subnormals are kept, quotients and roots are rounded to
            // nearest, products may be fused with sums (rule IR-N10).
            let exact = ["--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--fmad=true"];
            options.extend(exact.into_iter().map(str::to_owned));
        }
        if self.has_line_info {
            options.push("--generate-line-info".to_owned());
        }
        options
    }
}

/// Output of a compiler.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) code: Vec<u8>,
    pub(crate) format: Format,
    /// Name and version of the compiler.
    pub(crate) compiler: String,
}

/// The architectures that a compiler supports.
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

/// A host's settings for compilers.
#[derive(Default)]
pub(crate) struct Settings {
    nvrtc: Option<OsString>,
    wheels: Option<OsString>,
    nvcc: Option<OsString>,
}

impl Settings {
    /// Reads the settings of a host.
    ///
    /// # Errors
    ///
    /// The host's error for a setting.
    pub(crate) fn read(host: HostRef) -> Result<Self, Error> {
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

/// Identifies the compiler that would be used: "none" without one, `None` if it cannot be
/// identified.
///
/// nvcc cannot be: it runs the system's preprocessor, and reads options from the environment. No
/// program is run.
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
/// * `Unavailable`: the selected compiler is not available, with the names that were tried and the
///   package to install.
/// * `ValueError`: the compiler does not know the architecture.
/// * `InternalError`: the compiler rejected the source; the message has its log.
pub(crate) fn compile(
    settings: &Settings,
    job: &Job<'_>,
    choice: Choice,
    step: &dyn Fn(&str),
) -> Result<Compiled, Error> {
    let arch = job.architecture();
    match find(settings, choice)? {
        Found::Nvrtc(nvrtc) => {
            step(&format!("NVRTC for {arch}"));
            nvrtc.compile(job)
        }
        Found::Nvcc(nvcc) => {
            step(&format!("nvcc for {arch}"));
            nvcc.compile(job)
        }
    }
}

/// The architectures that the compiler that would be used reports; `None` without a compiler.
pub(crate) fn architectures(settings: &Settings, choice: Choice) -> Option<Architectures> {
    match find(settings, choice).ok()? {
        Found::Nvrtc(nvrtc) => nvrtc.architectures(),
        Found::Nvcc(nvcc) => nvcc.architectures(),
    }
}

/// The error for a source that the compiler rejected: its first errors, and how to see the source.
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
        Hook::Postprocess.function(crate::codegen::KIND),
    );
    Error::new(ErrorKind::INTERNAL, message)
}

/// Names of the architectures with these numbers, including, from sm_90 on, the variants for only
/// that architecture, or its family.
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
