//! Many threads at once (P10.1): they begin together, each has data of its own, and what it reads back tells whether
//! another's call got in between.

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

/// Runs a body on so many threads, which begin together; the first that failed is the answer, with its number.
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
