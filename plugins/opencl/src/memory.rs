//! The memory of data spaces. Their handles are looked up before anything is done with them (D.19).

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chipdock_plugin_api::kit::Reserved;
use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, Error, ErrorKind, bail, ensure};
use opencl3::error_codes::CL_INVALID_BUFFER_SIZE;
use opencl3::memory::{CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE};

use crate::driver::{Buffer, MappedAddress, SharedMemory};
use crate::error::{OrFailed, failed};
use crate::hardware::{Device, Opened};
use crate::stream::Queue;

/// Maximum alignment of a data space.
const ALIGNMENT_BYTES_MAX: u64 = 4096;
/// Last number of a data space. Numbers identify data spaces even if their handles are addresses,
/// which are reused.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// The memory of a data space. Fields are dropped in order: the buffer before the memory beneath
/// it.
enum Backing {
    Device(Buffer),
    /// Page-locked host memory: a buffer of the driver that stays mapped.
    Pinned(Mapped),
    /// Memory that host and device access at the same address.
    Shared(Buffer, SharedMemory),
    /// Host memory that other code allocated.
    Adopted(Buffer, MappedAddress),
}

/// A buffer that stays mapped as long as this lives.
struct Mapped {
    buffer: Buffer,
    address: MappedAddress,
    queue: Arc<Queue>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // It is no longer used (D.5), and a failure cannot be reported.
        let _ = self.queue.raw().unmap(&self.buffer, self.address);
    }
}

/// A data space. Work that is being queued keeps it alive.
pub(crate) struct Space {
    /// Number that is unique among the data spaces of the process.
    number: u64,
    backing: Backing,
    /// Reserved bytes of the device's memory; `None` for memory that other code allocated (N.14).
    _reserved: Option<Reserved>,
}

impl Space {
    fn new(backing: Backing, reserved: Option<Reserved>) -> Self {
        Self { number: LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1, backing, _reserved: reserved }
    }

    /// A number that is unique among all data spaces of the process, past and future.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The driver's buffer; `None` for host memory, which the device accesses only by copies.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        match &self.backing {
            Backing::Device(buffer) | Backing::Shared(buffer, _) | Backing::Adopted(buffer, _) => {
                Some(buffer)
            }
            Backing::Pinned(_) => None,
        }
    }

    /// The address, if the handle is one.
    pub(crate) fn address(&self) -> Option<*mut c_void> {
        match &self.backing {
            Backing::Device(_) => None,
            Backing::Pinned(mapped) => Some(mapped.address.get()),
            Backing::Shared(_, shared) => Some(shared.address()),
            Backing::Adopted(_, address) => Some(address.get()),
        }
    }

    /// The driver's handle of the memory.
    pub(crate) fn native(&self) -> *mut c_void {
        match &self.backing {
            Backing::Device(buffer) | Backing::Shared(buffer, _) | Backing::Adopted(buffer, _) => {
                buffer.native()
            }
            Backing::Pinned(mapped) => mapped.buffer.native(),
        }
    }
}

impl Device {
    /// Creates a data space and returns its handle: the address of memory that the host can access
    /// too, otherwise a number that is never reused.
    pub(crate) fn allocate(&self, request: &DataSpaceRequest<'_>) -> Result<*mut c_void, Error> {
        check_request(self, request)?;
        let reserved = self.budget.reserve(request.size_bytes, self.name())?;
        let space = Space::new(back(self, self.open()?, request)?, Some(reserved));
        let Some(address) = space.address() else {
            return Ok(std::ptr::without_provenance_mut(self.spaces.add(space, request.size_bytes)));
        };
        ensure!(
            (address.addr() as u64).is_multiple_of(request.alignment_bytes),
            ErrorKind::UNSUPPORTED,
            "{}: memory of kind {:?} is not had at a multiple of {} bytes",
            self.name(),
            request.kind,
            request.alignment_bytes
        );
        self.add_at(address, space, request.size_bytes)
    }

    /// Creates a data space from a buffer over host memory at that address, which is its handle.
    pub(crate) fn adopt(
        &self,
        buffer: Buffer,
        address: *mut c_void,
        size_bytes: u64,
    ) -> Result<*mut c_void, Error> {
        let space = Space::new(Backing::Adopted(buffer, MappedAddress::new(address)), None);
        self.add_at(address, space, size_bytes)
    }

