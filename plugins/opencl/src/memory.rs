//! Data spaces of one device, behind handles that are looked up before anything is done with them (D.19).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, Error, ErrorKind, bail, ensure};
use opencl3::memory::{CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE};

use crate::driver::{Buffer, MappedAddress, SharedMemory};
use crate::error::{OrFailed, failed};
use crate::hardware::{Device, Opened};
use crate::stream::Queue;

/// Set in every handle that is no address: no address of a process on a 64-bit machine has it.
const HANDLE_BIT: usize = 1 << 62;
/// Handles are as aligned as data spaces may be.
const SERIAL_SHIFT: u32 = 12;
/// No data space is aligned to more.
const ALIGNMENT_BYTES_MAX: u64 = 1 << SERIAL_SHIFT;
/// Handles differ in the whole process: one of another host or device is never mistaken for one's own.
static LAST_SERIAL: AtomicUsize = AtomicUsize::new(0);
/// Of data spaces whose handles are addresses too, which are given out again.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// How the memory of a data space is had. Fields are dropped in order: the buffer before what lies beneath it.
enum Backing {
    Device(Buffer),
    /// Page-locked host memory: a buffer of the driver's that stays mapped.
    Pinned(Mapped),
    /// Memory that host and device address alike.
    Shared(Buffer, SharedMemory),
    /// Host memory of somebody else's.
    Adopted(Buffer, MappedAddress),
}

/// A buffer that is mapped as long as it lives.
struct Mapped {
    buffer: Buffer,
    address: MappedAddress,
    queue: Arc<Queue>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // Nobody uses it any more (D.5), and nobody is left to be told.
        let _ = self.queue.raw().unmap(&self.buffer, self.address);
    }
}

/// A data space. Work that is being queued keeps it alive.
pub(crate) struct Space {
    /// That of no other data space of the process.
    number: u64,
    backing: Backing,
    size_bytes: u64,
    used: Arc<AtomicU64>,
}

impl Space {
    fn new(backing: Backing, size_bytes: u64, used: Arc<AtomicU64>) -> Self {
        Self { number: LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1, backing, size_bytes, used }
    }

    /// A number that no other data space of the process has or will have.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The driver's buffer; none for host memory, which the device reaches by copies alone.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        match &self.backing {
            Backing::Device(buffer) | Backing::Shared(buffer, _) | Backing::Adopted(buffer, _) => {
                Some(buffer)
            }
            Backing::Pinned(_) => None,
        }
    }

    /// The address, where the handle is one.
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

impl Drop for Space {
    fn drop(&mut self) {
        // What somebody else allocated was never counted (N.14).
        if !matches!(self.backing, Backing::Adopted(..)) {
            self.used.fetch_sub(self.size_bytes, Ordering::AcqRel);
        }
    }
}

/// The data spaces of one device.
#[derive(Default)]
pub(crate) struct Memory {
    spaces: RwLock<BTreeMap<usize, Arc<Space>>>,
    used: Arc<AtomicU64>,
}

/// Bytes that count as used until this goes, or until a space takes over.
struct Reserved {
    used: Arc<AtomicU64>,
    size_bytes: u64,
}

impl Memory {
    /// Makes a data space and answers its handle: for memory that the host reaches too its address, else a number that is
    /// never given out again.
    pub(crate) fn allocate(
        &self,
        device: &Device,
        opened: &Opened,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        check_request(device, request)?;
        let size_bytes = request.size_bytes;
        let reserved = self.reserve(device, size_bytes)?;
        let backing = back(device, opened, request)?;
        let space = Space::new(backing, size_bytes, reserved.keep());
        let handle = match space.address() {
            Some(address) => address,
            None => {
                let serial = LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1;
                std::ptr::without_provenance_mut(HANDLE_BIT | serial << SERIAL_SHIFT)
            }
        };
        let aligned = (handle.addr() as u64).is_multiple_of(request.alignment_bytes);
        ensure!(
            aligned,
            ErrorKind::UNSUPPORTED,
            "{}: memory of kind {:?} is not had at a multiple of {} bytes",
            device.name(),
            request.kind,
            request.alignment_bytes
        );
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        spaces.insert(handle.addr(), Arc::new(space));
        Ok(handle)
    }

    /// Makes a data space of a buffer over host memory at that address, which is its handle.
    pub(crate) fn adopt(
        &self,
        device: &Device,
        buffer: Buffer,
        address: *mut c_void,
        size_bytes: u64,
    ) -> Result<*mut c_void, Error> {
        let backing = Backing::Adopted(buffer, MappedAddress::new(address));
        let space = Arc::new(Space::new(backing, size_bytes, Arc::clone(&self.used)));
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        let begin = address.addr();
        let before = spaces.range(..begin.saturating_add(size_bytes as usize)).next_back();
        let is_taken = before.is_some_and(|(base, space)| {
            space.address().is_some() && (base + space.size_bytes as usize) > begin
        });
        ensure!(
            !is_taken,
            ErrorKind::UNSUPPORTED,
            "{}: the {size_bytes} bytes at {address:p} are, in part at least, a data space already",
            device.name()
        );
        spaces.insert(begin, space);
        Ok(address)
    }

