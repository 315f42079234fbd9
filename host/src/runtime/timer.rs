//! Interface `timer` 1 of devices: marks of streams, and the device's time between them.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use chipdock_abi::ChipdockTimer1;

use super::device::{Device, Stream};
use super::tables::broken;
use crate::boundary::registrar::DeviceApiEntry;
use crate::error::{Error, ErrorKind};

impl DeviceApiEntry {
    /// Calls a function of interface `timer` 1.
    fn timer(
        &self,
        device_id: i32,
        what: &str,
        call: impl FnOnce(&ChipdockTimer1, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        self.call_interface("timer", what, call, || {
            let message =
                format!("device {}:{device_id} cannot measure time: its plugin has no `timer` 1", self.name);
            Error::new(ErrorKind::Unsupported, message).hint("measure on the host")
        })
    }
}

impl Device {
    /// Returns true if it measures the time of its work: if its plugin has the interface `timer` 1.
    #[must_use]
    pub fn has_timer(&self) -> bool {
        self.state().api.extensions.get::<ChipdockTimer1>("timer", 1).is_some()
    }
}

impl Stream {
    /// Queues a mark after the work that the stream has; waits for nothing.
    ///
    /// # Errors
    ///
    /// `Unsupported`: the device has no timer ([`Device::has_timer`]), or cannot time this stream;
    /// a failure of earlier work on the stream; `DeviceLost`.
    pub fn mark(&self) -> Result<Mark, Error> {
        let state = self.device().state();
        state.services.check_process()?;
        let mut raw = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`; a stream of the device, and a place to write
        // to.
        state.api.timer(state.id, "mark", |table, self_| unsafe {
            (table.mark)(self_, state.id, self.raw(), &mut raw)
        })?;
        if raw.is_null() {
            return Err(broken(format!(
                "`mark` of device_api.{} succeeded and answered null",
                state.api.name
            )));
        }
        Ok(Mark { device: self.device().clone(), raw })
    }
}

/// A mark of a stream, which is reached when all work that was queued before it is done.
pub struct Mark {
    device: Device,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; an interface's functions may be called from any thread (P3.11).
unsafe impl Send for Mark {}
// SAFETY: an opaque handle; an interface's functions may be called from any thread (P3.11).
unsafe impl Sync for Mark {}

impl Mark {
    /// Returns the device's time from `start` to this mark in nanoseconds; waits until both are
    /// reached. Negative where `start` was reached later.
    ///
    /// # Errors
    ///
    /// `ValueError` when they are of different devices; the failure because of which one is never
    /// reached.
    pub fn nanoseconds_since(&self, start: &Self) -> Result<f64, Error> {
        let state = self.device.state();
        if !Arc::ptr_eq(state, start.device.state()) {
            let message = format!("a mark of {:?} has no time since one of {:?}", self.device, start.device);
            return Err(Error::new(ErrorKind::Value, message));
        }
        state.services.check_process()?;
        let mut found = f64::NAN;
        // SAFETY: P3.11, the table with its `self_`; marks of the device that live, and a place to
        // write to.
        state.api.timer(state.id, "elapsed", |table, self_| unsafe {
            (table.elapsed)(self_, state.id, start.raw, self.raw, &mut found)
        })?;
        if !found.is_finite() {
            let message = format!("`elapsed` of device_api.{} answered {found}", state.api.name);
            return Err(broken(format!("{message}; expected a finite number of nanoseconds")));
        }
        Ok(found)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let state = self.device.state();
        if state.services.check_process().is_err() {
            return;
        }
        // SAFETY: P3.11, the table with its `self_`; a mark of the device, freed once.
        let freed = state.api.timer(state.id, "free_mark", |table, self_| unsafe {
            (table.free_mark)(self_, state.id, self.raw)
        });
        state.warn_of(freed);
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mark({:p} of {:?})", self.raw, self.device)
    }
}
