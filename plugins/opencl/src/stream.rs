//! Streams: in-order queues of the driver, and what became of the work on them.
//!
//! No lock is held while the driver is called. Each command's event is kept until the command is seen to be done, so that
//! one that fails late is known by name, first cause first.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chipdock_plugin_api::{Error, ErrorKind};

use crate::driver::{CommandQueue, Event, Progress, Queued};
use crate::error::{OrFailed, failed_later};

/// Events that wait before those at the front are asked whether they are done.
const PENDING_MAX: usize = 64;
/// Set in every handle of a stream; no address of a process has it, and no handle of a data space.
const HANDLE_BIT: usize = 1 << 61;
/// Handles differ in the whole process: one of another host or device is never mistaken for one's own.
static LAST_SERIAL: AtomicUsize = AtomicUsize::new(0);

/// Locks; every change under these locks is whole before anything can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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
    raw: CommandQueue,
    serial: usize,
    device: Arc<str>,
    state: Mutex<State>,
    /// Whether `state` has a failure: asked before each call, without the lock.
    has_failure: AtomicBool,
}

#[derive(Default)]
struct State {
    pending: VecDeque<(Event, Work)>,
    /// The first failure that nobody was told yet (P7.5).
    failure: Option<Error>,
}

impl Queue {
    /// A stream of the device of that name.
    pub(crate) fn new(raw: CommandQueue, device: &Arc<str>) -> Self {
        Self {
            raw,
            serial: LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1,
            device: Arc::clone(device),
            state: Mutex::default(),
            has_failure: AtomicBool::new(false),
        }
    }

    /// A number that no other stream of the process has or will have.
    pub(crate) fn serial(&self) -> usize {
        self.serial
    }

    /// The driver's queue.
    pub(crate) fn raw(&self) -> &CommandQueue {
        &self.raw
    }

    /// Queues work. A failure that is kept is answered instead, and then nothing is queued.
    pub(crate) fn submit(
        &self,
        work: Work,
        enqueue: impl FnOnce(&CommandQueue) -> Queued,
    ) -> Result<(), Error> {
        self.report()?;
        let event = enqueue(&self.raw).or_failed(|| format!("{}: {work}", self.device))?;
        // Work begins when it is queued, whether or not anybody waits for it.
        self.raw.flush().or_failed(|| format!("{}: {work}", self.device))?;
        let mut state = lock(&self.state);
        state.pending.push_back((event, work));
        if state.pending.len() > PENDING_MAX {
            self.look(&mut state);
        }
        Ok(())
    }

    /// Lets go of what is done, up to the first that is not, and keeps the first failure.
    fn look(&self, state: &mut State) {
        while let Some((event, work)) = state.pending.front() {
            match event.progress() {
                Progress::Pending => return,
                Progress::Done => {}
                Progress::Failed(code) if state.failure.is_none() => {
                    state.failure = Some(failed_later(format_args!("{}: {work}", self.device), code));
                    self.has_failure.store(true, Ordering::Release);
                }
                Progress::Failed(_) => {}
            }
            state.pending.pop_front();
        }
    }

    /// Answers the failure that is kept, once.
    fn report(&self) -> Result<(), Error> {
        if !self.has_failure.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = lock(&self.state);
        self.has_failure.store(false, Ordering::Release);
        state.failure.take().map_or(Ok(()), Err)
    }

    /// Waits for all that is queued; answers the first failure since the last report.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let finished = self.raw.finish();
        self.look(&mut lock(&self.state));
        self.report()?;
        finished.or_failed(|| format!("{}: waiting for a stream", self.device))
    }

    /// Waits for what is queued; what failed of it is answered later, as ever.
    pub(crate) fn drain(&self) {
        // A driver that cannot wait says so again to whoever asks.
        let _ = self.raw.finish();
    }

    /// An event of all that is queued up to now; a failure that is kept is answered instead.
    pub(crate) fn mark(&self) -> Result<Event, Error> {
        self.look(&mut lock(&self.state));
        self.report()?;
        let what = || format!("{}: a mark", self.device);
        let event = self.raw.marker().or_failed(what)?;
        // It is reached whether or not anything is queued behind it.
        self.raw.flush().or_failed(what)?;
        Ok(event)
    }

    /// Makes later work wait for what is queued on `from` now.
    pub(crate) fn wait_for(&self, from: &Self) -> Result<(), Error> {
        let what = || format!("{}: making a stream wait for another", self.device);
        let event = from.raw.marker().or_failed(what)?;
        // The driver may hold back what nobody flushed, and then the wait has no end.
        from.raw.flush().or_failed(what)?;
        self.raw.wait_for(&event).map(drop).or_failed(what)
    }

    /// Forgets what failed.
    pub(crate) fn forget(&self) {
        let _ = self.sync();
    }
}

/// The streams of one device that were created.
#[derive(Default)]
pub(crate) struct Streams {
    created: RwLock<HashMap<usize, Arc<Queue>>>,
}

impl Streams {
    /// Takes a stream and answers its handle, a number that is never given out again.
    pub(crate) fn add(&self, queue: Queue) -> usize {
        let handle = HANDLE_BIT | queue.serial << 4;
        self.created.write().unwrap_or_else(PoisonError::into_inner).insert(handle, Arc::new(queue));
        handle
    }

    /// The stream of that handle.
    pub(crate) fn get(&self, handle: usize, device: &str) -> Result<Arc<Queue>, Error> {
        let created = self.created.read().unwrap_or_else(PoisonError::into_inner);
        created.get(&handle).cloned().ok_or_else(|| unknown(handle, device))
    }

    /// Takes a stream out.
    pub(crate) fn remove(&self, handle: usize, device: &str) -> Result<Arc<Queue>, Error> {
        let mut created = self.created.write().unwrap_or_else(PoisonError::into_inner);
        created.remove(&handle).ok_or_else(|| unknown(handle, device))
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Queue>> {
        self.created.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

fn unknown(handle: usize, device: &str) -> Error {
    Error::new(
        ErrorKind::WRONG_STATE,
        format!(
            "{handle:#x} is no stream of {device}: it was freed, or is another device's; expected one that this device \
             created"
        ),
    )
}
