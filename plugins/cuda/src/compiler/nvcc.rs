//! The program nvcc of a CUDA toolkit.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use chipdock_plugin_api::files::scratch::Scratch;
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::{Error, ErrorKind, Setting, process};

use super::{Architectures, Compiled, Format, Job, Settings, refused};

/// Maximum size in bytes of a program for a GPU.
const CODE_BYTES_MAX: u64 = 1 << 30;
/// The environment variable of the setting `nvcc`.
pub(crate) const VARIABLE: &str = "CHIPDOCK_NVCC";
/// The setting that names the program, the only one that is then tried.
pub(crate) const PROGRAM: Setting<PathBuf> = Setting::path(
    "nvcc",
    "The nvcc to compile with, the only one that is tried; empty or not set, the usual places are.",
)
.variables(&[VARIABLE]);
/// Names to try: on PATH, then the usual locations of a toolkit that is not on PATH.
const NAMES: &[&str] = &["nvcc", "/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"];

/// An nvcc that runs.
#[derive(Clone, Debug)]
pub(crate) struct Nvcc {
    program: OsString,
    /// The line of its output with the version.
    version: String,
}

/// The program that these settings select: the first one that runs, and the same from then on.
///
/// # Errors
///
/// There is none: each name that was tried and the reason for its rejection.
pub(super) fn find(settings: &Settings) -> Result<Nvcc, String> {
    static FOUND: PerProcess<Mutex<BTreeMap<Option<OsString>, Nvcc>>> = PerProcess::new(carried);
    let mut found = lock(FOUND.of_this());
    if let Some(known) = found.get(&settings.nvcc) {
        return Ok(known.clone());
    }
    let nvcc = search(settings.nvcc.clone())?;
    found.insert(settings.nvcc.clone(), nvcc.clone());
    Ok(nvcc)
}

fn names(named: Option<OsString>) -> Vec<OsString> {
    match named {
        Some(name) => vec![name],
        None => NAMES.iter().map(OsString::from).collect(),
    }
}

/// Returns true if a file exists that [`find`] would try to run; nothing is run.
pub(super) fn may_be_found(settings: &Settings) -> bool {
    let path = process::variable("PATH").filter(|path| !path.is_empty());
    let path = path.unwrap_or_else(|| process::SYSTEM_FOLDERS.join(":").into());
    names(settings.nvcc.clone()).iter().any(|name| {
        // A name with a folder is not joined to another folder.
        let is_path = Path::new(name).components().count() > 1;
        let in_path = || std::env::split_paths(&path).any(|folder| folder.join(name).exists());
        if is_path { Path::new(name).exists() } else { in_path() }
    })
}

pub(crate) fn search(named: Option<OsString>) -> Result<Nvcc, String> {
    let names = names(named);
    let mut tried = Vec::new();
    for program in names {
        let shown = program.to_string_lossy().into_owned();
        let mut command = Command::new(&program);
        command.arg("--version");
        match run(&mut command) {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let version =
                    text.lines().find(|line| line.contains("release")).unwrap_or("nvcc").trim().to_owned();
                return Ok(Nvcc { program, version });
            }
            Ok(output) => tried.push(format!("{shown}: {}", output.status)),
            Err(error) => tried.push(format!("{shown}: {error}")),
        }
    }
    Err(format!(
        "tried {}; install CUDA's toolkit, or let {VARIABLE} or the setting `nvcc` name the program",
        tried.join("; ")
    ))
}

fn run(command: &mut Command) -> std::io::Result<Output> {
    process::believe_nothing(command);
    command.env("LC_ALL", "C").stdin(Stdio::null()).output()
}

impl Nvcc {
    /// The architectures that it supports, by its own list.
    pub(crate) fn architectures(&self) -> Option<Architectures> {
        let output = run(Command::new(&self.program).arg("--list-gpu-code")).ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names: Vec<String> =
            text.split_whitespace().filter(|name| name.starts_with("sm_")).map(str::to_owned).collect();
        // An nvcc that is too old for the option reports none.
        (output.status.success() && !names.is_empty())
            .then(|| Architectures { compiler: self.version.clone(), names })
    }

    /// Compiles a source in a folder of its own, which is removed afterwards.
    ///
    /// # Errors
    ///
    /// Any error of [`super::compile`], and `IoError`: no such folder can be written.
    pub(crate) fn compile(&self, job: &Job<'_>) -> Result<Compiled, Error> {
        let io = |what: &Path, error: std::io::Error| {
            Error::new(
                ErrorKind::IO,
                format!("{}: {error}; let TMPDIR name a folder that can be written", what.display()),
            )
        };
        let folder = Scratch::new("cuda").map_err(|error| io(&process::temporary_folder(), error))?;
        let (source, code) = ("kernels.cu", "kernels.out");
        let in_folder = |name: &str| folder.path().join(name);
        folder.write(source, job.source.as_bytes()).map_err(|error| io(&in_folder(source), error))?;
        let format = match job.format {
            Format::Ptx => "--ptx",
            Format::Cubin => "--cubin",
        };
        let mut arguments = vec![format.to_owned()];
        arguments.extend(job.options());
        arguments.extend(["--x", "cu", "--output-file", code, source].map(str::to_owned));
        let output =
            folder.run(&self.program, &arguments).map_err(|error| io(Path::new(&self.program), error))?;
        if !output.status.success() {
            let mut log = String::from_utf8_lossy(&output.stderr).into_owned();
            log.push_str(&String::from_utf8_lossy(&output.stdout));
            return Err(refused(&self.version, job, &log));
        }
        let code = folder.read(code, CODE_BYTES_MAX).map_err(|error| io(&in_folder(code), error))?;
        Ok(Compiled { code, format: job.format, compiler: self.version.clone() })
    }
}
