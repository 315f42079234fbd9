//! Routes errors to and from libtvm_ffi's thread-local slot (VALUE-F1).

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, ChipdockAny, ChipdockHost, ChipdockStr};
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::{static_str, str_in_lossy};
use chipdock_plugin_api::{AnyView, HostRef, slot};

use super::ffi::TvmFfi;

/// Returns the side of the functions that a library got from libtvm_ffi, or gives it.
pub(in crate::library) fn tvm_side() -> HostRef {
    static TABLE: ChipdockHost = ChipdockHost {
        abi_major: CHIPDOCK_ABI_MAJOR,
        abi_minor: CHIPDOCK_ABI_MINOR,
        version: static_str(env!("CARGO_PKG_VERSION")),
        self_: ptr::null_mut(),
        raise,
        raise_object,
        take_error,
        log,
        function: slot::function,
        current_stream: slot::current_stream,
        query: slot::query,
    };
    // SAFETY: static, and its functions keep the rules H.1 to H.10: what it does not have it
    // answers as absent.
    unsafe { HostRef::new(&TABLE) }
}

/// Raises an error with the libtvm_ffi of the process. It is there: only a library that needs it
/// has functions of this side.
fn set(error: &api::Error) {
    if let Some(tvm_ffi) = TvmFfi::found() {
        tvm_ffi.raise(error);
    }
}

unsafe extern "C" fn raise(_self: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: live for the call, H.2.
    let text = |text| unsafe { str_in_lossy(text) }.into_owned();
    set(&api::Error::new(api::ErrorKind::new(text(kind)), text(message)));
}

unsafe extern "C" fn raise_object(_self: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: null, or a value that lives for the call.
    let view = unsafe { error.as_ref().map(|raw| AnyView::from_raw(*raw)) };
    let unknown = || api::Error::new(api::ErrorKind::BROKEN_PLUGIN, "raise_object was given no error object");
    set(&view.and_then(|view| view.to::<api::Error>().ok()).unwrap_or_else(unknown));
}

unsafe extern "C" fn take_error(_self: *mut c_void, out_error: *mut ChipdockAny) {
    let error = TvmFfi::found().and_then(TvmFfi::take);
    // SAFETY: H.3, a place to write to, or null.
    if let Some(out) = unsafe { out_error.as_mut() } {
        *out = error.map_or(api::Any::NONE, api::Any::from).into_raw();
    }
}

unsafe extern "C" fn log(_self: *mut c_void, _level: i32, _message: ChipdockStr) {}
