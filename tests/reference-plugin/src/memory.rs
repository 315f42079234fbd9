//! Memory of a device: blocks identified by handles, and copies of bytes between them.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use chipdock_plugin_api::kit::{Budget, Reserved, Spaces, lock};
use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, Error, ErrorKind, bail, ensure};

use crate::fault;

/// Size of each device's memory, in bytes.
pub(crate) const MEMORY_BYTES: u64 = 256 << 20;
/// Largest alignment of a data space.
pub(crate) const ALIGNMENT_BYTES_MAX: u64 = 1 << 16;

/// Returns the next handle from a counter that is read and written in two steps (a planted fault).
fn next_without_a_lock() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let last = LAST.load(Ordering::Relaxed);
    thread::sleep(Duration::from_micros(100));
    LAST.store(last + 1, Ordering::Relaxed);
    // No address, and farther from the next than any data space is large.
    1 << 62 | (last + 1) << 32
}

/// A block of memory. Queued work keeps it alive, so that a handle freed too early does no harm.
#[derive(Debug)]
pub(crate) struct Block {
    base: NonNull<u8>,
    layout: Layout,
    size_bytes: usize,
    access: Mutex<()>,
}

// SAFETY: the memory is reached under `access` alone, but by a host that was given its address,
// which is the host's to order (D.8).
unsafe impl Send for Block {}
// SAFETY: the memory is reached under `access` alone, but by a host that was given its address,
// which is the host's to order (D.8).
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

    /// Creates a block without bytes.
    pub(crate) fn empty() -> Self {
        Self { base: NonNull::dangling(), layout: Layout::new::<()>(), size_bytes: 0, access: Mutex::new(()) }
    }

    /// Creates a block over memory that it does not own.
    ///
    /// # Safety
    ///
    /// * `base` points to `size_bytes` bytes that stay live as long as the block is used.
    pub(crate) unsafe fn over(base: NonNull<u8>, size_bytes: usize) -> Self {
        Self { base, layout: Layout::new::<()>(), size_bytes, access: Mutex::new(()) }
    }

    /// Returns its address in host memory.
    pub(crate) fn address(&self) -> usize {
        self.base.as_ptr().expose_provenance()
    }

    /// Returns its size in bytes.
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

    /// Returns a copy of some bytes.
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

/// The interface that frees a data space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The device API alone.
    DeviceApi,
    /// `memory.async` 1, or the device API.
    Stream,
    /// `workspace` 1.
    Workspace,
}

/// A data space.
pub(crate) struct Space {
    block: Arc<Block>,
    /// Whether the host reads and writes it directly.
    is_reached: bool,
    /// Its share of the device's memory; `None` for memory that the device does not own (N.14).
    reserved: Option<Reserved>,
    owner: Owner,
}

impl Space {
    /// Overwrites its bytes.
    pub(crate) fn clear(&self) {
        let _ = self.block.write(0, &vec![0; self.block.size_bytes]);
    }
}

/// The data spaces of one device.
pub(crate) struct Memory {
    device: Arc<str>,
    spaces: Spaces<Space>,
    budget: Budget,
    /// Block of the last data space; only used by a planted fault.
    last: Mutex<Weak<Block>>,
}

impl Memory {
    /// Creates the memory of that device, with nothing used.
    pub(crate) fn new(device: &Arc<str>) -> Self {
        let budget = Budget::new(MEMORY_BYTES);
        Self { device: Arc::clone(device), spaces: Spaces::default(), budget, last: Mutex::default() }
    }

    /// Returns the size of the unused memory, in bytes.
    pub(crate) fn available_bytes(&self) -> u64 {
        self.budget.available_bytes()
    }

