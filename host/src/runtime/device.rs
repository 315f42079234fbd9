//! Devices and streams.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, PoisonError};

use chipdock_abi::ChipdockDevice;
use serde_json::Value;

use super::capture;
use super::device_state::{DeviceState, no_such_device};
use super::tables::broken;
use crate::error::{Error, ErrorKind};
use crate::host::{Host, HostInner};
use crate::names::name_in_key;

/// A device: one of a device API's devices, by its id.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<DeviceInner>);

pub(crate) struct DeviceInner {
    pub(crate) host: Host,
    pub(crate) state: Arc<DeviceState>,
}

impl HostInner {
    /// Returns the device with these numbers, as a tensor carries them.
    pub(crate) fn device_by_number(&self, device: ChipdockDevice) -> Result<Arc<DeviceState>, Error> {
        if let Some(state) = self.devices.by_number(device) {
            return Ok(state);
        }
        let name = self.registry.device_type_name(device.device_type)?;
        self.device_state(&name, device.device_id)
    }

    pub(crate) fn device_state(&self, name: &str, device_id: i32) -> Result<Arc<DeviceState>, Error> {
        self.services.check_process()?;
        if let Some(device) = self.devices.by_name(name, device_id) {
            return Ok(device);
        }
        let Some(api) = self.registry.device_api(name)? else {
            return Err(self.registry.missing(&format!("device_api.{name}")));
        };
        let count = api.count()?;
        if device_id < 0 || device_id >= count {
            return Err(no_such_device(name, device_id, count));
        }
        Ok(self.devices.add(DeviceState::new(self.services, api, device_id)))
    }
}

impl Host {
    /// Returns the names of all device APIs, sorted, those of refused plugins among them (REG-R7).
    /// Opens nothing.
    #[must_use]
    pub fn device_names(&self) -> Vec<String> {
        let keys = self.keys().into_iter();
        keys.filter_map(|report| name_in_key(&report.key, "device_api.").map(str::to_owned)).collect()
    }

    /// Returns the number of devices of the device API of that name; 0 is no error.
    ///
    /// # Errors
    ///
    /// `Unavailable`: no plugin provides it, or the plugin reports why there can be none.
    pub fn device_count(&self, name: &str) -> Result<i32, Error> {
        let api = self
            .0
            .registry
            .device_api(name)?
            .ok_or_else(|| self.0.registry.missing(&format!("device_api.{name}")))?;
        api.count()
    }

    /// Opens a device.
    ///
    /// # Errors
    ///
    /// `Unavailable`: no plugin provides the device API, or the plugin reports why there can be no
    /// device. `NotFound`, about a [`crate::Subject::Device`]: it has no device of that id.
    pub fn device(&self, name: &str, device_id: i32) -> Result<Device, Error> {
        let state = self.0.device_state(name, device_id)?;
        Ok(Device(Arc::new(DeviceInner { host: self.clone(), state })))
    }

    /// Returns the device with these numbers, as a tensor carries them.
    ///
    /// # Errors
    ///
    /// `NotFound` when no open device API has that type number, and as [`Self::device`].
    pub fn device_by_number(&self, device: ChipdockDevice) -> Result<Device, Error> {
        self.0.services.check_process()?;
        let state = self.0.device_by_number(device)?;
        Ok(Device(Arc::new(DeviceInner { host: self.clone(), state })))
    }
}

impl Device {
    pub(crate) fn state(&self) -> &Arc<DeviceState> {
        &self.0.state
    }

