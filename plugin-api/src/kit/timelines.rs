//! Timelines over the events of a driver (KIT-23 to KIT-25).

use core::fmt;
use std::collections::VecDeque;
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{HandleKind, Table, lock};
use crate::timeline::{Order, Timeline, TimelinePoint, Timelines};
use crate::{Error, ErrorKind, Stream, ensure};

/// Longest wait for a signal that nobody has queued before the device's state is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The events of a device: what interface `timeline` 1 needs of a driver (KIT-23).
///
/// `Arc` of a type that implements this implements [`Timelines`]. Every method may be called from
/// any thread at once; none calls the timelines.
pub trait Events: Send + Sync + 'static {
    /// A point in a stream that its work reaches. Clones refer to the same point; it may live
    /// longer than its stream.
    type Event: Clone + Send + Sync + 'static;

    /// Returns the timelines of a device and its name, lost or not.
    ///
    /// # Errors
    ///
    /// * `ValueError`: there is no such device.
    fn timelines(&self, device_id: i32) -> Result<(&TimelineTable<Self::Event>, &str), Error>;

    /// Checks that the device is not lost.
    ///
    /// # Errors
    ///
    /// * `DeviceLost`.
    fn check_device(&self, device_id: i32) -> Result<(), Error>;

    /// Checks that the stream is live.
    ///
    /// # Errors
    ///
    /// * `WrongState`, `ValueError`: it is not.
    fn check_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error>;

    /// Records an event after the work of a stream, begun even if nothing is queued after it.
    ///
    /// # Errors
    ///
    /// * A failure that the stream keeps (P7.5); then nothing is recorded.
    fn record(&self, device_id: i32, stream: Stream) -> Result<Self::Event, Error>;

    /// Makes later work of a stream wait for an event, and waits for nothing.
    ///
    /// # Errors
    ///
    /// * The driver's.
    fn wait_on(&self, device_id: i32, stream: Stream, event: &Self::Event) -> Result<(), Error>;

    /// Returns true if an event is reached and its work is visible to the host; work that failed is
    /// done.
    ///
    /// # Errors
    ///
    /// * `DeviceLost`: it is never reached.
    fn is_reached(&self, device_id: i32, event: &Self::Event) -> Result<bool, Error>;

    /// Waits for an event, at most about that long. It may return early, reached or not.
    ///
    /// # Errors
    ///
    /// * `DeviceLost`: it is never reached.
    fn wait_for(&self, device_id: i32, event: &Self::Event, most: Duration) -> Result<(), Error>;
}

/// A signal that was called for and has not taken effect, as far as is known.
struct Pending<E> {
    value: u64,
    /// The stream's handle and its event; none for a signal of the host.
    event: Option<(usize, E)>,
}

struct State<E> {
    /// The value that is known to be reached.
    reached: u64,
    /// The value of the last call.
    last: u64,
    /// In the order of the calls, so that the values rise.
    pending: VecDeque<Pending<E>>,
    is_freed: bool,
}

/// One timeline.
struct Entry<E> {
    state: Mutex<State<E>>,
    changed: Condvar,
}

/// The timelines of a device, by handle (KIT-23).
pub struct TimelineTable<E>(Table<Entry<E>>);

impl<E> Default for TimelineTable<E> {
    fn default() -> Self {
        Self(Table::new(HandleKind::Timeline))
    }
}

impl<E> fmt::Debug for TimelineTable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimelineTable").finish_non_exhaustive()
    }
}

impl<E> TimelineTable<E> {
    /// Makes every live timeline a gone one (KIT-5), because the device was lost.
    pub fn abandon(&self) {
        for entry in self.0.values() {
            entry.end();
        }
        self.0.abandon();
    }
}

impl<E> Entry<E> {
    /// Ends the waits of the host; the events are dropped without the lock.
    fn end(&self) {
        let mut state = lock(&self.state);
        state.is_freed = true;
        let pending = std::mem::take(&mut state.pending);
        drop(state);
        drop(pending);
        self.changed.notify_all();
    }
}

