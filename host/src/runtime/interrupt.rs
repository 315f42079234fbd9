//! Calls that end before their code is done: by a deadline, by another thread, or because whoever
//! called wants it, as at Ctrl-C.
//!
//! * **CALL-E1 Who ends.** Compiled code for a processor asks in long loops (X.13 to X.16) whether
//!   to go on. A call ends with `Cancelled` where [`CallOptions::cancel`] is set, with
//!   `TimeoutError` after [`CallOptions::deadline`], and with the error that
//!   [`CallOptions::on_ask`], or [`HostOptions::on_ask`](crate::HostOptions::on_ask) answers. One
//!   that is to end before it begins does not begin.
//! * **CALL-E2 When.** Within a tenth of a second, as far as the code asks: code of targets whose
//!   kind does not say `asks_to_go_on`, kernels of devices, waiting for a device, and C functions
//!   that a kernel calls are waited for.
//! * **CALL-E3 What is left.** The call failed: outputs may be written in part. Workspace is freed,
//!   and the function may be called again.
//! * **CALL-E4 Within.** Options hold for everything that the call does on its thread, functions
//!   that compiled code calls included, and for the tasks of its parallel regions. Once one task
//!   was told to end, all of its region are.
//! * **CALL-E5 Asking the caller.** [`OnAsk`] is called on the thread of the call alone, at most
//!   every 20 ms, also while that thread waits for tasks; never for a call that is over
//!   before that.

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use chipdock_plugin_api as api;

use crate::error::{Error, ErrorKind};

/// How often the caller of a long call is asked whether it goes on.
pub(super) const ASK_EVERY: Duration = Duration::from_millis(20);

/// Looks at the clock this far apart are rare enough for each question to look.
const RARE: Duration = Duration::from_millis(2);

/// The most questions that are answered without a look at the clock.
const UNTIMED_MAX: u32 = 15;

type Listener = dyn Fn() -> Result<(), api::Error> + Send + Sync;

/// A function that is asked, while a call takes long, whether it goes on; an error ends the call.
///
/// # Examples
///
/// ```
/// use chipdock_host::{CallOptions, OnAsk};
///
/// let on_ask = OnAsk::new(|| Ok(()));
/// let options = CallOptions { on_ask: Some(on_ask), ..CallOptions::default() };
/// ```
#[derive(Clone)]
pub struct OnAsk(Arc<Listener>);

impl OnAsk {
    /// Makes it of a function. The call waits for it.
    pub fn new(function: impl Fn() -> Result<(), api::Error> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }
}

impl fmt::Debug for OnAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnAsk")
    }
}

/// What ends a call before its code is done (CALL-E1 to CALL-E5).
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use chipdock_host::CallOptions;
///
/// let options = CallOptions::until(Instant::now() + Duration::from_secs(2));
/// assert!(options.within(|| 7).is_ok_and(|seven| seven == 7));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// When the call ends with `TimeoutError`.
    pub deadline: Option<Instant>,
    /// Set from another thread, it makes the call end with `Cancelled`.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Is asked while the call takes long.
    pub on_ask: Option<OnAsk>,
}

impl CallOptions {
    /// Options with a deadline alone.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..Self::default() }
    }

    /// Runs `body`, of which the calls on this thread keep to these options.
    ///
    /// # Errors
    ///
    /// `Cancelled` and `TimeoutError`, without running it, where it is to end already.
    pub fn within<R>(&self, body: impl FnOnce() -> R) -> Result<R, Error> {
        let watch = Watch { options: Some(self), ..Watch::new() };
        match watch.end_of_options(Instant::now()) {
            Some(why) => Err(why.error()),
            None => Ok(watch.over(body)),
        }
    }
}

/// Why a call ends.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Why {
    Cancelled = 1,
    Deadline = 2,
    /// The caller was asked and answered with an error, which the task that asked has.
    Caller = 3,
}

impl Why {
    fn error(self) -> Error {
        match self {
            Self::Cancelled => Error::new(ErrorKind::Cancelled, "the call was cancelled by its caller"),
            Self::Deadline => Error::new(ErrorKind::Timeout, "the call was not done at its deadline"),
            Self::Caller => Error::new(ErrorKind::Cancelled, "the call was ended by its caller"),
        }
    }
}

/// A call, or a region of one, whose code asks whether to go on. It stands on the stack of the
/// thread that made it.
pub(super) struct Watch<'a> {
    /// What this thread watched before.
    outer: *const Watch<'a>,
    options: Option<&'a CallOptions>,
    /// For a region, why its tasks end; 0 where they go on.
    end: AtomicU8,
}

thread_local! {
    /// What this thread watches; null where nothing. No destructor: it may be read at any time.
    static CURRENT: Cell<*const Watch<'static>> = const { Cell::new(ptr::null()) };
    /// Whether this thread runs a task for another one: the caller is not asked here.
    static IS_HANDED: Cell<bool> = const { Cell::new(false) };
    static PACE: Pace = const { Pace { left: Cell::new(0), skip: Cell::new(0), looked: Cell::new(None), asked: Cell::new(None) } };
}

/// When this thread looked at the clock, and when it asked its caller.
struct Pace {
    /// Questions to be answered before the next look.
    left: Cell<u32>,
    skip: Cell<u32>,
    looked: Cell<Option<Instant>>,
    asked: Cell<Option<Instant>>,
}

