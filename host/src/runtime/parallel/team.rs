//! The threads of a pool: start, claims by regions, and end.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::region::{IN_REGION, is_useless, run_handed};
use super::size::{self, THREADS_MAX};
use super::slot::{Next, Slot};
use super::wait::Patience;
use crate::boundary::slots::Slots;
use crate::log::{Log, LogLevel};
use crate::process::HostProcess;

/// The threads of a pool, without the callers'.
pub(super) struct Team {
    /// Leaked, as are the services that the pool is part of.
    slots: &'static [Slot],
    handles: Mutex<Vec<JoinHandle<()>>>,
    patience: Patience,
}

impl Team {
    /// Starts the threads of a pool of that size; a warning reports how many the system refused.
    pub(super) fn start(of: (Slots, HostProcess), log: &Log, size: u32) -> Self {
        let is_crowded = size > size::automatic();
        let patience = Patience { is_crowded };
        let slots: Vec<Slot> = (1..size).map(|_| Slot::new()).collect();
        let slots: &'static [Slot] = Box::leak(slots.into_boxed_slice());
        let mut handles = Vec::with_capacity(slots.len());
        for (number, slot) in (1..).zip(slots) {
            let builder = thread::Builder::new().name(format!("chipdock-{number}"));
            match builder.spawn(move || serve(of, slot, patience)) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    let started = handles.len() + 1;
                    let line = format!("parallel loops run on {started} of {size} threads: {error}");
                    log.write(LogLevel::Warning, &line);
                    break;
                }
            }
        }
        Self { slots: &slots[..handles.len()], handles: Mutex::new(handles), patience }
    }

    /// Claims idle threads, at most that many, the first ones first: a loop that is run again finds
    /// its pieces of memory in the same caches.
    pub(super) fn claim(&self, count_max: usize) -> Claimed<'_> {
        let mut claimed = Claimed { team: self, words: [0; WORDS], count: 0 };
        for (index, slot) in self.slots.iter().enumerate() {
            if usize::try_from(claimed.count).is_ok_and(|count| count >= count_max) {
                break;
            }
            if slot.claim() {
                claimed.words[index / 64] |= 1 << (index % 64);
                claimed.count += 1;
            }
        }
        claimed
    }

    /// Ends the threads and waits for them, and for regions that are running.
    pub(super) fn stop(&self) {
        let handles = std::mem::take(&mut *self.handles.lock().unwrap_or_else(PoisonError::into_inner));
        for slot in self.slots {
            while !slot.close() {
                thread::yield_now();
            }
        }
        for handle in handles {
            // A thread of the pool cannot panic: bodies do not unwind.
            let _ = handle.join();
        }
    }
}

/// Runs the jobs of a slot until it is closed: the main function of a pool thread.
fn serve((slots, process): (Slots, HostProcess), slot: &'static Slot, patience: Patience) {
    IN_REGION.set(true);
    while let Next::Run(job, is_late) = slot.next(process, patience) {
        // SAFETY: the caller that posted the job keeps its data until the slot was joined, which
        // comes after `finish`.
        unsafe {
            let failure = if is_late && is_useless(&job) { None } else { run_handed(slots, &job) };
            slot.finish(failure);
        }
    }
}

const WORDS: usize = (THREADS_MAX as usize).div_ceil(64);

/// The threads that a region has: a bit for each slot. Dropping it releases them.
pub(super) struct Claimed<'a> {
    team: &'a Team,
    words: [u64; WORDS],
    count: i32,
}

impl Claimed<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn count(&self) -> i32 {
        self.count
    }

    pub(super) fn patience(&self) -> Patience {
        self.team.patience
    }

    /// Returns the claimed slots in the order of the pool.
    pub(super) fn slots(&self) -> impl DoubleEndedIterator<Item = &Slot> {
        let slots = self.team.slots.iter().enumerate();
        slots.filter(|(index, _)| self.words[index / 64] >> (index % 64) & 1 != 0).map(|(_, slot)| slot)
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        for slot in self.slots() {
            // SAFETY: claimed here, and posted to by `fork_join` alone, which takes back or joins
            // what it posts.
            unsafe { slot.release() };
        }
    }
}
