//! Memory of a device: blocks behind handles, and how bytes get from one to another.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, Error, ErrorKind, bail, ensure};

use crate::fault;

/// What each device has, in bytes.
pub(crate) const MEMORY_BYTES: u64 = 256 << 20;
/// No data space is aligned to more.
pub(crate) const ALIGNMENT_BYTES_MAX: u64 = 1 << 16;

/// Set in every handle: no address of a process on a 64-bit machine has it, so using one as an address faults at once.
const HANDLE_BIT: usize = 1 << 62;
const DEVICE_SHIFT: u32 = 56;
/// Handles are as aligned as data spaces may be.
const SERIAL_SHIFT: u32 = 16;

/// The next number, read and written in two steps.
fn next_without_a_lock() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let last = LAST.load(Ordering::Relaxed);
    thread::sleep(Duration::from_micros(100));
    LAST.store(last + 1, Ordering::Relaxed);
    last + 1
}

/// Locks; every change under these locks is whole before anything can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One piece of memory. Work that is queued keeps it alive, so a handle that was freed too early harms nobody.
#[derive(Debug)]
pub(crate) struct Block {
    base: NonNull<u8>,
    layout: Layout,
    size_bytes: usize,
    access: Mutex<()>,
}

// SAFETY: the memory is reached under `access` alone, but by a host that was given its address, which is the host's to
// order (D.8).
unsafe impl Send for Block {}
// SAFETY: the memory is reached under `access` alone, but by a host that was given its address, which is the host's to
// order (D.8).
unsafe impl Sync for Block {}

impl Block {
    fn new(size_bytes: u64, alignment_bytes: u64) -> Option<Self> {
        let size_bytes = usize::try_from(size_bytes).ok()?;
        let layout =
            Layout::from_size_align(size_bytes.max(1), usize::try_from(alignment_bytes).ok()?).ok()?;
        // SAFETY: the size is not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { base, layout, size_bytes, access: Mutex::new(()) })
    }

    /// One without any bytes.
    pub(crate) fn empty() -> Self {
        Self { base: NonNull::dangling(), layout: Layout::new::<()>(), size_bytes: 0, access: Mutex::new(()) }
    }

    /// Over memory that is somebody else's.
    ///
    /// # Safety
    ///
    /// * As many bytes are live there as long as this is used.
    pub(crate) unsafe fn over(base: NonNull<u8>, size_bytes: usize) -> Self {
        Self { base, layout: Layout::new::<()>(), size_bytes, access: Mutex::new(()) }
    }

    /// Where it lies in host memory.
    pub(crate) fn address(&self) -> usize {
        self.base.as_ptr().expose_provenance()
    }

    /// How many bytes it has.
    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    fn check(&self, offset: usize, size: usize) -> Result<(), Error> {
        ensure!(
            offset.checked_add(size).is_some_and(|end| end <= self.size_bytes),
            ErrorKind::INDEX_ERROR,
            "expected a range within the {} bytes of the data space, found {size} bytes at {offset}",
            self.size_bytes
        );
        Ok(())
    }

    /// A copy of some bytes.
    pub(crate) fn read(&self, offset: usize, size: usize) -> Result<Vec<u8>, Error> {
        self.check(offset, size)?;
        let mut bytes = vec![0; size];
        let _access = lock(&self.access);
        // SAFETY: within the block, and nobody of the device writes it meanwhile.
        unsafe { self.base.as_ptr().add(offset).copy_to_nonoverlapping(bytes.as_mut_ptr(), size) };
        Ok(bytes)
    }

    /// Writes some bytes.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        self.check(offset, bytes.len())?;
        let _access = lock(&self.access);
        // SAFETY: within the block, and nobody of the device touches it meanwhile.
        unsafe { self.base.as_ptr().add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout, and nobody has it any more.
            unsafe { dealloc(self.base.as_ptr(), self.layout) };
        }
    }
}

