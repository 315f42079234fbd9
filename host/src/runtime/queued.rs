//! What queued work of a device uses, kept until its stream was synchronised.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of entries of a stream from which on it is synchronised before more is queued.
const ENTRIES_MAX: usize = 1024;

/// What one piece of queued work uses, or what happens when it is done.
pub(super) trait Held: Send {
    /// The work is done; the stream that it was queued on is live yet. Called under no lock.
    fn settled(self: Box<Self>, stream: *mut c_void);
}

/// The entries of a stream with their numbers, in order.
type Entries = VecDeque<(u64, Box<dyn Held>)>;

/// The entries of a device's streams.
#[derive(Default)]
pub(super) struct Queued {
    /// Number of entries, so that a device without any takes no lock.
    count: AtomicUsize,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Number of entries that there ever were.
    last: u64,
    /// Entries by stream; no list is empty.
    by_stream: BTreeMap<usize, Entries>,
}

impl Queued {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what work that is queued already uses; returns true if its stream has so many entries
    /// that it is to be synchronised.
    pub(super) fn keep(&self, stream: *mut c_void, held: Box<dyn Held>) -> bool {
        let mut lists = self.lists();
        lists.last += 1;
        let number = lists.last;
        let entries = lists.by_stream.entry(stream.addr()).or_default();
        entries.push_back((number, held));
        self.count.fetch_add(1, Ordering::Release);
        entries.len() >= ENTRIES_MAX
    }

    /// Returns the number up to which a synchronisation that begins now settles entries.
    pub(super) fn mark(&self) -> u64 {
        if self.is_empty() { 0 } else { self.lists().last }
    }

    /// Lets go of the entries of a stream up to a number: its work until then is done.
    pub(super) fn settle(&self, stream: *mut c_void, mark: u64) {
        if mark == 0 {
            return;
        }
        let mut done: Vec<(u64, Box<dyn Held>)> = Vec::new();
        {
            let mut lists = self.lists();
            let Some(entries) = lists.by_stream.get_mut(&stream.addr()) else { return };
            let count = entries.iter().take_while(|(number, _)| *number <= mark).count();
            done.extend(entries.drain(..count));
            if entries.is_empty() {
                lists.by_stream.remove(&stream.addr());
            }
            self.count.fetch_sub(count, Ordering::Release);
        }
        // Without the lock: memory that is let go of may synchronise streams.
        for (_, held) in done {
            held.settled(stream);
        }
    }

    /// Returns true if it keeps nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }
}