impl<E> State<E> {
    fn check_signal(&self, value: u64, last: u64) -> Result<(), Error> {
        ensure!(
            value > last,
            ErrorKind::VALUE_ERROR,
            "the signal of {value} comes after that of {last}: values of a timeline rise"
        );
        Ok(())
    }

    fn check_wait(&self, value: u64) -> Result<(), Error> {
        ensure!(
            value <= self.last,
            ErrorKind::WRONG_STATE,
            "nothing that is queued makes the timeline reach {value}, at most {}: queue the signal before the wait",
            self.last
        );
        Ok(())
    }
}

/// A timeline that is used by one call.
struct Used<'a, D: Events> {
    events: &'a D,
    device_id: i32,
    entry: Arc<Entry<D::Event>>,
}

impl<D: Events> Used<'_, D> {
    /// Takes out the signals that have taken effect (KIT-24).
    fn settle(&self, state: &mut State<D::Event>) -> Result<(), Error> {
        while let Some(first) = state.pending.front() {
            if let Some((_, event)) = &first.event
                && !self.events.is_reached(self.device_id, event)?
            {
                return Ok(());
            }
            if let Some(done) = state.pending.pop_front() {
                state.reached = done.value;
            }
        }
        Ok(())
    }

    fn signal(&self, stream: Stream, value: u64) -> Result<(), Error> {
        let mut state = lock(&self.entry.state);
        state.check_signal(value, state.last)?;
        let event = self.events.record(self.device_id, stream)?;
        // Each signal takes out those before it that are done, so that the list stays short.
        let settled = self.settle(&mut state);
        state.last = value;
        state.pending.push_back(Pending { value, event: Some((stream.into_raw().addr(), event)) });
        drop(state);
        self.entry.changed.notify_all();
        settled
    }

    fn host_signal(&self, value: u64) -> Result<(), Error> {
        let mut state = lock(&self.entry.state);
        state.check_signal(value, state.last)?;
        state.last = value;
        state.pending.push_back(Pending { value, event: None });
        let settled = self.settle(&mut state);
        drop(state);
        self.entry.changed.notify_all();
        settled
    }

    /// Waits on the device for the last event of each other stream up to the value (KIT-24).
    fn wait(&self, stream: Stream, value: u64) -> Result<(), Error> {
        let own = stream.into_raw().addr();
        let mut events: Vec<(usize, D::Event)> = Vec::new();
        {
            let state = lock(&self.entry.state);
            state.check_wait(value)?;
            if state.reached >= value {
                return self.events.check_stream(self.device_id, stream);
            }
            for pending in &state.pending {
                match &pending.event {
                    Some((other, event)) if *other != own => {
                        match events.iter_mut().find(|(known, _)| known == other) {
                            Some((_, last)) => *last = event.clone(),
                            None => events.push((*other, event.clone())),
                        }
                    }
                    _ => {}
                }
                if pending.value >= value {
                    break;
                }
            }
        }
        self.events.check_stream(self.device_id, stream)?;
        events.iter().try_for_each(|(_, event)| self.events.wait_on(self.device_id, stream, event))
    }

    fn query(&self) -> Result<u64, Error> {
        let mut state = lock(&self.entry.state);
        self.settle(&mut state)?;
        Ok(state.reached)
    }

    fn host_wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool, Error> {
        let begin = Instant::now();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
            let most = left.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN);
            let mut state = lock(&self.entry.state);
            ensure!(
                !state.is_freed,
                ErrorKind::WRONG_STATE,
                "the timeline was freed before it reached {value}"
            );
            self.settle(&mut state)?;
            if state.reached >= value {
                return Ok(true);
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let first = state.pending.front().and_then(|first| first.event.clone());
            match first.filter(|_| state.last >= value) {
                Some((_, event)) => {
                    drop(state);
                    self.events.wait_for(self.device_id, &event, most)?;
                }
                None => {
                    let waited = self.entry.changed.wait_timeout(state, most);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                    self.events.check_device(self.device_id)?;
                }
            }
        }
    }
}

