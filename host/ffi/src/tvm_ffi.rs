//! The libtvm_ffi of the process, where there is one: FFI-3.

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

use chipdock_abi::{ChipdockAny, ChipdockObject, ChipdockStr};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{Error, Function, ObjectRef};
use libloading::os::unix::{Library, RTLD_LAZY};

/// Finds a library only if the process has it.
const ONLY_IF_LOADED: i32 = libc::RTLD_NOLOAD;
/// The name by which the dynamic linker knows the library.
const FILE: &str = "libtvm_ffi.so";
/// Major and minor version whose functions are called here.
const VERSION: (u32, u32) = (0, 1);

/// Patch version from which error objects have a cause and a context.
const FIRST_WITH_CAUSES: u32 = 8;

/// `TVMFFIMethodInfo`.
#[repr(C)]
pub(crate) struct MethodInfo {
    pub(crate) name: ChipdockStr,
    pub(crate) doc: ChipdockStr,
    pub(crate) metadata: ChipdockStr,
    pub(crate) flags: i64,
    pub(crate) method: ChipdockAny,
}

/// Declares the functions of libtvm_ffi that are called here: each field is found by its name.
macro_rules! functions {
    ($($field:ident: $symbol:literal, fn($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of libtvm_ffi. It is never closed.
        pub(crate) struct TvmFfi {
            $(pub(crate) $field: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
        }

        impl TvmFfi {
            /// Returns the functions, if the library has all of them.
            fn of(library: &Library) -> Option<Self> {
                Some(Self {
                    $($field: {
                        // SAFETY: TVM-FFI's c_api.h and c_env_api.h declare the function with this
                        // type, the same in every version 0.1.
                        *unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) $(-> $result)?>($symbol.as_bytes())
                        }.ok()?
                    },)*
                })
            }
        }
    };
}

functions! {
    version: "TVMFFIGetVersion\0", fn(*mut [u32; 3]);
    set_raised: "TVMFFIErrorSetRaised\0", fn(*mut ChipdockObject);
    move_from_raised: "TVMFFIErrorMoveFromRaised\0", fn(*mut *mut ChipdockObject);
    function_global: "TVMFFIFunctionGetGlobal\0", fn(*const ChipdockStr, *mut *mut ChipdockObject) -> i32;
    set_function_global: "TVMFFIFunctionSetGlobalFromMethodInfo\0", fn(*const MethodInfo, i32) -> i32;
    type_index: "TVMFFITypeGetOrAllocIndex\0", fn(*const ChipdockStr, i32, i32, i32, i32, i32) -> i32;
    register_method: "TVMFFITypeRegisterMethod\0", fn(i32, *const MethodInfo) -> i32;
    stream: "TVMFFIEnvGetStream\0", fn(i32, i32) -> *mut c_void;
    set_stream: "TVMFFIEnvSetStream\0", fn(i32, i32, *mut c_void, *mut *mut c_void) -> i32;
    check_signals: "TVMFFIEnvCheckSignals\0", fn() -> i32;
    register_symbol: "TVMFFIEnvModRegisterSystemLibSymbol\0", fn(*const c_char, *mut c_void) -> i32;
}

impl TvmFfi {
    /// Returns the libtvm_ffi that the process has; `None` while it has none, or one of another
    /// version than 0.1.
    pub(crate) fn present() -> Option<&'static Self> {
        static FOUND: AtomicPtr<TvmFfi> = AtomicPtr::new(std::ptr::null_mut());
        let found = FOUND.load(Ordering::Acquire);
        // SAFETY: null, or leaked below.
        if let Some(found) = unsafe { found.as_ref() } {
            return Some(found);
        }
        let made = Box::into_raw(Box::new(Self::find()?));
        // A second thread that found it at once leaves its copy behind.
        FOUND.store(made, Ordering::Release);
        // SAFETY: leaked, so it lives as long as the process.
        Some(unsafe { &*made })
    }

    fn find() -> Option<Self> {
        // SAFETY: nothing is opened, so nothing runs: a library of this name is found only if it is
        // there.
        let library = unsafe { Library::open(Some(FILE), RTLD_LAZY | ONLY_IF_LOADED) }.ok()?;
        let found = Self::of(&library)?;
        // It stays: its functions are used as long as the process lives.
        std::mem::forget(library);
        let mut version = [0; 3];
        // SAFETY: it writes three numbers, in every version.
        unsafe { (found.version)(&mut version) };
        ((version[0], version[1]) == VERSION).then_some(found)
    }

    /// Returns true for a version whose error objects end before cause and context.
    fn has_short_errors(&self) -> bool {
        let mut version = [0; 3];
        // SAFETY: it writes three numbers, in every version.
        unsafe { (self.version)(&mut version) };
        version[2] < FIRST_WITH_CAUSES
    }

    /// Returns the global function of a name, if there is one.
    pub(crate) fn global(&self, name: &str) -> Option<Function> {
        let (name, mut function) = (str_out(name), std::ptr::null_mut::<ChipdockObject>());
        // SAFETY: a live name, and a place for an owned function, null where there is none of that
        // name.
        let status = unsafe { (self.function_global)(&name, &mut function) };
        let function = NonNull::new(function).filter(|_| status == 0)?;
        // SAFETY: a function object with a reference that is ours.
        Some(unsafe { Function::from_object(ObjectRef::from_raw(function)) })
    }

    /// Runs the handlers of signals of the program that embeds this library, if any came; returns
    /// true if one raised an error, as Python's does at Ctrl-C. Only on the thread that handles
    /// signals.
    pub(crate) fn has_signal(&self) -> bool {
        // SAFETY: it takes nothing.
        unsafe { (self.check_signals)() != 0 }
    }

    /// Takes this thread's error out of the library's slot.
    pub(crate) fn take(&self) -> Option<Error> {
        let mut error = std::ptr::null_mut();
        // SAFETY: it writes an error object that is ours, or null.
        unsafe { (self.move_from_raised)(&mut error) };
        let error = NonNull::new(error)?;
        // SAFETY: an error object of TVM-FFI's, laid out as ours, with a reference that is ours.
        let error = unsafe { Error::from_object(ObjectRef::from_raw(error)) };
        Some(if self.has_short_errors() { error.without_links() } else { error })
    }
}
