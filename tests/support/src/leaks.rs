//! Counts the bytes that a thread allocates and frees.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static BALANCE_BYTES: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator with a balance for each thread; a test binary makes it its global
/// allocator.
#[derive(Debug)]
pub struct Counting;

fn add(bytes: isize) {
    // While a thread ends its balance no longer exists, and is not needed.
    let _ = BALANCE_BYTES.try_with(|balance| balance.set(balance.get() + bytes));
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: `layout` is not of size 0, as the trait requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: `data` was allocated here with `layout`, as the trait requires.
        unsafe { System.dealloc(data, layout) }
    }
}

/// Runs `body` twice and asserts that the second time frees all that it allocates; the first time
/// may fill caches.
///
/// # Panics
///
/// If memory leaks, or is freed twice.
pub fn assert_none(mut body: impl FnMut()) {
    body();
    let before = BALANCE_BYTES.get();
    body();
    let leaked = BALANCE_BYTES.get() - before;
    assert_eq!(leaked, 0, "bytes that were allocated and not freed");
}
