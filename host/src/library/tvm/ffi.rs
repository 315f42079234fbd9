//! The libtvm_ffi of this process: where it is found, and the functions of it that are called.

use std::ffi::{CStr, OsString, c_char, c_void};
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};

use chipdock_abi::{CHIPDOCK_TYPE_OBJECT_BEGIN, ChipdockAny, ChipdockDevice, ChipdockObject, ChipdockStr};
use chipdock_plugin_api as api;
use chipdock_plugin_api::kit::{PerProcess, lock};
use chipdock_plugin_api::text::str_out;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_NOW};

use crate::boundary::guard::Guard;
use crate::error::{Error, ErrorKind};
use crate::options::LogLevel;
use crate::trace;

/// The name by which the dynamic linker knows the library.
const FILE: &str = "libtvm_ffi.so";
/// Variable that names the library's file.
pub(crate) const VARIABLE: &str = "CHIPDOCK_TVM_FFI";
/// Major and minor version whose functions are called here.
const VERSION: (u32, u32) = (0, 1);
/// Patch version from which error objects have a cause and a context.
const FIRST_WITH_CAUSES: u32 = 8;

/// A function with what TVM-FFI registers with it, `TVMFFIMethodInfo`.
#[repr(C)]
pub struct TvmMethodInfo {
    /// Name of the function.
    pub name: ChipdockStr,
    /// Its documentation.
    pub doc: ChipdockStr,
    /// Its type schema and the names of its arguments, as JSON.
    pub metadata: ChipdockStr,
    /// Bits of `TVMFFIFieldFlagBitMask`.
    pub flags: i64,
    /// The function.
    pub method: ChipdockAny,
}

pub(super) type GetGlobal = unsafe extern "C" fn(*const ChipdockStr, *mut *mut ChipdockObject) -> i32;

/// Declares the functions of libtvm_ffi that are called: without one that is needed a library is of
/// no use, an optional one may be missing.
macro_rules! functions {
    (
        needed {
            $($needed:ident: $needed_symbol:literal, fn($($needed_arg:ty),*);)*
        }
        optional {
            $($field:ident: $symbol:literal, fn($($arg:ty),*) -> $result:ty;)*
        }
    ) => {
        /// Addresses of functions of one libtvm_ffi.
        struct Functions {
            $($needed: unsafe extern "C" fn($($needed_arg),*),)*
            $($field: Option<unsafe extern "C" fn($($arg),*) -> $result>,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $($needed: {
                        // SAFETY: TVM-FFI's c_api.h and c_env_api.h declare the function with this
                        // type, the same in every version 0.1.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($needed_arg),*)>($needed_symbol) };
                        *found?
                    },)*
                    $($field: {
                        // SAFETY: as above.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($arg),*) -> $result>($symbol) };
                        found.ok().map(|found| *found)
                    },)*
                })
            }
        }
    };
}

functions! {
    needed {
        set_raised: b"TVMFFIErrorSetRaised\0", fn(*mut ChipdockObject);
        move_from_raised: b"TVMFFIErrorMoveFromRaised\0", fn(*mut *mut ChipdockObject);
    }
    optional {
        function_global: b"TVMFFIFunctionGetGlobal\0", fn(*const ChipdockStr, *mut *mut ChipdockObject) -> i32;
        set_function_global: b"TVMFFIFunctionSetGlobalFromMethodInfo\0", fn(*const TvmMethodInfo, i32) -> i32;
        type_index: b"TVMFFITypeGetOrAllocIndex\0", fn(*const ChipdockStr, i32, i32, i32, i32, i32) -> i32;
        register_method: b"TVMFFITypeRegisterMethod\0", fn(i32, *const TvmMethodInfo) -> i32;
        stream: b"TVMFFIEnvGetStream\0", fn(i32, i32) -> *mut c_void;
        set_stream: b"TVMFFIEnvSetStream\0", fn(i32, i32, *mut c_void, *mut *mut c_void) -> i32;
        check_signals: b"TVMFFIEnvCheckSignals\0", fn() -> i32;
        register_symbol: b"TVMFFIEnvModRegisterSystemLibSymbol\0", fn(*const c_char, *mut c_void) -> i32;
    }
}