/// A data space.
#[derive(Clone, Debug)]
struct Space {
    block: Arc<Block>,
    /// Whether its handle is its address.
    is_address: bool,
    /// Whether the host reads and writes it in place.
    is_reached: bool,
    /// Whether its memory is somebody else's (N.14).
    is_adopted: bool,
}

/// The data spaces of one device.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    device_id: i32,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    spaces: BTreeMap<usize, Space>,
    last_serial: usize,
    used_bytes: u64,
}

impl Memory {
    /// Of that device, nothing used.
    pub(crate) fn new(device_id: i32) -> Self {
        Self { device_id, table: Mutex::default() }
    }

    /// What is not used, in bytes.
    pub(crate) fn available_bytes(&self) -> u64 {
        MEMORY_BYTES.saturating_sub(lock(&self.table).used_bytes)
    }

    /// Makes a data space and answers its handle: of pinned and unified memory the address, else a number that is never
    /// given out again.
    pub(crate) fn allocate(&self, request: &DataSpaceRequest<'_>) -> Result<usize, Error> {
        ensure!(
            // D.9: a scope that nobody knows is taken for `global`.
            matches!(request.scope, "" | "global") || fault::is("unknown-scope-accepted"),
            ErrorKind::UNSUPPORTED,
            "device reference:{}: expected memory of the scope `global`, found scope `{}`",
            self.device_id,
            request.scope
        );
        let alignment = request.alignment_bytes;
        ensure!(
            alignment <= ALIGNMENT_BYTES_MAX,
            ErrorKind::UNSUPPORTED,
            "device reference:{}: expected an alignment of at most {ALIGNMENT_BYTES_MAX} bytes, found {alignment}",
            self.device_id
        );
        // D.22: size 0 is allowed.
        ensure!(
            request.size_bytes > 0 || !fault::is("size-0-refused"),
            ErrorKind::VALUE_ERROR,
            "expected a size, found 0"
        );
        // P10.1: two threads may take the same number.
        let raced = fault::is("data-race").then(next_without_a_lock);
        let mut table = lock(&self.table);
        let left = MEMORY_BYTES.saturating_sub(table.used_bytes);
        // D.4: aligned as it happens to be.
        let alignment = if fault::is("alignment-ignored") { 1 } else { alignment };
        let mut block =
            (request.size_bytes <= left).then(|| Block::new(request.size_bytes, alignment)).flatten();
        // D.20: a few bytes less than asked for.
        if fault::is("data-space-too-small") && request.size_bytes > 8 {
            block = Block::new(request.size_bytes - 8, alignment);
        }
        // P7.7: what could not be had counts as used.
        if block.is_none() && fault::is("out-of-memory-breaks-state") {
            table.used_bytes = MEMORY_BYTES;
        }
        let Some(mut block) = block.map(Arc::new) else {
            bail!(
                ErrorKind::OUT_OF_MEMORY,
                "device reference:{}: {} bytes are asked for and {left} of {MEMORY_BYTES} are left; free some first",
                self.device_id,
                request.size_bytes
            );
        };
        // D.21: two handles for one block, where the one before is as large.
        if fault::is("data-spaces-share")
            && let Some(other) = table.spaces.values().next_back()
            && other.block.size_bytes == block.size_bytes
        {
            block = Arc::clone(&other.block);
        }
        let is_address = matches!(request.kind, DataSpaceKind::Pinned | DataSpaceKind::Unified);
        let handle = if is_address {
            block.address()
        } else {
            table.last_serial = raced.unwrap_or(table.last_serial + 1);
            HANDLE_BIT | (self.device_id as usize) << DEVICE_SHIFT | table.last_serial << SERIAL_SHIFT
        };
        table.used_bytes += request.size_bytes;
        let is_reached = request.kind != DataSpaceKind::Device;
        table.spaces.insert(handle, Space { block, is_address, is_reached, is_adopted: false });
        Ok(handle)
    }

