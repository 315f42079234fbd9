//! Finding and opening the library (rules LIBLLVM-O1 to LIBLLVM-O3).

use core::ffi::{CStr, c_char, c_uint, c_void};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use chipdock_plugin_api::{Error, ErrorKind, Setting, process};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use llvm_sys::error::LLVMErrorRef;

use super::jit;
use super::machine::{HostCpu, MachineOptions, Machines};
use super::symbols::Symbols;

/// The environment variable of the setting `library`.
pub(crate) const VARIABLE: &str = "CHIPDOCK_LLVM";
/// The setting that names a library file, the only one that is then tried.
pub(crate) const LIBRARY: Setting<PathBuf> = Setting::path(
    "library",
    "The libLLVM to compile with, the only one that is tried; empty or not set, the usual names are.",
)
.variables(&[VARIABLE]);
/// The major version of LLVM whose types are used.
const MAJOR: u32 = 19;
/// The Debian and Ubuntu package with the library.
const PACKAGE: &str = "libllvm19";
/// The SONAME, the name of other packagings, the link that Debian's package has, and LLVM's own
/// folder.
pub(super) const NAMES: &[&str] =
    &["libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so", "/usr/lib/llvm-19/lib/libLLVM.so.1"];

/// An open libLLVM.
pub(crate) struct Llvm {
    pub(crate) api: Symbols,
    /// The name by which it was opened.
    pub(crate) name: String,
    pub(crate) version: [u32; 3],
    /// Identifies its file, as of the time when it was opened.
    pub(super) file: Option<String>,
    pub(super) path: Option<PathBuf>,
    pub(super) library: Library,
    pub(super) host: OnceLock<HostCpu>,
    /// Initialised architectures. Adding one, or looking one up, requires this lock.
    pub(super) initialized: Mutex<BTreeSet<&'static str>>,
    /// Idle target machines, for later builds.
    pub(super) machines: Mutex<HashMap<MachineOptions, Machines>>,
    pub(super) session: OnceLock<jit::Session>,
    pub(super) session_opening: Mutex<()>,
}

/// Whether the process has opened a library of that name already.
pub(super) fn is_loaded(name: &OsStr) -> bool {
    // SAFETY: opens nothing: a library that is open is counted once more, and once less when the
    // handle is dropped.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NOLOAD) }.is_ok()
}

/// Opens the library that is found under the name in the settings, or under one of the usual names.
///
/// # Errors
///
/// `Unavailable`: there is none, with each name that was tried and the reason for its rejection.
pub(super) fn search(named: Option<&OsStr>) -> Result<Llvm, Error> {
    let is_named = named.is_some();
    let names: Vec<&OsStr> = named.map_or_else(|| NAMES.iter().map(OsStr::new).collect(), |name| vec![name]);
    let mut tried = Vec::new();
    for name in &names {
        match open(name, name) {
            Ok(llvm) => return Ok(llvm),
            Err(why) => tried.push(format!("{}: {why}", name.to_string_lossy())),
        }
    }
    let what_to_do = if is_named {
        format!(
            "{VARIABLE} or another source of the setting `library` names the only file that is tried: let it name a \
             libLLVM {MAJOR}, or unset it and install LLVM's library (Debian and Ubuntu: {PACKAGE})"
        )
    } else {
        format!("install LLVM's library (Debian and Ubuntu: {PACKAGE}), or let {VARIABLE} name the file")
    };
    Err(Error::new(
        ErrorKind::UNAVAILABLE,
        format!("no LLVM {MAJOR} library to compile with. Tried {}; {what_to_do}", tried.join("; ")),
    ))
}

/// Opens the file at a path, which the linker has found under that name before; the error is the
/// reason.
pub(super) fn open_file(name: &str, path: &Path) -> Result<Llvm, String> {
    open(OsStr::new(name), path.as_os_str())
}

