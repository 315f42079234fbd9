//! A region: hands out its tasks, runs them, and joins them.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use chipdock_abi::{CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockParallelBody};

use super::context::Context;
use super::slot::{Failure, ForkedChild, Job};
use super::team::Claimed;
use crate::boundary::calling::{self, Calling, Note};
use crate::boundary::guard::FloatMode;
use crate::boundary::slots::Slots;
use crate::error::{Error, ErrorKind};
use crate::process::HostProcess;
use crate::runtime::interrupt::{OnAsk, Watch, Why, ask_while_waiting};
use crate::trace;

thread_local! {
    /// Whether this thread runs a task of a region, of any host.
    pub(super) static IN_REGION: Cell<bool> = const { Cell::new(false) };
}

/// State that the tasks of a region share. It stands on the caller's stack until the region has
/// ended.
pub(super) struct Region {
    /// The lowest id of a task that failed.
    pub(super) failed: AtomicI32,
    /// Note of the call on the caller's thread (CALLING-N4).
    pub(super) note: Option<&'static Note>,
    /// Floating-point mode of the caller's thread.
    pub(super) mode: FloatMode,
    /// What ends the tasks: the calls that the region is part of, or one of the tasks (CALL-E4).
    pub(super) watch: Watch<'static>,
}

impl Region {
    /// Makes a region of this thread.
    pub(super) fn new() -> Self {
        Self {
            failed: AtomicI32::new(i32::MAX),
            note: calling::here(),
            mode: FloatMode::now(),
            watch: Watch::new(),
        }
    }

    pub(super) fn fail(&self, task: i32) {
        // Relaxed, here and where it is read: a hint. A failure that is seen too late only costs
        // time.
        self.failed.fetch_min(task, Ordering::Relaxed);
    }
}

/// Marks this thread as one that runs a task.
struct Within;

impl Within {
    fn enter() -> Self {
        IN_REGION.set(true);
        Self
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        IN_REGION.set(false);
    }
}

/// Ends the process when the frame that the tasks use is unwound: they would go on in memory that
/// is gone. Nothing between handing out and joining panics; this guards against later changes.
struct StaysUntilJoined;

impl Drop for StaysUntilJoined {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// The region's failure so far: that of the lowest task.
struct First {
    task: i32,
    failure: Option<Failure>,
}

impl First {
    fn add(&mut self, task: i32, failure: Option<Failure>) {
        if failure.is_some() && task < self.task {
            *self = Self { task, failure };
        }
    }

