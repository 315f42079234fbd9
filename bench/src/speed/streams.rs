//! Streams of memory: the limit of rows that move more than they compute.

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use crate::limits::Stores;

/// A cache line of floats.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line([f32; 16]);

/// What one thread streams: the buffers that are read, and those that are written.
struct Part {
    reads: Vec<Vec<Line>>,
    writes: Vec<Vec<Line>>,
}

/// Buffers to stream, divided among threads.
pub struct Streams {
    parts: Vec<Mutex<Part>>,
    kinds: &'static [Stores],
}

impl Streams {
    /// Makes buffers of `bytes` each.
    #[must_use]
    pub fn new(reads: usize, writes: usize, bytes: usize, threads: usize) -> Self {
        let lines = bytes / 64 / threads.max(1);
        let part = |_| {
            let buffers = |count, value| (0..count).map(|_| vec![Line([value; 16]); lines]).collect();
            Mutex::new(Part { reads: buffers(reads, 1.0), writes: buffers(writes, 2.0) })
        };
        let both = writes > 0 && cfg!(target_arch = "x86_64");
        let kinds = if both { &[Stores::Plain, Stores::NonTemporal][..] } else { &[Stores::Plain] };
        Self { parts: (0..threads.max(1)).map(part).collect(), kinds }
    }

    /// Returns the nanoseconds of the fastest of `calls` passes over all buffers with each kind of
    /// stores, after one pass that is not timed: which kind is the faster depends on what else the
    /// machine does.
    #[must_use]
    pub fn nanoseconds(&self, calls: u32) -> f64 {
        self.kinds.iter().map(|stores| self.nanoseconds_by(*stores, calls)).fold(f64::INFINITY, f64::min)
    }

    fn nanoseconds_by(&self, stores: Stores, calls: u32) -> f64 {
        let barrier = Barrier::new(self.parts.len());
        let run = |part: &Mutex<Part>| {
            let mut fastest = f64::INFINITY;
            for call in 0..=calls {
                barrier.wait();
                let start = Instant::now();
                if let Ok(mut part) = part.lock() {
                    pass(stores, &mut part);
                }
                barrier.wait();
                if call > 0 {
                    fastest = fastest.min(start.elapsed().as_secs_f64() * 1e9);
                }
            }
            fastest
        };
        let Some((first, others)) = self.parts.split_first() else { return f64::INFINITY };
        std::thread::scope(|scope| {
            for part in others {
                scope.spawn(|| run(part));
            }
            run(first)
        })
    }
}

fn pass(stores: Stores, part: &mut Part) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX, as checked above.
        unsafe { pass_avx(stores, part) }
        return;
    }
    let _ = stores;
    stream(part, |to, line| *to = line);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn pass_avx(stores: Stores, part: &mut Part) {
    match stores {
        Stores::Plain => stream(part, |to, line| *to = line),
        Stores::NonTemporal => {
            use std::arch::x86_64::{_mm256_loadu_ps, _mm256_stream_ps};
            stream(part, |to: &mut Line, line: Line| {
                // SAFETY: `to` is a line of 64 bytes, aligned to 64; the processor has AVX.
                unsafe {
                    let (from, to) = (line.0.as_ptr(), to.0.as_mut_ptr());
                    _mm256_stream_ps(to, _mm256_loadu_ps(from));
                    _mm256_stream_ps(to.add(8), _mm256_loadu_ps(from.add(8)));
                }
            });
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// Reads each line of the buffers that are read, and writes their sum to each that is written.
#[inline(always)]
fn stream(part: &mut Part, store: impl Fn(&mut Line, Line)) {
    let Part { reads, writes } = part;
    match (reads.as_slice(), writes.as_mut_slice()) {
        ([from], []) => {
            let mut sums = [[0.0_f32; 16]; 4];
            for four in from.as_chunks::<4>().0 {
                for (sum, line) in sums.iter_mut().zip(four) {
                    *sum = added(*sum, line.0);
                }
            }
            black_box(sums);
        }
        ([from], [to]) => {
            for (from, to) in from.iter().zip(to) {
                store(to, *from);
            }
        }
        ([one, other], [to]) => {
            for ((one, other), to) in one.iter().zip(other).zip(to) {
                store(to, Line(added(one.0, other.0)));
            }
        }
        ([from], [first, second]) => {
            // One buffer of twice the length, as results of twice the width are: a line from each
            // is two lines to one half of it.
            let half = from.len() / 2;
            for (target, from) in [(first, &from[..half]), (second, &from[half..])] {
                for (pair, from) in target.as_chunks_mut::<2>().0.iter_mut().zip(from) {
                    store(&mut pair[0], *from);
                    store(&mut pair[1], *from);
                }
            }
        }
        ([], targets) => {
            for to in targets.iter_mut().flat_map(|target| target.iter_mut()) {
                store(to, Line([3.0; 16]));
            }
        }
        _ => {}
    }
    black_box(part);
}

#[inline(always)]
fn added(mut one: [f32; 16], other: [f32; 16]) -> [f32; 16] {
    for (one, other) in one.iter_mut().zip(other) {
        *one += other;
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_written_by_either_kind_of_stores() {
        for (reads, writes, wanted) in [(1, 1, 1.0), (2, 1, 2.0), (1, 2, 1.0), (0, 1, 3.0)] {
            for stores in [Stores::Plain, Stores::NonTemporal] {
                let streams = Streams::new(reads, writes, 64 * 64, 2);
                for part in &streams.parts {
                    for target in &mut part.lock().expect("no panic").writes {
                        target.fill(Line([-1.0; 16]));
                    }
                }
                assert!(streams.nanoseconds_by(stores, 1) > 0.0);
                for part in &streams.parts {
                    let part = part.lock().expect("no panic");
                    assert_eq!(part.writes.len(), writes);
                    let lines = part.writes.iter().flatten();
                    assert!(lines.clone().all(|line| line.0 == [wanted; 16]), "{reads} {writes} {stores:?}");
                    assert_eq!(lines.count(), 32 * writes);
                }
            }
        }
    }
}
