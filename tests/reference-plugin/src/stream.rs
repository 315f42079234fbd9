//! Streams: queues of work, each with a thread of its own that starts with the first piece of work.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use chipdock_plugin_api::kit::{FirstFailure, HandleKind, Table, lock, wait};
use chipdock_plugin_api::{Error, ErrorKind, bail, ensure};

use crate::fault;

/// A piece of work.
pub(crate) type Job = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// Stack size of a stream's thread, because the interpreter recurses as deep as the IR nests.
const STACK_BYTES: usize = 64 << 20;
/// A queue, which runs work in order.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// The first failure that was not reported yet (P7.5).
    failure: FirstFailure,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    n_queued: u64,
    n_done: u64,
    is_closed: bool,
    worker: Option<JoinHandle<()>>,
}

/// Faults that are visible only if work takes some time.
const NEED_SLOW_WORK: &[&str] = &[
    "sync-returns-early",
    "stream-does-not-order",
    "from-to-does-nothing",
    "free-stream-drops-work",
    "shutdown-does-not-drain",
    "kernel-ignores-stream",
];

/// Returns the same work, delayed if the planted fault requires it.
fn slowed(job: Job) -> Job {
    if !NEED_SLOW_WORK.contains(&fault::planted()) {
        return job;
    }
    Box::new(move || {
        std::thread::sleep(Duration::from_millis(2));
        job()
    })
}

impl Queue {
    /// Queues work. If a failure is kept, it is returned instead, and nothing is queued.
    pub(crate) fn push(self: &Arc<Self>, job: Job) -> Result<(), Error> {
        self.report()?;
        self.push_always(job)
    }

    /// Queues work, whatever failure is kept.
    pub(crate) fn push_always(self: &Arc<Self>, job: Job) -> Result<(), Error> {
        let (mut state, job) = (lock(&self.state), slowed(job));
        ensure!(!state.is_closed, ErrorKind::WRONG_STATE, "the stream was freed: create another");
        if state.worker.is_none() {
            let queue = Arc::clone(self);
            let worker = Builder::new().name("reference-stream".into()).stack_size(STACK_BYTES);
            let worker = worker.spawn(move || queue.work()).map_err(|error| {
                Error::new(ErrorKind::OUT_OF_MEMORY, format!("no thread can be had for a stream: {error}"))
            })?;
            state.worker = Some(worker);
        }
        // Fault against D.7: the last queued work is done first.
        if fault::is("stream-does-not-order") {
            state.jobs.push_front(job);
        } else {
            state.jobs.push_back(job);
        }
        state.n_queued += 1;
        self.changed.notify_all();
        Ok(())
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            while let Some(job) = state.jobs.pop_front() {
                drop(state);
                let done = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| {
                    bail!(
                        ErrorKind::PANIC,
                        "work on a stream panicked; this is a bug of the reference plugin"
                    )
                });
                if let Err(error) = done {
                    self.keep(error);
                }
                state = lock(&self.state);
                state.n_done += 1;
                self.changed.notify_all();
            }
            if state.is_closed {
                return;
            }
            state = wait(&self.changed, state);
        }
    }

    /// Keeps a failure until it is reported (P7.5).
    fn keep(&self, error: Error) {
        if fault::is("late-failure-lost") {
            return;
        }
        if fault::is("last-failure-first") {
            let _ = self.failure.report();
        }
        self.failure.keep(error);
    }

    /// Returns the number of jobs queued so far, for a later [`Self::wait_for`].
    pub(crate) fn ticket(&self) -> u64 {
        lock(&self.state).n_queued
    }

    /// Reports the failure that is kept.
    pub(crate) fn report(&self) -> Result<(), Error> {
        self.failure.report()
    }

    /// Waits until that number of jobs is done, at most that long; returns whether it is.
    pub(crate) fn wait_at_most(&self, ticket: u64, most: Duration) -> bool {
        let state = lock(&self.state);
        let done = self.changed.wait_timeout_while(state, most, |state| state.n_done < ticket);
        done.is_ok_and(|(state, _)| state.n_done >= ticket)
    }

    /// Waits until that number of jobs is done.
    pub(crate) fn wait_for(&self, ticket: u64) {
        let mut state = lock(&self.state);
        while state.n_done < ticket {
            state = wait(&self.changed, state);
        }
    }

    /// Waits for all work queued so far; returns the first failure since the last report.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        // Fault against D.8: it returns at once.
        if !fault::is("sync-returns-early") {
            self.wait_for(self.ticket());
        }
        self.failure.report().inspect_err(|error| {
            if fault::is("late-failure-kept-on") {
                self.failure.keep(error.clone());
            }
        })
    }

    /// Completes queued work and ends the thread; returns a failure that was not reported yet.
    pub(crate) fn close(&self, drops_work: bool) -> Result<(), Error> {
        let worker = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            if drops_work {
                state.n_done += state.jobs.len() as u64;
                state.jobs.clear();
            }
            self.changed.notify_all();
            state.worker.take()
        };
        if let Some(worker) = worker {
            // It catches the panics of what it runs.
            let _ = worker.join();
        }
        self.failure.report()
    }
}

