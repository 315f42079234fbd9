//! Finding and opening the library (rules LIBLLVM-O1 to LIBLLVM-O3).

use core::ffi::{CStr, c_char, c_uint, c_void};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind, HostRef, Setting, process};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use llvm_sys::error::LLVMErrorRef;

use super::machine::{HostCpu, MachineOptions, Machines};
use super::symbols::Symbols;
use super::{jit, worker};

/// The variable of that setting.
pub(crate) const VARIABLE: &str = "CHIPDOCK_LLVM";
/// The setting that names a file, which is then the only one tried.
pub(crate) const LIBRARY: Setting<PathBuf> = Setting::path(
    "library",
    "The libLLVM to compile with, the only one that is tried; empty or not set, the usual names are.",
)
.variables(&[VARIABLE]);
/// The major whose types are used.
const MAJOR: u32 = 19;
/// The package that brings it, as Debian and Ubuntu call it.
const PACKAGE: &str = "libllvm19";
/// The SONAME, the name of other packagings, the link that Debian's package has, and LLVM's own folder.
const NAMES: &[&str] =
    &["libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so", "/usr/lib/llvm-19/lib/libLLVM.so.1"];

/// An open libLLVM.
pub(crate) struct Llvm {
    pub(crate) api: Symbols,
    /// As it was opened.
    pub(crate) name: String,
    pub(crate) version: [u32; 3],
    /// What tells its file from others, as it was when it was opened.
    pub(crate) file: Option<String>,
    pub(super) library: Library,
    pub(super) host: OnceLock<HostCpu>,
    /// Architectures that were initialised. Whoever adds one, or looks one up, holds this.
    pub(super) initialized: Mutex<BTreeSet<&'static str>>,
    /// Target machines that wait for their next build.
    pub(super) machines: Mutex<HashMap<MachineOptions, Machines>>,
    pub(super) session: OnceLock<jit::Session>,
    pub(super) session_opening: Mutex<()>,
}

/// The library that a host's settings name, or that is found: opened by the first call, the same ever after.
///
/// Hosts whose settings name different files have each their own.
///
/// # Errors
///
/// * `Unavailable`: there is none, with each name that was tried and why it would not do; the next call looks again.
/// * What the host says of the setting.
pub(crate) fn library_of(host: HostRef) -> Result<&'static Llvm, Error> {
    static LIBRARIES: Mutex<BTreeMap<Option<OsString>, &'static Llvm>> = Mutex::new(BTreeMap::new());
    let named = host.setting(&LIBRARY)?.map(PathBuf::into_os_string).filter(|name| !name.is_empty());
    let mut libraries = lock(&LIBRARIES);
    if let Some(llvm) = libraries.get(&named) {
        return Ok(llvm);
    }
    let llvm: &'static Llvm = Box::leak(Box::new(search(named.clone())?));
    worker::contain_fatal_errors(llvm);
    libraries.insert(named, llvm);
    Ok(llvm)
}

fn search(named: Option<OsString>) -> Result<Llvm, Error> {
    let is_named = named.is_some();
    let names: Vec<OsString> = match named {
        Some(name) => vec![name],
        None => NAMES.iter().map(OsString::from).collect(),
    };
    let mut tried = Vec::new();
    for name in &names {
        match open(name) {
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

fn open(name: &OsString) -> Result<Llvm, String> {
    // SAFETY: libLLVM's constructors register options and nothing else; it is never closed.
    let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| std::error::Error::source(&error).unwrap_or(&error).to_string())?;
    let Some(version) = version(&library) else {
        return Err(format!("expected LLVM {MAJOR}, found {}", without_version(library)));
    };
    let opened = match version {
        [major, minor, patch] if major != MAJOR => {
            Err(format!("expected LLVM {MAJOR}, found LLVM {major}.{minor}.{patch}"))
        }
        // SAFETY: an LLVM of the right major.
        _ => unsafe { Symbols::load(&library) }.map_err(|missing| format!("it lacks {}", missing.join(", "))),
    };
    match opened {
        Ok(api) => Ok(Llvm {
            file: process::library_of(api.LLVMContextCreate as *const c_void),
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
            // LIBLLVM-O1: what was opened stays.
            core::mem::forget(library);
            Err(why)
        }
    }
}

fn version(library: &Library) -> Option<[u32; 3]> {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: every LLVM since 16 has it with this type; an older one is told by its lack.
    let get = unsafe { library.get::<GetVersion>(b"LLVMGetVersion") }.ok()?;
    let [mut major, mut minor, mut patch] = [0; 3];
    // SAFETY: three places to write to.
    unsafe { get(&raw mut major, &raw mut minor, &raw mut patch) };
    Some([major, minor, patch])
}

/// What a library is that does not tell its version: an LLVM before 16, by the version of its symbols, or none.
fn without_version(library: Library) -> String {
    let symbol = c"LLVMContextCreate";
    // SAFETY: only looked for, never called.
    let is_llvm = unsafe { library.get::<*const c_void>(symbol.to_bytes()) }.is_ok();
    // LIBLLVM-O1: what was opened stays.
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
    /// Which one it is, for messages.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [major, minor, patch] = self.version;
        write!(f, "LLVM {major}.{minor}.{patch} ({})", self.name)
    }
}

impl Llvm {
    /// Takes over a string of LLVM's that `LLVMDisposeMessage` frees; null is empty.
    ///
    /// # Safety
    ///
    /// * `message` is null or such a string, and the caller's.
    pub(crate) unsafe fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: NUL-terminated and ours.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeMessage)(message);
            text
        }
    }

    /// Takes over an error of LLVM's; null is success.
    ///
    /// # Safety
    ///
    /// * `error` is null or an error that nobody has taken.
    pub(crate) unsafe fn take_error(&self, error: LLVMErrorRef) -> Result<(), String> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: the error is consumed by asking for its message, which has a free of its own.
        unsafe {
            let message = (self.api.LLVMGetErrorMessage)(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.LLVMDisposeErrorMessage)(message);
            Err(text)
        }
    }
}

/// A text as C has it.
///
/// # Errors
///
/// `ValueError`: it has a NUL.
pub(crate) fn c_text(text: &str, what: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| {
        Error::new(
            ErrorKind::VALUE_ERROR,
            format!("{what}: expected no NUL character, found one in {text:?}"),
        )
    })
}
