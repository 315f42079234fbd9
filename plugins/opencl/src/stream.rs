//! Streams: in-order queues of the driver, and the results of the work on them.
//!
//! No lock that other calls wait for is held while the driver is called. Each command's event is
//! kept until the command is known to be done, so that one that fails late is reported by name,
//! first cause first.
//!
//! A queue whose events record times makes every command slower. So a stream begins with one that
//! does not, until a mark is made on it or its native handle is requested: from then on it has
//! another, which waits for the work queued on the first.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use chipdock_plugin_api::Error;
use chipdock_plugin_api::kit::{FirstFailure, lock, read, write};

use crate::driver::{Answer, CommandQueue, Event, Progress, Queued};
use crate::error::{OrFailed, failed_later};

/// Number of pending events from which on those at the front are checked for completion.
const PENDING_MAX: usize = 64;
/// Description of queued work for errors.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Copy { size_bytes: u64 },
    Launch { kernel: Arc<str> },
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy { size_bytes } => write!(f, "the copy of {size_bytes} bytes"),
            Self::Launch { kernel } => write!(f, "the launch of kernel {kernel}"),
        }
    }
}

/// Whether a command is queued alone, or by a replay, which begins with [`Queue::report`] and ends
/// with [`Queue::flush`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Alone,
    OfReplay,
}

/// A stream.
pub(crate) struct Queue {
    /// The driver's queue, replaced at most once. Code that queues work holds a read lock, so that
    /// the replacement happens between two commands.
    raw: RwLock<Arc<CommandQueue>>,
    /// Whether other code created the queue, which is then never replaced.
    is_adopted: bool,
    serial: usize,
    device: Arc<str>,
    pending: Mutex<VecDeque<(Event, Work)>>,
    failure: FirstFailure,
}

impl Queue {
    /// A stream of the device with that name.
    pub(crate) fn new(raw: CommandQueue, device: &Arc<str>) -> Self {
        static LAST_SERIAL: AtomicUsize = AtomicUsize::new(0);
        Self {
            raw: RwLock::new(Arc::new(raw)),
            is_adopted: false,
            serial: LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1,
            device: Arc::clone(device),
            pending: Mutex::default(),
            failure: FirstFailure::default(),
        }
    }

    /// A stream over a queue that other code created.
    pub(crate) fn adopted(raw: CommandQueue, device: &Arc<str>) -> Self {
        Self { is_adopted: true, ..Self::new(raw, device) }
    }

    /// A number that is unique among all streams of the process, past and future.
    pub(crate) fn serial(&self) -> usize {
        self.serial
    }

    /// The driver's queue.
    pub(crate) fn raw(&self) -> Arc<CommandQueue> {
        Arc::clone(&read(&self.raw))
    }

    /// Ensures that its events record times, if the driver supports that: `make` creates such a
    /// queue. From then on the driver's queue does not change.
    pub(crate) fn be_timed(&self, make: impl FnOnce() -> Answer<CommandQueue>) -> Result<(), Error> {
        if self.is_adopted || read(&self.raw).is_timed() {
            return Ok(());
        }
        let mut raw = write(&self.raw);
        if raw.is_timed() {
            return Ok(());
        }
        let what = || format!("{}: a queue that tells times", self.device);
        let timed = make().or_failed(what)?;
        if timed.is_timed() {
            let before = raw.marker().or_failed(what)?;
            // The driver may hold back work that was not flushed, and the wait would never end.
            raw.flush().or_failed(what)?;
            timed.wait_for(&before).or_failed(what)?;
            *raw = Arc::new(timed);
        }
        Ok(())
    }

    /// Returns a failure that is stored.
    pub(crate) fn report(&self) -> Result<(), Error> {
        self.look(&mut lock(&self.pending));
        self.failure.report()
    }

    /// Makes queued work begin even if no code waits for it.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        read(&self.raw).flush().or_failed(|| format!("{}: a replay", self.device))
    }

    /// Queues work. If a failure is stored it is returned instead, and nothing is queued.
    pub(crate) fn submit(
        &self,
        part: Part,
        work: Work,
        enqueue: impl FnOnce(&CommandQueue) -> Queued,
    ) -> Result<(), Error> {
        if part == Part::Alone {
            self.failure.report()?;
        }
        let raw = read(&self.raw);
        let event = enqueue(&raw).or_failed(|| format!("{}: {work}", self.device))?;
        if part == Part::Alone {
            // Flushed so that the work begins even if no code waits for it.
            raw.flush().or_failed(|| format!("{}: {work}", self.device))?;
        }
        drop(raw);
        let mut pending = lock(&self.pending);
        pending.push_back((event, work));
        if pending.len() > PENDING_MAX {
            self.look(&mut pending);
        }
        Ok(())
    }

    /// Drops completed events, up to the first pending one, and stores the first failure.
    fn look(&self, pending: &mut VecDeque<(Event, Work)>) {
        while let Some((event, work)) = pending.front() {
            match event.progress() {
                Progress::Pending => return,
                Progress::Done => {}
                Progress::Failed(code) => {
                    self.failure.keep(failed_later(format_args!("{}: {work}", self.device), code));
                }
            }
            pending.pop_front();
        }
    }

    /// Waits for all queued work; returns the first failure since the last report.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let finished = self.raw().finish();
        self.look(&mut lock(&self.pending));
        self.failure.report()?;
        finished.or_failed(|| format!("{}: waiting for a stream", self.device))
    }

    /// Waits for queued work; its failures are reported later, as usual.
    pub(crate) fn drain(&self) {
        // If the driver cannot wait, a later call reports that again.
        let _ = self.raw().finish();
    }

    /// An event for the completion of all work queued so far; if a failure is stored it is returned
    /// instead.
    pub(crate) fn mark(&self) -> Result<Event, Error> {
        self.look(&mut lock(&self.pending));
        self.failure.report()?;
        let what = || format!("{}: a mark", self.device);
        let raw = self.raw();
        let event = raw.marker().or_failed(what)?;
        // Flushed so that it is reached even if nothing is queued after it.
        raw.flush().or_failed(what)?;
        Ok(event)
    }

    /// Makes later work wait for an event of another stream.
    pub(crate) fn wait_on(&self, event: &Event) -> Result<(), Error> {
        let what = || format!("{}: making a stream wait for an event", self.device);
        read(&self.raw).wait_for(event).map(drop).or_failed(what)
    }

    /// Makes later work wait for the work currently queued on `from`.
    pub(crate) fn wait_for(&self, from: &Self) -> Result<(), Error> {
        let what = || format!("{}: making a stream wait for another", self.device);
        let before = from.raw();
        let event = before.marker().or_failed(what)?;
        // The driver may hold back work that was not flushed, and the wait would never end.
        before.flush().or_failed(what)?;
        read(&self.raw).wait_for(&event).map(drop).or_failed(what)
    }
}
