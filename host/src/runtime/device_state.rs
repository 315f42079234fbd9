//! The state of one device of a host: its memory and streams, without the host.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd, ChipdockDataType, ChipdockDevice};

use super::capture;
use super::ordered::OrderedMemory;
use super::pool::{Block, Body, Given, Pool, class_bytes, class_of};
use super::queued::{Held, Queued};
use super::spaces::Spaces;
use super::workspace::Workspaces;
use crate::boundary::registrar::DeviceApiEntry;
use crate::boundary::services::Services;
use crate::error::{Error, ErrorKind, Subject};
use crate::log::LogLevel;

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

/// The opened devices of a host, by name and id.
#[derive(Default)]
pub(crate) struct Devices(RwLock<BTreeMap<(String, i32), Arc<DeviceState>>>);

impl Devices {
    pub(super) fn by_name(&self, name: &str, device_id: i32) -> Option<Arc<DeviceState>> {
        let devices = self.0.read().unwrap_or_else(PoisonError::into_inner);
        devices.values().find(|device| device.id == device_id && device.api.name == name).cloned()
    }

    pub(crate) fn by_number(&self, device: ChipdockDevice) -> Option<Arc<DeviceState>> {
        let devices = self.0.read().unwrap_or_else(PoisonError::into_inner);
        devices.values().find(|known| known.device() == device).cloned()
    }

    pub(super) fn add(&self, device: DeviceState) -> Arc<DeviceState> {
        let mut devices = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (device.api.name.clone(), device.id);
        Arc::clone(devices.entry(key).or_insert_with(|| Arc::new(device)))
    }

    /// Returns all cached memory to its device: the host is going away.
    pub(crate) fn release(&self) {
        let devices = std::mem::take(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner));
        // Queued work of one device may keep memory of another.
        for device in devices.values().filter(|device| !device.queued.is_empty()) {
            device.warn_of(device.sync_all());
        }
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
    pub(super) pool: Pool,
    pub(super) spaces: Spaces,
    pub(crate) workspaces: Workspaces,
    pub(super) ordered: OrderedMemory,
    /// Live streams other than the default, as numbers.
    pub(super) streams: Mutex<Vec<usize>>,
    /// What queued work uses.
    pub(super) queued: Queued,
}

impl DeviceState {
    pub(super) fn new(services: &'static Services, api: Arc<DeviceApiEntry>, id: i32) -> Self {
        let (pool, spaces, workspaces, ordered, streams, queued) = Default::default();
        Self { services, api, id, pool, spaces, workspaces, ordered, streams, queued }
    }

    pub(crate) fn device(&self) -> ChipdockDevice {
        ChipdockDevice { device_type: self.api.device_type, device_id: self.id }
    }

    /// Returns which device it is, among those of all hosts of the process.
    pub(super) fn at(&self) -> capture::At {
        capture::At { host: self.services.slots.id(), device: self.device() }
    }

    /// Returns the stream that is active on this thread; null is the default.
    pub(crate) fn current_stream(&self) -> *mut c_void {
        self.services.slots.current_stream(self.device())
    }

