//! The mappings of a process, for turns and for `mapped` (MEMORY-K8).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use chipdock_plugin_api::kit::PerProcess;

/// What is done with elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Threads that have mapped a tensor's memory.
#[derive(Default)]
struct Holders {
    readers: Vec<ThreadId>,
    writer: Option<ThreadId>,
}

impl Holders {
    /// Returns true if another thread's mapping must end first.
    fn block(&self, access: Access, me: ThreadId) -> bool {
        self.writer.is_some_and(|writer| writer != me)
            || (access == Access::Write && self.readers.iter().any(|reader| *reader != me))
    }
}

/// The mappings of a process, by data pointer as turns are.
#[derive(Default)]
struct Mappings {
    /// Number of mappings: without any, nobody looks further.
    count: AtomicUsize,
    held: Mutex<BTreeMap<usize, Holders>>,
    ended: Condvar,
}

/// A forked child has none.
static MAPPINGS: PerProcess<Mappings> = PerProcess::new(|_| Mappings::default());

/// Waits until no other thread's mapping keeps the memory of a data pointer from being read or
/// written. To be called without a turn, which others may need to end their mapping.
pub(super) fn wait(data: *mut c_void, access: Access) {
    let mappings = MAPPINGS.of_this();
    if mappings.count.load(Ordering::Acquire) == 0 {
        return;
    }
    let (data, me) = (data.addr(), thread::current().id());
    let mut held = mappings.held.lock().unwrap_or_else(PoisonError::into_inner);
    while held.get(&data).is_some_and(|holders| holders.block(access, me)) {
        held = mappings.ended.wait(held).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Returns true if no other thread's mapping keeps the memory of a data pointer from being read or
/// written.
pub(super) fn allow(data: *mut c_void, access: Access) -> bool {
    let mappings = MAPPINGS.of_this();
    if mappings.count.load(Ordering::Acquire) == 0 {
        return true;
    }
    let held = mappings.held.lock().unwrap_or_else(PoisonError::into_inner);
    let holders = held.get(&data.addr());
    !holders.is_some_and(|holders| holders.block(access, thread::current().id()))
}

/// Begins a mapping; the caller has the turn.
///
/// Returns false, and begins none, where this thread has one already and one of the two writes.
pub(super) fn begin(data: *mut c_void, access: Access) -> bool {
    let mappings = MAPPINGS.of_this();
    let me = thread::current().id();
    let mut held = mappings.held.lock().unwrap_or_else(PoisonError::into_inner);
    let holders = held.entry(data.addr()).or_default();
    if holders.writer == Some(me) || (access == Access::Write && holders.readers.contains(&me)) {
        return false;
    }
    match access {
        Access::Read => holders.readers.push(me),
        Access::Write => holders.writer = Some(me),
    }
    mappings.count.fetch_add(1, Ordering::Release);
    true
}

/// Ends a mapping of this thread.
pub(super) fn end(data: *mut c_void, access: Access) {
    let mappings = MAPPINGS.of_this();
    let me = thread::current().id();
    let mut held = mappings.held.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(holders) = held.get_mut(&data.addr()) else { return };
    let is_held = match access {
        Access::Read => holders.readers.iter().position(|reader| *reader == me).is_some_and(|at| {
            holders.readers.swap_remove(at);
            true
        }),
        Access::Write => holders.writer.take().is_some(),
    };
    if is_held {
        if holders.readers.is_empty() && holders.writer.is_none() {
            held.remove(&data.addr());
        }
        mappings.count.fetch_sub(1, Ordering::Release);
        mappings.ended.notify_all();
    }
}