/// The streams of one device.
pub(crate) struct Streams {
    device: Arc<str>,
    default: Arc<Queue>,
    created: Table<StreamEntry>,
}

/// A stream that was created, or one that was adopted and shares the queue of another stream.
struct StreamEntry {
    queue: Arc<Queue>,
    is_adopted: bool,
}

impl Streams {
    /// Creates the set with the default stream only.
    pub(crate) fn new(device: Arc<str>) -> Self {
        Self { device, default: Arc::default(), created: Table::new(HandleKind::Stream) }
    }

    /// Creates a stream and returns its handle.
    pub(crate) fn create(&self) -> usize {
        self.created.add(StreamEntry { queue: Arc::default(), is_adopted: false })
    }

    /// Creates a stream over the queue of another stream and returns its handle.
    pub(crate) fn adopt(&self, queue: Arc<Queue>) -> usize {
        self.created.add(StreamEntry { queue, is_adopted: true })
    }

    /// Returns the stream of that handle; 0 is the default stream.
    pub(crate) fn get(&self, handle: usize) -> Result<Arc<Queue>, Error> {
        match handle {
            0 => Ok(Arc::clone(&self.default)),
            _ => self.created.get(handle, &self.device).map(|entry| Arc::clone(&entry.queue)),
        }
    }

    /// Frees a stream after its work.
    pub(crate) fn free(&self, handle: usize) -> Result<(), Error> {
        let Some(entry) = self.created.take(handle, &self.device)? else { return Ok(()) };
        let queue = Arc::clone(&entry.queue);
        // N.10: it takes what it was made over with it.
        if entry.is_adopted && !fault::is("adopted-stream-ends-the-native") {
            return queue.sync();
        }
        // P9.4: its thread stays.
        if fault::is("leak-per-stream") {
            let done = queue.sync();
            std::mem::forget(queue);
            return done;
        }
        // D.17: what is queued is not done.
        queue.close(fault::is("free-stream-drops-work"))
    }

    /// Makes later work on `to` wait for the work queued on `from` so far.
    pub(crate) fn order(&self, from: usize, to: usize) -> Result<(), Error> {
        let (from, to) = (self.get(from)?, self.get(to)?);
        if Arc::ptr_eq(&from, &to) {
            return Ok(());
        }
        let ticket = from.ticket();
        to.push(Box::new(move || {
            from.wait_for(ticket);
            Ok(())
        }))
    }

    /// Returns all streams.
    pub(crate) fn all(&self) -> Vec<Arc<Queue>> {
        let created = self.created.values();
        let others = created.iter().map(|entry| Arc::clone(&entry.queue));
        std::iter::once(Arc::clone(&self.default)).chain(others).collect()
    }
}
