//! NVRTC, NVIDIA's compiler as a library, opened at run time and never closed.
//!
//! It does not use cudarc's functions, which choose the library themselves and panic if it is
//! missing.

use core::ffi::{c_char, c_int, c_void};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::{Error, ErrorKind, HostRef, Setting, process};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use super::{Architectures, Compiled, Format, Job, Settings, refused, variants};

/// The environment variable of the setting `nvrtc`.
pub(crate) const VARIABLE: &str = "CHIPDOCK_NVRTC";
/// The setting that names a library file, the only one that is then tried.
pub(crate) const LIBRARY: Setting<PathBuf> = Setting::path(
    "nvrtc",
    "The NVRTC to compile with, the only one that is tried; empty or not set, the usual names are.",
)
.variables(&[VARIABLE]);
/// The setting that names a folder into which NVIDIA's wheels from PyPI were unpacked; tried first.
pub(crate) const WHEELS: Setting<PathBuf> = Setting::path(
    "wheels",
    "The folder into which NVIDIA's wheels were unpacked, where NVRTC is looked for first.",
)
.variables(&["CHIPDOCK_CUDA_WHEELS"]);
/// Paths of the library in a wheel.
const IN_WHEEL: &[&str] = &["nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"];
/// SONAMEs, newest first, the link of a toolkit, and the location of a toolkit that the dynamic
/// linker does not know.
const NAMES: &[&str] = &[
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
];
/// The packages with the library, for messages.
const PACKAGE: &str = "the package libnvrtc of CUDA, on Debian libnvrtc11.2, or from PyPI nvidia-cuda-nvrtc";

/// The value of a setting, unless it is empty.
///
/// # Errors
///
/// The host's error for the setting.
pub(super) fn named(host: HostRef, setting: &Setting<PathBuf>) -> Result<Option<OsString>, Error> {
    let value = host.setting(setting)?.map(PathBuf::into_os_string);
    Ok(value.filter(|value| !value.is_empty()))
}

type Program = *mut c_void;

macro_rules! functions {
    ($($field:ident = $symbol:literal($($arg:ty),*);)*) => {
        /// The functions in use, as NVRTC's header declares them; each returns 0 for success.
        struct Functions { $($field: unsafe extern "C" fn($($arg),*) -> c_int,)* }

        impl Functions {
            /// # Safety
            ///
            /// * The library is an NVRTC, 11.2 or newer.
            unsafe fn load(library: &Library) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: the caller guarantees that the library is an NVRTC of that version.
                    $($field: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }
                        .map_err(|_| format!("it is no NVRTC since 11.2: it lacks {}", $symbol))?,)*
                })
            }
        }
    };
}

functions! {
    version = "nvrtcVersion"(*mut c_int, *mut c_int);
    archs_count = "nvrtcGetNumSupportedArchs"(*mut c_int);
    archs = "nvrtcGetSupportedArchs"(*mut c_int);
    create = "nvrtcCreateProgram"(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    destroy = "nvrtcDestroyProgram"(*mut Program);
    compile = "nvrtcCompileProgram"(Program, c_int, *const *const c_char);
    ptx_size = "nvrtcGetPTXSize"(Program, *mut usize);
    ptx = "nvrtcGetPTX"(Program, *mut c_char);
    cubin_size = "nvrtcGetCUBINSize"(Program, *mut usize);
    cubin = "nvrtcGetCUBIN"(Program, *mut c_char);
    log_size = "nvrtcGetProgramLogSize"(Program, *mut usize);
    log = "nvrtcGetProgramLog"(Program, *mut c_char);
}

/// `NVRTC_ERROR_INVALID_OPTION` and `NVRTC_ERROR_COMPILATION`.
const INVALID_OPTION: c_int = 5;
const COMPILATION: c_int = 6;

/// An open NVRTC.
pub(crate) struct Nvrtc {
    functions: Functions,
    version: [c_int; 2],
    name: String,
    /// Identifies its file, as of the time when it was opened.
    file: Option<String>,
    library: Library,
}

/// The library that these settings select: opened by the first call that finds it, and the same
/// from then on.
///
/// # Errors
///
/// There is none: each name that was tried and the reason for its rejection. The next call looks
/// again.
pub(super) fn library(settings: &Settings) -> Result<&'static Nvrtc, String> {
    type Names = [Option<OsString>; 2];
    static LIBRARIES: PerProcess<Mutex<BTreeMap<Names, &'static Nvrtc>>> = PerProcess::new(carried);
    let names = [settings.nvrtc.clone(), settings.wheels.clone()];
    let mut libraries = lock(LIBRARIES.of_this());
    if let Some(nvrtc) = libraries.get(&names) {
        return Ok(nvrtc);
    }
    let [named, wheels] = names.clone();
    let nvrtc: &'static Nvrtc = Box::leak(Box::new(search(named, wheels)?));
    libraries.insert(names, nvrtc);
    Ok(nvrtc)
}

