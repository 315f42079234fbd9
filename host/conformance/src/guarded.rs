//! Host memory between inaccessible pages: an access beyond either end is a segmentation fault.

use std::ptr;
use std::slice;

use crate::{Stop, Verdict};

/// Alignment of a buffer within its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// First byte at the start of a page; the page before it is inaccessible.
    Start,
    /// Last byte at the end of a page; the page after it is inaccessible.
    End,
}

/// A buffer between two inaccessible pages.
pub struct Guarded {
    mapping: *mut u8,
    mapping_bytes: usize,
    page_bytes: usize,
    start: usize,
    size: usize,
}

fn page_bytes() -> Verdict<usize> {
    // SAFETY: `sysconf` only reads a system constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).map_err(|_| Stop::suite("the system has no page size"))
}

impl Guarded {
    /// Allocates a buffer that holds `bytes`.
    ///
    /// # Errors
    ///
    /// A fault of the suite: the system has no memory.
    pub fn new(bytes: &[u8], side: Side) -> Verdict<Self> {
        let page_bytes = page_bytes()?;
        let inner = bytes.len().max(1).next_multiple_of(page_bytes);
        let mapping_bytes = inner + 2 * page_bytes;
        let fault = || Stop::suite(format!("no memory: {}", std::io::Error::last_os_error()));
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at an address that the system chooses.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), mapping_bytes, libc::PROT_NONE, flags, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(fault());
        }
        let start = match side {
            Side::Start => page_bytes,
            Side::End => page_bytes + inner - bytes.len(),
        };
        let mapping = mapping.cast::<u8>();
        let mut guarded = Self { mapping, mapping_bytes, page_bytes, start, size: bytes.len() };
        guarded.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the range is within the mapping, which was just made writable and is not shared
        // yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), guarded.address(), bytes.len()) };
        Ok(guarded)
    }

    fn protect(&mut self, access: i32) -> Verdict {
        let inner = self.mapping_bytes - 2 * self.page_bytes;
        // SAFETY: the range is whole pages of our own mapping.
        let status = unsafe { libc::mprotect(self.mapping.add(self.page_bytes).cast(), inner, access) };
        if status == 0 {
            return Ok(());
        }
        Err(Stop::suite(format!("pages cannot be protected: {}", std::io::Error::last_os_error())))
    }

    /// Makes the buffer read-only, so that a write is a segmentation fault.
    ///
    /// # Errors
    ///
    /// A fault of the suite: the pages cannot be protected.
    pub fn read_only(mut self) -> Verdict<Self> {
        self.protect(libc::PROT_READ)?;
        Ok(self)
    }

    /// Returns the address of the first byte.
    #[must_use]
    pub fn address(&self) -> *mut u8 {
        // SAFETY: `start` is within the mapping.
        unsafe { self.mapping.add(self.start) }
    }

    /// Returns the contents of the buffer.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range is ours and readable, and is not written while it is borrowed: copies
        // are finished by then.
        unsafe { slice::from_raw_parts(self.address(), self.size) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: `new` made this mapping, and it is no longer used.
        unsafe { libc::munmap(self.mapping.cast(), self.mapping_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_touches_the_page_that_it_is_to_touch() {
        for size in [0_usize, 1, 4095, 4096, 4097] {
            let bytes = crate::bytes::pattern(1, size);
            let (start, end) = (Guarded::new(&bytes, Side::Start), Guarded::new(&bytes, Side::End));
            let (start, end) = (start.unwrap(), end.unwrap().read_only().unwrap());
            assert_eq!((start.bytes(), end.bytes()), (&bytes[..], &bytes[..]));
            let page = page_bytes().unwrap();
            assert_eq!((start.address() as usize % page, (end.address() as usize + size) % page), (0, 0));
        }
    }
}
