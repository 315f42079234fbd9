//! Interface `memory.async` 1: memory of the driver's pools, which drivers have since CUDA 11.2.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::memory_async::{AsyncMemory, MEMORY_ASYNC};
use chipdock_plugin_api::{
    DataSpaceKind, DataSpaceRequest, Error, ErrorKind, Stream, bail, ensure, register_interface,
};
use cudarc::driver::sys::{CUdevice_attribute_enum, CUdeviceptr, CUstream};
use libloading::Library;

use crate::device_api::{allocate, checked_size};
use crate::driver::{self, Code, Context, Failure, Memory, MemoryKind, raw_stream};
use crate::hardware::{Device, Hardware};

register_interface!(
    "device_api.cuda",
    MEMORY_ASYNC,
    |context: &chipdock_plugin_api::Context| -> Box<dyn AsyncMemory> {
        Box::new(CudaAsyncMemory(context.state::<Hardware>()))
    }
);

type Allocate = unsafe extern "C" fn(*mut CUdeviceptr, usize, CUstream) -> Code;
type Free = unsafe extern "C" fn(CUdeviceptr, CUstream) -> Code;

/// The driver's functions for memory in the order of a stream.
#[derive(Clone, Copy)]
pub(crate) struct Pools {
    allocate: Allocate,
    free: Free,
}

impl Pools {
    /// Returns `None` for a driver that does not have them.
    ///
    /// # Safety
    ///
    /// * `library` is the CUDA driver: its symbols have the types of its header.
    pub(crate) unsafe fn load(library: &Library) -> Option<Self> {
        // SAFETY: the driver's symbols have these types, as the caller guarantees.
        let (allocate, free) = unsafe {
            (library.get::<Allocate>("cuMemAllocAsync").ok()?, library.get::<Free>("cuMemFreeAsync").ok()?)
        };
        Some(Self { allocate: *allocate, free: *free })
    }
}

impl Context {
    fn allocate_on(
        self: &Arc<Self>,
        pools: Pools,
        size_bytes: usize,
        stream: Option<&driver::Stream>,
    ) -> Result<Memory, Failure> {
        let mut address: CUdeviceptr = 0;
        let stream = raw_stream(stream);
        // SAFETY: a valid place to write to, and a live stream of this context.
        self.call("cuMemAllocAsync", |_| unsafe { (pools.allocate)(&mut address, size_bytes, stream) })?;
        Ok(Memory { context: Arc::clone(self), kind: MemoryKind::Pooled, address: address as usize })
    }
}

impl Memory {
    /// Frees pooled memory in the order of a stream.
    fn free_on(self, pools: Pools, stream: Option<&driver::Stream>) -> Result<(), Failure> {
        // The memory is not freed again, whatever the driver says.
        let this = ManuallyDrop::new(self);
        // SAFETY: read once, from a value that is never dropped.
        let context = unsafe { ptr::read(&this.context) };
        let stream = raw_stream(stream);
        // SAFETY: memory of the driver's pool, freed once, and a live stream of its context.
        context.call("cuMemFreeAsync", |_| unsafe { (pools.free)(this.address as CUdeviceptr, stream) })
    }
}

/// Memory in the order of a stream.
pub(crate) struct CudaAsyncMemory(pub(crate) Arc<Hardware>);

/// Returns the driver's functions, where this device has memory pools.
fn pools(device: &Device) -> Result<Pools, Error> {
    let key = CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    // A driver that does not know the attribute has none.
    let has = device.driver().attribute(device.id(), key).unwrap_or(0) != 0;
    match device.driver().pools().filter(|_| has) {
        Some(pools) => Ok(pools),
        None => bail!(
            ErrorKind::UNSUPPORTED,
            "{}: its driver has no memory pools, which NVIDIA's drivers since CUDA 11.2 have; allocate without a stream",
            device.name
        ),
    }
}

impl AsyncMemory for CudaAsyncMemory {
    unsafe fn allocate(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
        stream: Stream,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        let pools = pools(device)?;
        let size_bytes = checked_size(device, request)?;
        ensure!(
            request.kind == DataSpaceKind::Device,
            ErrorKind::UNSUPPORTED,
            "{}: expected memory of kind 0 (device), found {:?}; allocate it without a stream",
            device.name,
            request.kind
        );
        if size_bytes == 0 {
            return Ok(ptr::null_mut());
        }
        allocate(device, request, || {
            device.checked(device.context()?.allocate_on(pools, size_bytes, stream.as_deref()))
        })
    }

    unsafe fn free(&self, device_id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        let stream = device.stream(stream.into_raw())?;
        let kind = device.spaces.look(data.addr(), |found| found.value.kind());
        ensure!(
            kind.is_none_or(|kind| kind == MemoryKind::Pooled),
            ErrorKind::WRONG_STATE,
            "{}: data space {data:p} was not allocated by `memory.async`; free it with `free_data_space`",
            device.name
        );
        let pools = pools(device)?;
        let memory = device.spaces.take(data.addr(), &device.name)?;
        let Some(memory) = memory.and_then(Arc::into_inner) else { return device.check() };
        let freed = device.checked(memory.free_on(pools, stream.as_deref()));
        device.check().and(freed)
    }
}
