//! Host memory at the ends of copies.

use std::ptr;

/// The address of host memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostMemory(*mut u8);

// SAFETY: an address; who makes one guarantees what may be done there, on any thread.
unsafe impl Send for HostMemory {}

impl HostMemory {
    /// # Safety
    ///
    /// * As many bytes as are copied from or to it are live there until those copies are done, and
    ///   may then be accessed by any thread.
    pub(crate) unsafe fn new(address: *mut u8) -> Self {
        Self(address)
    }

    /// The address.
    pub(crate) fn addr(self) -> usize {
        self.0.addr()
    }

    /// The address so many bytes further.
    pub(crate) fn at(self, offset_bytes: usize) -> Self {
        Self(self.0.wrapping_add(offset_bytes))
    }

    /// Copies bytes from other host memory.
    pub(crate) fn copy_from(self, source: Self, size_bytes: usize) {
        // SAFETY: whoever made them guarantees that the bytes are live; `copy` allows overlaps.
        unsafe { ptr::copy(source.0, self.0, size_bytes) };
    }
}

/// Host memory of the plugin's own.
pub(crate) struct Stage(Vec<u8>);

impl Stage {
    /// So many bytes; `None` if there are none left.
    pub(crate) fn new(size_bytes: usize) -> Option<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size_bytes).ok()?;
        bytes.resize(size_bytes, 0);
        Some(Self(bytes))
    }

    /// Its address, for copies that are done before it is dropped.
    pub(crate) fn memory(&mut self) -> HostMemory {
        // SAFETY: bytes that live as long as this.
        unsafe { HostMemory::new(self.0.as_mut_ptr()) }
    }
}
