//! A device API called through its table: every call returns a result, and every handle is freed.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_DATA_SPACE_DEVICE, CHIPDOCK_DEVICE_CPU, ChipdockCopy, ChipdockCopyEnd, ChipdockDataSpaceRequest,
    ChipdockDeviceApi, ChipdockReset1,
};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{Any, ChipdockDataType, ChipdockDevice, Error, ErrorKind};

use crate::host::RawHost;
use crate::plugin::{Interface, Table};

/// Hint of no particular element type.
pub const NO_HINT: ChipdockDataType = ChipdockDataType { code: 0, bits: 0, lanes: 0 };

/// A device API.
#[derive(Clone)]
pub struct Device {
    /// Name of the device API.
    pub name: String,
    /// Device type in force.
    pub device_type: i32,
    table: Table<ChipdockDeviceApi>,
    host: &'static RawHost,
    /// Interfaces that extend the device API.
    interfaces: Vec<Interface>,
}

/// A data space that is freed on drop.
pub struct Space<'d> {
    pub(crate) device: &'d Device,
    pub(crate) device_id: i32,
    data: *mut c_void,
    /// Size in bytes.
    pub size_bytes: u64,
}

// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Send for Space<'_> {}
// SAFETY: an opaque handle; P10.1 lets any thread use it.
unsafe impl Sync for Space<'_> {}

impl Device {
    pub(crate) fn new(
        name: String,
        device_type: i32,
        table: Table<ChipdockDeviceApi>,
        host: &'static RawHost,
        interfaces: Vec<Interface>,
    ) -> Self {
        Self { name, device_type, table, host, interfaces }
    }