/// Finds a timeline of a device that is not lost.
fn find<D: Events>(events: &D, device_id: i32, timeline: Timeline) -> Result<Used<'_, D>, Error> {
    let (table, name) = events.timelines(device_id)?;
    events.check_device(device_id)?;
    let entry = table.0.get(timeline.into_raw().addr(), name)?;
    Ok(Used { events, device_id, entry })
}

impl<D: Events> Timelines for Arc<D> {
    fn create(&self, device_id: i32, initial: u64) -> Result<Timeline, Error> {
        let (table, _) = self.timelines(device_id)?;
        self.check_device(device_id)?;
        let state = State { reached: initial, last: initial, pending: VecDeque::new(), is_freed: false };
        let handle = table.0.add(Entry { state: Mutex::new(state), changed: Condvar::new() });
        Ok(Timeline::from_raw(without_provenance_mut(handle)))
    }

    unsafe fn free(&self, device_id: i32, timeline: Timeline) -> Result<(), Error> {
        let (table, name) = self.timelines(device_id)?;
        if let Some(entry) = table.0.take(timeline.into_raw().addr(), name)? {
            entry.end();
        }
        self.check_device(device_id)
    }

    unsafe fn check(&self, device_id: i32, stream: Stream, order: &Order) -> Result<(), Error> {
        self.check_stream(device_id, stream)?;
        for point in &order.waits {
            let used = find(&**self, device_id, point.timeline)?;
            lock(&used.entry.state).check_wait(point.value)?;
        }
        for (index, point) in order.signals.iter().enumerate() {
            let used = find(&**self, device_id, point.timeline)?;
            let state = lock(&used.entry.state);
            let before = order.signals[..index].iter().filter(|before| before.timeline == point.timeline);
            let last = before.map(|before| before.value).next_back();
            state.check_signal(point.value, last.unwrap_or(state.last))?;
        }
        Ok(())
    }

    unsafe fn signal(&self, device_id: i32, stream: Stream, point: TimelinePoint) -> Result<(), Error> {
        find(&**self, device_id, point.timeline)?.signal(stream, point.value)
    }

    unsafe fn wait(&self, device_id: i32, stream: Stream, point: TimelinePoint) -> Result<(), Error> {
        find(&**self, device_id, point.timeline)?.wait(stream, point.value)
    }

    unsafe fn query(&self, device_id: i32, timeline: Timeline) -> Result<u64, Error> {
        find(&**self, device_id, timeline)?.query()
    }

    unsafe fn host_wait(
        &self,
        device_id: i32,
        point: TimelinePoint,
        timeout: Option<Duration>,
    ) -> Result<bool, Error> {
        find(&**self, device_id, point.timeline)?.host_wait(point.value, timeout)
    }