/// The libtvm_ffi of this process, of a version 0.1: the one that it has, or one that was opened
/// for a library (LIB-9). It is never closed.
///
/// A function of it that it lacks is answered as if nobody had registered or set anything; one that
/// must do something fails with `Unavailable`.
///
/// # Source
///
/// TVM-FFI's `c_api.h` and `extra/c_env_api.h`.
pub struct TvmFfi {
    library: Library,
    functions: Functions,
    env: Option<api::TvmEnv>,
    /// Its error objects end before cause and context.
    has_short_errors: bool,
}

/// The library that [`TvmFfi::present`] or [`TvmFfi::open`] found first; leaked.
static FOUND: AtomicPtr<TvmFfi> = AtomicPtr::new(null_mut());

impl TvmFfi {
    /// Returns the libtvm_ffi that the process has, and opens none; `None` while it has none, or
    /// one of another version than 0.1.
    ///
    /// # Examples
    ///
    /// ```
    /// // This process has none.
    /// assert!(chipdock_host::library::TvmFfi::present().is_none());
    /// ```
    #[must_use]
    pub fn present() -> Option<&'static Self> {
        Self::found().or_else(|| Some(Self::checked(loaded(RTLD_LAZY)?).ok()?.kept()))
    }

    /// As [`Self::present`], for a library that is opened next: its undefined symbols are searched
    /// for there too.
    pub(in crate::library) fn present_for_library() -> Option<&'static Self> {
        let found = Self::present()?;
        drop(loaded(RTLD_NOW | RTLD_GLOBAL));
        Some(found)
    }

    /// Returns the library of this process, opened for a library by the first call that succeeds.
    /// `named` is the value of `CHIPDOCK_TVM_FFI`.
    ///
    /// # Errors
    ///
    /// `Unavailable`: there is none, or one of another version; the next call tries again.
    pub(in crate::library) fn open(named: Option<&OsString>) -> Result<&'static Self, Error> {
        static OPENING: PerProcess<Mutex<()>> = PerProcess::new(|_| Mutex::default());
        let _one_at_a_time = lock(OPENING.of_this());
        match Self::present_for_library() {
            Some(found) => Ok(found),
            None => Ok(Self::checked(opened(named)?)?.kept()),
        }
    }

    fn found() -> Option<&'static Self> {
        // SAFETY: null, or leaked by `kept`.
        unsafe { FOUND.load(Ordering::Acquire).as_ref() }
    }

    /// Keeps it for the process, unless another thread was first.
    fn kept(self) -> &'static Self {
        let made = Box::into_raw(Box::new(self));
        match FOUND.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: leaked, so it lives as long as the process.
            Ok(_) => unsafe { &*made },
            Err(first) => {
                // SAFETY: the box from above, which nobody else has seen.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: leaked by the thread that was first.
                unsafe { &*first }
            }
        }
    }

    fn checked(library: Library) -> Result<Self, Error> {
        let missing = |error: libloading::Error| {
            Error::new(ErrorKind::Unavailable, format!("{FILE} lacks a function: {error}"))
        };
        // SAFETY: TVM-FFI's c_api.h declares the function with this type, the same in every
        // version.
        let version = unsafe { library.get::<unsafe extern "C" fn(*mut [u32; 3])>(b"TVMFFIGetVersion\0") };
        let mut found = [0; 3];
        // SAFETY: it writes three numbers.
        unsafe { version.map_err(missing)?(&mut found) };
        let [major, minor, patch] = found;
        if (major, minor) != VERSION {
            let message =
                format!("{FILE} has version {major}.{minor}.{patch}; expected {}.{}", VERSION.0, VERSION.1);
            return Err(
                Error::new(ErrorKind::Unavailable, message).hint("install that of apache-tvm-ffi 0.1")
            );
        }
        let functions = Functions::of(&library).map_err(missing)?;
        // SAFETY: the functions of that libtvm_ffi, of version 0.1, which is not closed while the
        // environment is in use.
        let env = unsafe { api::TvmEnv::find(|name| address(&library, name).unwrap_or(null_mut())) };
        Ok(Self { library, functions, env, has_short_errors: patch < FIRST_WITH_CAUSES })
    }

    /// Returns its environment; `None` if it lacks a function of that.
    #[must_use]
    pub fn env(&self) -> Option<api::TvmEnv> {
        self.env
    }

    /// Puts an error into this thread's slot of the library.
    pub fn raise(&self, error: &api::Error) {
        // SAFETY: it borrows the error object, and keeps a reference of its own.
        unsafe { (self.functions.set_raised)(error.object().as_ptr()) };
    }

    /// Takes this thread's error out of the library's slot.
    #[must_use]
    pub fn take(&self) -> Option<api::Error> {
        let mut error = null_mut();
        // SAFETY: it writes an error object that is ours, or null.
        unsafe { (self.functions.move_from_raised)(&mut error) };
        let error = NonNull::new(error)?;
        // SAFETY: an error object of TVM-FFI's, laid out as ours, with a reference that is ours.
        let error = unsafe { api::Error::from_object(api::ObjectRef::from_raw(error)) };
        Some(if self.has_short_errors { error.without_links() } else { error })
    }

    /// Returns the global function of a name; `None` where nobody has registered one.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<api::Function> {
        let (name, mut function) = (str_out(name), null_mut());
        // SAFETY: a live name, and a place for an owned function, null where there is none of that
        // name.
        let status = unsafe { (self.functions.function_global?)(&name, &mut function) };
        let function = NonNull::new(function).filter(|_| status == 0)?;
        // SAFETY: a function object with a reference that is ours.
        Some(unsafe { api::Function::from_object(api::ObjectRef::from_raw(function)) })
    }

    /// Returns the function behind [`Self::global`].
    pub(super) fn get_global(&self) -> Option<GetGlobal> {
        self.functions.function_global
    }

    /// Registers a global function.
    ///
    /// # Errors
    ///
    /// That of libtvm_ffi, for instance for a name that is taken. Nothing is registered.
    ///
    /// # Safety
    ///
    /// * The texts and the function of `info` are live.
    pub unsafe fn register_global(&self, info: &TvmMethodInfo) -> Result<(), api::Error> {
        // SAFETY: a live description, of which it copies the texts and takes a reference of the
        // function.
        let status = self.functions.set_function_global.map(|set| unsafe { set(info, 0) });
        self.done("TVMFFIFunctionSetGlobalFromMethodInfo", status)
    }

    /// Registers a method of a type.
    ///
    /// # Errors
    ///
    /// That of libtvm_ffi. Nothing is registered.
    ///
    /// # Safety
    ///
    /// * The type is registered; the texts and the function of `info` are live.
    pub unsafe fn register_method(&self, type_index: i32, info: &TvmMethodInfo) -> Result<(), api::Error> {
        // SAFETY: as in `register_global`, of a registered type.
        let status = self.functions.register_method.map(|register| unsafe { register(type_index, info) });
        self.done("TVMFFITypeRegisterMethod", status)
    }

    /// Returns the index of a type of objects below `ffi.Object`, which the first call for a key
    /// registers; that of any object where it cannot be registered.
    #[must_use]
    pub fn type_index(&self, key: &str) -> i32 {
        let key = str_out(key);
        let Some(index) = self.functions.type_index else { return CHIPDOCK_TYPE_OBJECT_BEGIN };
        // SAFETY: a live key; a type of depth 1 below `ffi.Object`, without slots for children.
        unsafe { index(&key, -1, 1, 0, 1, CHIPDOCK_TYPE_OBJECT_BEGIN) }
    }

    /// Makes a function one of the symbols that libtvm_ffi's system library has.
    ///
    /// # Errors
    ///
    /// That of libtvm_ffi. Nothing is registered.
    ///
    /// # Safety
    ///
    /// * `symbol` and the function at `address`, of the packed convention, live as long as the
    ///   process.
    pub unsafe fn register_symbol(&self, symbol: &CStr, address: *mut c_void) -> Result<(), api::Error> {
        // SAFETY: a symbol and the function that it names, which live as long as the process.
        let status =
            self.functions.register_symbol.map(|register| unsafe { register(symbol.as_ptr(), address) });
        self.done("TVMFFIEnvModRegisterSystemLibSymbol", status)
    }

    /// Returns the native stream that is current for a device on this thread: null is the default
    /// one, and the answer where nobody has set one.
    #[must_use]
    pub fn stream(&self, device: ChipdockDevice) -> *mut c_void {
        let Some(stream) = self.functions.stream else { return null_mut() };
        // SAFETY: two numbers; it answers null for what it does not know.
        unsafe { stream(device.device_type, device.device_id) }
    }

    /// Makes a native stream the current one of a device on this thread.
    ///
    /// # Errors
    ///
    /// That of libtvm_ffi. The stream before is current.
    ///
    /// # Safety
    ///
    /// * `stream` is null or a native stream of that device, which lives until another one is set.
    pub unsafe fn set_stream(&self, device: ChipdockDevice, stream: *mut c_void) -> Result<(), api::Error> {
        let ChipdockDevice { device_type, device_id } = device;
        // SAFETY: two numbers, a native stream of that device or null, and nowhere to write the one
        // before to.
        let set = |set: unsafe extern "C" fn(i32, i32, *mut c_void, *mut *mut c_void) -> i32| unsafe {
            set(device_type, device_id, stream, null_mut())
        };
        self.done("TVMFFIEnvSetStream", self.functions.set_stream.map(set))
    }

    /// Runs the handlers of signals of the program around, if any came; returns true if one raised
    /// an error, as Python's does at Ctrl-C. Only on the thread that handles signals.
    #[must_use]
    pub fn has_signal(&self) -> bool {
        // SAFETY: it takes nothing.
        self.functions.check_signals.is_some_and(|check| unsafe { check() != 0 })
    }

    /// Returns the address of a function.
    pub(super) fn address(&self, function: &CStr) -> Option<*mut c_void> {
        address(&self.library, function)
    }

    /// Returns the error of a call that failed, and of a function that is missing.
    fn done(&self, what: &str, status: Option<i32>) -> Result<(), api::Error> {
        match status {
            Some(0) => Ok(()),
            Some(_) => Err(self.take().unwrap_or_else(|| {
                api::Error::new(api::ErrorKind::INTERNAL, format!("{what} failed and raised no error"))
            })),
            None => Err(api::Error::new(api::ErrorKind::UNAVAILABLE, format!("{FILE} has no {what}"))),
        }
    }
}

fn address(library: &Library, function: &CStr) -> Option<*mut c_void> {
    // SAFETY: only the address is taken.
    let found = unsafe { library.get::<*mut c_void>(function.to_bytes_with_nul()) };
    found.ok().map(|found| found.as_raw_ptr()).filter(|address| !address.is_null())
}

/// Returns the library that the process has. With `RTLD_GLOBAL` libraries that are opened later see
/// its symbols.
fn loaded(flags: i32) -> Option<Library> {
    // SAFETY: opens nothing that is not open, so nothing runs.
    unsafe { Library::open(Some(FILE), libc::RTLD_NOLOAD | flags) }.ok()
}

/// Opens the library: that of the process, else that of the variable, else that which the dynamic
/// linker finds.
fn opened(named: Option<&OsString>) -> Result<Library, Error> {
    if let Some(library) = loaded(RTLD_NOW | RTLD_GLOBAL) {
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
