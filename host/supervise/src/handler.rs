//! Memory of a signal's handler that is not on its stack, which may have but 8 KiB.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// A value that is given away once, to whoever asks first: by then it is that one's alone.
#[derive(Debug)]
pub struct Given<T> {
    is_given: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through `take` alone, by one caller, who may send it to another
// thread.
unsafe impl<T: Send> Sync for Given<T> {}

impl<T> Given<T> {
    /// Makes it, for a static.
    pub const fn new(value: T) -> Self {
        Self { is_given: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Returns the value to the first who asks.
    #[expect(clippy::mut_from_ref, reason = "it is returned once")]
    pub fn take(&'static self) -> Option<&'static mut T> {
        // SAFETY: the first caller alone comes here, so that there is no other reference to the
        // value.
        (!self.is_given.swap(true, Ordering::Relaxed)).then(|| unsafe { &mut *self.value.get() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_given_once() {
        static VALUE: Given<[u8; 3]> = Given::new([1, 2, 3]);
        VALUE.take().unwrap()[0] = 7;
        assert!(VALUE.take().is_none());
    }
}
