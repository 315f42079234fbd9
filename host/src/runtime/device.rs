//! Devices and streams.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd, ChipdockDataType, ChipdockDevice};
use serde_json::Value;

use super::pool::{Block, Body, Given, Pool, class_bytes, class_of};
use super::tables::broken;
use super::workspace::Workspaces;
use crate::boundary::registrar::DeviceApiEntry;
use crate::boundary::services::Services;
use crate::error::{Error, ErrorKind, Subject};
use crate::host::{Host, HostInner};
use crate::names::name_in_key;
use crate::options::LogLevel;

/// The opened devices of a host, by name and id.
#[derive(Default)]
pub(crate) struct Devices(RwLock<BTreeMap<(String, i32), Arc<DeviceState>>>);

impl Devices {
    fn by_name(&self, name: &str, device_id: i32) -> Option<Arc<DeviceState>> {
        let devices = self.0.read().unwrap_or_else(PoisonError::into_inner);
        devices.values().find(|device| device.id == device_id && device.api.name == name).cloned()
    }

    pub(crate) fn by_number(&self, device: ChipdockDevice) -> Option<Arc<DeviceState>> {
        let devices = self.0.read().unwrap_or_else(PoisonError::into_inner);
        devices.values().find(|known| known.device() == device).cloned()
    }

    fn add(&self, device: DeviceState) -> Arc<DeviceState> {
        let mut devices = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (device.api.name.clone(), device.id);
        Arc::clone(devices.entry(key).or_insert_with(|| Arc::new(device)))
    }

    /// Returns all cached memory to its device: the host is going away.
    pub(crate) fn release(&self) {
        let devices = std::mem::take(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner));
        for device in devices.into_values() {
            device.warn_of(device.trim());
        }
    }
}

/// A device of a host: its API, its pool, its workspace.
pub(crate) struct DeviceState {
    pub(crate) services: &'static Services,
    pub(crate) api: Arc<DeviceApiEntry>,
    pub(crate) id: i32,
    pool: Pool,
    pub(crate) workspaces: Workspaces,
    /// Live streams other than the default, as numbers.
    streams: Mutex<Vec<usize>>,
}

impl DeviceState {
    pub(crate) fn device(&self) -> ChipdockDevice {
        ChipdockDevice { device_type: self.api.device_type, device_id: self.id }
    }

    /// Returns the stream that is active on this thread; null is the default.
    pub(crate) fn current_stream(&self) -> *mut c_void {
        self.services.current_stream(self.device())
    }

    /// Logs a failure that has no caller to report it to.
    pub(crate) fn warn_of(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.services.log(LogLevel::Warning, &format!("device {}:{}: {error}", self.api.name, self.id));
        }
    }

    /// Allocates from the device, bypassing the pool; when there is no memory left, the pool is
    /// trimmed and the allocation tried once more.
    pub(crate) fn allocate_raw(
        &self,
        size_bytes: u64,
        dtype: ChipdockDataType,
    ) -> Result<*mut c_void, Error> {
        match self.api.allocate(self.services, self.id, size_bytes, dtype) {
            Err(error) if *error.kind() == ErrorKind::OutOfMemory => {
                self.trim()?;
                self.api.allocate(self.services, self.id, size_bytes, dtype)
            }
            result => result,
        }
    }

    pub(crate) fn free_raw(&self, data: *mut c_void) -> Result<(), Error> {
        self.api.free(self.services, self.id, data)
    }

    pub(crate) fn sync_raw(&self, stream: *mut c_void) -> Result<(), Error> {
        self.api.sync(self.services, self.id, stream)
    }

    /// Copies bytes in the order of the current stream, and waits until they are there.
    ///
    /// # Safety
    ///
    /// * Both ends are live, as large as the copy states, and do not overlap; at least one is of
    ///   this device.
    pub(crate) unsafe fn copy_now(
        &self,
        from: ChipdockCopyEnd,
        to: ChipdockCopyEnd,
        size_bytes: u64,
        dtype_hint: ChipdockDataType,
    ) -> Result<(), Error> {
        self.services.check_process()?;
        if size_bytes == 0 {
            return Ok(());
        }
        let stream = self.current_stream();
        let copy = ChipdockCopy { from, to, size_bytes, dtype_hint, next: std::ptr::null() };
        // SAFETY: both ends are live, large enough and do not overlap, as this function requires;
        // the ends stay as they are until the stream is synchronised below.
        unsafe { self.api.copy(self.services, self.id, &copy, stream) }?;
        self.sync_raw(stream)
    }

    /// Allocates memory for a tensor, described as compact: from the pool, or from the device.
    pub(crate) fn allocate(
        &self,
        size_bytes: u64,
        dtype: ChipdockDataType,
        shape: &[i64],
    ) -> Result<Arc<Body>, Error> {
        let class = class_of(size_bytes);
        let stream = self.current_stream();
        let describe = |body: &mut Body| body.describe(self.device(), dtype, shape);
        if stream.is_null()
            && let Some(body) = self.pool.take_body(class, describe)
        {
            return Ok(body);
        }
        let mut body = Arc::new(Body::new(self.allocate_block(size_bytes, class, stream, dtype)?));
        // On the heap first: the description points into the body itself.
        if let Some(body) = Arc::get_mut(&mut body) {
            describe(body);
        }
        Ok(body)
    }

    fn allocate_block(
        &self,
        size_bytes: u64,
        class: u32,
        stream: *mut c_void,
        dtype: ChipdockDataType,
    ) -> Result<Block, Error> {
        if let Some(block) = self.pool.take(class, stream) {
            return Ok(block);
        }
        let Some(rounded) = class_bytes(class) else {
            let message = format!("{size_bytes} bytes on {}:{} cannot be allocated", self.api.name, self.id);
            return Err(Error::new(ErrorKind::OutOfMemory, message));
        };
        let data = self.allocate_raw(rounded, dtype)?;
        Ok(Block { data, class, home: stream })
    }

    /// Takes a tensor's memory back, if this was the last reference to it.
    pub(crate) fn release(&self, body: Arc<Body>) {
        // There are no weak references: one strong one is the only one.
        let body = if Arc::strong_count(&body) == 1 {
            match self.pool.give_body(body) {
                Ok(()) => return,
                Err(body) => body,
            }
        } else {
            body
        };
        let Some(body) = Arc::into_inner(body) else { return };
        let block = body.block();
        match self.pool.give(block) {
            Given::Kept => {}
            Given::Free => {
                let done = self.sync_raw(block.home).and_then(|()| self.free_raw(block.data));
                self.warn_of(done);
            }
            Given::Sync => self.warn_of(self.sync_all()),
        }
    }

    /// Records that work on the current stream may use memory that another stream allocated.
    pub(crate) fn mark(&self, data: *mut c_void) {
        self.pool.mark(data);
    }

    fn live_streams(&self) -> Vec<*mut c_void> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let others = streams.iter().map(|stream| ptr::with_exposed_provenance_mut(*stream));
        std::iter::once(ptr::null_mut()).chain(others).collect()
    }

    /// Waits for all streams; returns the first failure, after waiting for all of them.
    pub(crate) fn sync_all(&self) -> Result<(), Error> {
        let unsettled = self.pool.unsettled();
        let mut first = Ok(());
        for stream in self.live_streams() {
            let synchronised = self.sync_raw(stream);
            if first.is_ok() {
                first = synchronised;
            }
        }
        self.pool.settle(unsettled);
        first
    }

    /// Returns all cached memory to the device.
    pub(crate) fn trim(&self) -> Result<(), Error> {
        let cached: Vec<*mut c_void> = self.pool.drain().into_iter().chain(self.drain_workspaces()).collect();
        let mut first = self.sync_all();
        for data in cached {
            let freed = self.free_raw(data);
            if first.is_ok() {
                first = freed;
            }
        }
        first
    }
}

