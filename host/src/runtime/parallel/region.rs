//! A region: how its tasks are handed out, run, and brought together again.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

use chipdock_abi::{CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockParallelBody};

use super::context::Context;
use super::slot::{Failure, Job};
use super::team::Claimed;
use crate::error::{Error, ErrorKind};
use crate::services::Services;

thread_local! {
    /// Whether this thread runs a task of a region, of any host.
    pub(super) static IN_REGION: Cell<bool> = const { Cell::new(false) };
}

/// What the tasks of a region share. It stands on the caller's stack until the region has ended.
pub(super) struct Region {
    /// The lowest id of a task that failed.
    pub(super) failed: AtomicI32,
    /// Devices and streams of the caller, where it has any.
    pub(super) context: Option<Context>,
}

impl Region {
    /// P4: whether a task would be in vain.
    fn is_vain(&self, task: i32) -> bool {
        // Relaxed: a hint. A failure that is seen too late costs time alone.
        self.failed.load(Ordering::Relaxed) < task
    }

    pub(super) fn fail(&self, task: i32) {
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

/// Runs a region of one task more than was claimed.
///
/// # Safety
///
/// As `Threads::launch`.
pub(super) unsafe fn fork_join(
    services: &'static Services,
    claimed: &Claimed<'_>,
    body: ChipdockParallelBody,
    data: *mut c_void,
) -> i32 {
    let region = Region { failed: AtomicI32::new(i32::MAX), context: Context::of_thread(services) };
    let within = Within::enter();
    let count = claimed.count() + 1;
    for (task, slot) in (1..).zip(claimed.slots()) {
        // SAFETY: the region stands until every slot was joined below.
        unsafe { slot.post(Job { body, data, task, count, region: &raw const region }) };
    }
    // SAFETY: the caller's word.
    let status = unsafe { (body.0)(0, count, data) };
    let mut first = None;
    if status != 0 {
        region.fail(0);
        first = Some(Failure::RaisedHere);
    }
    for slot in claimed.slots() {
        // SAFETY: posted above, joined once.
        match unsafe { slot.join(services, claimed.patience()) } {
            // In the order of task ids: the first that failed has the lowest one (P3).
            Ok(Some(failure)) if first.is_none() => first = Some(failure),
            Ok(_) => {}
            // A forked child: the tasks of others are in another process.
            Err(forked) => first = Some(forked),
        }
    }
    drop(within);
    match first {
        None => CHIPDOCK_OK,
        Some(failure) => {
            failure.raise(services, count);
            CHIPDOCK_ERROR
        }
    }
}

/// Runs a task on a thread of the pool.
///
/// # Safety
///
/// * The job's region stands, and its body may be called with its data.
pub(super) unsafe fn run_task(services: &'static Services, job: &Job) -> Option<Failure> {
    // SAFETY: the caller's word.
    let region = unsafe { &*job.region };
    if region.is_vain(job.task) {
        return None;
    }
    services.clear_error();
    let run = || {
        // SAFETY: the caller's word.
        unsafe { (job.body.0)(job.task, job.count, job.data) }
    };
    let status = match &region.context {
        None => run(),
        Some(context) => context.within(services, run).unwrap_or_else(|error| {
            services.raise_own(&error);
            CHIPDOCK_ERROR
        }),
    };
    (status != 0).then(|| {
        region.fail(job.task);
        services.take().map_or(Failure::Silent(job.task), Failure::Raised)
    })
}

impl Failure {
    /// Raises it on the caller's thread.
    fn raise(self, services: &Services, count: i32) {
        match self {
            Self::RaisedHere => {}
            Self::Raised(error) => services.raise(error),
            Self::Silent(task) => {
                let message =
                    format!("task {task} of {count} of a parallel region failed and raised no error");
                services.raise_own(
                    &Error::new(ErrorKind::BrokenPlugin, message)
                        .hint("report it to the maintainer of the code generator"),
                );
            }
            Self::Forked => {
                let message = "the process was forked within a parallel region: its other tasks are not here";
                services.raise_own(&Error::new(ErrorKind::WrongState, message));
            }
        }
    }
}
