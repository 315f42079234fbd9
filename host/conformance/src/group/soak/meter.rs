//! Detects growth of the process under repeated actions, without mistaking noise or late
//! initialization for a leak.
//!
//! After a warm-up the action is repeated in rounds, and only growth in *every* round counts:
//! caches, pools and allocators grow a few times and stop, a leak does not.

use std::fs;
use std::time::{Duration, Instant};

use chipdock_raw_host as raw;

use crate::stop::Stop;
use crate::{Verdict, heap};

/// Number of rounds; a leak must grow in all of them.
const ROUNDS_MAX: usize = 5;
/// Approximate duration of the warm-up and of each round.
const WARM_UP: Duration = Duration::from_millis(120);
const ROUND: Duration = Duration::from_millis(120);
/// Loss at which a round ends early, so that a leak does not harm the machine.
const LOST_BYTES_MAX: u64 = 32 << 20;
const LOST_HANDLES_MAX: u64 = 64;

/// Measured quantities.
const THINGS: [&str; 6] = [
    "heap (bytes)",
    "resident memory (bytes)",
    "mapped memory (bytes)",
    "descriptors",
    "threads",
    "device memory (bytes)",
];

/// Measurement of a process and a device at one time, in the order of [`THINGS`].
#[derive(Clone, Copy, Debug)]
struct Reading([u64; THINGS.len()]);

/// A repeated action and its limits.
pub(super) struct Soak<'a> {
    /// Device whose memory is measured too.
    pub(super) device: Option<&'a raw::Device>,
    /// Average number of bytes that one repetition may leave behind.
    pub(super) allowed_bytes: u64,
    /// Minimum number of repetitions in a round.
    pub(super) times_min: u64,
}

impl<'a> Soak<'a> {
    /// Creates limits for an action that takes microseconds and leaves nothing behind.
    pub(super) fn new(device: impl Into<Option<&'a raw::Device>>) -> Self {
        Self { device: device.into(), allowed_bytes: 32, times_min: 16 }
    }

    /// Repeats the action, and checks that nothing grows.
    pub(super) fn hold(&self, mut once: impl FnMut() -> Verdict) -> Verdict {
        let mut n_warm: u64 = 0;
        let begin = Instant::now();
        while n_warm < 3 || n_warm < 1000 && begin.elapsed() < WARM_UP {
            once()?;
            n_warm += 1;
        }
        let each = begin.elapsed().as_secs_f64() / n_warm as f64;
        let n = ((ROUND.as_secs_f64() / each.max(1e-7)) as u64).clamp(self.times_min, 5000);
        let mut rounds: Vec<(u64, [u64; THINGS.len()])> = Vec::new();
        let mut growing = [true; THINGS.len()];
        while rounds.len() < ROUNDS_MAX {
            let before = self.read();
            let done = self.round(n, before, &mut once)?;
            let grown = self.read().since(before);
            for (thing, still) in growing.iter_mut().enumerate() {
                *still &= grown[thing] >= self.limit(thing, done);
            }
            rounds.push((done, grown));
            if !growing.contains(&true) {
                return Ok(());
            }
        }
        Err(report(&growing, &rounds))
    }

    /// Repeats the action `n` times or until too much is lost; returns the number of repetitions.
    fn round(&self, n: u64, before: Reading, once: &mut impl FnMut() -> Verdict) -> Verdict<u64> {
        let mut next_look = 1;
        for done in 1..=n {
            once()?;
            if done == next_look {
                next_look += next_look.min(n / 16).max(1);
                // The heap is not measured here, because its allocator would walk all free blocks.
                // Lost memory is resident too.
                let lost = self.look(0).since(before);
                let much = |thing: usize| match thing {
                    3 | 4 => LOST_HANDLES_MAX,
                    2 => 64 * LOST_BYTES_MAX,
                    _ => LOST_BYTES_MAX,
                };
                if (0..THINGS.len()).any(|thing| lost[thing] > much(thing)) {
                    return Ok(done);
                }
            }
        }
        Ok(n)
    }

