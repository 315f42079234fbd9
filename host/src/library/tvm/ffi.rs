//! libtvm_ffi, for libraries of others that need it (LIB-9).

use std::cell::Cell;
use std::ffi::{OsString, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Mutex;

use chipdock_abi::ChipdockObject;
use chipdock_plugin_api as api;
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::context;
use crate::boundary::guard::Guard;
use crate::boundary::services::Services;
use crate::error::{Error, ErrorKind};
use crate::options::LogLevel;
use crate::trace;

/// The name by which the dynamic linker knows the library.
pub(in crate::library) const FILE: &str = "libtvm_ffi.so";
/// Variable that names the library's file.
pub(crate) const VARIABLE: &str = "CHIPDOCK_TVM_FFI";
/// Finds a library only if the process has it.
#[cfg(target_os = "linux")]
pub(in crate::library) const ONLY_IF_LOADED: i32 = 4;
/// Major and minor version whose functions are called here.
pub(in crate::library) const VERSION: (u32, u32) = (0, 1);
/// Patch version from which error objects have a cause and a context.
const FIRST_WITH_CAUSES: u32 = 8;

type MoveFromRaised = unsafe extern "C" fn(*mut *mut ChipdockObject);
type SetRaised = unsafe extern "C" fn(*mut ChipdockObject);

/// What [`TvmFfi::of`] found.
static FOUND: PerProcess<Mutex<Option<&'static TvmFfi>>> = PerProcess::new(carried);

/// The libtvm_ffi of this process: the one that it has, or one that was opened for a library. It is
/// never closed.
pub(in crate::library) struct TvmFfi {
    library: Library,
    move_from_raised: MoveFromRaised,
    set_raised: SetRaised,
    /// Its error objects end before cause and context.
    has_short_errors: bool,
}

thread_local! {
    static CALLER: Cell<Option<Caller>> = const { Cell::new(None) };
}

/// The caller of a library on this thread, whom what the library asks of TVM's run time is for.
#[derive(Clone, Copy)]
pub(in crate::library) struct Caller {
    pub(in crate::library) services: &'static Services,
    /// The libtvm_ffi that the library calls; `None` for one that calls none.
    pub(in crate::library) tvm_ffi: Option<&'static TvmFfi>,
    /// Tasks of the library's parallel regions wait for each other.
    pub(in crate::library) waits: bool,
}

impl Caller {
    /// Returns the caller of a library on this thread.
    pub(in crate::library) fn current() -> Option<Self> {
        CALLER.get()
    }

    /// Runs a call of the library. The error of a failure is this thread's error of the host
    /// afterwards, wherever it was raised.
    pub(in crate::library) fn call(self, body: impl FnOnce() -> i32) -> i32 {
        let before = CALLER.replace(Some(self));
        let status = body();
        CALLER.set(before);
        if status != 0
            && let Some(error) = self.tvm_ffi.and_then(TvmFfi::take)
        {
            self.services.raise(error);
        }
        status
    }
}

impl TvmFfi {
    /// Returns the library of this process, opened by the first call that succeeds. `named` is the
    /// value of `CHIPDOCK_TVM_FFI`.
    ///
    /// # Errors
    ///
    /// `Unavailable`: there is none, or one of another version; the next call tries again.
    pub(in crate::library) fn of(named: Option<&OsString>) -> Result<&'static Self, Error> {
        let mut found = lock(FOUND.of_this());
        if let Some(found) = *found {
            return Ok(found);
        }
        let made: &'static Self = Box::leak(Box::new(Self::checked(opened(named)?)?));
        *found = Some(made);
        Ok(made)
    }

    /// Returns the library that [`Self::of`] found, if it was called.
    pub(in crate::library) fn found() -> Option<&'static Self> {
        *lock(FOUND.of_this())
    }

    fn checked(library: Library) -> Result<Self, Error> {
        #[repr(C)]
        #[derive(Default)]
        struct Version {
            major: u32,
            minor: u32,
            patch: u32,
        }
        let missing = |error: libloading::Error| {
            Error::new(ErrorKind::Unavailable, format!("{FILE} lacks a function: {error}"))
        };
        // SAFETY: TVM-FFI's c_api.h declares the function with this type, the same in every
        // version.
        let version = unsafe { library.get::<unsafe extern "C" fn(*mut Version)>(b"TVMFFIGetVersion\0") };
        let mut found = Version::default();
        // SAFETY: it writes three numbers.
        unsafe { version.map_err(missing)?(&mut found) };
        if (found.major, found.minor) != VERSION {
            let message = format!(
                "{FILE} has version {}.{}.{}; expected {}.{}",
                found.major, found.minor, found.patch, VERSION.0, VERSION.1
            );
            return Err(
                Error::new(ErrorKind::Unavailable, message).hint("install that of apache-tvm-ffi 0.1")
            );
        }
        // SAFETY: as above, the same in every version 0.1.
        let take = unsafe { library.get::<MoveFromRaised>(b"TVMFFIErrorMoveFromRaised\0") };
        let move_from_raised = *take.map_err(missing)?;
        // SAFETY: as above, the same in every version 0.1.
        let set = unsafe { library.get::<SetRaised>(b"TVMFFIErrorSetRaised\0") };
        let set_raised = *set.map_err(missing)?;
        Ok(Self { library, move_from_raised, set_raised, has_short_errors: found.patch < FIRST_WITH_CAUSES })
    }

    /// Puts an error into this thread's slot of the library.
    pub(in crate::library) fn raise(&self, error: &api::Error) {
        // SAFETY: it borrows the error object, and keeps a reference of its own.
        unsafe { (self.set_raised)(error.object().as_ptr()) };
    }

    /// Takes this thread's error out of the library's slot.
    pub(in crate::library) fn take(&self) -> Option<api::Error> {
        let mut error = std::ptr::null_mut();
        // SAFETY: it writes an error object that is ours, or null.
        unsafe { (self.move_from_raised)(&mut error) };
        let error = NonNull::new(error)?;
        // SAFETY: an error object of TVM-FFI's, laid out as ours, with a reference that is ours.
        let error = unsafe { api::Error::from_object(api::ObjectRef::from_raw(error)) };
        Some(if self.has_short_errors { error.without_links() } else { error })
    }

    /// Returns the libtvm_ffi that the process has; opens none.
    pub(in crate::library) fn present() -> Option<&'static Self> {
        let loaded = loaded()?;
        // Found again by its name.
        drop(loaded);
        Self::of(None).ok()
    }

    /// Returns the address of a function.
    pub(in crate::library) fn address(&self, function: &str) -> Option<*mut c_void> {
        // SAFETY: only the address is taken.
        let found = unsafe { self.library.get::<*mut c_void>(format!("{function}\0").as_bytes()) };
        found.ok().map(|found| found.as_raw_ptr()).filter(|address| !address.is_null())
    }
}

