//! Measures the largest amount of memory that a call holds, counted by the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Bytes that are allocated now, and the largest number since a measurement began.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Lock for one measurement at a time, because threads that a call starts count with it.
static MEASURING: Mutex<()> = Mutex::new(());

struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

fn add(size_bytes: usize) {
    let live = LIVE.fetch_add(size_bytes, Relaxed).wrapping_add(size_bytes);
    PEAK.fetch_max(live, Relaxed);
}

fn remove(size_bytes: usize) {
    LIVE.fetch_sub(size_bytes, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory of the
// caller's.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the obligations of this function, which are those of the
        // system's allocator.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            add(layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the obligations of this function, which are those of the
        // system's allocator.
        unsafe { System.dealloc(block, layout) };
        remove(layout.size());
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the obligations of this function, which are those of the
        // system's allocator.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            add(layout.size());
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size_bytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps the obligations of this function, which are those of the
        // system's allocator.
        let moved = unsafe { System.realloc(block, layout, size_bytes) };
        if !moved.is_null() {
            add(size_bytes);
            remove(layout.size());
        }
        moved
    }
}

/// Bound of the memory that a call may hold at once: a constant, and a number of bytes for each
/// byte of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    base_bytes: usize,
    per_byte: usize,
}

impl Bound {
    pub(crate) const fn new(base_bytes: usize, per_byte: usize) -> Self {
        Self { base_bytes, per_byte }
    }

    /// Runs a call, and checks the memory that it held at once against the bound.
    ///
    /// # Panics
    ///
    /// If it was more.
    pub fn hold(self, size_bytes: usize, call: impl FnOnce()) {
        let peak = measured(call);
        let most = self.base_bytes + self.per_byte * size_bytes;
        assert!(
            peak <= most,
            "FUZZ-F4: {size_bytes} bytes of input took {peak} bytes of memory; expected at most {most}"
        );
    }
}

/// Returns the largest number of bytes that a call held at once, beyond those held before.
pub(crate) fn measured(call: impl FnOnce()) -> usize {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    call();
    PEAK.load(Relaxed).saturating_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_memory_is_counted() {
        let peak = measured(|| {
            for _ in 0..4 {
                std::hint::black_box(vec![0_u8; 3 << 20]);
            }
            std::thread::scope(|scope| {
                scope.spawn(|| std::hint::black_box(vec![1_u8; 5 << 20]));
            });
        });
        assert!((5 << 20..8 << 20).contains(&peak), "{peak}");
    }

    #[test]
    #[should_panic(expected = "FUZZ-F4: 2 bytes of input took")]
    fn more_than_the_bound_is_refused() {
        Bound::new(1 << 10, 8).hold(2, || drop(std::hint::black_box(vec![0_u8; 1 << 20])));
    }
}
