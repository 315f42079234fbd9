//! Spinning before a thread sleeps.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// For how long at most a thread spins before it parks.
///
/// A thread that is awake begins its task within 0.1 µs, one that sleeps within 4 to 10 (two processors of a virtual
/// machine, otherwise idle), and the caller pays 2 to 3 for waking it: so it pays to stay awake for what lies between the
/// regions of one kernel, or of kernels called one after the other. Spinning for a few times what waking costs never costs
/// more than a few times the choice that is best in hindsight, and a process that goes idle is idle at once.
pub(super) const SPIN: Duration = Duration::from_micros(50);

/// Turns of the spin without a look at the clock, which costs as much as a few turns.
const TURNS: u32 = 64;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// For work, which may come from a thread that was given the same processor: it gives way once in a while.
    Work,
    /// For a task that runs. Whoever gives way for that may not come back for milliseconds on a busy machine.
    End,
}

/// How a thread waits.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// Whether there are more threads than processors: whoever is waited for may need this one's.
    pub(super) is_crowded: bool,
}

impl Patience {
    /// Spins until `is_over`; false when that took too long.
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