/// Writes the address of each of these variables of an opened library: functions of TVM's run time
/// that this host has, and of libtvm_ffi.
///
/// # Errors
///
/// `Unavailable` for a variable that nobody fills in.
pub(in crate::library) fn fill_in(
    tvm_ffi: Option<&TvmFfi>,
    library: &Library,
    variables: &[String],
) -> Result<(), Error> {
    for variable in variables {
        let function = context::of_variable(variable);
        let of_tvm_ffi = || tvm_ffi.and_then(|tvm_ffi| tvm_ffi.address(function));
        let address = context::function(function).or_else(of_tvm_ffi).ok_or_else(|| {
            let message = format!(
                "the library expects its loader to fill in {variable}, for which this host has nothing"
            );
            Error::new(ErrorKind::Unavailable, message).hint("open it in Python with tvm_ffi.load_module")
        })?;
        // SAFETY: a variable of this name is a pointer to the function of that name (TVM's
        // codegen_cpu.cc).
        let place = unsafe { library.get::<*mut *mut c_void>(format!("{variable}\0").as_bytes()) };
        if let Ok(place) = place {
            // SAFETY: the library was opened for this host alone, and no function of it was called
            // yet.
            unsafe { **place = address };
        }
    }
    Ok(())
}

/// Returns the library that the process has, whose symbols libraries that are opened later see.
fn loaded() -> Option<Library> {
    #[cfg(target_os = "linux")]
    // SAFETY: opens nothing that is not open.
    return unsafe { Library::open(Some(FILE), ONLY_IF_LOADED | RTLD_NOW | RTLD_GLOBAL) }.ok();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Opens the library: that of the process, else that of the variable, else that which the dynamic
/// linker finds.
fn opened(named: Option<&OsString>) -> Result<Library, Error> {
    if let Some(library) = loaded() {
        return Ok(library);
    }
    let path = named.map_or(Path::new(FILE), Path::new);
    if named.is_some() && !path.is_absolute() {
        let message = format!("{VARIABLE} is {}; expected an absolute path", path.display());
        return Err(Error::new(ErrorKind::Value, message));
    }
    let mut guard = Guard::of_opening();
    // SAFETY: the user's own library, whose initialisers run.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    for change in guard.settle("opening libtvm_ffi") {
        // Known of it: it installs a handler of SIGSEGV.
        trace::event(LogLevel::Debug, None, &change.to_string());
    }
    library.map_err(|error| {
        let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        let message = format!("TVM-FFI is not here: tried {}: {why}", path.display());
        let hint = format!(
            "pip install apache-tvm-ffi, and let {VARIABLE} name its libtvm_ffi.so (in the folder that tvm-ffi-config --libdir \
             prints)"
        );
        Error::new(ErrorKind::Unavailable, message).hint(hint)
    })
}
