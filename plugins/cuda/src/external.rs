//! Interface `external` 1: a native stream is a `CUstream` of the device's primary context, native
//! data a `CUdeviceptr`.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::external::{External, NativeData};
use chipdock_plugin_api::kit::NotAdded;
use chipdock_plugin_api::{Error, ErrorKind, Stream, bail};
use cudarc::driver::sys::{self, CUdeviceptr, CUstream};

use crate::driver::{self, Context, Failure, Memory, MemoryKind};
use crate::hardware::Hardware;

/// The driver's other handle of the legacy default stream, which is not null: `CU_STREAM_LEGACY`.
const STREAM_LEGACY: usize = 1;
/// The default stream of the calling thread: `CU_STREAM_PER_THREAD`.
const STREAM_PER_THREAD: usize = 2;

impl Context {
    /// Page-locks host memory that another owner allocated, so that the device can address it.
    ///
    /// # Safety
    ///
    /// * `size_bytes` bytes at `address` are live until the memory is released.
    unsafe fn adopt(self: &Arc<Self>, address: *mut c_void, size_bytes: usize) -> Result<Memory, Failure> {
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE | sys::CU_MEMHOSTREGISTER_DEVICEMAP;
        // SAFETY: the caller guarantees that the range is live until the memory is released.
        self.call("cuMemHostRegister", |api| unsafe { (api.memory_register)(address, size_bytes, flags) })?;
        let address = address.expose_provenance();
        Ok(Memory { context: Arc::clone(self), kind: MemoryKind::Adopted, address })
    }

    /// The device address of adopted host memory.
    fn device_address(&self, memory: &Memory) -> Result<CUdeviceptr, Failure> {
        let (mut address, host) = (0, ptr::with_exposed_provenance_mut(memory.address()));
        // SAFETY: a valid place to write to; the address is only looked up.
        self.call("cuMemHostGetDevicePointer", |api| unsafe {
            (api.memory_device_address)(&mut address, host, 0)
        })?;
        Ok(address)
    }
}

/// Shares streams and memory with other code that uses the driver.
pub(crate) struct CudaExternal(pub(crate) Arc<Hardware>);

impl External for CudaExternal {
    unsafe fn adopt_stream(&self, device_id: i32, native: *mut c_void) -> Result<Stream, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let context = device.context()?;
        let raw: CUstream = native.cast();
        if raw.addr() == STREAM_PER_THREAD {
            bail!(
                ErrorKind::VALUE_ERROR,
                "cuda:{device_id}: CU_STREAM_PER_THREAD is another stream on each thread; expected one that was created"
            );
        }
        // SAFETY: the caller guarantees a live stream.
        match unsafe { context.has_stream(raw) } {
            Ok(true) => {}
            Err(failure) if failure.is_fatal() => return device.checked(Err(failure)),
            Ok(false) | Err(_) => bail!(
                ErrorKind::VALUE_ERROR,
                "{native:p} is no stream of the primary context of cuda:{device_id}: expected a CUstream of it"
            ),
        }
        let stream = driver::Stream { context, raw, is_adopted: true };
        Ok(Stream::from_raw(ptr::without_provenance_mut(device.streams.add(stream))))
    }

    unsafe fn native_stream(&self, device_id: i32, stream: Stream) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        let legacy = ptr::without_provenance_mut(STREAM_LEGACY);
        Ok(stream.map_or(legacy, |stream| stream.raw.cast()))
    }

    unsafe fn native_data(&self, device_id: i32, data: *mut c_void) -> Result<NativeData, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let range = self.0.range(device, data.addr())?;
        let handle = ptr::with_exposed_provenance_mut(range.base);
        Ok(NativeData { handle, offset_bytes: range.inner_bytes })
    }

    unsafe fn adopt_host_memory(
        &self,
        device_id: i32,
        address: *mut c_void,
        size_bytes: u64,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let context = device.context()?;
        let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        let refused = |why: &str| {
            let what =
                format!("cuda:{device_id}: {size_bytes} bytes at {address:p} cannot be adopted: {why}");
            Err(Error::new(ErrorKind::UNSUPPORTED, what))
        };
        // SAFETY: the caller guarantees that the memory is live until it is released.
        let memory = match unsafe { context.adopt(address, size) } {
            Ok(memory) => memory,
            Err(failure) if failure.is_fatal() || failure.is_out_of_memory() => {
                return device.checked(Err(failure));
            }
            Err(failure) => return refused(&failure.text),
        };
        let seen = device.checked(context.device_address(&memory))?;
        if seen as usize != memory.address() {
            return refused("the device has it at another address than the host");
        }
        match device.spaces.add_at(memory.address(), memory, size_bytes) {
            Ok(handle) => Ok(ptr::with_exposed_provenance_mut(handle)),
            Err(NotAdded::Gone(_)) => {
                refused("free the data space first that it was before the device was opened again")
            }
            Err(NotAdded::Overlaps(_)) => refused("it is, in part at least, a data space already"),
        }
    }
}
