//! Spinning before a thread sleeps.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// Greatest time that a thread spins before it parks.
///
/// A thread that is awake begins its task within 0.1 µs, one that sleeps within 4 to 10 (two
/// processors of a virtual machine, otherwise idle), and the caller pays 2 to 3 for waking it: so
/// it pays to stay awake between the regions of one kernel, or of kernels called one after the
/// other. Spinning for a few times the cost of waking never costs more than a few times the choice
/// that is best in hindsight, and a process that goes idle is idle at once.
pub(super) const SPIN: Duration = Duration::from_micros(50);

/// Turns of the spin between reads of the clock, which costs as much as a few turns.
const TURNS: u32 = 64;

/// Event that a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// Work, which may come from a thread that was given the same processor: the waiting thread
    /// yields once in a while.
    Work,
    /// The end of a running task. A thread that yields for that may not run again for milliseconds
    /// on a busy machine.
    End,
}

/// Policy by which a thread waits.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// Whether there are more threads than processors: the awaited thread may need this one's.
    pub(super) is_crowded: bool,
}

impl Patience {
    /// Spins until `is_over` returns true; returns false when that took too long.
    pub(super) fn spin(self, waits_for: For, is_over: impl Fn() -> bool) -> bool {
        let mut start = None;
        loop {
            for _ in 0..TURNS {
                if is_over() {
                    return true;
                }
                if self.is_crowded {
                    thread::yield_now();
                } else {
                    hint::spin_loop();
                }
            }
            if start.get_or_insert_with(Instant::now).elapsed() >= SPIN {
                return false;
            }
            if waits_for == For::Work {
                thread::yield_now();
            }
        }
    }
}
