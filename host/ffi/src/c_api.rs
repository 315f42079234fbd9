//! Functions for programs in C and C++ that have no libtvm_ffi: errors, references and functions of
//! their own. They are declared in `include/chipdock_host.h`.

use std::ffi::c_void;

use chipdock_abi::{ChipdockAny, ChipdockDeleter, ChipdockSafeCall, ChipdockStr};
use chipdock_plugin_api::{Any, AnyView, Bytes, Error, ErrorKind, Function, caught};

use crate::side;

/// Takes this thread's error of this library: writes it to `out_error`, or None if there is none.
///
/// # Safety
///
/// * `out_error` is null, or a place for a value.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_take_error(out_error: *mut ChipdockAny) {
    let error = side::take().map_or(Any::NONE, Any::from);
    // SAFETY: null, or writable, as this function requires.
    if let Some(out) = unsafe { out_error.as_mut() } {
        *out = error.into_raw();
    }
}

/// Writes a string as a value that the caller owns; what is not UTF-8 is replaced.
///
/// # Safety
///
/// * `text` lives for the call; `out_value` is null, or a place for a value.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_str(text: ChipdockStr, out_value: *mut ChipdockAny) {
    // SAFETY: live for the call, as this function requires.
    let text = unsafe { chipdock_plugin_api::text::str_in_lossy(text) };
    // SAFETY: null, or writable, as this function requires.
    if let Some(out) = unsafe { out_value.as_mut() } {
        *out = Any::from(&*text).into_raw();
    }
}

/// Writes bytes as a value that the caller owns.
///
/// # Safety
///
/// * `bytes` live for the call; `out_value` is null, or a place for a value.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_bytes(bytes: ChipdockStr, out_value: *mut ChipdockAny) {
    // SAFETY: live for the call, as this function requires.
    let bytes = unsafe { chipdock_plugin_api::text::bytes_in(bytes) };
    // SAFETY: null, or writable, as this function requires.
    if let Some(out) = unsafe { out_value.as_mut() } {
        *out = Any::from(Bytes::new(bytes)).into_raw();
    }
}

/// Raises an error for the caller of a function of the program's own, which then returns -1.
///
/// # Safety
///
/// * Both texts live for the call.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_raise(kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: live for the call, as this function requires.
    let text = |text| unsafe { chipdock_plugin_api::text::str_in_lossy(text) }.into_owned();
    side::callers().raise(&Error::new(ErrorKind::new(text(kind)), text(message)));
}

/// Adds a reference to the object of a value; other values need none.
///
/// # Safety
///
/// * `value` is null or points to a live value.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_retain(value: *const ChipdockAny) {
    // SAFETY: null, or live for the call.
    if let Some(view) = unsafe { value.as_ref().map(|raw| AnyView::from_raw(*raw)) } {
        std::mem::forget(view.object());
    }
}

/// Releases a value, and writes None in its place.
///
/// # Safety
///
/// * `value` is null or points to a value that the caller owns.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_release(value: *mut ChipdockAny) {
    // SAFETY: null, or owned by the caller, who gives it up.
    if let Some(value) = unsafe { value.as_mut() } {
        let owned = std::mem::replace(value, Any::NONE.into_raw());
        // SAFETY: as above; a destructor that panics has nobody to report to.
        let _ = caught(|| drop(unsafe { Any::from_raw(owned) }));
    }
}

/// Makes a function object of a function of the program's own; the caller owns what is written to
/// `out_function`. `deleter` is called with `self_` when the last reference is gone.
///
/// # Safety
///
/// * `call` follows the packed convention with `self_`, from any thread; it raises its errors with
///   `chipdock_raise`.
/// * `out_function` is a place for a value.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chipdock_function(
    self_: *mut c_void,
    call: ChipdockSafeCall,
    deleter: ChipdockDeleter,
    out_function: *mut ChipdockAny,
) {
    // SAFETY: what `from_parts` requires is what this function requires.
    let function = unsafe { Function::from_parts(self_, call, deleter) };
    // SAFETY: writable, as this function requires.
    if let Some(out) = unsafe { out_function.as_mut() } {
        *out = Any::from(function).into_raw();
    }
}
