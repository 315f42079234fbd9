//! Time by threads of a launch: records accesses of elements, and finds whether a barrier separates
//! them.
//!
//! Threads run one after the other, each up to its next wait. Time is the number of barriers, of
//! begun blocks and of launches so far: an access at a time before a barrier is ordered before all
//! that follows the barrier, for the threads that the barrier includes.

use crate::error::ThreadIndex;

/// Number of bits of a moment that hold the thread.
const THREAD_BITS: u32 = 16;

/// A time and a thread; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment(u64);

impl Moment {
    #[inline(always)]
    fn time(self) -> u64 {
        self.0 >> THREAD_BITS
    }

    #[inline(always)]
    fn thread(self) -> u32 {
        (self.0 & ((1 << THREAD_BITS) - 1)) as u32
    }
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    /// A read and a write in one step.
    Atomic,
}

/// The running launch.
pub(crate) struct Threads {
    /// Extents by the number of the axis ([`chipdock_ir::ThreadAxis`]): block x, y, z, thread x, y,
    /// z, virtual x, y, z.
    extents: [i64; 9],
    warp_size: u32,
    now: u64,
    /// Times of the start of the launch, the start of the block, and the last barrier of the block.
    start: u64,
    block_start: u64,
    barrier: u64,
    /// Time of the last barrier of each warp.
    warp_barriers: Vec<u64>,
    /// Time of the start of each block.
    block_starts: Vec<u64>,
    /// The running thread.
    thread: u32,
}

impl Threads {
    /// The greatest number of threads of a block.
    pub(crate) const BLOCK_MAX: u64 = 1 << THREAD_BITS;

