//! Interface `external` 1 of devices: streams and memory shared with the driver's own interface.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use chipdock_abi::ChipdockExternal1;
use chipdock_ir::DType;
use chipdock_plugin_api as api;

use super::device::{Device, Stream};
use super::tables::broken;
use super::tensor::{Tensor, dl_dtype};
use crate::boundary::registrar::DeviceApiEntry;
use crate::boundary::slots::from_api;
use crate::error::{Error, ErrorKind};

impl DeviceApiEntry {
    /// Calls a function of interface `external` 1.
    fn external(
        &self,
        device_id: i32,
        what: &str,
        call: impl FnOnce(&ChipdockExternal1, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        self.call_interface("external", what, call, || {
            let message =
                format!("device {}:{device_id} shares nothing: its plugin has no `external` 1", self.name);
            Error::new(ErrorKind::Unsupported, message).hint("copy by way of host memory")
        })
    }

    fn answered_null(&self, what: &str) -> Error {
        broken(format!("`{what}` of device_api.{} succeeded and answered null", self.name))
    }
}

/// The native location of a tensor's first element: the driver's handle, and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeData {
    /// The driver's handle of the memory, such as a `CUdeviceptr` or a `cl_mem`. Borrowed from the
    /// tensor.
    pub handle: *mut c_void,
    /// The offset of the tensor in that memory, in bytes.
    pub offset_bytes: u64,
}

impl Device {
    /// Makes a stream over a native one, such as a `CUstream` or a `cl_command_queue`: work that is
    /// queued on either is in one order. Dropping it waits for that work and leaves the native
    /// stream as it is.
    ///
    /// # Errors
    ///
    /// `Unsupported`: the plugin has no interface `external` 1; `ValueError`: the native stream is
    /// another device's.
    ///
    /// # Safety
    ///
    /// * `native` is a live native stream, as the plugin's documentation defines it, until the
    ///   returned stream is dropped.
    pub unsafe fn adopt_stream(&self, native: *mut c_void) -> Result<Stream, Error> {
        let state = self.state();
        state.services.check_process()?;
        let mut raw = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`; the caller guarantees a live native stream,
        // and the output is writable.
        state.api.external(state.id, "adopt_stream", |table, self_| unsafe {
            (table.adopt_stream)(self_, state.id, native, &mut raw)
        })?;
        if raw.is_null() {
            return Err(state.api.answered_null("adopt_stream"));
        }
        self.keep_stream(raw, "adopt_stream")
    }
}

impl Stream {
    /// Returns the underlying native stream, such as a `CUstream` or a `cl_command_queue`; valid as
    /// long as this lives.
    ///
    /// # Errors
    ///
    /// `Unsupported`: the plugin has no interface `external` 1.
    pub fn native(&self) -> Result<*mut c_void, Error> {
        let state = self.device().state();
        state.services.check_process()?;
        let mut native = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`; a stream of the device, and a place to write
        // to.
        state.api.external(state.id, "native_stream", |table, self_| unsafe {
            (table.native_stream)(self_, state.id, self.raw(), &mut native)
        })?;
        if native.is_null() { Err(state.api.answered_null("native_stream")) } else { Ok(native) }
    }
}

/// A data space of host memory, with the owner of that memory.
struct Adopted<O> {
    device: Device,
    data: *mut c_void,
    /// Dropped when the device no longer uses the memory.
    _owner: O,
}

// SAFETY: an opaque handle, which may be freed on any thread (P10.1), and an owner that may be
// dropped there.
unsafe impl<O: Send> Send for Adopted<O> {}
// SAFETY: no part of it is reached through a shared reference.
unsafe impl<O: Sync> Sync for Adopted<O> {}

impl<O> Drop for Adopted<O> {
    fn drop(&mut self) {
        let state = self.device.state();
        if state.services.check_process().is_ok() {
            // D.5: work on any stream may use it.
            state.warn_of(state.sync_all());
            state.warn_of(state.free_raw(self.data));
        }
    }
}

impl Tensor {
    /// Returns the native location of its first element; valid as long as the tensor lives. Work
    /// that others queue on that memory is theirs to order.
    ///
    /// # Errors
    ///
    /// `Unsupported`: the plugin has no interface `external` 1.
    pub fn native_data(&self) -> Result<NativeData, Error> {
        let state = self.device().state();
        state.services.check_process()?;
        let (mut handle, mut offset_bytes) = (ptr::null_mut(), 0);
        let view = self.view();
        // SAFETY: P3.11, the table with its `self_`; a data space of the device that lives, and
        // places to write to.
        state.api.external(state.id, "native_data", |table, self_| unsafe {
            (table.native_data)(self_, state.id, view.data(), &mut handle, &mut offset_bytes)
        })?;
        Ok(NativeData { handle, offset_bytes: offset_bytes.wrapping_add(view.byte_offset()) })
    }

    /// Makes a compact tensor over host memory that `owner` keeps: the device works on those bytes,
    /// and the host sees the results once the stream was synchronised. `owner` is dropped when the
    /// device no longer uses them. Most devices require memory that begins at a page and has whole
    /// pages.
    ///
    /// # Errors
    ///
    /// `Unsupported`: the plugin has no interface `external` 1, or the device does not accept such
    /// memory; `ValueError` for a tensor without elements, or one whose size does not fit.
    ///
    /// # Safety
    ///
    /// * The bytes of the tensor are live at `address` as long as `owner` is, wherever that is
    ///   moved to.
    /// * Nobody else writes them while work uses them, or reads what that work writes.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::ptr::NonNull;
    ///
    /// use chipdock_host::{Host, HostOptions, Tensor};
    /// use chipdock_ir::DType;
    ///
    /// #[repr(align(4096))]
    /// struct Page([u8; 4096]);
    ///
    /// let host = Host::new(HostOptions::default())?;
    /// let device = host.device("opencl", 0)?;
    /// let mut page = Box::new(Page([0; 4096]));
    /// let address = NonNull::from(&mut page.0).cast();
    /// // SAFETY: a page that lives as long as its box, which nobody else has.
    /// let tensor = unsafe { Tensor::over_host_memory(&device, &[1024], DType::FLOAT32, address, page) }?;
    /// # let _ = tensor;
    /// # Ok(())
    /// # }
    /// ```
    pub unsafe fn over_host_memory<O: Send + Sync + 'static>(
        device: &Device,
        shape: &[i64],
        dtype: DType,
        address: NonNull<u8>,
        owner: O,
    ) -> Result<Self, Error> {
        let state = device.state();
        state.services.check_process()?;
        let dtype = dl_dtype(dtype);
        let size_bytes = api::size_bytes(shape, dtype).map_err(|error| from_api(&error))?;
        let mut data = ptr::null_mut();
        // SAFETY: P3.11, the table with its `self_`; the caller guarantees the memory, and the
        // output is writable.
        state.api.external(state.id, "adopt_host_memory", |table, self_| unsafe {
            (table.adopt_host_memory)(self_, state.id, address.as_ptr().cast(), size_bytes, &mut data)
        })?;
        if data.is_null() {
            return Err(state.api.answered_null("adopt_host_memory"));
        }
        let adopted = Adopted { device: device.clone(), data, _owner: owner };
        let parts =
            api::TensorParts { data, device: device.number(), dtype, shape, strides: None, byte_offset: 0 };
        // SAFETY: a data space of that size, which lives as long as the owner.
        let value = unsafe { api::Tensor::from_owner(parts, adopted) }.map_err(|error| from_api(&error))?;
        Self::from_value(device.host(), value)
    }
}
