//! The error slot, one error per thread, for hosts; and the standalone host, which has nothing
//! else.

use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr;

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_OK, CHIPDOCK_TYPE_ERROR, ChipdockAny, ChipdockDevice,
    ChipdockHost, ChipdockInterface, ChipdockStr,
};

use crate::text::{static_str, str_in_lossy};
use crate::{Any, AnyView, Error, ErrorKind};

thread_local! {
    static SLOT: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Sets this thread's error, as `ChipdockHost.raise`. A host may put it into its own table.
///
/// # Safety
///
/// * Both strings are live for the call.
pub unsafe extern "C" fn raise(_self: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: the caller guarantees that both are live for the call.
    let (kind, message) = unsafe { (str_in_lossy(kind).into_owned(), str_in_lossy(message).into_owned()) };
    set(Some(Error::new(ErrorKind::new(kind), message)));
}

/// Sets this thread's error to an error object, as `ChipdockHost.raise_object`. A host may put it
/// into its own table.
///
/// Anything other than an error object is reported as a broken plugin.
///
/// # Safety
///
/// * `error` is null or a live value that is borrowed for the call.
pub unsafe extern "C" fn raise_object(_self: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: the caller guarantees that `error` is null or live.
    let view = unsafe { error.as_ref().map(|raw| AnyView::from_raw(*raw)) };
    let error = match view {
        Some(view) if view.type_index() == CHIPDOCK_TYPE_ERROR => view.to::<Error>().ok(),
        _ => None,
    };
    set(Some(error.unwrap_or_else(|| {
        Error::new(ErrorKind::BROKEN_PLUGIN, "raise_object was given something that is no error object")
    })));
}

/// Moves this thread's error out, as `ChipdockHost.take_error`. A host may put it into its own
/// table.
///
/// # Safety
///
/// * `out_error` is null or writable.
pub unsafe extern "C" fn take_error(_self: *mut c_void, out_error: *mut ChipdockAny) {
    if out_error.is_null() {
        return;
    }
    let error = take().map_or(Any::NONE, Any::from);
    // SAFETY: not null, and the caller guarantees that it is writable.
    unsafe { out_error.write(error.into_raw()) };
}

/// Moves this thread's error out.
#[must_use]
pub fn take() -> Option<Error> {
    // While the thread ends there is no slot any more, and no code that could read it.
    SLOT.try_with(|slot| slot.take()).ok().flatten()
}

/// Sets or clears this thread's error.
pub fn set(error: Option<Error>) {
    // The old error is dropped outside the borrow: its destructor may be somebody else's code.
    let old = SLOT.try_with(|slot| slot.replace(error));
    drop(old);
}

unsafe extern "C" fn log(_self: *mut c_void, _level: i32, message: ChipdockStr) {
    // SAFETY: live for the call, H.2.
    eprintln!("{}", unsafe { str_in_lossy(message) });
}

/// Answers that no function is registered, as `ChipdockHost.function`. A host without functions may
/// put it into its own table.
///
/// # Safety
///
/// * `out_function` is null or writable.
pub unsafe extern "C" fn function(
    _self: *mut c_void,
    _name: ChipdockStr,
    out_function: *mut ChipdockAny,
) -> i32 {
    if !out_function.is_null() {
        // SAFETY: not null, and writable by H.4.
        unsafe { out_function.write(Any::NONE.into_raw()) };
    }
    0
}

/// Answers the default stream, as `ChipdockHost.current_stream`. A host without streams may put it
/// into its own table.
///
/// # Safety
///
/// * `out_stream` is null or writable.
pub unsafe extern "C" fn current_stream(
    _self: *mut c_void,
    _device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    // SAFETY: H.10, a place to write to, or null.
    if let Some(out) = unsafe { out_stream.as_mut() } {
        *out = ptr::null_mut();
    }
    CHIPDOCK_OK
}

/// Answers that there is no interface, as `ChipdockHost.query`. A host without interfaces may put
/// it into its own table.
///
/// # Safety
///
/// * `out_interface` is null or writable.
pub unsafe extern "C" fn query(
    _self: *mut c_void,
    _name: ChipdockStr,
    _version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: H.5, a place to write to, or null.
    if let Some(out) = unsafe { out_interface.as_mut() } {
        *out = ChipdockInterface::NONE;
    }
    CHIPDOCK_OK
}

pub(crate) static STANDALONE: ChipdockHost = ChipdockHost {
    abi_major: CHIPDOCK_ABI_MAJOR,
    abi_minor: CHIPDOCK_ABI_MINOR,
    version: static_str(env!("CARGO_PKG_VERSION")),
    self_: ptr::null_mut(),
    raise,
    raise_object,
    take_error,
    log,
    function,
    current_stream,
    query,
};