    /// Returns true if the device API has version 1 of an interface.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.interfaces.iter().any(|found| found.name == name && found.version == 1)
    }

    /// Calls a function of version 1 of an interface, whose table is a `T`, and returns its status
    /// as a result.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `Unsupported` if there is no such interface.
    pub(crate) fn call_interface<T: 'static>(
        &self,
        name: &str,
        what: &str,
        call: impl FnOnce(&T, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        let found = self.interfaces.iter().find(|found| {
            let has_table = !found.raw.table.is_null() && found.raw.table_size_bytes == size_of::<T>() as u64;
            found.name == name && found.version == 1 && has_table
        });
        let Some(found) = found else {
            let message = format!("device_api.{} has no `{name}` 1", self.name);
            return Err(Error::new(ErrorKind::UNSUPPORTED, message));
        };
        self.host.begin();
        // SAFETY: by P3.11, this is the table of that name and version, not null and of that size.
        let status = call(unsafe { &*found.raw.table.cast::<T>() }, found.raw.self_);
        self.host.check(status, what)
    }

    /// Reopens a device (D.40).
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `Unsupported` if there is no interface `reset` 1.
    pub fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.call_interface::<ChipdockReset1>("reset", "reset", |table, self_| {
            // SAFETY: by P3.11, this is the table with its `self_`.
            unsafe { (table.reset)(self_, device_id) }
        })
    }

    /// Returns the table with its `self_`.
    ///
    /// # Errors
    ///
    /// Null was registered (P3.1).
    pub fn table(&self) -> Result<(&'static ChipdockDeviceApi, *mut c_void), Error> {
        let table = self.table.table;
        let table =
            table.ok_or_else(|| Error::new(ErrorKind::BROKEN_PLUGIN, "a null table was registered"))?;
        Ok((table, self.table.self_))
    }

    /// Returns the host that errors are raised with.
    #[must_use]
    pub fn host(&self) -> &'static RawHost {
        self.host
    }

    /// Returns the ABI's id of a device of this API.
    #[must_use]
    pub fn device(&self, device_id: i32) -> ChipdockDevice {
        ChipdockDevice { device_type: self.device_type, device_id }
    }

    /// Returns true if the data spaces are addresses in host memory.
    #[must_use]
    pub fn is_host_memory(&self) -> bool {
        self.device_type == CHIPDOCK_DEVICE_CPU
    }

    /// Calls a function of the table and returns its status as a result.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn call(
        &self,
        what: &str,
        call: impl FnOnce(&'static ChipdockDeviceApi, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        let (table, self_) = self.table()?;
        // An error left over from a call that succeeded does not belong to this one.
        self.host.begin();
        self.host.check(call(table, self_), what)
    }

    /// Returns the number of devices.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn count(&self) -> Result<i32, Error> {
        let mut count = i32::MIN;
        // SAFETY: the table is registered and called with its `self_`, and there is room for the
        // result.
        self.call("device_count", |table, self_| unsafe { (table.device_count)(self_, &mut count) })?;
        Ok(count)
    }

    /// Returns an attribute; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn attribute(&self, device_id: i32, key: &str) -> Result<Any, Error> {
        let mut raw = Any::NONE.into_raw();
        self.call("attribute", |table, self_| {
            // SAFETY: the table is registered and called with its `self_`; the key is live, and
            // there is room for the result.
            unsafe { (table.attribute)(self_, device_id, str_out(key), &mut raw) }
        })?;
        // SAFETY: the result is owned by the caller.
        Ok(unsafe { Any::from_raw(raw) })
    }

    /// Allocates a data space for any request, valid or not. The caller frees the handle.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate_raw(
        &self,
        device_id: i32,
        request: &ChipdockDataSpaceRequest,
    ) -> Result<*mut c_void, Error> {
        let mut data = ptr::null_mut();
        self.call("allocate_data_space", |table, self_| {
            // SAFETY: the table is registered and called with its `self_`; the request is live, and
            // there is room for the result.
            unsafe { (table.allocate_data_space)(self_, device_id, request, &mut data) }
        })?;
        Ok(data)
    }

    /// Allocates a data space of a kind and scope.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate_kind(
        &self,
        device_id: i32,
        size_bytes: u64,
        alignment_bytes: u64,
        kind: i32,
        scope: &str,
    ) -> Result<Space<'_>, Error> {
        let request = ChipdockDataSpaceRequest {
            size_bytes,
            alignment_bytes,
            dtype_hint: NO_HINT,
            kind,
            scope: str_out(scope),
            next: std::ptr::null(),
        };
        let data = self.allocate_raw(device_id, &request)?;
        Ok(Space { device: self, device_id, data, size_bytes })
    }

    /// Allocates device memory on device 0.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate(&self, size_bytes: u64) -> Result<Space<'_>, Error> {
        self.allocate_kind(0, size_bytes, 64, CHIPDOCK_DATA_SPACE_DEVICE, "")
    }

    /// Allocates device memory on a device.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate_on(&self, device_id: i32, size_bytes: u64) -> Result<Space<'_>, Error> {
        self.allocate_kind(device_id, size_bytes, 64, CHIPDOCK_DATA_SPACE_DEVICE, "")
    }

    /// Frees a handle.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * D.5: the handle was allocated here and is freed once; or the case tests how the plugin
    ///   answers an invalid one.
    pub unsafe fn free_raw(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        // SAFETY: `data` is freed once (D.5), or the case tests that it is refused.
        self.call("free_data_space", |table, self_| unsafe {
            (table.free_data_space)(self_, device_id, data)
        })
    }

    /// Queues any copy, valid or not.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    ///
    /// # Safety
    ///
    /// * D.6 holds for both ends until the stream is synchronised; or the case tests how the plugin
    ///   answers an invalid copy.
    pub unsafe fn copy_raw(
        &self,
        device_id: i32,
        copy: &ChipdockCopy,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the ends live until the stream is synchronised (D.6), or the case tests that they
        // are refused.
        self.call("copy_data", |table, self_| unsafe { (table.copy_data)(self_, device_id, copy, stream) })
    }

    /// Waits for a stream; null is the default stream.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a stream is a handle that only the plugin looks behind"
    )]
    pub fn sync(&self, device_id: i32, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: the table is registered and called with its `self_`; the stream is live or the
        // default one.
        self.call("sync_stream", |table, self_| unsafe { (table.sync_stream)(self_, device_id, stream) })
    }
}