/// A device: one of a device API's devices, by its id.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<DeviceInner>);

pub(crate) struct DeviceInner {
    pub(crate) host: Host,
    pub(crate) state: Arc<DeviceState>,
}

/// Makes the error for an id that none of the devices of a name has.
pub(crate) fn no_such_device(name: &str, device_id: i32, count: i32) -> Error {
    let has = match count {
        0 => format!("\"{name}\" has no device here"),
        1 => format!("\"{name}\" has one device, {name}:0"),
        _ => format!("\"{name}\" has {count} devices, {name}:0 to {name}:{}", count - 1),
    };
    let error = Error::new(ErrorKind::NotFound, format!("there is no device {name}:{device_id}"));
    error.hint(has).about(Subject::Device)
}

impl HostInner {
    /// Returns the device with these numbers, as a tensor carries them.
    pub(crate) fn device_state_by_number(&self, device: ChipdockDevice) -> Result<Arc<DeviceState>, Error> {
        if let Some(state) = self.devices.by_number(device) {
            return Ok(state);
        }
        let name = self.device_type_name(device.device_type)?;
        self.device_state(&name, device.device_id)
    }

    pub(crate) fn device_state(&self, name: &str, device_id: i32) -> Result<Arc<DeviceState>, Error> {
        self.services.check_process()?;
        if let Some(device) = self.devices.by_name(name, device_id) {
            return Ok(device);
        }
        let Some(api) = self.device_api(name)? else {
            return Err(self.missing(&format!("device_api.{name}")));
        };
        let count = api.count(self.services)?;
        if device_id < 0 || device_id >= count {
            return Err(no_such_device(name, device_id, count));
        }
        Ok(self.devices.add(DeviceState {
            services: self.services,
            api,
            id: device_id,
            pool: Pool::default(),
            workspaces: Workspaces::default(),
            streams: Mutex::default(),
        }))
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
        let api = self.0.device_api(name)?.ok_or_else(|| self.0.missing(&format!("device_api.{name}")))?;
        api.count(self.0.services)
    }

    /// Opens a device.
    ///
    /// # Errors
    ///
    /// `Unavailable`: no plugin provides the device API, or the plugin reports why there can be no
    /// device. `NotFound`, about a [`Subject::Device`]: it has no device of that id.
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
        let state = self.0.device_state_by_number(device)?;
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
        state.api.attribute(state.services, state.id, key)
    }

    /// Waits until all work queued on any stream of this device is done.
    ///
    /// # Errors
    ///
    /// The first failure of that work; all streams were waited for.
    pub fn sync(&self) -> Result<(), Error> {
        self.0.state.services.check_process()?;
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
        state.api.reset(state.services, state.id)?;
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
        let raw = state.api.create_stream(state.services, state.id)?;
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
        state.api.sync_from_to(state.services, state.id, from.raw, self.raw)
    }

    /// Makes it the current stream of its device on this thread, until the guard is dropped.
    ///
    /// # Errors
    ///
    /// `WrongState` in a child of `fork`; the current stream is as it was.
    pub fn enter(&self) -> Result<StreamGuard<'_>, Error> {
        let state = &self.device.0.state;
        state.services.check_process()?;
        let before = state.services.set_current_stream(state.device(), self.raw);
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
        state.warn_of(state.api.free_stream(state.services, state.id, self.raw));
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
        state.services.set_current_stream(state.device(), self.before);
    }
}
