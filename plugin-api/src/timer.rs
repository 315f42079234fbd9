//! Interface `timer` 1 of a device API: times between marks of streams.

use core::ffi::c_void;

use chipdock_abi::ChipdockTimer1;

use crate::host::write_out;
use crate::interface::{InterfaceKind, check_handle, check_place, enter};
use crate::{Error, Stream};

/// A mark of a stream: an opaque handle, never null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Mark(*mut c_void);

// SAFETY: an opaque handle; what may be done with it is the device API's to say, for any thread
// (P10).
unsafe impl Send for Mark {}
// SAFETY: an opaque handle; what may be done with it is the device API's to say, for any thread
// (P10).
unsafe impl Sync for Mark {}

impl Mark {
    /// Makes a mark from its handle.
    #[must_use]
    pub const fn from_raw(handle: *mut c_void) -> Self {
        Self(handle)
    }

    /// Returns the handle.
    #[must_use]
    pub const fn into_raw(self) -> *mut c_void {
        self.0
    }
}

/// Interface `timer` 1 of a device API: times work on streams.
///
/// Every driver has marks in some form: an event of CUDA, a marker of an OpenCL queue with
/// profiling, a timestamp that a Vulkan queue writes (`Unsupported` if it has no valid bits), the
/// end of a command buffer of Metal.
///
/// On a device that does not check handles ([`crate::attribute::CHECKED_HANDLES`], N.7), the caller
/// guarantees that they are valid.
pub trait Timer: Send + Sync + 'static {
    /// Queues a mark after the work that the stream has (N.1).
    ///
    /// # Errors
    ///
    /// * A failure that the stream keeps (P7.5); then nothing is queued.
    /// * `Unsupported`: the device cannot time that stream.
    ///
    /// # Safety
    ///
    /// * `stream` is the default stream or one of this device that is not freed.
    unsafe fn mark(&self, device_id: i32, stream: Stream) -> Result<Mark, Error>;

    /// Waits until both marks are reached; returns the nanoseconds of the device from one to the
    /// other (N.2 to N.5).
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: a mark is not live, or belongs to another device.
    /// * `IoError`, `DeviceLost`: a mark is never reached (N.8).
    ///
    /// # Safety
    ///
    /// * Both came from [`Self::mark`] of the same device and are not freed.
    unsafe fn elapsed(&self, device_id: i32, from: Mark, to: Mark) -> Result<f64, Error>;

    /// Frees a mark, reached or not (N.6). It is not null: the shim handles null.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: the mark is not live, or belongs to another device.
    ///
    /// # Safety
    ///
    /// * `mark` came from [`Self::mark`] of the same device, and is freed once.
    unsafe fn free_mark(&self, device_id: i32, mark: Mark) -> Result<(), Error>;
}

unsafe extern "C" fn mark(
    self_: *mut c_void,
    device_id: i32,
    stream: *mut c_void,
    out: *mut *mut c_void,
) -> i32 {
    let body = |timer: &dyn Timer| {
        check_place(out)?;
        // SAFETY: `stream` is the default stream or a live one (D.19).
        let mark = unsafe { timer.mark(device_id, Stream::from_raw(stream)) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out, mark.into_raw()) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timer>(self_, body) }
}

unsafe extern "C" fn elapsed(
    self_: *mut c_void,
    device_id: i32,
    from: *mut c_void,
    to: *mut c_void,
    out_nanoseconds: *mut f64,
) -> i32 {
    let body = |timer: &dyn Timer| {
        check_place(out_nanoseconds)?;
        check_handle(from, "the mark to count from")?;
        check_handle(to, "the mark to count to")?;
        // SAFETY: `from` and `to` are live marks (N.7).
        let found = unsafe { timer.elapsed(device_id, Mark::from_raw(from), Mark::from_raw(to)) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_nanoseconds, found) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timer>(self_, body) }
}

unsafe extern "C" fn free_mark(self_: *mut c_void, device_id: i32, mark: *mut c_void) -> i32 {
    let body = |timer: &dyn Timer| {
        if mark.is_null() {
            return Ok(());
        }
        // SAFETY: `mark` is null or a live mark that is freed once (N.6).
        unsafe { timer.free_mark(device_id, Mark::from_raw(mark)) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Timer>(self_, body) }
}

static TABLE: ChipdockTimer1 = ChipdockTimer1 { mark, elapsed, free_mark };

/// Interface `timer` 1 of a device API.
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const TIMER: InterfaceKind<dyn Timer> = unsafe { InterfaceKind::new("timer", 1, &TABLE) };