pub(crate) fn search(named: Option<OsString>, wheels: Option<OsString>) -> Result<Nvrtc, String> {
    let is_named = named.is_some();
    let names: Vec<OsString> = match named {
        Some(name) => vec![name],
        None => {
            let in_wheels = wheels.iter().flat_map(|folder| {
                IN_WHEEL.iter().map(move |name| Path::new(folder).join(name).into_os_string())
            });
            in_wheels.chain(NAMES.iter().map(OsString::from)).collect()
        }
    };
    let mut tried = Vec::new();
    for name in &names {
        match open(name) {
            Ok(nvrtc) => return Ok(nvrtc),
            Err(why) => tried.push(format!("{}: {why}", name.to_string_lossy())),
        }
    }
    let what_to_do = if is_named {
        format!(
            "{VARIABLE} or another source of the setting `nvrtc` names the only file that is tried: let it name an NVRTC, \
             or unset it and install {PACKAGE}."
        )
    } else {
        format!("install {PACKAGE}, or let {VARIABLE} name the file.")
    };
    Err(format!("NVRTC was not found to compile CUDA C with. Tried {}; {what_to_do}", tried.join("; ")))
}

fn open(name: &OsString) -> Result<Nvrtc, String> {
    let load = |name: &OsString, scope| {
        // SAFETY: NVRTC's constructors only fill its own tables; it is never closed.
        unsafe { Library::open(Some(name), RTLD_NOW | scope) }
            .map_err(|error| std::error::Error::source(&error).unwrap_or(&error).to_string())
    };
    // Some of the wheels do not look for their builtins in their own folder, but find builtins that
    // are already open.
    for builtins in builtins(Path::new(name)) {
        let library = load(&builtins.into_os_string(), RTLD_GLOBAL)?;
        core::mem::forget(library);
    }
    let library = load(name, RTLD_LOCAL)?;
    // SAFETY: no other library has functions of these names.
    let functions = match unsafe { Functions::load(&library) } {
        Ok(functions) => functions,
        Err(why) => {
            core::mem::forget(library);
            return Err(why);
        }
    };
    let [mut major, mut minor] = [0; 2];
    // SAFETY: two valid places to write to.
    unsafe { (functions.version)(&mut major, &mut minor) };
    let (name, file) =
        (name.to_string_lossy().into_owned(), process::library_of(functions.version as *const c_void));
    Ok(Nvrtc { functions, version: [major, minor], name, file, library })
}

/// The builtins in the folder of a library.
fn builtins(library: &Path) -> Vec<PathBuf> {
    let Some(folder) = library.parent().filter(|folder| folder.is_absolute()) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let is_builtins = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libnvrtc-builtins.so.")
    };
    found.retain(is_builtins);
    found.sort();
    // Of several versions and links, the library's own builtins have the longest name.
    found.into_iter().next_back().into_iter().collect()
}

impl core::fmt::Display for Nvrtc {
    /// Identifies the library in messages.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "NVRTC {}.{} ({})", self.version[0], self.version[1], self.name)
    }
}

/// A program that is destroyed when this is dropped.
struct Owned<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: created by this NVRTC, destroyed once.
        unsafe { (self.nvrtc.functions.destroy)(&mut self.raw) };
    }
}

impl Owned<'_> {
    /// Reads bytes with two functions: one reports their number, the other writes them.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        write: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, c_int> {
        let mut count = 0;
        // SAFETY: a live program and a valid place to write to.
        match unsafe { size(self.raw, &mut count) } {
            0 => {}
            status => return Err(status),
        }
        let mut bytes = vec![0_u8; count];
        // SAFETY: a live program, and a buffer of the reported size.
        match unsafe { write(self.raw, bytes.as_mut_ptr().cast()) } {
            0 => Ok(bytes),
            status => Err(status),
        }
    }

    fn log(&self) -> String {
        let functions = &self.nvrtc.functions;
        let log = self.bytes(functions.log_size, functions.log).unwrap_or_default();
        String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned()
    }
}

