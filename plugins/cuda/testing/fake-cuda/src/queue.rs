//! Streams: queues whose work one thread each runs in order.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Work on a stream.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Locks; a panic elsewhere leaves nothing half-done under these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A queue; its thread starts with the first work and ends when the stream was destroyed and all
/// work is done.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    n_queued: u64,
    n_done: u64,
    is_closed: bool,
    has_worker: bool,
}

/// Delay before each piece of work, which makes missing ordering visible.
fn delay() -> Duration {
    let text = std::env::var("FAKE_CUDA_DELAY_US").unwrap_or_default();
    Duration::from_micros(text.parse().unwrap_or(0))
}

impl Queue {
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues work.
    pub(crate) fn push(self: &Arc<Self>, job: Job) {
        let mut state = lock(&self.state);
        state.jobs.push_back(job);
        state.n_queued += 1;
        if !state.has_worker {
            state.has_worker = true;
            let queue = Arc::clone(self);
            thread::spawn(move || queue.work());
        }
        self.changed.notify_all();
    }

    fn work(&self) {
        let delay = delay();
        let mut state = lock(&self.state);
        loop {
            while let Some(job) = state.jobs.pop_front() {
                drop(state);
                if !delay.is_zero() {
                    thread::sleep(delay);
                }
                job();
                state = lock(&self.state);
                state.n_done += 1;
                self.changed.notify_all();
            }
            if state.is_closed {
                return;
            }
            state = self.wait(state);
        }
    }

    /// Number of jobs queued so far.
    pub(crate) fn ticket(&self) -> u64 {
        lock(&self.state).n_queued
    }

    /// Returns true if that many jobs are done.
    pub(crate) fn is_done(&self, ticket: u64) -> bool {
        lock(&self.state).n_done >= ticket
    }

    /// Waits until that many jobs are done.
    pub(crate) fn wait_for(&self, ticket: u64) {
        let mut state = lock(&self.state);
        while state.n_done < ticket {
            state = self.wait(state);
        }
    }

    /// Waits for all jobs queued so far.
    pub(crate) fn synchronize(&self) {
        self.wait_for(self.ticket());
    }

    /// Lets the thread end when all jobs are done.
    pub(crate) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }
}
