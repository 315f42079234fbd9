//! Whom a library works for that asks TVM's run time or libtvm_ffi for something (LIB-9, LIB-12).

use std::cell::Cell;
use std::ffi::{CString, c_void};

use libloading::os::unix::Library;

use super::context;
use super::ffi::TvmFfi;
use crate::boundary::services::Services;
use crate::error::{Error, ErrorKind};

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
        let of_tvm_ffi = || tvm_ffi?.address(&CString::new(function).ok()?);
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