fn open(name: &OsStr, file: &OsStr) -> Result<Llvm, String> {
    // SAFETY: libLLVM's constructors only register options; it is never closed.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| std::error::Error::source(&error).unwrap_or(&error).to_string())?;
    let Some(version) = version(&library) else {
        return Err(format!("expected LLVM {MAJOR}, found {}", without_version(library)));
    };
    let opened = match version {
        [major, minor, patch] if major != MAJOR => {
            Err(format!("expected LLVM {MAJOR}, found LLVM {major}.{minor}.{patch}"))
        }
        // SAFETY: an LLVM of the right major version.
        _ => unsafe { Symbols::load(&library) }.map_err(|missing| format!("it lacks {}", missing.join(", "))),
    };
    match opened {
        Ok(api) => Ok(Llvm {
            file: process::library_of(api.LLVMContextCreate as *const c_void),
            path: process::library_path_of(api.LLVMContextCreate as *const c_void),
            api,
            name: name.to_string_lossy().into_owned(),
            version,
            library,
            host: OnceLock::new(),
            initialized: Mutex::default(),
            machines: Mutex::default(),
            session: OnceLock::new(),
            session_opening: Mutex::default(),
        }),
        Err(why) => {
            // LIBLLVM-O1: a library that was opened is never closed.
            core::mem::forget(library);
            Err(why)
        }
    }
}

fn version(library: &Library) -> Option<[u32; 3]> {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: every LLVM since 16 has this function with this type; in an older one it is absent.
    let get = unsafe { library.get::<GetVersion>(b"LLVMGetVersion") }.ok()?;
    let [mut major, mut minor, mut patch] = [0; 3];
    // SAFETY: three places to write to.
    unsafe { get(&raw mut major, &raw mut minor, &raw mut patch) };
    Some([major, minor, patch])
}

/// Describes a library that does not report its version: an LLVM before 16, by the version of its
/// symbols, or no LLVM.
fn without_version(library: Library) -> String {
    let symbol = c"LLVMContextCreate";
    // SAFETY: only looked for, never called.
    let is_llvm = unsafe { library.get::<*const c_void>(symbol.to_bytes()) }.is_ok();
    // LIBLLVM-O1: a library that was opened is never closed.
    let handle = library.into_raw();
    if !is_llvm {
        return "a library that is no LLVM: it has no function LLVMGetVersion".to_owned();
    }
    let major = (3..16).find(|major| {
        let version = CString::new(format!("LLVM_{major}")).unwrap_or_default();
        // SAFETY: an open library and live texts.
        !unsafe { libc::dlvsym(handle, symbol.as_ptr(), version.as_ptr()) }.is_null()
    });
    match major {
        Some(major) => format!("LLVM {major}"),
        None => "an LLVM older than 16: it has no function LLVMGetVersion".to_owned(),
    }
}

impl core::fmt::Display for Llvm {
    /// Identifies the library in messages.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [major, minor, patch] = self.version;
        write!(f, "LLVM {major}.{minor}.{patch} ({})", self.name)
    }
}

impl Llvm {
    /// Takes ownership of a string of LLVM's that `LLVMDisposeMessage` frees; null is empty.
    ///
    /// # Safety
    ///
    /// * `message` is null or such a string, and owned by the caller.
    pub(crate) unsafe fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: the caller guarantees a NUL-terminated string that this function owns.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeMessage)(message);
            text
        }
    }

    /// Takes ownership of an error of LLVM's; null is success.
    ///
    /// # Safety
    ///
    /// * `error` is null or an error that is owned by the caller.
    pub(crate) unsafe fn take_error(&self, error: LLVMErrorRef) -> Result<(), String> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: reading the message consumes the error; the message is then freed.
        unsafe {
            let message = (self.api.LLVMGetErrorMessage)(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeErrorMessage)(message);
            Err(text)
        }
    }
}

/// Converts a text to a C string.
///
/// # Errors
///
/// `ValueError`: the text contains a NUL.
pub(crate) fn c_text(text: &str, what: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| {
        Error::new(
            ErrorKind::VALUE_ERROR,
            format!("{what}: expected no NUL character, found one in {text:?}"),
        )
    })
}