    unsafe fn host_signal(&self, device_id: i32, point: TimelinePoint) -> Result<(), Error> {
        find(&**self, device_id, point.timeline)?.host_signal(point.value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Events that the test reaches, and the waits that streams were given.
    #[derive(Default)]
    struct Toy {
        table: TimelineTable<Arc<AtomicBool>>,
        events: Mutex<Vec<Arc<AtomicBool>>>,
        waits: Mutex<Vec<(usize, usize)>>,
        is_lost: AtomicBool,
        fails: AtomicBool,
    }

    impl Toy {
        fn reach(&self, number: usize) {
            lock(&self.events)[number].store(true, Ordering::Release);
        }
    }

    impl Events for Toy {
        type Event = Arc<AtomicBool>;

        fn timelines(&self, device_id: i32) -> Result<(&TimelineTable<Self::Event>, &str), Error> {
            ensure!(device_id == 0, ErrorKind::VALUE_ERROR, "there is device 0 alone");
            Ok((&self.table, "toy:0"))
        }

        fn check_device(&self, _device_id: i32) -> Result<(), Error> {
            ensure!(!self.is_lost.load(Ordering::Acquire), ErrorKind::DEVICE_LOST, "toy:0 is lost");
            Ok(())
        }

        fn check_stream(&self, _device_id: i32, stream: Stream) -> Result<(), Error> {
            ensure!(stream.into_raw().addr() < 9, ErrorKind::WRONG_STATE, "no such stream");
            Ok(())
        }

        fn record(&self, _device_id: i32, _stream: Stream) -> Result<Self::Event, Error> {
            ensure!(!self.fails.load(Ordering::Acquire), ErrorKind::IO, "a kept failure");
            let event: Self::Event = Arc::default();
            lock(&self.events).push(Arc::clone(&event));
            Ok(event)
        }

        fn wait_on(&self, _device_id: i32, stream: Stream, event: &Self::Event) -> Result<(), Error> {
            let number = lock(&self.events).iter().position(|known| Arc::ptr_eq(known, event));
            lock(&self.waits).push((stream.into_raw().addr(), number.unwrap()));
            Ok(())
        }

        fn is_reached(&self, device_id: i32, event: &Self::Event) -> Result<bool, Error> {
            self.check_device(device_id)?;
            Ok(event.load(Ordering::Acquire))
        }

        fn wait_for(&self, device_id: i32, _event: &Self::Event, most: Duration) -> Result<(), Error> {
            std::thread::sleep(most.min(Duration::from_millis(1)));
            self.check_device(device_id)
        }
    }

    fn stream(number: usize) -> Stream {
        Stream::from_raw(without_provenance_mut(number))
    }

    fn kind(result: Result<(), Error>) -> String {
        result.err().map_or_else(String::new, |error| error.kind().to_string())
    }

    /// The toy's timelines, with calls that need no `unsafe`.
    struct Bench(Arc<Toy>);

    impl Bench {
        fn create(&self, initial: u64) -> Timeline {
            self.0.create(0, initial).unwrap()
        }

        fn signal(&self, on: usize, timeline: Timeline, value: u64) -> Result<(), Error> {
            // SAFETY: the toy checks handles.
            unsafe { self.0.signal(0, stream(on), TimelinePoint { timeline, value }) }
        }

        fn wait(&self, on: usize, timeline: Timeline, value: u64) -> Result<(), Error> {
            // SAFETY: the toy checks handles.
            unsafe { self.0.wait(0, stream(on), TimelinePoint { timeline, value }) }
        }

        fn query(&self, timeline: Timeline) -> Result<u64, Error> {
            // SAFETY: the toy checks handles.
            unsafe { self.0.query(0, timeline) }
        }

        fn host_wait(&self, timeline: Timeline, value: u64, most: Option<u64>) -> Result<bool, Error> {
            // SAFETY: the toy checks handles.
            unsafe { self.0.host_wait(0, TimelinePoint { timeline, value }, most.map(Duration::from_millis)) }
        }

        fn host_signal(&self, timeline: Timeline, value: u64) -> Result<(), Error> {
            // SAFETY: the toy checks handles.
            unsafe { self.0.host_signal(0, TimelinePoint { timeline, value }) }
        }
    }

    #[test]
    fn kit_24_signals_take_effect_in_the_order_of_the_calls() {
        let bench = Bench(Arc::default());
        let timeline = bench.create(1);
        bench.signal(1, timeline, 3).unwrap();
        bench.signal(2, timeline, 5).unwrap();
        bench.host_signal(timeline, 8).unwrap();
        assert_eq!(bench.query(timeline).unwrap(), 1);
        bench.0.reach(1);
        assert_eq!(bench.query(timeline).unwrap(), 1, "the first is not reached");
        assert!(!bench.host_wait(timeline, 3, Some(2)).unwrap());
        bench.0.reach(0);
        assert_eq!(bench.query(timeline).unwrap(), 8);
        assert!(bench.host_wait(timeline, 8, None).unwrap());
        for value in [0, 7, 8] {
            assert_eq!(kind(bench.signal(1, timeline, value)), "ValueError");
            assert_eq!(kind(bench.host_signal(timeline, value)), "ValueError");
        }
        bench.0.fails.store(true, Ordering::Release);
        assert_eq!(kind(bench.signal(1, timeline, 9)), "IoError");
        assert_eq!(kind(bench.wait(1, timeline, 9)), "WrongState", "nothing was queued");
    }

    #[test]
    fn kit_24_a_stream_waits_for_the_last_event_of_each_other_stream() {
        let bench = Bench(Arc::default());
        let timeline = bench.create(0);
        for (on, value) in [(1, 1), (2, 2), (1, 3), (3, 4), (2, 5)] {
            bench.signal(on, timeline, value).unwrap();
        }
        let waits = |on: usize, value: u64| {
            lock(&bench.0.waits).clear();
            bench.wait(on, timeline, value).unwrap();
            lock(&bench.0.waits).clone()
        };
        assert_eq!(waits(4, 4), [(4, 2), (4, 1), (4, 3)]);
        assert_eq!(waits(1, 4), [(1, 1), (1, 3)], "its own order needs no wait");
        assert_eq!(waits(4, 1), [(4, 0)]);
        assert_eq!(waits(4, 0), []);
        (0..3).for_each(|number| bench.0.reach(number));
        assert_eq!(bench.query(timeline).unwrap(), 3);
        assert_eq!(waits(4, 3), [], "it is reached");
        assert_eq!(waits(4, 5), [(4, 3), (4, 4)], "KIT-25: the first three are gone");
        assert_eq!(kind(bench.wait(4, timeline, 6)), "WrongState");
        assert_eq!(kind(bench.wait(9, timeline, 1)), "WrongState", "no such stream");
    }

    #[test]
    fn n_29_an_order_is_checked_as_if_its_calls_were_made() {
        let bench = Bench(Arc::default());
        let (one, other) = (bench.create(5), bench.create(0));
        let at = |timeline, value| TimelinePoint { timeline, value };
        // SAFETY: the toy checks handles.
        let check = |waits: &[TimelinePoint], signals: &[TimelinePoint]| unsafe {
            kind(bench.0.check(0, stream(1), &Order::new(waits.to_vec(), signals.to_vec())))
        };
        assert_eq!(check(&[at(one, 5), at(other, 0)], &[at(one, 6), at(other, 1), at(one, 7)]), "");
        assert_eq!(check(&[at(one, 6)], &[at(one, 6)]), "WrongState");
        assert_eq!(check(&[], &[at(one, 6), at(other, 1), at(one, 6)]), "ValueError");
        assert_eq!(check(&[], &[at(one, 5)]), "ValueError");
        assert_eq!(check(&[at(Timeline::from_raw(without_provenance_mut(16)), 0)], &[]), "WrongState");
        assert_eq!(bench.query(one).unwrap(), 5, "nothing was queued");
    }

    #[test]
    fn a_wait_of_the_host_ends_when_the_timeline_is_freed_or_its_device_is_lost() {
        let bench = Bench(Arc::default());
        let ended = |timeline, end: &dyn Fn()| {
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| bench.host_wait(timeline, 7, None).map(drop));
                std::thread::sleep(Duration::from_millis(5));
                end();
                kind(waiter.join().unwrap())
            })
        };
        let timeline = bench.create(0);
        // SAFETY: created above, freed once.
        assert_eq!(ended(timeline, &|| unsafe { bench.0.free(0, timeline) }.unwrap()), "WrongState");
        let timeline = bench.create(0);
        assert_eq!(ended(timeline, &|| bench.0.is_lost.store(true, Ordering::Release)), "DeviceLost");
        assert_eq!(kind(bench.query(timeline).map(drop)), "DeviceLost");
        bench.0.table.abandon();
        bench.0.is_lost.store(false, Ordering::Release);
        assert_eq!(kind(bench.query(timeline).map(drop)), "WrongState", "gone with its device");
        // SAFETY: gone, freed once (KIT-5).
        unsafe { bench.0.free(0, timeline) }.unwrap();
    }
}
