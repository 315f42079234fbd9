//! A caller's current devices and streams, for the threads that run its tasks.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::ChipdockDevice;

use crate::error::Error;
use crate::options::LogLevel;
use crate::runtime::DeviceState;
use crate::services::Services;

/// What is current on a thread, as it was when the region was launched.
pub(super) struct Context {
    devices: Vec<ChipdockDevice>,
    streams: Vec<(ChipdockDevice, *mut c_void)>,
}

impl Context {
    /// This thread's; nothing where all is at its default.
    pub(super) fn of_thread(services: &Services) -> Option<Self> {
        let (mut devices, streams) = (services.current_devices(), services.current_streams());
        devices.retain(|device| device.device_id != 0);
        (!devices.is_empty() || !streams.is_empty()).then_some(Self { devices, streams })
    }

    /// Runs `task` with it current on this thread, where all is at its default before and afterwards.
    ///
    /// # Errors
    ///
    /// What a device API answers; the task has not run.
    pub(super) fn within<R>(
        &self,
        services: &'static Services,
        task: impl FnOnce() -> R,
    ) -> Result<R, Error> {
        let done = self.enter(services).map(|()| task());
        self.leave(services);
        done
    }

    fn enter(&self, services: &'static Services) -> Result<(), Error> {
        for device in &self.devices {
            services.set_current_device(*device);
            tell(services, *device, |state| state.api.set_device(services, state.id))?;
        }
        for (device, stream) in &self.streams {
            services.set_current_stream(*device, *stream);
            tell(services, *device, |state| state.api.set_stream(services, state.id, *stream))?;
        }
        Ok(())
    }

    /// Back to the defaults: the default stream, and device 0 of each type. Where a device API refuses that, the task is
    /// done all the same.
    fn leave(&self, services: &'static Services) {
        let warn = |told: Result<(), Error>| {
            if let Err(error) = told {
                services.log(LogLevel::Warning, &format!("after a task of a parallel region: {error}"));
            }
        };
        for (device, _) in &self.streams {
            services.set_current_stream(*device, ptr::null_mut());
            warn(tell(services, *device, |state| state.api.set_stream(services, state.id, ptr::null_mut())));
        }
        for device in &self.devices {
            services.set_current_device(ChipdockDevice { device_id: 0, ..*device });
            warn(tell(services, *device, |state| state.api.set_device(services, 0)));
        }
    }
}

/// Tells the device API of an open device.
fn tell(
    services: &Services,
    device: ChipdockDevice,
    what: impl FnOnce(&DeviceState) -> Result<(), Error>,
) -> Result<(), Error> {
    let state = services.inner().and_then(|inner| inner.devices.by_number(device));
    state.map_or(Ok(()), |state| what(&state))
}
