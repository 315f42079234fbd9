//! Streams: in-order queues of the driver, and what became of the work on them.
//!
//! No lock that others wait for is held while the driver is called. Each command's event is kept until the command is seen to
//! be done, so that one that fails late is known by name, first cause first.
//!
//! A queue whose events tell times costs something with every command. So a stream has one that does not, until a mark is made
//! on it or its native handle is asked for: from then on it has another, which waits for what was queued on the first.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use chipdock_plugin_api::Error;
use chipdock_plugin_api::kit::{FirstFailure, lock, read, write};

use crate::driver::{Answer, CommandQueue, Event, Progress, Queued};
use crate::error::{OrFailed, failed_later};

/// Events that wait before those at the front are asked whether they are done.
const PENDING_MAX: usize = 64;
/// What was queued, as an error names it.
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

/// A stream.
pub(crate) struct Queue {
    /// Changed once at most. Whoever queues work reads it, so that the one change comes between two commands.
    raw: RwLock<Arc<CommandQueue>>,
    /// Whether it is somebody else's, and stays what it is.
    is_adopted: bool,
    serial: usize,
    device: Arc<str>,
    pending: Mutex<VecDeque<(Event, Work)>>,
    failure: FirstFailure,
}

impl Queue {
    /// A stream of the device of that name.
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

    /// The same of a queue that somebody else made.
    pub(crate) fn adopted(raw: CommandQueue, device: &Arc<str>) -> Self {
        Self { is_adopted: true, ..Self::new(raw, device) }
    }

    /// A number that no other stream of the process has or will have.
    pub(crate) fn serial(&self) -> usize {
        self.serial
    }

    /// The driver's queue.
    pub(crate) fn raw(&self) -> Arc<CommandQueue> {
        Arc::clone(&read(&self.raw))
    }

    /// Sees to it that its events tell times, where the driver can that: `make` makes such a queue. From then on the driver's
    /// queue is the same.
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
            // The driver may hold back what nobody flushed, and then the wait has no end.
            raw.flush().or_failed(what)?;
            timed.wait_for(&before).or_failed(what)?;
            *raw = Arc::new(timed);
        }
        Ok(())
    }

    /// Queues work. A failure that is kept is answered instead, and then nothing is queued.
    pub(crate) fn submit(
        &self,
        work: Work,
        enqueue: impl FnOnce(&CommandQueue) -> Queued,
    ) -> Result<(), Error> {
        self.failure.report()?;
        let raw = read(&self.raw);
        let event = enqueue(&raw).or_failed(|| format!("{}: {work}", self.device))?;
        // Work begins when it is queued, whether or not anybody waits for it.
        raw.flush().or_failed(|| format!("{}: {work}", self.device))?;
        drop(raw);
        let mut pending = lock(&self.pending);
        pending.push_back((event, work));
        if pending.len() > PENDING_MAX {
            self.look(&mut pending);
        }
        Ok(())
    }

    /// Lets go of what is done, up to the first that is not, and keeps the first failure.
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

    /// Waits for all that is queued; answers the first failure since the last report.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let finished = self.raw().finish();
        self.look(&mut lock(&self.pending));
        self.failure.report()?;
        finished.or_failed(|| format!("{}: waiting for a stream", self.device))
    }

    /// Waits for what is queued; what failed of it is answered later, as ever.
    pub(crate) fn drain(&self) {
        // A driver that cannot wait says so again to whoever asks.
        let _ = self.raw().finish();
    }

    /// An event of all that is queued up to now; a failure that is kept is answered instead.
    pub(crate) fn mark(&self) -> Result<Event, Error> {
        self.look(&mut lock(&self.pending));
        self.failure.report()?;
        let what = || format!("{}: a mark", self.device);
        let raw = self.raw();
        let event = raw.marker().or_failed(what)?;
        // It is reached whether or not anything is queued behind it.
        raw.flush().or_failed(what)?;
        Ok(event)
    }

    /// Makes later work wait for what is queued on `from` now.
    pub(crate) fn wait_for(&self, from: &Self) -> Result<(), Error> {
        let what = || format!("{}: making a stream wait for another", self.device);
        let before = from.raw();
        let event = before.marker().or_failed(what)?;
        // The driver may hold back what nobody flushed, and then the wait has no end.
        before.flush().or_failed(what)?;
        read(&self.raw).wait_for(&event).map(drop).or_failed(what)
    }
}