    /// Returns the growth from which a quantity counts as growing in a round of `n` repetitions.
    fn limit(&self, thing: usize, n: u64) -> u64 {
        let bytes = n * self.allowed_bytes;
        match thing {
            0 => bytes.max(4096),
            1 => (bytes + bytes / 2).max(256 << 10),
            // Address space is not memory: only large growth indicates a leak.
            2 => (32 * bytes).max(4 << 20),
            5 => (8 * bytes).max(1 << 20),
            _ => (n / 100).max(2),
        }
    }

    fn read(&self) -> Reading {
        self.look(heap::in_use_bytes().unwrap_or(0))
    }

    /// Measures everything except the heap.
    fn look(&self, heap_bytes: u64) -> Reading {
        let page_bytes = 4096;
        let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages: Vec<u64> = statm.split(' ').map_while(|word| word.parse().ok()).collect();
        let pages = |index: usize| pages.get(index).copied().unwrap_or(0);
        let entries = |folder| fs::read_dir(folder).map_or(0, |entries| entries.count() as u64);
        // Less available device memory means more used. Host memory is measured by the process
        // instead.
        let device = self.device.filter(|device| !device.is_host_memory());
        let free = device.and_then(super::super::memory::available_bytes);
        Reading([
            heap_bytes,
            pages(1).saturating_sub(pages(2)) * page_bytes,
            pages(0) * page_bytes,
            entries("/proc/self/fd"),
            entries("/proc/self/task"),
            free.map_or(0, |free| u64::MAX - free),
        ])
    }
}

impl Reading {
    /// Returns the growth of each quantity.
    fn since(self, before: Self) -> [u64; THINGS.len()] {
        std::array::from_fn(|thing| self.0[thing].saturating_sub(before.0[thing]))
    }
}

fn report(growing: &[bool], rounds: &[(u64, [u64; THINGS.len()])]) -> Stop {
    let found = (0..THINGS.len()).filter(|thing| growing[*thing]).map(|thing| {
        let grown: Vec<String> = rounds.iter().map(|(_, grown)| format!("+{}", grown[thing])).collect();
        let (n, all) = rounds.iter().fold((0, 0), |(n, all), (done, grown)| (n + done, all + grown[thing]));
        format!("{}: {} ({:.1} each time)", THINGS[thing], grown.join(" "), all as f64 / n as f64)
    });
    let found: Vec<String> = found.collect();
    let times: Vec<String> = rounds.iter().map(|(n, _)| n.to_string()).collect();
    Stop::failed(
        format!("nothing that grows in each of {} rounds of the same", rounds.len()),
        found.join("; "),
    )
    .note(format!("done {} times, after a warm-up", times.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soak() -> Soak<'static> {
        Soak { device: None, allowed_bytes: 32, times_min: 16 }
    }

    // One test: two at once would see each other's memory.
    #[test]
    fn leaks_are_distinguished_from_caches_that_fill() {
        let work = || drop(vec![1_u8; 5000]);
        soak()
            .hold(|| {
                work();
                Ok(())
            })
            .expect("nothing is kept");
        let mut cache = Vec::new();
        let fills_up = soak().hold(|| {
            if cache.len() < 3000 {
                cache.push(vec![1_u8; 100]);
            }
            Ok(())
        });
        fills_up.expect("a cache that has its size at last");
        let leaks = soak().hold(|| {
            std::mem::forget(vec![1_u8; 64]);
            Ok(())
        });
        let Err(Stop::Failed(failure)) = leaks else { panic!("64 bytes each time are seen") };
        assert!(failure.found.starts_with("heap (bytes): +"), "{}", failure.found);
        let mut files = Vec::new();
        let opens = soak().hold(|| {
            files.push(fs::File::open("/dev/null"));
            Ok(())
        });
        let Err(Stop::Failed(failure)) = opens else { panic!("descriptors are seen") };
        assert!(failure.found.contains("descriptors"), "{}", failure.found);
    }
}
