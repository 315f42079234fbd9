//! Many threads at once (P10.1): they start together, each with data of its own, and reading it
//! back detects interference between their calls.

mod device;
mod host;
mod module;

use std::sync::Barrier;

use crate::{Cases, Stop, Verdict};

pub(super) fn add(cases: &mut Cases) {
    device::add(cases);
    host::add(cases);
    module::add(cases);
}

/// Runs a body on `n_threads` threads that start together; returns the first failure, with the
/// number of its thread.
fn together(n_threads: usize, body: impl Fn(usize) -> Verdict + Sync) -> Verdict {
    let barrier = Barrier::new(n_threads);
    std::thread::scope(|scope| {
        let (barrier, body) = (&barrier, &body);
        let threads: Vec<_> = (0..n_threads)
            .map(|thread| {
                scope.spawn(move || {
                    barrier.wait();
                    body(thread)
                })
            })
            .collect();
        let mut first = Ok(());
        for (number, thread) in threads.into_iter().enumerate() {
            let ended = thread.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")));
            if first.is_ok() {
                first = ended.map_err(|stop| stop.note(format!("thread {number} of {n_threads}")));
            }
        }
        first
    })
}