    /// Adds the outcome of a task of the caller's thread. The error with which the caller was
    /// answered is the region's, whichever tasks failed (CALL-E5).
    fn add_own(&mut self, task: i32, failure: Option<Failure>, watch: &Watch<'_>) {
        self.add(if watch.end() == Some(Why::Caller) { -1 } else { task }, failure);
    }
}

/// Runs a region of one task more than the number of claimed threads; returns 0, or -1 with an
/// error raised on this thread.
///
/// # Safety
///
/// * As `Threads::launch`.
/// * Nothing was posted yet to the claimed threads.
pub(super) unsafe fn fork_join(
    (slots, process, on_ask): (Slots, HostProcess, Option<&OnAsk>),
    claimed: &Claimed<'_>,
    body: ChipdockParallelBody,
    data: *mut c_void,
) -> i32 {
    let region = Region::new();
    let context = Context::of_thread(slots);
    let context = context.as_ref().map_or(ptr::null(), ptr::from_ref);
    let count = claimed.count() + 1;
    let job = |task| Job { body, data, task, count, region: &raw const region, context };
    let within = Within::enter();
    let stays = StaysUntilJoined;
    for (task, slot) in (1..count).zip(claimed.slots()) {
        // SAFETY: claimed; region and context stand until every slot was taken back or joined
        // below.
        unsafe { slot.post(job(task)) };
    }
    let mut first = First { task: i32::MAX, failure: None };
    // SAFETY: `body` may be called with `data` from several threads until this returns, as this
    // function requires, here and below.
    first.add_own(0, region.watch.over(|| unsafe { run(slots, &job(0)) }), &region.watch);
    // Tasks that have not begun are begun here: no caller waits for a thread to wake up, or to get
    // a processor. From the last one, because the first ones are woken first.
    for (task, slot) in (1..count).rev().zip(claimed.slots().rev()) {
        // SAFETY: the region stands.
        if slot.take_back() && !unsafe { is_useless(&job(task)) } {
            // SAFETY: `body` may be called with `data` from several threads until this returns.
            first.add_own(task, region.watch.over(|| unsafe { run(slots, &job(task)) }), &region.watch);
        }
    }
    let mut told = None;
    let mut on_wait = || {
        let asked = region.watch.over(|| ask_while_waiting(on_ask));
        told = told.take().or(asked.err());
    };
    for (task, slot) in (1..count).zip(claimed.slots()) {
        // SAFETY: posted above, joined once. A task that was taken back has ended, without a
        // failure.
        match unsafe { slot.join(process, claimed.patience(), &mut on_wait) } {
            Ok(failure) => first.add(task, failure),
            Err(ForkedChild) => first = First { task: 0, failure: Some(Failure::Forked) },
        }
    }
    first.add_own(0, told.map(Failure::Raised), &region.watch);
    drop(stays);
    drop(within);
    match first.failure {
        None => CHIPDOCK_OK,
        Some(failure) => {
            raise(slots, failure, first.task, count);
            CHIPDOCK_ERROR
        }
    }
}

/// Returns true if a task would be useless (POOL-F4).
///
/// # Safety
///
/// As [`run`].
pub(super) unsafe fn is_useless(job: &Job) -> bool {
    // SAFETY: the job's region is alive, as `run` requires.
    unsafe { (*job.region).failed.load(Ordering::Relaxed) < job.task }
}

/// Runs a task on this thread; takes its error out of this thread's slot.
///
/// # Safety
///
/// * The job's region stands, and its body may be called with its data.
unsafe fn run(slots: Slots, job: &Job) -> Option<Failure> {
    // SAFETY: the job's body may be called with its data, as this function requires.
    let body = || unsafe { (job.body.0)(job.task, job.count, job.data) };
    let status = if trace::is_wanted() { in_span(job, body) } else { body() };
    if status == 0 {
        return None;
    }
    // SAFETY: the job's region is alive, as this function requires.
    unsafe { (*job.region).fail(job.task) };
    Some(slots.take().map_or(Failure::Silent, Failure::Raised))
}

#[cold]
fn in_span(job: &Job, body: impl FnOnce() -> i32) -> i32 {
    tracing::trace_span!("task", task = job.task, count = job.count).in_scope(body)
}

/// Runs a task on a thread of the pool, with the caller's floating-point mode, current devices and
/// streams (POOL-F5).
///
/// # Safety
///
/// As [`run`], and the job's context stands or is null.
pub(super) unsafe fn run_handed(slots: Slots, job: &Job) -> Option<Failure> {
    slots.clear_error();
    // SAFETY: the job's region is alive, its context alive or null, as this function requires.
    let (run, context, region) = unsafe { (|| run(slots, job), job.context.as_ref(), &*job.region) };
    let _calling = Calling::resume(region.note);
    region.mode.put_back();
    region.watch.over_handed(|| match context {
        Some(context) => context.within(slots, run),
        None => run(),
    })
}

/// Raises a region's failure on the caller's thread.
fn raise(slots: Slots, failure: Failure, task: i32, count: i32) {
    match failure {
        Failure::Raised(error) => slots.raise(error),
        Failure::Silent => {
            let message = format!("task {task} of {count} of a parallel region failed and raised no error");
            let hint = "report it to the maintainer of the code generator";
            slots.raise_own(&Error::new(ErrorKind::BrokenPlugin, message).hint(hint));
        }
        Failure::Forked => {
            let message = "the process was forked within a parallel region: its other tasks are not here";
            slots.raise_own(&Error::new(ErrorKind::WrongState, message));
        }
    }
}