    /// Makes a launch that begins after the time `now`. `n_threads` is the product of the last six
    /// extents.
    pub(crate) fn new(extents: [i64; 9], n_threads: u32, warp_size: u32, now: u64) -> Self {
        let mut threads = Self {
            extents,
            warp_size: warp_size.max(1),
            now: now + 1,
            start: now + 1,
            block_start: now + 1,
            barrier: now + 1,
            warp_barriers: Vec::new(),
            block_starts: Vec::new(),
            thread: 0,
        };
        let n_warps = threads.warp(n_threads.saturating_sub(1)) + 1;
        threads.warp_barriers = vec![0; n_warps as usize];
        threads
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn thread(&self) -> u32 {
        self.thread
    }

    /// Begins the next block.
    pub(crate) fn begin_block(&mut self) {
        self.barrier_of_block();
        self.block_start = self.now;
        self.block_starts.push(self.now);
    }

    /// Continues that thread.
    pub(crate) fn enter(&mut self, thread: u32) {
        self.thread = thread;
    }

    pub(crate) fn barrier_of_block(&mut self) {
        self.now += 1;
        self.barrier = self.now;
    }

    pub(crate) fn barrier_of_warp(&mut self, warp: u32) {
        self.now += 1;
        if let Some(barrier) = self.warp_barriers.get_mut(warp as usize) {
            *barrier = self.now;
        }
    }

    /// Returns the number of threads of a block, not counting virtual ones.
    fn n_proper(&self) -> u32 {
        (self.extents[3] * self.extents[4] * self.extents[5]).max(1) as u32
    }

    /// Returns the warp of a thread; virtual threads have separate warps.
    pub(crate) fn warp(&self, thread: u32) -> u32 {
        let n = self.n_proper();
        (thread / n) * n.div_ceil(self.warp_size) + thread % n / self.warp_size
    }

    /// Returns the lane of a thread in its warp.
    pub(crate) fn lane(&self, thread: u32) -> u32 {
        thread % self.n_proper() % self.warp_size
    }

    /// Returns the thread at that lane of the warp of `thread`, if there is one.
    pub(crate) fn at_lane(&self, thread: u32, lane: u32) -> Option<u32> {
        if lane >= self.warp_size {
            return None;
        }
        let n = self.n_proper();
        let proper = thread % n / self.warp_size * self.warp_size + lane;
        (proper < n).then(|| thread / n * n + proper)
    }

    /// Returns the index per axis of a thread of a block, in the order of
    /// [`chipdock_ir::ThreadAxis`].
    pub(crate) fn indices(&self, block: u64, thread: u32) -> [i64; 9] {
        let mut indices = [0; 9];
        let (mut block, mut thread) = (block, i64::from(thread));
        for (axis, (index, extent)) in indices.iter_mut().zip(self.extents).enumerate() {
            let extent = extent.max(1);
            if axis < 3 {
                *index = (block % extent as u64) as i64;
                block /= extent as u64;
            } else {
                *index = thread % extent;
                thread /= extent;
            }
        }
        indices
    }

    fn index(&self, block: u64, thread: u32) -> ThreadIndex {
        let small = |index: i64| u32::try_from(index).unwrap_or(u32::MAX);
        let [bx, by, bz, tx, ty, tz, vx, vy, vz] = self.indices(block, thread).map(small);
        ThreadIndex { block: [bx, by, bz], thread: [tx, ty, tz], virtual_thread: [vx, vy, vz] }
    }

    /// Returns the running block, from 0.
    pub(crate) fn block(&self) -> u64 {
        (self.block_starts.len() as u64).saturating_sub(1)
    }

    /// Returns the running thread, for messages.
    pub(crate) fn current(&self) -> ThreadIndex {
        self.index(self.block(), self.thread)
    }

    /// Returns a thread of the running block, for messages.
    pub(crate) fn of_block(&self, thread: u32) -> ThreadIndex {
        self.index(self.block(), thread)
    }

    /// Returns the thread that ran at a moment, for messages.
    pub(crate) fn who(&self, at: Moment) -> ThreadIndex {
        let block = self.block_starts.partition_point(|&start| start <= at.time());
        self.index((block as u64).saturating_sub(1), at.thread())
    }

    fn here(&self) -> Moment {
        Moment(self.now << THREAD_BITS | u64::from(self.thread))
    }

    /// Returns true if another thread of the launch ran then, with no barrier since.
    #[inline]
    fn is_loose(&self, at: Moment) -> bool {
        let time = at.time();
        if time < self.start {
            return false;
        }
        if time < self.block_start {
            return true;
        }
        if at.thread() == self.thread || time < self.barrier {
            return false;
        }
        let warp = self.warp(self.thread);
        let barrier = self.warp_barriers.get(warp as usize).copied().unwrap_or(0);
        !(time < barrier && self.warp(at.thread()) == warp)
    }
}

/// The last access of a kind, and the last one by a different thread.
#[derive(Clone, Copy, Default)]
struct Last {
    one: Moment,
    other: Moment,
}

impl Last {
    #[inline]
    fn loose(&self, threads: &Threads) -> Option<Moment> {
        [self.one, self.other].into_iter().find(|&at| threads.is_loose(at))
    }

    #[inline]
    fn note(&mut self, threads: &Threads) {
        let here = threads.here();
        if self.one.thread() != here.thread() || self.one.time() < threads.block_start {
            self.other = self.one;
        }
        self.one = here;
    }
}

/// The last accesses of an element, with threads and times. The last two threads that read it
/// suffice: a writer differs from at least one of them, and earlier accesses are ordered if these
/// are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mark {
    write: Moment,
    reads: Last,
    atomics: Last,
}

impl Mark {
    /// Records an access; returns an earlier one that it races with, and whether that one wrote.
    #[inline]
    pub(crate) fn touch(&mut self, threads: &Threads, touch: Touch) -> Option<(bool, Moment)> {
        if threads.is_loose(self.write) {
            return Some((true, self.write));
        }
        if touch != Touch::Atomic
            && let Some(at) = self.atomics.loose(threads)
        {
            return Some((true, at));
        }
        if touch != Touch::Read
            && let Some(at) = self.reads.loose(threads)
        {
            return Some((false, at));
        }
        match touch {
            Touch::Read => self.reads.note(threads),
            Touch::Write => self.write = threads.here(),
            Touch::Atomic => self.atomics.note(threads),
        }
        None
    }
}