impl<'d> Space<'d> {
    /// Allocates device memory that holds exactly these bytes.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn with(device: &'d Device, device_id: i32, bytes: &[u8]) -> Result<Self, Error> {
        let space = device.allocate_on(device_id, bytes.len() as u64)?;
        space.write(0, bytes)?;
        Ok(space)
    }

    /// Takes over a handle returned by [`Device::allocate_raw`], to be freed on drop.
    ///
    /// # Safety
    ///
    /// * D.5: the handle was allocated on that device, has that size, and nothing else frees it.
    #[must_use]
    pub unsafe fn from_raw(device: &'d Device, device_id: i32, data: *mut c_void, size_bytes: u64) -> Self {
        Self { device, device_id, data, size_bytes }
    }

    /// Returns the whole contents.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `OutOfMemory` if the host has no room for the bytes.
    pub fn contents(&self) -> Result<Vec<u8>, Error> {
        let Ok(size) = usize::try_from(self.size_bytes) else {
            return Err(Error::new(ErrorKind::OUT_OF_MEMORY, "a data space larger than host memory"));
        };
        let mut bytes = vec![0; size];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the handle.
    #[must_use]
    pub fn data(&self) -> *mut c_void {
        self.data
    }

    /// Returns this data space as one end of a copy.
    #[must_use]
    pub fn end(&self, offset_bytes: u64) -> ChipdockCopyEnd {
        ChipdockCopyEnd { device: self.device.device(self.device_id), data: self.data, offset_bytes }
    }

    /// Writes bytes at an offset and waits for the copy.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn write(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Error> {
        let copy = ChipdockCopy {
            from: host_end(bytes.as_ptr().cast_mut(), 0),
            to: self.end(offset_bytes),
            size_bytes: bytes.len() as u64,
            dtype_hint: NO_HINT,
            flags: 0,
            next: std::ptr::null(),
        };
        // SAFETY: by D.6, both ends are live until the sync below.
        unsafe { self.device.copy_raw(self.device_id, &copy, ptr::null_mut()) }?;
        self.device.sync(self.device_id, ptr::null_mut())
    }

    /// Reads bytes from an offset and waits for the copy.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn read(&self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let copy = ChipdockCopy {
            from: self.end(offset_bytes),
            to: host_end(bytes.as_mut_ptr(), 0),
            size_bytes: bytes.len() as u64,
            dtype_hint: NO_HINT,
            flags: 0,
            next: std::ptr::null(),
        };
        // SAFETY: by D.6, both ends are live until the sync below.
        unsafe { self.device.copy_raw(self.device_id, &copy, ptr::null_mut()) }?;
        self.device.sync(self.device_id, ptr::null_mut())
    }

    /// Frees the data space now and returns the plugin's answer.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn free(self) -> Result<(), Error> {
        let (device, device_id, data) = (self.device, self.device_id, self.data);
        std::mem::forget(self);
        // SAFETY: by D.5, the handle was allocated by this device and is freed only here.
        unsafe { device.free_raw(device_id, data) }
    }
}

impl Drop for Space<'_> {
    fn drop(&mut self) {
        // SAFETY: by D.5, the handle was allocated by this device and is freed only here. Cases
        // that test the answer call `free`.
        drop(unsafe { self.device.free_raw(self.device_id, self.data) });
    }
}

/// Returns host memory as one end of a copy.
#[must_use]
pub fn host_end(data: *mut u8, offset_bytes: u64) -> ChipdockCopyEnd {
    ChipdockCopyEnd {
        device: ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 },
        data: data.cast(),
        offset_bytes,
    }
}
