//! Memory for code, mapped from the system (LLLINK-N3, LLLINK-N6).

use core::ops::Range;
use core::ptr;

/// What a part of the memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Code,
    Constants,
    Variables,
}

/// Pages of this process' own, zero and writable until they are protected.
pub(super) struct Memory {
    start: *mut u8,
    size_bytes: usize,
    /// Whether a part of it can no longer be written to.
    is_protected: bool,
}

// SAFETY: an address of memory that no other value owns.
unsafe impl Send for Memory {}
// SAFETY: it is only written through `&mut`.
unsafe impl Sync for Memory {}

/// The size in bytes of a page.
pub(super) fn page_bytes() -> usize {
    // SAFETY: only returns a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(1 << 16)
}

impl Memory {
    /// Maps at least one byte; `None` if the system gives none.
    pub(super) fn new(size_bytes: usize) -> Option<Self> {
        let size_bytes = size_bytes.max(1).checked_next_multiple_of(page_bytes())?;
        // A slice has at most this many bytes.
        isize::try_from(size_bytes).ok()?;
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new pages, at an address that the system chooses.
        let start = unsafe { libc::mmap(ptr::null_mut(), size_bytes, rights, flags, -1, 0) };
        (start != libc::MAP_FAILED).then(|| Self { start: start.cast(), size_bytes, is_protected: false })
    }

    /// The address of the first byte.
    pub(super) fn address(&self) -> usize {
        self.start as usize
    }

    /// The bytes; none once a part is protected.
    pub(super) fn writable(&mut self) -> &mut [u8] {
        if self.is_protected {
            return &mut [];
        }
        // SAFETY: pages of this value, initialised by the system, which are all writable.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.size_bytes) }
    }

    /// Protects the pages of a range, which begins with a page; `None` if the system refuses.
    pub(super) fn protect(&mut self, range: Range<usize>, uses: Use) -> Option<()> {
        let rights = match uses {
            Use::Code => libc::PROT_READ | libc::PROT_EXEC,
            Use::Constants => libc::PROT_READ,
            Use::Variables => libc::PROT_READ | libc::PROT_WRITE,
        };
        if range.is_empty() {
            return Some(());
        }
        if range.end > self.size_bytes || !range.start.is_multiple_of(page_bytes()) {
            return None;
        }
        self.is_protected = true;
        // SAFETY: pages of this value, to whose bytes nothing refers now.
        let status = unsafe { libc::mprotect(self.start.add(range.start).cast(), range.len(), rights) };
        (status == 0).then_some(())
    }

    /// Makes code that was written visible to the processor as instructions.
    pub(super) fn make_visible(&self) {
        #[cfg(target_arch = "aarch64")]
        // SAFETY: instructions on the caches, for addresses of this value's readable pages.
        unsafe {
            use core::arch::asm;
            let kinds: usize;
            asm!("mrs {}, ctr_el0", out(reg) kinds, options(nomem, nostack, preserves_flags));
            let (data, code) = (4 << (kinds >> 16 & 15), 4 << (kinds & 15));
            for at in (self.address()..self.address() + self.size_bytes).step_by(data) {
                asm!("dc cvau, {}", in(reg) at, options(nostack, preserves_flags));
            }
            asm!("dsb ish", options(nostack, preserves_flags));
            for at in (self.address()..self.address() + self.size_bytes).step_by(code) {
                asm!("ic ivau, {}", in(reg) at, options(nostack, preserves_flags));
            }
            asm!("dsb ish", "isb", options(nostack, preserves_flags));
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: pages of this value, whose addresses nobody has any more.
        unsafe { libc::munmap(self.start.cast(), self.size_bytes) };
    }
}
