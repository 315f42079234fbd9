//! A caller's current devices and streams, for the threads that run its tasks.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::ChipdockDevice;

use crate::boundary::slots::Slots;

/// The current devices and streams of a thread, at the time the region was launched.
pub(super) struct Context {
    devices: Vec<ChipdockDevice>,
    streams: Vec<(ChipdockDevice, *mut c_void)>,
}

impl Context {
    /// Returns the context of this thread; `None` where everything is at its default.
    pub(super) fn of_thread(slots: Slots) -> Option<Self> {
        let (mut devices, streams) = (slots.current_devices(), slots.current_streams());
        devices.retain(|device| device.device_id != 0);
        (!devices.is_empty() || !streams.is_empty()).then_some(Self { devices, streams })
    }

    /// Runs `task` with the context current on this thread. Before and afterwards this thread has
    /// its defaults: the default stream, and device 0 of each type.
    pub(super) fn within<R>(&self, slots: Slots, task: impl FnOnce() -> R) -> R {
        for device in &self.devices {
            slots.set_current_device(*device);
        }
        for (device, stream) in &self.streams {
            slots.set_current_stream(*device, *stream);
        }
        let done = task();
        for (device, _) in &self.streams {
            slots.set_current_stream(*device, ptr::null_mut());
        }
        for device in &self.devices {
            slots.set_current_device(ChipdockDevice { device_id: 0, ..*device });
        }
        done
    }
}
