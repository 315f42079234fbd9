//! A caller's current devices and streams, for the threads that run its tasks.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::ChipdockDevice;

use crate::boundary::services::Services;

/// The current devices and streams of a thread, at the time the region was launched.
pub(super) struct Context {
    devices: Vec<ChipdockDevice>,
    streams: Vec<(ChipdockDevice, *mut c_void)>,
}

impl Context {
    /// Returns the context of this thread; `None` where everything is at its default.
    pub(super) fn of_thread(services: &Services) -> Option<Self> {
        let (mut devices, streams) = (services.current_devices(), services.current_streams());
        devices.retain(|device| device.device_id != 0);
        (!devices.is_empty() || !streams.is_empty()).then_some(Self { devices, streams })
    }

    /// Runs `task` with the context current on this thread. Before and afterwards this thread has
    /// its defaults: the default stream, and device 0 of each type.
    pub(super) fn within<R>(&self, services: &Services, task: impl FnOnce() -> R) -> R {
        for device in &self.devices {
            services.set_current_device(*device);
        }
        for (device, stream) in &self.streams {
            services.set_current_stream(*device, *stream);
        }
        let done = task();
        for (device, _) in &self.streams {
            services.set_current_stream(*device, ptr::null_mut());
        }
        for device in &self.devices {
            services.set_current_device(ChipdockDevice { device_id: 0, ..*device });
        }
        done
    }
}