    /// Makes a data space of memory that is somebody else's, whose handle is its address.
    pub(crate) fn adopt(&self, block: Block) -> Result<usize, Error> {
        let mut table = lock(&self.table);
        let (begin, size) = (block.address(), block.size_bytes);
        let before = table.spaces.range(..begin.saturating_add(size)).next_back();
        let is_taken =
            before.is_some_and(|(base, space)| space.is_address && base + space.block.size_bytes > begin);
        ensure!(
            !is_taken,
            ErrorKind::UNSUPPORTED,
            "device reference:{}: the {size} bytes at {begin:#x} are, in part at least, a data space already",
            self.device_id
        );
        let space = Space { block: Arc::new(block), is_address: true, is_reached: true, is_adopted: true };
        table.spaces.insert(begin, space);
        Ok(begin)
    }

    /// Frees a data space.
    pub(crate) fn free(&self, handle: usize) -> Result<(), Error> {
        let mut table = lock(&self.table);
        let space = table.spaces.remove(&handle).ok_or_else(|| self.unknown(handle))?;
        // D.27: what was freed is never had again.
        if !fault::is("freed-memory-counts-on") && !space.is_adopted {
            table.used_bytes = table.used_bytes.saturating_sub(space.block.size_bytes as u64);
        }
        // N.14: nothing is left behind.
        if space.is_adopted && fault::is("adopted-memory-cleared") {
            space.block.write(0, &vec![0; space.block.size_bytes])?;
        }
        // D.19: it can be used, and freed, as before.
        if fault::is("freed-handle-accepted") {
            table.spaces.insert(handle, space);
        } else if fault::is("leak-on-free") {
            // P9.4: it is counted as free, and kept.
            std::mem::forget(space);
        }
        Ok(())
    }

    /// Where the host reads and writes a data space.
    pub(crate) fn address(&self, handle: usize) -> Result<usize, Error> {
        let table = lock(&self.table);
        let space = table.spaces.get(&handle).ok_or_else(|| self.unknown(handle))?;
        ensure!(
            // N.17: whatever it is asked of.
            space.is_reached || fault::is("map-reaches-all"),
            ErrorKind::UNSUPPORTED,
            "data space {handle:#x} of reference:{} has no address: expected memory of kind 2 (host-visible)",
            self.device_id
        );
        Ok(space.block.address())
    }

    /// The block behind a handle, and where in it a range starts; an address within a data space counts from its base.
    pub(crate) fn range(&self, handle: usize, offset: u64, size: u64) -> Result<(Arc<Block>, usize), Error> {
        let (block, inner) = self.block(handle)?;
        let start = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(inner));
        let fits = start.and_then(|start| start.checked_add(usize::try_from(size).ok()?));
        match (start, fits) {
            (Some(start), Some(end)) if end <= block.size_bytes => Ok((block, start)),
            _ => bail!(
                ErrorKind::INDEX_ERROR,
                "expected a range within the {} bytes of the data space, found {size} bytes at {}",
                block.size_bytes,
                u128::from(offset) + inner as u128
            ),
        }
    }

    fn block(&self, handle: usize) -> Result<(Arc<Block>, usize), Error> {
        let table = lock(&self.table);
        let (base, space) = table.spaces.range(..=handle).next_back().ok_or_else(|| self.unknown(handle))?;
        let inner = handle - base;
        if inner == 0 || space.is_address && inner < space.block.size_bytes {
            return Ok((Arc::clone(&space.block), inner));
        }
        Err(self.unknown(handle))
    }

    fn unknown(&self, handle: usize) -> Error {
        Error::new(
            ErrorKind::WRONG_STATE,
            format!(
                "{handle:#x} is no data space of reference:{}: it was freed, or is another device's; expected a handle \
                 that this device gave out",
                self.device_id
            ),
        )
    }
}