    /// Returns the host that it belongs to.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.0.host
    }

    /// Returns the name of its device API.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.state.api.name
    }

    /// Returns its number among the devices of that name, from 0.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.0.state.id
    }

    /// Returns type number and id, as a tensor carries them.
    #[must_use]
    pub fn number(&self) -> ChipdockDevice {
        self.0.state.device()
    }

    /// Returns true if its memory is host memory, addressed as such.
    #[must_use]
    pub fn is_host_memory(&self) -> bool {
        self.0.state.api.device_type == chipdock_abi::CHIPDOCK_DEVICE_CPU
    }

    /// Returns an attribute, or `None` when the device does not know it. Keys, types and units are
    /// listed in `chipdock_plugin_api::attribute`.
    ///
    /// # Errors
    ///
    /// `DeviceLost` or `Unavailable`: the device cannot be queried.
    pub fn attribute(&self, key: &str) -> Result<Option<Value>, Error> {
        let state = &self.0.state;
        state.services.check_process()?;
        state.api.attribute(state.id, key)
    }

    /// Waits until all work queued on any stream of this device is done.
    ///
    /// # Errors
    ///
    /// The first failure of that work; all streams were waited for.
    pub fn sync(&self) -> Result<(), Error> {
        self.0.state.services.check_process()?;
        capture::refuse("a wait for the device")?;
        self.0.state.sync_all()
    }

    /// Returns memory that tensors and workspace left behind to the device.
    ///
    /// # Errors
    ///
    /// The first failure; the rest was returned all the same.
    pub fn trim(&self) -> Result<(), Error> {
        self.0.state.services.check_process()?;
        self.0.state.trim()
    }

    /// Opens the device again after it was lost; on one that is not lost it only returns cached
    /// memory. Tensors, streams and modules that were made on it before can then only be dropped.
    ///
    /// # Errors
    ///
    /// `Unsupported`: the plugin has no interface `reset` 1, so that only a new process opens the
    /// device again; `DeviceLost`: it could not be opened.
    pub fn reset(&self) -> Result<(), Error> {
        let state = &self.0.state;
        state.services.check_process()?;
        state.api.reset(state.id)?;
        state.spaces.reset();
        // The cache belongs to the device as it was.
        state.trim()
    }

    /// Creates a stream.
    ///
    /// # Errors
    ///
    /// `OutOfMemory` or `DeviceLost`: none was made.
    pub fn create_stream(&self) -> Result<Stream, Error> {
        let state = &self.0.state;
        state.services.check_process()?;
        let raw = state.api.create_stream(state.id)?;
        self.keep_stream(raw, "create_stream")
    }

    /// Takes over a stream that the plugin created in `what`.
    pub(super) fn keep_stream(&self, raw: *mut c_void, what: &str) -> Result<Stream, Error> {
        if !raw.is_null() {
            let mut streams = self.0.state.streams.lock().unwrap_or_else(PoisonError::into_inner);
            if streams.contains(&raw.addr()) {
                // Not freed: it belongs to another owner.
                let name = self.name();
                return Err(broken(format!(
                    "`{what}` of device_api.{name} answered {raw:p}, a stream that lives"
                )));
            }
            streams.push(raw.expose_provenance());
        }
        Ok(Stream { device: self.clone(), raw })
    }

    /// Returns the default stream.
    #[must_use]
    pub fn default_stream(&self) -> Stream {
        Stream { device: self.clone(), raw: ptr::null_mut() }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name(), self.id())
    }
}

/// An ordered queue of a device. Dropping one waits for its work.
pub struct Stream {
    device: Device,
    raw: *mut c_void,
}

// SAFETY: an opaque handle; a device API may be called from any thread (P10).
unsafe impl Send for Stream {}
// SAFETY: an opaque handle; a device API may be called from any thread (P10).
unsafe impl Sync for Stream {}

impl Stream {
    /// Returns the handle; null is the default stream.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Returns the device that it is a queue of.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until all work queued on it is done.
    ///
    /// # Errors
    ///
    /// The first failure of that work.
    pub fn sync(&self) -> Result<(), Error> {
        self.device.0.state.services.check_process()?;
        capture::refuse("a wait for a stream")?;
        self.device.0.state.sync_raw(self.raw)
    }

    /// Makes work queued later on this stream wait for the work that is queued on `from` now.
    ///
    /// # Errors
    ///
    /// `ValueError` when they belong to different devices; errors of the device.
    pub fn wait_for(&self, from: &Self) -> Result<(), Error> {
        let state = &self.device.0.state;
        if !Arc::ptr_eq(state, &from.device.0.state) {
            let message = format!("a stream of {:?} cannot wait for one of {:?}", self.device, from.device);
            return Err(Error::new(ErrorKind::Value, message));
        }
        state.api.sync_from_to(state.id, from.raw, self.raw)
    }

    /// Makes it the current stream of its device on this thread, until the guard is dropped.
    ///
    /// # Errors
    ///
    /// `WrongState` in a child of `fork`; the current stream is as it was.
    pub fn enter(&self) -> Result<StreamGuard<'_>, Error> {
        let state = &self.device.0.state;
        state.services.check_process()?;
        let before = state.services.slots.set_current_stream(state.device(), self.raw);
        Ok(StreamGuard { stream: self, before })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let state = &self.device.0.state;
        if self.raw.is_null() || state.services.check_process().is_err() {
            return;
        }
        state.warn_of(self.sync());
        state.streams.lock().unwrap_or_else(PoisonError::into_inner).retain(|raw| *raw != self.raw.addr());
        state.warn_of(state.api.free_stream(state.id, self.raw));
        state.pool.release_stream(self.raw);
    }
}

/// Guard of a current stream: while it lives, its stream is the current one of its device on this
/// thread. Guards are dropped in reverse order.
pub struct StreamGuard<'a> {
    stream: &'a Stream,
    before: *mut c_void,
}

impl Drop for StreamGuard<'_> {
    fn drop(&mut self) {
        let state = &self.stream.device.0.state;
        state.services.slots.set_current_stream(state.device(), self.before);
    }
}
