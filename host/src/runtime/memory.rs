//! Kinds of memory: of the device, page-locked, visible to the host, unified.
//!
//! * **MEMORY-K1** [`MemoryOptions::default`] is the memory of [`Tensor::empty`]: of the device,
//!   scope `global`, aligned to 64 bytes, from the pool.
//! * **MEMORY-K2** Nothing is substituted: the device API is asked for the kind, the scope and the
//!   alignment. What it does not have is `Unsupported`, and the advice lists what the device has.
//!   An alignment that is no power of two is `ValueError`; a smaller one than 64 bytes counts as
//!   64.
//! * **MEMORY-K3** A pinned tensor is one of `cpu:0`, so that every function takes it as host
//!   memory. Its memory is the device's: that allocates, frees and directly copies it. Host-visible
//!   and unified tensors are of the device.
//! * **MEMORY-K4** Freed memory other than K1's is cached by kind, scope, alignment and class of
//!   size. The order of a stream does not protect it, because the host may write it at once: it is
//!   handed out again when all streams of its device were synchronised after it was freed.
//! * **MEMORY-K5** A device caches 256 MiB of it at most. [`Device::trim`], [`Device::reset`] and a
//!   device without memory free what is cached, after all streams were synchronised.
//! * **MEMORY-K6** Memory that was allocated before a [`Device::reset`] is not cached when it is
//!   freed later.
//! * **MEMORY-K7** Of memory that this host did not allocate the kind is not known: it has no kind,
//!   no scope, and an address of the host only where its device is `cpu`.
//! * **MEMORY-K8** A mapping ([`Tensor::map`]) waits for the current stream and takes turns with
//!   other threads (HOST-W6): while it lives, they read or write these elements before it or after
//!   it. Those of its own thread are the caller's to order.
//! * **MEMORY-K9** Whole reads and writes go through the device API also where the host has an
//!   address: only the device API knows at what speed the host reads that memory. A copy between
//!   two kinds of devices is direct, without a buffer between, where the host has the address of
//!   one end.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_abi::{ChipdockDataSpaceRequest, ChipdockDataType, ChipdockMap1};
use chipdock_ir::DType;
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::str_out;

use super::device::Device;
use super::device_state::DeviceState;
use super::memory_kind::{GLOBAL, MemoryKind, Place};
use super::spaces::Known;
use super::tables::{ALIGNMENT_BYTES, broken, plain_request};
use super::tensor::{Tensor, dl_dtype};
use crate::boundary::registrar::DeviceApiEntry;
use crate::boundary::services::from_api;
use crate::error::{Error, ErrorKind};

/// The memory that a tensor is made in.
///
/// ```
/// use chipdock_host::{MemoryKind, MemoryOptions};
///
/// let pinned = MemoryOptions { kind: MemoryKind::Pinned, ..MemoryOptions::default() };
/// assert_eq!((&*pinned.scope, pinned.alignment_bytes), ("global", 64));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// The kind of memory.
    pub kind: MemoryKind,
    /// The scope; the empty text means `global`.
    pub scope: String,
    /// The alignment in bytes, a power of two.
    pub alignment_bytes: u64,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { kind: MemoryKind::Device, scope: GLOBAL.to_owned(), alignment_bytes: ALIGNMENT_BYTES }
    }
}

impl MemoryOptions {
    /// Checks them, and returns them in the form by which memory is cached.
    fn place(&self) -> Result<Place, Error> {
        if !self.alignment_bytes.is_power_of_two() {
            let message =
                format!("expected an alignment that is a power of two, found {}", self.alignment_bytes);
            return Err(Error::new(ErrorKind::Value, message));
        }
        let scope = if self.scope.is_empty() { GLOBAL } else { &*self.scope };
        Ok(Place {
            kind: self.kind,
            scope: scope.to_owned(),
            alignment_bytes: self.alignment_bytes.max(ALIGNMENT_BYTES),
        })
    }
}

/// Memory of a tensor that does not come from the pool; given back when dropped.
struct Placed {
    /// The device that allocated it.
    device: Device,
    /// The device whose tensors it may be: `cpu:0` for pinned memory.
    home: Arc<DeviceState>,
    place: Arc<Place>,
    class: u32,
    data: *mut c_void,
    resets: u64,
}

