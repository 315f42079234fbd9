//! The side of this library's callers: where errors of its functions are raised (FFI-3).

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_OK, CHIPDOCK_TYPE_ERROR, ChipdockAny, ChipdockDevice,
    ChipdockHost, ChipdockStr,
};
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::static_str;
use chipdock_plugin_api::{Any, AnyView, HostRef, slot};

use crate::tvm_ffi::TvmFfi;

/// Returns the side of the callers.
pub(crate) fn callers() -> HostRef {
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
        current_stream,
        query: slot::query,
    };
    // SAFETY: static, and its functions keep the rules H.1 to H.10: what it does not have it
    // answers as absent.
    unsafe { HostRef::new(&TABLE) }
}

/// Raises an error for the caller: with libtvm_ffi where the process has it, else in this library's
/// own slot.
fn set(error: api::Error) {
    match TvmFfi::present() {
        // SAFETY: it borrows the error object, and keeps a reference of its own.
        Some(tvm_ffi) => unsafe { (tvm_ffi.set_raised)(error.object().as_ptr()) },
        None => slot::set(Some(error)),
    }
}

/// Takes the error that was raised for the caller last.
pub(crate) fn take() -> Option<api::Error> {
    // An error may be older than libtvm_ffi.
    TvmFfi::present().and_then(TvmFfi::take).or_else(slot::take)
}

unsafe extern "C" fn raise(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: live for the call, H.2.
    unsafe { slot::raise(self_, kind, message) };
    if let Some(error) = slot::take() {
        set(error);
    }
}

unsafe extern "C" fn raise_object(self_: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: null, or a value that lives for the call.
    let view = unsafe { error.as_ref().map(|raw| AnyView::from_raw(*raw)) };
    match view.filter(|view| view.type_index() == CHIPDOCK_TYPE_ERROR).map(AnyView::to::<api::Error>) {
        Some(Ok(error)) => set(error),
        _ => {
            // SAFETY: as above; it reports what is no error.
            unsafe { slot::raise_object(self_, error) };
            if let Some(error) = slot::take() {
                set(error);
            }
        }
    }
}

unsafe extern "C" fn take_error(_self: *mut c_void, out_error: *mut ChipdockAny) {
    let error = take().map_or(Any::NONE, Any::from);
    // SAFETY: H.3, a place to write to, or null.
    if let Some(out) = unsafe { out_error.as_mut() } {
        *out = error.into_raw();
    }
}

unsafe extern "C" fn log(_self: *mut c_void, _level: i32, _message: ChipdockStr) {}

unsafe extern "C" fn current_stream(
    _self: *mut c_void,
    device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    // SAFETY: two numbers; it answers null for what it does not know.
    let stream = TvmFfi::present()
        .map_or(ptr::null_mut(), |tvm_ffi| unsafe { (tvm_ffi.stream)(device.device_type, device.device_id) });
    // SAFETY: H.10, a place to write to, or null.
    if let Some(out) = unsafe { out_stream.as_mut() } {
        *out = stream;
    }
    CHIPDOCK_OK
}
