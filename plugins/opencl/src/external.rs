//! Interface `external` 1: a native stream is a `cl_command_queue` of the device's context, native
//! data a `cl_mem`.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::external::{EXTERNAL, External, NativeData};
use chipdock_plugin_api::{Context, Error, ErrorKind, Stream, bail, ensure, register_interface};

use crate::error::OrFailed;
use crate::hardware::Hardware;

register_interface!("device_api.opencl", EXTERNAL, |context: &Context| -> Box<dyn External> {
    Box::new(OpenClExternal(context.state::<Hardware>()))
});

/// Granularity of adopted memory: atomic additions to halves access the whole word that contains
/// them.
const WORD_BYTES: u64 = 4;

/// Shares queues and memory with other code that uses the driver.
pub(crate) struct OpenClExternal(pub(crate) Arc<Hardware>);

impl External for OpenClExternal {
    unsafe fn adopt_stream(&self, device_id: i32, native: *mut c_void) -> Result<Stream, Error> {
        let device = self.0.device(device_id)?;
        let context = &device.open()?.context;
        // SAFETY: the caller guarantees a live queue.
        let Ok(Some(raw)) = (unsafe { context.adopt_queue(device.raw(), native) }) else {
            bail!(
                ErrorKind::VALUE_ERROR,
                "{native:p}: expected an in-order cl_command_queue of {} and its context, which CL_QUEUE_CONTEXT of a \
                 native stream tells",
                device.name()
            );
        };
        Ok(Stream::from_raw(ptr::without_provenance_mut(device.adopt_stream(raw))))
    }

    unsafe fn native_stream(&self, device_id: i32, stream: Stream) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        Ok(device.timed_stream(stream.into_raw().addr())?.raw().native())
    }

    unsafe fn native_data(&self, device_id: i32, data: *mut c_void) -> Result<NativeData, Error> {
        let device = self.0.device(device_id)?;
        let (space, offset) = device.spaces.range(data.addr(), 0, 0, device.name())?;
        Ok(NativeData { handle: space.native(), offset_bytes: offset as u64 })
    }

    unsafe fn adopt_host_memory(
        &self,
        device_id: i32,
        address: *mut c_void,
        size_bytes: u64,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        let alignment = device.limits().alignment_bytes.max(WORD_BYTES);
        ensure!(
            device.limits().has_host_memory,
            ErrorKind::UNSUPPORTED,
            "{} has copies of host memory and does not work on it; allocate a data space and copy",
            device.name()
        );
        let fits = (address.addr() as u64).is_multiple_of(alignment) && size_bytes.is_multiple_of(WORD_BYTES);
        ensure!(
            fits,
            ErrorKind::UNSUPPORTED,
            "{}: expected host memory at a multiple of {alignment} bytes and of a multiple of {WORD_BYTES} bytes, found \
             {size_bytes} bytes at {address:p}",
            device.name()
        );
        let what = || format!("{}: adopting {size_bytes} bytes of host memory", device.name());
        let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        // SAFETY: the caller guarantees that the memory is live until it is released; the buffer is
        // dropped with the data space.
        let buffer = unsafe { device.open()?.context.buffer_over(address, size) }.or_failed(what)?;
        device.adopt(buffer, address, size_bytes)
    }
}