    fn reserve(&self, device: &Device, size_bytes: u64) -> Result<Reserved, Error> {
        let total = device.limits().memory_bytes;
        let taken = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            used.checked_add(size_bytes).filter(|sum| *sum <= total)
        });
        match taken {
            Ok(_) => Ok(Reserved { used: Arc::clone(&self.used), size_bytes }),
            Err(used) => bail!(
                ErrorKind::OUT_OF_MEMORY,
                "{}: {size_bytes} bytes are asked for, and {} of {total} are left; free some first",
                device.name(),
                total.saturating_sub(used)
            ),
        }
    }

    /// Frees a data space.
    pub(crate) fn free(&self, device: &Device, handle: usize) -> Result<(), Error> {
        let removed = self.spaces.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
        // Given back to the driver after the lock.
        removed.map(drop).ok_or_else(|| unknown(device, handle))
    }

    /// The data spaces whose handles these are; none for 0.
    pub(crate) fn all_of(
        &self,
        device: &Device,
        handles: impl Iterator<Item = usize>,
    ) -> Result<Vec<Option<Arc<Space>>>, Error> {
        let spaces = self.spaces.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::with_capacity(handles.size_hint().1.unwrap_or(0));
        for handle in handles {
            found.push(match handle {
                0 => None,
                _ => Some(Arc::clone(spaces.get(&handle).ok_or_else(|| unknown(device, handle))?)),
            });
        }
        Ok(found)
    }

    /// The data space behind a handle, and where in it a range starts; an address within a data space counts from its
    /// base.
    pub(crate) fn range(
        &self,
        device: &Device,
        handle: usize,
        offset_bytes: u64,
        size_bytes: u64,
    ) -> Result<(Arc<Space>, usize), Error> {
        let (space, inner) = self.find(device, handle)?;
        let start = offset_bytes.checked_add(inner);
        let end = start.and_then(|start| start.checked_add(size_bytes));
        match (start.map(usize::try_from), end) {
            (Some(Ok(start)), Some(end)) if end <= space.size_bytes => Ok((space, start)),
            _ => bail!(
                ErrorKind::INDEX_ERROR,
                "{}: expected a range within the {} bytes of the data space, found {size_bytes} bytes at {}",
                device.name(),
                space.size_bytes,
                u128::from(offset_bytes) + u128::from(inner)
            ),
        }
    }

    fn find(&self, device: &Device, handle: usize) -> Result<(Arc<Space>, u64), Error> {
        let spaces = self.spaces.read().unwrap_or_else(PoisonError::into_inner);
        let found = spaces.range(..=handle).next_back();
        let (base, space) = found.ok_or_else(|| unknown(device, handle))?;
        let inner = (handle - base) as u64;
        if inner == 0 || space.address().is_some() && inner < space.size_bytes {
            return Ok((Arc::clone(space), inner));
        }
        Err(unknown(device, handle))
    }

    /// Gives everything back.
    pub(crate) fn clear(&self) {
        let spaces = std::mem::take(&mut *self.spaces.write().unwrap_or_else(PoisonError::into_inner));
        drop(spaces);
    }
}

impl Reserved {
    /// Whoever has the counter now gives the bytes back.
    fn keep(self) -> Arc<AtomicU64> {
        let used = Arc::clone(&self.used);
        std::mem::forget(self);
        used
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.used.fetch_sub(self.size_bytes, Ordering::AcqRel);
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
    // A handle that is no address is as aligned as handles are.
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

/// Asks the driver for the memory.
fn back(device: &Device, opened: &Opened, request: &DataSpaceRequest<'_>) -> Result<Backing, Error> {
    let what = || format!("{}: {} bytes of kind {:?}", device.name(), request.size_bytes, request.kind);
    // OpenCL has no buffer of no bytes; and whole words, since halves are added to atomically by the word they lie in.
    let size = request.size_bytes.max(1).checked_next_multiple_of(4);
    let size = size.and_then(|size| usize::try_from(size).ok()).ok_or_else(|| failed(what(), NO_MEMORY))?;
    let context = &opened.context;
    Ok(match request.kind {
        DataSpaceKind::Device => Backing::Device(context.buffer(CL_MEM_READ_WRITE, size).or_failed(what)?),
        DataSpaceKind::Pinned => {
            let buffer = context.buffer(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size).or_failed(what)?;
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

/// What calls mean that answer no number of their own.
const NO_MEMORY: i32 = opencl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE;

fn unknown(device: &Device, handle: usize) -> Error {
    Error::new(
        ErrorKind::WRONG_STATE,
        format!(
            "{handle:#x} is no data space of {}: it was freed, or is another device's; expected a handle that this \
             device gave out",
            device.name()
        ),
    )
}
