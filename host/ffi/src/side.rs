//! The side of this library's callers: where errors of its functions are raised (FFI-3).

use chipdock_abi::ChipdockHost;
use chipdock_host::library::{TvmFfi, WithoutTvmFfi, tvm_table};
use chipdock_plugin_api::{Error, HostRef, slot};

/// In a process without libtvm_ffi errors are in this library's own slot.
struct OwnSlot;

impl WithoutTvmFfi for OwnSlot {
    fn raise(error: Error) {
        slot::set(Some(error));
    }

    fn take() -> Option<Error> {
        slot::take()
    }
}

/// Returns the side of the callers.
pub(crate) fn callers() -> HostRef {
    static TABLE: ChipdockHost = tvm_table::<OwnSlot>();
    // SAFETY: static, and its functions keep the rules H.1 to H.10: what it does not have it
    // answers as absent.
    unsafe { HostRef::new(&TABLE) }
}

/// Takes the error that was raised for the caller last.
pub(crate) fn take() -> Option<Error> {
    // An error may be older than libtvm_ffi.
    TvmFfi::present().and_then(TvmFfi::take).or_else(slot::take)
}