// SAFETY: an opaque handle, which may be freed on any thread (P10.1).
unsafe impl Send for Placed {}
// SAFETY: no part of it is reached through a shared reference.
unsafe impl Sync for Placed {}

impl Drop for Placed {
    fn drop(&mut self) {
        let state = self.device.state();
        // In a forked child the parent's device does not exist, and another thread's locks are held
        // for ever.
        if state.services.check_process().is_ok() {
            self.home.spaces.forget(self.data);
            state.release_placed(&self.place, self.class, self.data, self.resets);
        }
    }
}

impl Tensor {
    /// Makes a compact tensor with uninitialised elements in memory of a kind, a scope and an
    /// alignment (MEMORY-K1 to MEMORY-K6). A pinned one is of `cpu:0`, and belongs to `device` all
    /// the same.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the device does not have such memory, with what it has; `ValueError` for
    /// an alignment that is no power of two. As [`Self::empty`]; the first failure of work that is
    /// queued, where cached memory is taken.
    pub fn empty_in(
        device: &Device,
        shape: &[i64],
        dtype: DType,
        options: &MemoryOptions,
    ) -> Result<Self, Error> {
        let place = options.place()?;
        if place == MemoryOptions::default().place()? {
            return Self::empty(device, shape, dtype);
        }
        let state = device.state();
        state.services.check_process()?;
        let dtype = dl_dtype(dtype);
        let size_bytes = api::size_bytes(shape, dtype).map_err(|error| from_api(&error))?;
        let home = match place.kind {
            MemoryKind::Pinned => device.host().device_by_number(api::CPU)?,
            _ => device.clone(),
        };
        let place = Arc::new(place);
        let (class, data, address) = state.allocate_placed(size_bytes, dtype, &place).map_err(|error| {
            if *error.kind() == ErrorKind::Unsupported { with_what_there_is(error, device) } else { error }
        })?;
        let is_own = Arc::ptr_eq(home.state(), state);
        let known = Known {
            size_bytes,
            place: Arc::clone(&place),
            address: address.map(|address| address.expose_provenance()),
            worker: (!is_own).then(|| state.device()),
            is_pooled: false,
        };
        home.state().spaces.add(data, known);
        let resets = state.spaces.resets();
        let number = home.number();
        let placed =
            Placed { device: device.clone(), home: Arc::clone(home.state()), place, class, data, resets };
        let parts = api::TensorParts { data, device: number, dtype, shape, strides: None, byte_offset: 0 };
        // SAFETY: a data space of that size, which lives as long as its owner.
        let value = unsafe { api::Tensor::from_owner(parts, placed) }.map_err(|error| from_api(&error))?;
        Self::from_value(device.host(), value)
    }

    /// Returns the kind of its memory; `None` where that is not known (MEMORY-K7).
    #[must_use]
    pub fn memory_kind(&self) -> Option<MemoryKind> {
        Some(self.known()?.place.kind)
    }

    /// Returns the scope of its memory; `None` where that is not known (MEMORY-K7).
    #[must_use]
    pub fn scope(&self) -> Option<String> {
        Some(self.known()?.place.scope.clone())
    }

    pub(super) fn known(&self) -> Option<Known> {
        let state = self.device().state();
        state.services.check_process().ok()?;
        state.spaces.find(self.view().data())
    }
}

/// Adds what the device has to the error that it does not have something.
fn with_what_there_is(error: Error, device: &Device) -> Error {
    let Ok(found) = device.capabilities() else { return error };
    let has: Vec<String> =
        found.memory.iter().map(|memory| format!("{} ({})", memory.kind, memory.scopes.join(", "))).collect();
    error.hint(format!("{device:?} has memory of these kinds and scopes: {}", has.join(", ")))
}

