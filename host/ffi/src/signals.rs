//! Signals of the program that embeds this library: FFI-8.

use chipdock_host::library::TvmFfi;
use chipdock_plugin_api::{Error, ErrorKind};

use crate::process;

/// Kind of the error that stands for one that the caller's language has already: what a handler of
/// a signal raised in Python.
const KIND: &str = "EnvErrorAlreadySet";
/// Status of such an error to callers of TVM-FFI before 0.1.9, which do not know the kind.
const STATUS: i32 = -2;

/// Runs the handlers of signals that came; on a thread that handles none, and without TVM-FFI,
/// nothing.
///
/// # Errors
///
/// The error that stands for the one that a handler raised, as Python's does at Ctrl-C.
pub(crate) fn none_raised() -> Result<(), Error> {
    match TvmFfi::present() {
        Some(tvm_ffi) if tvm_ffi.has_signal() => {
            Err(Error::new(ErrorKind::new(KIND), "a signal interrupted the call"))
        }
        _ => Ok(()),
    }
}

/// As [`none_raised`], where handlers run on the main thread alone, as Python's do: on others it
/// would wait for the interpreter's lock in vain.
pub(crate) fn none_raised_on_main_thread() -> Result<(), Error> {
    if process::is_main_thread() { none_raised() } else { Ok(()) }
}

/// Returns the error of a call that ran a program: a signal to both of them is the cause, not the
/// failure of the program.
pub(crate) fn or_raised(error: Error) -> Error {
    none_raised().err().unwrap_or(error)
}

/// Returns the status of a packed call that failed with this error.
pub(crate) fn status(error: &Error) -> i32 {
    if error.kind().as_str() == KIND { STATUS } else { chipdock_abi::CHIPDOCK_ERROR }
}