    fn add_at(&self, address: *mut c_void, space: Space, size_bytes: u64) -> Result<*mut c_void, Error> {
        let added = self.spaces.add_at(address.addr(), space, size_bytes);
        ensure!(
            added.is_ok(),
            ErrorKind::UNSUPPORTED,
            "{}: the {size_bytes} bytes at {address:p} are, in part at least, a data space already",
            self.name()
        );
        Ok(address)
    }
}

fn check_request(device: &Device, request: &DataSpaceRequest<'_>) -> Result<(), Error> {
    ensure!(
        matches!(request.scope, "" | "global"),
        ErrorKind::UNSUPPORTED,
        "{}: expected memory of the scope `global`, found scope `{}`",
        device.name(),
        request.scope
    );
    let alignment = request.alignment_bytes;
    // A handle that is not an address counts as aligned to any supported alignment.
    let most = match request.kind {
        DataSpaceKind::Device => ALIGNMENT_BYTES_MAX,
        _ => device.limits().alignment_bytes.clamp(64, ALIGNMENT_BYTES_MAX),
    };
    ensure!(
        alignment <= most,
        ErrorKind::UNSUPPORTED,
        "{}: expected an alignment of at most {most} bytes, found {alignment}",
        device.name()
    );
    let is_shared = matches!(request.kind, DataSpaceKind::HostVisible | DataSpaceKind::Unified);
    ensure!(
        !is_shared || device.limits().has_shared_memory,
        ErrorKind::UNSUPPORTED,
        "{}: memory of kind {:?} needs fine-grained shared virtual memory, which the device does not have; use kind 0 \
         (device)",
        device.name(),
        request.kind
    );
    Ok(())
}

/// Allocates the memory from the driver.
fn back(device: &Device, opened: &Opened, request: &DataSpaceRequest<'_>) -> Result<Backing, Error> {
    let what = || format!("{}: {} bytes of kind {:?}", device.name(), request.size_bytes, request.kind);
    // OpenCL has no empty buffers; sizes are whole words, since atomic additions to halves access
    // the word that contains them.
    let size = request.size_bytes.max(1).checked_next_multiple_of(4);
    let size = size.and_then(|size| usize::try_from(size).ok()).ok_or_else(|| failed(what(), NO_MEMORY))?;
    let context = &opened.context;
    let refused = |code| too_large(device, request, code).unwrap_or_else(|| failed(what(), code));
    let buffer = |flags| context.buffer(flags, size).map_err(refused);
    Ok(match request.kind {
        DataSpaceKind::Device => Backing::Device(buffer(CL_MEM_READ_WRITE)?),
        DataSpaceKind::Pinned => {
            let buffer = buffer(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)?;
            let address = opened.transfer.raw().map(&buffer, size).or_failed(what)?;
            Backing::Pinned(Mapped { buffer, address, queue: Arc::clone(&opened.transfer) })
        }
        DataSpaceKind::HostVisible | DataSpaceKind::Unified => {
            let alignment = request.alignment_bytes.clamp(1, 128) as u32;
            let shared = SharedMemory::new(context, size, alignment);
            let shared = shared.map_err(|_| failed(what(), NO_MEMORY))?;
            Backing::Shared(shared.buffer().or_failed(what)?, shared)
        }
        _ => bail!(ErrorKind::UNSUPPORTED, "{}: expected a kind from 0 to 3", what()),
    })
}

/// The error of a buffer that the driver refuses for its size, if it is larger than the device
/// says: some drivers give more, so that they are asked first.
fn too_large(device: &Device, request: &DataSpaceRequest<'_>, code: i32) -> Option<Error> {
    let (size, most) = (request.size_bytes, device.limits().allocation_bytes);
    (code == CL_INVALID_BUFFER_SIZE && (1..size).contains(&most)).then(|| {
        let name = device.name();
        let message =
            format!("{name}: {size} bytes are asked for, and the device allocates at most {most} at a time");
        Error::new(ErrorKind::OUT_OF_MEMORY, message)
    })
}

/// The error code for failures without a code of their own.
const NO_MEMORY: i32 = opencl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE;