    /// Logs a failure that has no caller to report it to.
    pub(crate) fn warn_of(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.services.log(LogLevel::Warning, &format!("device {}:{}: {error}", self.api.name, self.id));
        }
    }

    /// Allocates from the device for work on a stream, bypassing the pool; when there is no memory
    /// left, the pool is trimmed and the allocation tried once more.
    pub(crate) fn allocate_raw(
        &self,
        size_bytes: u64,
        dtype: ChipdockDataType,
        stream: *mut c_void,
    ) -> Result<*mut c_void, Error> {
        let allocate = || match self.allocate_on(size_bytes, dtype, stream)? {
            Some(data) => Ok(data),
            None => self.api.allocate(self.id, size_bytes, dtype),
        };
        match allocate() {
            Err(error) if *error.kind() == ErrorKind::OutOfMemory => {
                self.trim()?;
                allocate()
            }
            result => result,
        }
    }

    /// Allocates from the device for work on any stream, bypassing the pool; when there is no
    /// memory left, the pool is trimmed and the allocation tried once more.
    pub(super) fn allocate_plain(
        &self,
        size_bytes: u64,
        dtype: ChipdockDataType,
    ) -> Result<*mut c_void, Error> {
        match self.api.allocate(self.id, size_bytes, dtype) {
            Err(error) if *error.kind() == ErrorKind::OutOfMemory => {
                self.trim()?;
                self.api.allocate(self.id, size_bytes, dtype)
            }
            result => result,
        }
    }

    pub(crate) fn free_raw(&self, data: *mut c_void) -> Result<(), Error> {
        self.api.free(self.id, data)
    }

    pub(crate) fn sync_raw(&self, stream: *mut c_void) -> Result<(), Error> {
        let mark = self.queued.mark();
        let done = self.api.sync(self.id, stream);
        // Also after a failure: what was queued has ended, or the device is lost.
        self.queued.settle(stream, mark);
        done
    }

    /// Keeps what queued work uses until its stream was synchronised.
    pub(super) fn keep(&self, stream: *mut c_void, held: Box<dyn Held>) -> Result<(), Error> {
        if self.queued.keep(stream, held) { self.sync_raw(stream) } else { Ok(()) }
    }

    /// Returns true if a stream is the default one or was not freed.
    pub(super) fn is_live(&self, stream: *mut c_void) -> bool {
        let streams = || self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        stream.is_null() || streams().contains(&stream.addr())
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
        capture::refuse("a copy that is waited for")?;
        if size_bytes == 0 {
            return Ok(());
        }
        let stream = self.current_stream();
        let copy = ChipdockCopy { from, to, size_bytes, dtype_hint, flags: 0, next: std::ptr::null() };
        // SAFETY: both ends are live, large enough and do not overlap, as this function requires;
        // the ends stay as they are until the stream is synchronised below.
        unsafe { self.api.copy(self.id, &copy, stream) }?;
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
        let data = self.allocate_raw(rounded, dtype, stream)?;
        let is_host_memory = self.api.device_type == chipdock_abi::CHIPDOCK_DEVICE_CPU;
        self.spaces.add_pooled(data, rounded, is_host_memory);
        Ok(Block { data, class, home: stream })
    }

    /// Takes a tensor's memory back, if this was the last reference to it.
    pub(crate) fn release(&self, body: Arc<Body>) {
        // There are no weak references: one strong one is the only one.
        let is_stale = self.spaces.is_stale(body.block().data);
        let body = if Arc::strong_count(&body) == 1 && !is_stale {
            match self.pool.give_body(body) {
                Ok(()) => return,
                Err(body) => body,
            }
        } else {
            body
        };
        let Some(body) = Arc::into_inner(body) else { return };
        let mut block = body.block();
        if is_stale {
            // MEMORY-K6. Where the device was not lost, work may still use it.
            self.pool.unmark(block.data);
            self.spaces.forget(block.data);
            self.warn_of(self.sync_all());
            return self.warn_of(self.free_raw(block.data));
        }
        if !self.is_live(block.home) {
            // The stream was freed, and so its work is done.
            block.home = ptr::null_mut();
        }
        match self.pool.give(block) {
            Given::Kept => {}
            Given::Free => {
                self.spaces.forget(block.data);
                self.warn_of(self.free_block(block));
            }
            Given::Sync => self.warn_of(self.sync_all()),
        }
    }

    /// Frees a block that only work on its home stream may still use.
    fn free_block(&self, block: Block) -> Result<(), Error> {
        if self.free_on(block.data, block.home)? {
            return Ok(());
        }
        self.sync_raw(block.home)?;
        self.free_raw(block.data)
    }

    /// Records that work on the current stream may use memory that another stream allocated.
    pub(crate) fn mark(&self, data: *mut c_void) {
        // Others wait for all streams in any case (MEMORY-K4).
        if !self.spaces.may_be_placed(data) {
            self.pool.mark(data);
        }
    }

    fn live_streams(&self) -> Vec<*mut c_void> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let others = streams.iter().map(|stream| ptr::with_exposed_provenance_mut(*stream));
        std::iter::once(ptr::null_mut()).chain(others).collect()
    }

    /// Waits for all streams; returns the first failure, after waiting for all of them.
    pub(crate) fn sync_all(&self) -> Result<(), Error> {
        let unsettled = self.pool.unsettled();
        let placed = self.spaces.unsettled();
        let mut first = Ok(());
        for stream in self.live_streams() {
            let synchronised = self.sync_raw(stream);
            if first.is_ok() {
                first = synchronised;
            }
        }
        self.pool.settle(unsettled);
        for data in self.spaces.settle(placed) {
            self.warn_of(self.free_raw(data));
        }
        first
    }

    /// Returns all cached memory to the device.
    pub(crate) fn trim(&self) -> Result<(), Error> {
        let pooled = self.pool.drain();
        pooled.iter().for_each(|data| self.spaces.forget(*data));
        let others = self.drain_workspaces().into_iter().chain(self.spaces.drain());
        let cached: Vec<*mut c_void> = pooled.into_iter().chain(others).collect();
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