/// Puts back what a thread watched.
struct Restores(*const Watch<'static>);

impl Drop for Restores {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

impl<'a> Watch<'a> {
    /// A watch within that of this thread.
    pub(super) fn new() -> Self {
        Self { outer: CURRENT.get().cast(), options: None, end: AtomicU8::new(0) }
    }

    /// Runs `body` with this watch as the thread's.
    pub(super) fn over<R>(&self, body: impl FnOnce() -> R) -> R {
        // The watch outlives the call of `body`, after which nothing refers to it: tasks have
        // ended.
        let _restores = Restores(CURRENT.replace(ptr::from_ref(self).cast()));
        body()
    }

    /// Runs a task of a region with this watch, on a thread other than that of the call.
    pub(super) fn over_handed<R>(&self, body: impl FnOnce() -> R) -> R {
        IS_HANDED.set(true);
        let done = self.over(body);
        IS_HANDED.set(false);
        done
    }

    /// Returns why the tasks of this region end.
    pub(super) fn end(&self) -> Option<Why> {
        match self.end.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Why::Cancelled),
            2 => Some(Why::Deadline),
            _ => Some(Why::Caller),
        }
    }

    fn end_with(&self, why: Why) {
        self.end.store(why as u8, Ordering::Relaxed);
    }

    /// Returns why the call is over by its own options.
    fn end_of_options(&self, now: Instant) -> Option<Why> {
        let options = self.options?;
        if options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Some(Why::Cancelled);
        }
        options.deadline.filter(|deadline| now >= *deadline).map(|_| Why::Deadline)
    }

    /// Returns this watch and those around it.
    fn chain(&self) -> impl Iterator<Item = &Watch<'a>> {
        // SAFETY: a watch outlives those within it, which are made while it is the thread's.
        std::iter::successors(Some(self), |watch| unsafe { watch.outer.as_ref() })
    }
}

/// Returns what this thread watches.
fn current<'a>() -> Option<&'a Watch<'static>> {
    // SAFETY: null, or a watch that stands until `over` puts back the one before.
    unsafe { CURRENT.get().as_ref() }
}

/// Answers the question of compiled code whether to go on. `on_ask` is the host's.
///
/// # Errors
///
/// The reason why the call ends.
#[inline]
pub(super) fn go_on(on_ask: impl FnOnce() -> Option<&'static OnAsk>) -> Result<(), api::Error> {
    // Most often there is nothing to look at but whether it is time to look at the clock.
    let is_told = current().is_some_and(|watch| watch.chain().any(is_flagged));
    let left = PACE.with(|pace| {
        let left = pace.left.get();
        pace.left.set(left.saturating_sub(1));
        left
    });
    if left > 0 && !is_told { Ok(()) } else { look(on_ask()) }
}

fn is_flagged(watch: &Watch<'_>) -> bool {
    let cancel = watch.options.and_then(|options| options.cancel.as_ref());
    watch.end.load(Ordering::Relaxed) != 0 || cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
}

/// Looks whether the call goes on.
#[cold]
fn look(on_ask: Option<&OnAsk>) -> Result<(), api::Error> {
    let now = Instant::now();
    PACE.with(|pace| pace.looked_at(now));
    if let Some(here) = current() {
        for watch in here.chain() {
            if let Some(why) = watch.end() {
                return Err(why.error().to_api());
            }
            if let Some(why) = watch.end_of_options(now) {
                // What is around the call that ends may go on.
                regions_within(here, watch, why);
                return Err(why.error().to_api());
            }
        }
    }
    ask(on_ask, now)
}

/// Ends the regions within a call that ends.
fn regions_within(here: &Watch<'_>, call: &Watch<'_>, why: Why) {
    for watch in here.chain().take_while(|watch| !ptr::eq(*watch, call)) {
        watch.end_with(why);
    }
}

/// Asks the caller, if this is its thread and it is time to.
fn ask(on_ask: Option<&OnAsk>, now: Instant) -> Result<(), api::Error> {
    if IS_HANDED.get() || !PACE.with(|pace| pace.is_time_to_ask(now)) {
        return Ok(());
    }
    let here = current();
    for watch in here.into_iter().flat_map(Watch::chain) {
        if let Some(on_ask) = watch.options.and_then(|options| options.on_ask.as_ref())
            && let Err(error) = (on_ask.0)()
        {
            here.into_iter().for_each(|here| regions_within(here, watch, Why::Caller));
            return Err(error);
        }
    }
    let Some(on_ask) = on_ask else { return Ok(()) };
    (on_ask.0)().inspect_err(|_| {
        here.into_iter().flat_map(Watch::chain).for_each(|watch| {
            if watch.options.is_none() {
                watch.end_with(Why::Caller);
            }
        });
    })
}

/// Asks the caller while its thread waits for the tasks of a region.
pub(super) fn ask_while_waiting(on_ask: Option<&OnAsk>) -> Result<(), api::Error> {
    ask(on_ask, Instant::now())
}

impl Pace {
    /// Decides after how many questions to look again.
    fn looked_at(&self, now: Instant) {
        let since =
            self.looked.replace(Some(now)).map_or(RARE, |before| now.saturating_duration_since(before));
        let skip = if since < RARE { (self.skip.get() * 2 + 1).min(UNTIMED_MAX) } else { 0 };
        self.skip.set(skip);
        self.left.set(skip);
    }

    fn is_time_to_ask(&self, now: Instant) -> bool {
        let is_time = self.asked.get().is_none_or(|asked| now.saturating_duration_since(asked) >= ASK_EVERY);
        if is_time {
            self.asked.set(Some(now));
        }
        is_time
    }
}
