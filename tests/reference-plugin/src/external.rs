//! Interface `external` 1: a native stream is the queue of a stream, native data is the block of a
//! data space.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use chipdock_plugin_api::external::{External, NativeData};
use chipdock_plugin_api::{Error, ErrorKind, Stream, bail};

use crate::fault;
use crate::hardware::Hardware;
use crate::memory::Block;

/// Implementation of `external` 1, which shares queues and blocks.
pub(crate) struct ReferenceExternal(pub(crate) Arc<Hardware>);

impl External for ReferenceExternal {
    unsafe fn adopt_stream(&self, device_id: i32, native: *mut c_void) -> Result<Stream, Error> {
        self.0.device(device_id)?;
        let streams = self.0.streams(device_id)?;
        let found = streams.all().into_iter().find(|queue| Arc::as_ptr(queue).addr() == native.addr());
        let Some(queue) = found else {
            bail!(
                ErrorKind::VALUE_ERROR,
                "{native:p} is no native stream of reference:{device_id}: expected one that `native_stream` answered"
            );
        };
        // N.10: a stream of its own.
        let queue = if fault::is("adopted-stream-is-another") { Arc::default() } else { queue };
        Ok(Stream::from_raw(ptr::without_provenance_mut(streams.adopt(queue))))
    }

    unsafe fn native_stream(&self, device_id: i32, stream: Stream) -> Result<*mut c_void, Error> {
        self.0.device(device_id)?;
        let streams = self.0.streams(device_id)?;
        // N.11: always that of the default stream.
        let handle = if fault::is("native-stream-of-the-default") { 0 } else { stream.into_raw().addr() };
        Ok(Arc::as_ptr(&streams.get(handle)?).cast_mut().cast())
    }

    unsafe fn native_data(&self, device_id: i32, data: *mut c_void) -> Result<NativeData, Error> {
        let device = self.0.device(device_id)?;
        let (block, offset) = device.memory.range(data.addr(), 0, 0)?;
        // N.12: all lie in one place.
        let address = if fault::is("native-data-alike") { 64 } else { block.address() };
        Ok(NativeData { handle: ptr::with_exposed_provenance_mut(address), offset_bytes: offset as u64 })
    }

    unsafe fn adopt_host_memory(
        &self,
        device_id: i32,
        address: *mut c_void,
        size_bytes: u64,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        let size =
            usize::try_from(size_bytes).ok().filter(|size| address.addr().checked_add(*size).is_some());
        let (Some(base), Some(size)) = (NonNull::new(address.cast::<u8>()), size) else {
            bail!(
                ErrorKind::UNSUPPORTED,
                "expected host memory that ends before addresses do, found {size_bytes} bytes at {address:p}"
            );
        };
        // N.13: a copy of it.
        if fault::is("adopted-memory-copied") {
            // SAFETY: the caller guarantees that this number of bytes stays live there.
            let copy = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), size) }.to_vec().leak();
            let base = NonNull::from(&mut *copy).cast();
            // SAFETY: they live as long as the process.
            return device
                .memory
                .adopt(unsafe { Block::over(base, size) })
                .map(ptr::with_exposed_provenance_mut);
        }
        // SAFETY: the memory is alive until its data space is freed (N.14), as the trait requires;
        // a data space that is freed has no work under way (D.5).
        let block = unsafe { Block::over(base, size) };
        device.memory.adopt(block).map(ptr::with_exposed_provenance_mut)
    }
}
