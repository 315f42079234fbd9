//! Work on many threads at once (CHILD-V8).

use std::collections::VecDeque;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Does work on that many threads, each of which takes the next piece; their messages are received
/// on this thread as they come. If the machine gives fewer threads, those do the work, and if it
/// gives none, this one does.
pub fn spread<T: Send, E: Send>(
    pieces: Vec<T>,
    n_threads: usize,
    each: &mut dyn FnMut(E),
    work: &(dyn Fn(T, &Sender<E>) + Sync),
) {
    let n_threads = n_threads.max(1).min(pieces.len());
    let queue = Mutex::new(VecDeque::from(pieces));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (sender, events) = mpsc::channel();
    std::thread::scope(|scope| {
        let start = |_: &usize| {
            let sender = sender.clone();
            let worker = move || {
                while let Some(piece) = next() {
                    work(piece, &sender);
                }
            };
            Builder::new().spawn_scoped(scope, worker).is_ok()
        };
        if (0..n_threads).take_while(start).count() == 0 {
            while let Some(piece) = next() {
                work(piece, &sender);
                events.try_iter().for_each(&mut *each);
            }
        }
        drop(sender);
        events.iter().for_each(each);
    });
}

/// Does work on that many threads; the results come in the order of the pieces.
pub fn in_order<T: Send, R: Send>(
    pieces: Vec<T>,
    n_threads: usize,
    work: &(dyn Fn(T) -> R + Sync),
) -> Vec<R> {
    let mut results: Vec<Option<R>> = pieces.iter().map(|_| None).collect();
    let numbered: Vec<(usize, T)> = pieces.into_iter().enumerate().collect();
    let mut keep = |(index, result): (usize, R)| {
        if let Some(place) = results.get_mut(index) {
            *place = Some(result);
        }
    };
    spread(numbered, n_threads, &mut keep, &|(index, piece), sender| {
        drop(sender.send((index, work(piece))));
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// CHILD-V8: the order is that of the pieces, though the first takes longest; never more at
    /// once than asked for.
    #[test]
    fn results_come_in_order() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |piece: u64| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(20 - 3 * piece));
            running.fetch_sub(1, Ordering::SeqCst);
            piece * 10
        };
        assert_eq!(in_order(vec![0, 1, 2, 3, 4, 5], 3, &work), [0, 10, 20, 30, 40, 50]);
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert_eq!(in_order(Vec::<u64>::new(), 0, &work), Vec::<u64>::new());
    }
}