    /// Makes a data space and returns its handle: the address for pinned and unified memory, else a
    /// number that is never used again.
    pub(crate) fn allocate(&self, request: &DataSpaceRequest<'_>, owner: Owner) -> Result<usize, Error> {
        let (device, alignment) = (&self.device, request.alignment_bytes);
        ensure!(
            // D.9: a scope that nobody knows is taken for `global`.
            matches!(request.scope, "" | "global") || fault::is("unknown-scope-accepted"),
            ErrorKind::UNSUPPORTED,
            "{device}: expected memory of the scope `global`, found scope `{}`",
            request.scope
        );
        ensure!(
            alignment <= ALIGNMENT_BYTES_MAX,
            ErrorKind::UNSUPPORTED,
            "{device}: expected an alignment of at most {ALIGNMENT_BYTES_MAX} bytes, found {alignment}"
        );
        // D.22: size 0 is allowed.
        ensure!(
            request.size_bytes > 0 || !fault::is("size-0-refused"),
            ErrorKind::VALUE_ERROR,
            "expected a size, found 0"
        );
        let reserved = self.budget.reserve(request.size_bytes, device).inspect_err(|_| {
            // P7.7: what could not be had counts as used.
            if fault::is("out-of-memory-breaks-state") {
                std::mem::forget(self.budget.reserve(self.available_bytes(), device));
            }
        })?;
        // D.4: aligned as it happens to be.
        let alignment = if fault::is("alignment-ignored") { 1 } else { alignment };
        // D.20: a few bytes less than asked for.
        let is_too_small = fault::is("data-space-too-small") && request.size_bytes > 8;
        let size_bytes = if is_too_small { request.size_bytes - 8 } else { request.size_bytes };
        let Some(block) = Block::new(size_bytes, alignment) else {
            bail!(ErrorKind::OUT_OF_MEMORY, "{device}: no {size_bytes} bytes are left in this process");
        };
        let is_address = matches!(request.kind, DataSpaceKind::Pinned | DataSpaceKind::Unified);
        let is_reached = request.kind != DataSpaceKind::Device;
        let mut block = Arc::new(block);
        // D.21: two handles for one block, where the one before is as large.
        let is_shared = match owner {
            Owner::DeviceApi => fault::is("data-spaces-share"),
            Owner::Stream => false,
            // N.36: as live workspace of the same size.
            Owner::Workspace => fault::is("workspaces-share"),
        };
        if is_shared && !is_address {
            let other = lock(&self.last).upgrade().filter(|other| other.size_bytes == block.size_bytes);
            block = other.unwrap_or(block);
            *lock(&self.last) = Arc::downgrade(&block);
        }
        let size_bytes = block.size_bytes as u64;
        let space = Space { block, is_reached, reserved: Some(reserved), owner };
        if is_address {
            return self.add_at(space);
        }
        // P10.1: two threads may take the same number; what comes second is lost.
        if fault::is("data-race") {
            let handle = next_without_a_lock();
            let _ = self.spaces.add_at(handle, space, size_bytes);
            return Ok(handle);
        }
        Ok(self.spaces.add(space, size_bytes))
    }

    /// Makes a data space over memory that the device does not own, with the address as its handle.
    pub(crate) fn adopt(&self, block: Block) -> Result<usize, Error> {
        let owner = Owner::DeviceApi;
        self.add_at(Space { block: Arc::new(block), is_reached: true, reserved: None, owner })
    }

    fn add_at(&self, space: Space) -> Result<usize, Error> {
        let (address, size_bytes) = (space.block.address(), space.block.size_bytes);
        let added = self.spaces.add_at(address, space, size_bytes as u64);
        added.map_err(|_| {
            let message = format!(
                "{}: the {size_bytes} bytes at {address:#x} are, in part at least, a data space already",
                self.device
            );
            Error::new(ErrorKind::UNSUPPORTED, message)
        })
    }

    /// Frees a data space.
    pub(crate) fn free(&self, handle: usize) -> Result<(), Error> {
        // D.19: it can be used, and freed, as before.
        if fault::is("freed-handle-accepted") {
            return self.spaces.find(handle, &self.device).map(drop);
        }
        let Some(space) = self.spaces.take(handle, &self.device)? else { return Ok(()) };
        let (block, is_adopted) = (Arc::clone(&space.block), space.reserved.is_none());
        drop(space);
        // D.27: what was freed is never had again.
        if fault::is("freed-memory-counts-on") && !is_adopted {
            std::mem::forget(self.budget.reserve(block.size_bytes as u64, &self.device));
        }
        // N.14: nothing is left behind.
        if is_adopted && fault::is("adopted-memory-cleared") {
            block.write(0, &vec![0; block.size_bytes])?;
        }
        // P9.4: it is counted as free, and kept.
        if fault::is("leak-on-free") {
            std::mem::forget(block);
        }
        Ok(())
    }

    /// Removes a data space of that owner, which is freed with the last reference to it; `None` for
    /// one that is gone with its device.
    pub(crate) fn take(&self, handle: usize, owner: Owner) -> Result<Option<Arc<Space>>, Error> {
        let found = self.spaces.find(handle, &self.device)?;
        // N.33: whoever made it.
        ensure!(
            found.value.owner == owner || fault::is("async-free-of-any"),
            ErrorKind::WRONG_STATE,
            "data space {handle:#x} of {} was not allocated by this interface: free it where it was made",
            self.device
        );
        self.spaces.take(handle, &self.device)
    }

    /// Checks that a handle is one of a live data space.
    pub(crate) fn check(&self, handle: usize) -> Result<(), Error> {
        self.spaces.each(std::iter::once(handle), &self.device).map(drop)
    }

    /// Returns the address at which the host reads and writes a data space.
    pub(crate) fn address(&self, handle: usize) -> Result<usize, Error> {
        let found = self.spaces.find(handle, &self.device)?;
        ensure!(
            // N.17: whatever it is asked of.
            found.value.is_reached || fault::is("map-reaches-all"),
            ErrorKind::UNSUPPORTED,
            "data space {handle:#x} of {} has no address: expected memory of kind 2 (host-visible)",
            self.device
        );
        Ok(found.value.block.address() + found.inner_bytes as usize)
    }

    /// Returns the block of a handle, and the start of a range in it; an address within a data
    /// space counts from the base of the data space.
    pub(crate) fn range(&self, handle: usize, offset: u64, size: u64) -> Result<(Arc<Block>, usize), Error> {
        let (space, start) = self.spaces.range(handle, offset, size, &self.device)?;
        Ok((Arc::clone(&space.block), start))
    }
}