impl Nvrtc {
    /// Identifies the library, including its patch release; its builtins are of the same package.
    /// `None` if its file is not known.
    pub(super) fn fingerprint(&self) -> Option<String> {
        self.file.as_deref().map(|file| format!("{self}; {file}"))
    }

    /// The architectures that it supports, by its own list.
    pub(crate) fn architectures(&self) -> Option<Architectures> {
        let mut count = 0;
        // SAFETY: a valid place to write to.
        let status = unsafe { (self.functions.archs_count)(&mut count) };
        let mut numbers = vec![0 as c_int; usize::try_from(count).ok().filter(|_| status == 0)?];
        // SAFETY: a buffer of the reported size.
        let status = unsafe { (self.functions.archs)(numbers.as_mut_ptr()) };
        let numbers = numbers.into_iter().filter_map(|number| u32::try_from(number).ok());
        (status == 0).then(|| Architectures { compiler: self.to_string(), names: variants(numbers) })
    }

    /// Compiles a source in this process.
    ///
    /// # Errors
    ///
    /// Any error of [`super::compile`].
    pub(crate) fn compile(&self, job: &Job<'_>) -> Result<Compiled, Error> {
        let no_nul = |text: &str, what: &str| {
            CString::new(text).map_err(|_| {
                Error::new(
                    ErrorKind::VALUE_ERROR,
                    format!("target cuda: {what}: expected no NUL character, found one"),
                )
            })
        };
        let source = no_nul(job.source, "the source")?;
        let options: Result<Vec<CString>, Error> =
            job.options().iter().map(|option| no_nul(option, "an option of the compiler")).collect();
        let options = options?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut raw = core::ptr::null_mut();
        let (none, name) = (core::ptr::null(), c"kernels.cu".as_ptr());
        // SAFETY: a valid place to write to and NUL-terminated texts; no headers.
        let status = unsafe { (self.functions.create)(&mut raw, source.as_ptr(), name, 0, none, none) };
        if status != 0 {
            return Err(self.failed("nvrtcCreateProgram", status));
        }
        let program = Owned { nvrtc: self, raw };
        // SAFETY: a live program, and an array of that many texts.
        let status = unsafe { (self.functions.compile)(raw, pointers.len() as c_int, pointers.as_ptr()) };
        match status {
            0 => {}
            COMPILATION => return Err(refused(&self.to_string(), job, &program.log())),
            INVALID_OPTION => return Err(self.unknown_architecture(job, &program.log())),
            status => return Err(self.failed("nvrtcCompileProgram", status)),
        }
        let functions = &self.functions;
        let code = match job.format {
            Format::Ptx => program.bytes(functions.ptx_size, functions.ptx).map(|mut text| {
                while text.last() == Some(&0) {
                    text.pop();
                }
                text
            }),
            Format::Cubin => program.bytes(functions.cubin_size, functions.cubin),
        };
        let code = code.map_err(|status| self.failed("what NVRTC made", status))?;
        let compiler = format!("NVRTC {}.{}", self.version[0], self.version[1]);
        Ok(Compiled { code, format: job.format, compiler })
    }

    fn unknown_architecture(&self, job: &Job<'_>, log: &str) -> Error {
        let known = self.architectures().map_or(String::new(), |known| known.names.join(", "));
        let said = log.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gives no reason");
        Error::new(
            ErrorKind::VALUE_ERROR,
            format!(
                "target cuda: {self} does not take option 'arch' as \"{}\": {said}; it knows {known}",
                job.arch
            ),
        )
    }

    /// The error for a failure that the source did not cause: out of memory, missing builtins.
    fn failed(&self, what: &str, status: c_int) -> Error {
        type Explain = unsafe extern "C" fn(c_int) -> *const c_char;
        // SAFETY: the function with that name has this type.
        let text = unsafe { self.library.get::<Explain>(b"nvrtcGetErrorString\0") }.map(|explain| {
            // SAFETY: for any number it returns a static text.
            unsafe { CStr::from_ptr(explain(status)) }.to_string_lossy().into_owned()
        });
        let text = text.unwrap_or_default();
        let kind = if status == 1 { ErrorKind::OUT_OF_MEMORY } else { ErrorKind::UNAVAILABLE };
        Error::new(
            kind,
            format!(
                "{self}: {what} failed with status {status} ({text}); are the builtins of the same version beside the \
                 library?"
            ),
        )
    }
}
