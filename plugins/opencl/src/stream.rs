//! Streams: in-order queues of the driver, and what became of the work on them.
//!
//! No lock that others wait for is held while the driver is called. Each command's event is kept until the command is seen to
//! be done, so that one that fails late is known by name, first cause first.
//!
//! A queue whose events tell times costs something with every command. So a stream has one that does not, until a mark is made
//! on it or its native handle is asked for: from then on it has another, which waits for what was queued on the first.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use chipdock_plugin_api::{Error, ErrorKind};

use crate::driver::{Answer, CommandQueue, Event, Progress, Queued};
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
    /// Changed once at most. Whoever queues work reads it, so that the one change comes between two commands.
    raw: RwLock<Arc<CommandQueue>>,
    /// Whether it is somebody else's, and stays what it is.
    is_adopted: bool,
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
            raw: RwLock::new(Arc::new(raw)),
            is_adopted: false,
            serial: LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1,
            device: Arc::clone(device),
            state: Mutex::default(),
            has_failure: AtomicBool::new(false),
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
        Arc::clone(&self.reading())
    }

    fn reading(&self) -> RwLockReadGuard<'_, Arc<CommandQueue>> {
        self.raw.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that its events tell times, where the driver can that: `make` makes such a queue. From then on the driver's
    /// queue is the same.
    pub(crate) fn be_timed(&self, make: impl FnOnce() -> Answer<CommandQueue>) -> Result<(), Error> {
        if self.is_adopted || self.reading().is_timed() {
            return Ok(());
        }
        let mut raw = self.raw.write().unwrap_or_else(PoisonError::into_inner);
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
        self.report()?;
        let raw = self.reading();
        let event = enqueue(&raw).or_failed(|| format!("{}: {work}", self.device))?;
        // Work begins when it is queued, whether or not anybody waits for it.
        raw.flush().or_failed(|| format!("{}: {work}", self.device))?;
        drop(raw);
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
        let finished = self.raw().finish();
        self.look(&mut lock(&self.state));
        self.report()?;
        finished.or_failed(|| format!("{}: waiting for a stream", self.device))
    }

    /// Waits for what is queued; what failed of it is answered later, as ever.
    pub(crate) fn drain(&self) {
        // A driver that cannot wait says so again to whoever asks.
        let _ = self.raw().finish();
    }

    /// An event of all that is queued up to now; a failure that is kept is answered instead.
    pub(crate) fn mark(&self) -> Result<Event, Error> {
        self.look(&mut lock(&self.state));
        self.report()?;
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
        self.reading().wait_for(&event).map(drop).or_failed(what)
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