impl DeviceState {
    /// Allocates memory of a place: cached, or from the device. Returns its class, its handle, and
    /// its address where the host reaches it.
    pub(super) fn allocate_placed(
        &self,
        size_bytes: u64,
        dtype: ChipdockDataType,
        place: &Arc<Place>,
    ) -> Result<(u32, *mut c_void, Option<*mut c_void>), Error> {
        let (class, rounded) = super::pool::class_and_bytes(size_bytes).ok_or_else(|| {
            let message = format!("{size_bytes} bytes on {}:{} cannot be allocated", self.api.name, self.id);
            Error::new(ErrorKind::OutOfMemory, message)
        })?;
        let mut cached = self.spaces.take(place, class);
        if cached.is_none() && self.spaces.has_busy(place, class) {
            // MEMORY-K4: waiting is cheaper than locking new pages.
            self.sync_all()?;
            cached = self.spaces.take(place, class);
        }
        let data = match cached {
            Some(data) => data,
            None => match self.api.allocate_in(self.id, rounded, dtype, place) {
                Err(error) if *error.kind() == ErrorKind::OutOfMemory => {
                    self.trim()?;
                    self.api.allocate_in(self.id, rounded, dtype, place)?
                }
                result => result?,
            },
        };
        match self.api.address(self.id, data, place) {
            Ok(address) => Ok((class, data, address)),
            Err(error) => {
                self.warn_of(self.free_raw(data));
                Err(error)
            }
        }
    }

    /// Takes memory back: it is cached, or freed after all streams were synchronised (D.5).
    fn release_placed(&self, place: &Arc<Place>, class: u32, data: *mut c_void, resets: u64) {
        if self.spaces.give(place, class, data, resets) {
            return;
        }
        self.warn_of(self.sync_all());
        self.warn_of(self.free_raw(data));
    }
}

impl DeviceApiEntry {
    /// Allocates memory of a place.
    pub(super) fn allocate_in(
        &self,
        device_id: i32,
        size_bytes: u64,
        dtype_hint: ChipdockDataType,
        place: &Place,
    ) -> Result<*mut c_void, Error> {
        let request = ChipdockDataSpaceRequest {
            alignment_bytes: place.alignment_bytes,
            kind: place.kind.raw(),
            scope: str_out(&place.scope),
            ..plain_request(size_bytes, dtype_hint)
        };
        let mut data = ptr::null_mut();
        // SAFETY: the registered `self`, a request that lives for the call, a place to write to.
        self.call("allocate_data_space", |table, self_| unsafe {
            (table.allocate_data_space)(self_, device_id, &request, &mut data)
        })?;
        if data.is_null() {
            return Err(broken(format!(
                "`allocate_data_space` of device_api.{} succeeded and answered null for {size_bytes} bytes of {} memory",
                self.name, place.kind
            )));
        }
        Ok(data)
    }

    /// Returns the address of memory that the host reaches (D.31, D.32); `None` for other memory.
    fn address(
        &self,
        device_id: i32,
        data: *mut c_void,
        place: &Place,
    ) -> Result<Option<*mut c_void>, Error> {
        let is_host_memory = self.device_type == chipdock_abi::CHIPDOCK_DEVICE_CPU;
        if place.kind == MemoryKind::Device && !is_host_memory {
            return Ok(None);
        }
        let mut address = data;
        if place.kind == MemoryKind::HostVisible && self.has_map() {
            address = ptr::null_mut();
            let missing = || broken(format!("device_api.{} has no `map` 1 any more", self.name));
            // SAFETY: P3.11, the table with its `self_`; a data space of the device that lives, and
            // a place to write to.
            let call = |table: &ChipdockMap1, self_| unsafe {
                (table.address)(self_, device_id, data, &mut address)
            };
            self.call_interface("map", "address", call, missing)?;
        }
        if address.is_null() || !(address.addr() as u64).is_multiple_of(place.alignment_bytes) {
            return Err(broken(format!(
                "device_api.{} answered {} memory at the address {address:p}; expected one that is aligned to {} bytes (D.4)",
                self.name, place.kind, place.alignment_bytes
            )));
        }
        Ok(Some(address))
    }

    fn has_map(&self) -> bool {
        self.extensions.get::<ChipdockMap1>("map", 1).is_some()
    }
}
