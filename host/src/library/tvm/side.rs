//! Routes errors to and from libtvm_ffi's thread-local slot (VALUE-F1).

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_OK, CHIPDOCK_TYPE_ERROR, ChipdockAny, ChipdockDevice,
    ChipdockHost, ChipdockStr,
};
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::{static_str, str_in_lossy};
use chipdock_plugin_api::{AnyView, HostRef, slot};

use super::ffi::TvmFfi;

/// What a side of libtvm_ffi does in a process that has none.
pub trait WithoutTvmFfi {
    /// Raises an error.
    fn raise(error: api::Error);

    /// Takes the error that was raised last on this thread.
    fn take() -> Option<api::Error>;
}

/// Returns the table of a side whose errors are in the slot of the process's libtvm_ffi, and whose
/// current streams are those that it knows.
///
/// Make it a `static`: sides are told apart by the address of their table.
#[must_use]
pub const fn tvm_table<W: WithoutTvmFfi>() -> ChipdockHost {
    ChipdockHost {
        abi_major: CHIPDOCK_ABI_MAJOR,
        abi_minor: CHIPDOCK_ABI_MINOR,
        version: static_str(env!("CARGO_PKG_VERSION")),
        self_: ptr::null_mut(),
        raise: raise::<W>,
        raise_object: raise_object::<W>,
        take_error: take_error::<W>,
        log,
        function: slot::function,
        current_stream,
        query: slot::query,
    }
}

/// A library that needs libtvm_ffi is not opened without it.
struct Nowhere;

impl WithoutTvmFfi for Nowhere {
    fn raise(_error: api::Error) {}

    fn take() -> Option<api::Error> {
        None
    }
}

/// Returns the side of the functions that a library got from libtvm_ffi, or gives it.
pub(in crate::library) fn tvm_side() -> HostRef {
    static TABLE: ChipdockHost = tvm_table::<Nowhere>();
    // SAFETY: static, and its functions keep the rules H.1 to H.10: what it does not have it
    // answers as absent.
    unsafe { HostRef::new(&TABLE) }
}

fn set<W: WithoutTvmFfi>(error: api::Error) {
    match TvmFfi::present() {
        Some(tvm_ffi) => tvm_ffi.raise(&error),
        None => W::raise(error),
    }
}

unsafe extern "C" fn raise<W: WithoutTvmFfi>(_self: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: live for the call, H.2.
    let text = |text| unsafe { str_in_lossy(text) }.into_owned();
    set::<W>(api::Error::new(api::ErrorKind::new(text(kind)), text(message)));
}

unsafe extern "C" fn raise_object<W: WithoutTvmFfi>(_self: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: null, or a value that lives for the call.
    let view = unsafe { error.as_ref().map(|raw| AnyView::from_raw(*raw)) };
    let view = view.filter(|view| view.type_index() == CHIPDOCK_TYPE_ERROR);
    let unknown = || {
        let message = "raise_object was given something that is no error object";
        api::Error::new(api::ErrorKind::BROKEN_PLUGIN, message)
    };
    set::<W>(view.and_then(|view| view.to::<api::Error>().ok()).unwrap_or_else(unknown));
}

unsafe extern "C" fn take_error<W: WithoutTvmFfi>(_self: *mut c_void, out_error: *mut ChipdockAny) {
    // An error may be older than libtvm_ffi.
    let error = TvmFfi::present().and_then(TvmFfi::take).or_else(W::take);
    // SAFETY: H.3, a place to write to, or null.
    if let Some(out) = unsafe { out_error.as_mut() } {
        *out = error.map_or(api::Any::NONE, api::Any::from).into_raw();
    }
}

unsafe extern "C" fn log(_self: *mut c_void, _level: i32, _message: ChipdockStr) {}

unsafe extern "C" fn current_stream(
    _self: *mut c_void,
    device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    let stream = TvmFfi::present().map_or(ptr::null_mut(), |tvm_ffi| tvm_ffi.stream(device));
    // SAFETY: H.10, a place to write to, or null.
    if let Some(out) = unsafe { out_stream.as_mut() } {
        *out = stream;
    }
    CHIPDOCK_OK
}
