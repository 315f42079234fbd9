//! The memory of data spaces (VK-D8 to VK-D11).

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::kit::Reserved;
use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, Error, ErrorKind, bail, ensure};
use gpu_allocator::MemoryLocation;

use super::hardware::Device;
use crate::driver::{Buffer, Gpu, HostMemory, Request};

/// Maximum alignment of a data space.
const ALIGNMENT_BYTES_MAX: u64 = 4096;

/// A data space. Work that is queued keeps it alive.
pub(crate) struct Space {
    buffer: Buffer,
    kind: DataSpaceKind,
    /// Reserved bytes of the device's memory; `None` for memory that is the host's alone.
    _reserved: Option<Reserved>,
}

impl Space {
    /// The driver's buffer, the offset at which the data space begins in it, and its size in bytes,
    /// a whole number of words. Every data space has one, those in host memory too.
    pub(crate) fn buffer(&self) -> (vk::Buffer, u64, u64) {
        (self.buffer.raw(), 0, self.buffer.size_bytes())
    }

    /// The address at which kernels find it, where buffers have addresses.
    pub(crate) fn address(&self) -> Option<u64> {
        self.buffer.address()
    }

    /// The address at which the host finds it, if it can: of memory of any kind.
    pub(super) fn host_memory(&self) -> Option<HostMemory> {
        self.buffer.host_memory()
    }

    /// Returns true if the host reads it at the speed of its own memory.
    pub(super) fn is_cached(&self) -> bool {
        self.buffer.flags().contains(vk::MemoryPropertyFlags::HOST_CACHED)
    }

    /// The address that the boundary promises: of every kind but `Device`.
    pub(crate) fn host_address(&self) -> Option<*mut u8> {
        self.buffer.mapped().filter(|_| self.kind != DataSpaceKind::Device)
    }
}

impl Device {
    /// Creates a data space and returns its handle: the address of memory that the host can access
    /// too, otherwise a number that is never reused.
    pub(crate) fn allocate(&self, request: &DataSpaceRequest<'_>) -> Result<*mut c_void, Error> {
        check_request(self, request)?;
        let opened = self.open()?;
        let counts = request.kind != DataSpaceKind::Pinned || self.limits().is_unified();
        let reserve = || self.budget.reserve(request.size_bytes, self.name());
        let reserved = counts.then(reserve).transpose()?;
        let buffer = back(self, opened.gpu(), request)?;
        let space = Space { buffer, kind: request.kind, _reserved: reserved };
        if request.kind == DataSpaceKind::Device {
            return Ok(ptr::without_provenance_mut(self.spaces.add(space, request.size_bytes)));
        }
        let Some(address) = space.host_address() else {
            bail!(ErrorKind::INTERNAL, "{}: memory of kind {:?} is not mapped", self.name(), request.kind);
        };
        ensure!(
            (address.addr() as u64).is_multiple_of(request.alignment_bytes),
            ErrorKind::UNSUPPORTED,
            "{}: memory of kind {:?} is not available at a multiple of {} bytes",
            self.name(),
            request.kind,
            request.alignment_bytes
        );
        let is_alike =
            request.kind != DataSpaceKind::Unified || space.address() == Some(address.addr() as u64);
        ensure!(
            is_alike,
            ErrorKind::UNSUPPORTED,
            "{}: host and device have different addresses of the same memory; use kind 2 (host-visible)",
            self.name()
        );
        let added = self.spaces.add_at(address.addr(), space, request.size_bytes);
        ensure!(
            added.is_ok(),
            ErrorKind::OUT_OF_MEMORY,
            "{}: the driver placed memory at {address:p}, the handle of a data space that is gone and not freed; free it",
            self.name()
        );
        Ok(address.cast())
    }
}

/// The place of each kind of memory.
fn location(kind: DataSpaceKind) -> Option<(MemoryLocation, vk::MemoryPropertyFlags)> {
    use vk::MemoryPropertyFlags as F;
    let host = F::HOST_VISIBLE | F::HOST_COHERENT;
    match kind {
        DataSpaceKind::Device => Some((MemoryLocation::GpuOnly, F::DEVICE_LOCAL)),
        DataSpaceKind::Pinned => Some((MemoryLocation::GpuToCpu, host)),
        DataSpaceKind::HostVisible | DataSpaceKind::Unified => {
            Some((MemoryLocation::CpuToGpu, host | F::DEVICE_LOCAL))
        }
        _ => None,
    }
}

fn check_request(device: &Device, request: &DataSpaceRequest<'_>) -> Result<(), Error> {
    let (name, kind) = (device.name(), request.kind);
    ensure!(
        matches!(request.scope, "" | "global"),
        ErrorKind::UNSUPPORTED,
        "{name}: expected memory of the scope `global`, found scope `{}`",
        request.scope
    );
    ensure!(
        request.alignment_bytes <= ALIGNMENT_BYTES_MAX,
        ErrorKind::UNSUPPORTED,
        "{name}: expected an alignment of at most {ALIGNMENT_BYTES_MAX} bytes, found {}",
        request.alignment_bytes
    );
    let Some((_, flags)) = location(kind) else {
        bail!(ErrorKind::UNSUPPORTED, "{name}: expected memory of a kind from 0 to 3, found {kind:?}");
    };
    ensure!(
        device.limits().has_memory(flags),
        ErrorKind::UNSUPPORTED,
        "{name}: memory of kind {kind:?} needs a type of memory that is {flags:?}, which the device does not have; use kind \
         0 (device)"
    );
    ensure!(
        kind != DataSpaceKind::Unified || device.limits().has_capability("PhysicalStorageBufferAddresses"),
        ErrorKind::UNSUPPORTED,
        "{name}: memory of kind Unified needs addresses of buffers, which the device does not have; use kind 2 \
         (host-visible)"
    );
    let most = device.limits().properties.max_allocation_bytes;
    ensure!(
        request.size_bytes <= most,
        ErrorKind::OUT_OF_MEMORY,
        "{name}: {} bytes are asked for, and the device allocates at most {most} at a time",
        request.size_bytes
    );
    Ok(())
}

fn back(device: &Device, gpu: &Arc<Gpu>, request: &DataSpaceRequest<'_>) -> Result<Buffer, Error> {
    let what = || format!("{}: {} bytes of kind {:?}", device.name(), request.size_bytes, request.kind);
    let Some((location, flags)) = location(request.kind) else {
        bail!(ErrorKind::INTERNAL, "{}: a kind without a place", what());
    };
    let (size_bytes, alignment_bytes) = (request.size_bytes, request.alignment_bytes);
    let buffer = gpu.buffer(&Request { size_bytes, alignment_bytes, location, what: &what })?;
    // Where the preferred memory is full the allocator takes other memory, which is not what was
    // asked for (D.9).
    ensure!(
        buffer.flags().contains(flags),
        ErrorKind::OUT_OF_MEMORY,
        "{}: no memory is left that is {flags:?}",
        what()
    );
    Ok(buffer)
}
