//! The host's threads: what compiled code reaches through `parallel_launch` of its environment.
//!
//! # Contract
//!
//! * **P1 Tasks.** A region runs a body once for each task id from 0 to the count that it is told, each exactly once (but
//!   for P4), each on a thread of its own, all at once. The thread that launches runs task 0. The count is at least 1 and
//!   at most the pool's threads; at most `tasks_max` too, where that is above 0. Which iterations a task has is the body's
//!   affair: it splits by its id and the count. A `tasks_max` below 0 counts as 1: a loop without iterations.
//! * **P2 Join.** `launch` returns when every task that started has ended. What the caller wrote before is visible to the
//!   tasks, what they wrote is visible to the caller afterwards.
//! * **P3 Failures.** A body that fails returns something other than 0, with an error raised on its own thread. The failure
//!   of the lowest task id is the caller's: its error is moved to the caller's slot, the others are dropped. Where tasks
//!   are consecutive pieces of a loop, that is the failure which a serial run meets first. A failure without an error gets
//!   one that says so.
//! * **P4 Nothing in vain.** A task that has not started when one of a lower id has failed does not start. Only then, so
//!   that P3 does not depend on who was faster.
//! * **P5 What a thread sees.** During a task, a thread of the pool has the caller's current devices and streams; the
//!   plugins are told. Error slot and workspace are its own.
//! * **P6 Nested.** A region that is launched within a task, of this or another host, is one task on the thread that
//!   launches it. A region of one task is no region: what is launched within it may use the pool.
//! * **P7 Several callers.** A region takes those threads of the pool that are idle when it is launched, the first ones
//!   first, and is told as many tasks as it got threads, itself included. Nobody waits for a thread of the pool, so there
//!   is no deadlock, and the machine is not given more threads than callers and pool have. (A region that finds no idle
//!   thread is one task on its own: the callers themselves keep the machine busy.)
//! * **P8 Waiting.** A thread that waits, for work or for the last task, spins for at most [`wait::SPIN`], then parks. Where
//!   the pool has more threads than the process has processors, it gives its processor away at each turn of the spin.
//! * **P9 Size.** A number from 1 to [`THREADS_MAX`], or automatic: the least of the processors in the affinity mask, the
//!   quota of the control group rounded up, and the processors online; see [`size`]. Automatic is counted once, when it is
//!   first needed, on the thread that needs it: threads of the pool inherit that thread's mask. They are not pinned.
//! * **P10 Life.** The threads start at the first region that can use them. Those that the system refuses are done without,
//!   with a warning. When the host goes they end, and are waited for; after that a region is one task. The end of the
//!   process waits for none of them.
//! * **P11 Forks.** In a forked child, where the threads are not, a region is one task. A task that forks finds in the
//!   child that its region has failed.

mod context;
pub(crate) mod size;
mod slot;
mod team;
mod wait;

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use chipdock_abi::{CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockParallelBody};

use crate::error::{Error, ErrorKind};
use crate::services::Services;
use context::Context;
use size::THREADS_MAX;
use slot::{Failure, Job};
use team::{Claimed, Team};

thread_local! {
    /// Whether this thread runs a task of a region, of any host.
    static IN_REGION: Cell<bool> = const { Cell::new(false) };
}

/// One host's threads. It is part of the host's services, so it lives as long as the process; its threads do not.
pub(crate) struct Pool {
    /// What was asked for; nothing is automatic.
    wanted: Option<u32>,
    size: OnceLock<u32>,
    team: OnceLock<Team>,
    closed: AtomicBool,
}

/// What the tasks of a region share. It stands on the caller's stack until the region has ended.
struct Region {
    /// The lowest id of a task that failed.
    failed: AtomicI32,
    /// Devices and streams of the caller, where it has any.
    context: Option<Context>,
}

impl Region {
    /// P4: whether a task would be in vain.
    fn is_vain(&self, task: i32) -> bool {
        // Relaxed: a hint. A failure that is seen too late costs time alone.
        self.failed.load(Ordering::Relaxed) < task
    }

    fn fail(&self, task: i32) {
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

impl Pool {
    /// A pool of so many threads, the caller's included; nothing is automatic. Starts none.
    pub(crate) fn new(wanted: Option<u32>) -> Self {
        Self { wanted, size: OnceLock::new(), team: OnceLock::new(), closed: AtomicBool::new(false) }
    }

    /// How many threads a region has at most, the caller's included.
    pub(crate) fn size(&self) -> u32 {
        *self.size.get_or_init(|| self.wanted.unwrap_or_else(size::automatic))
    }

    /// Runs a region; 0, or -1 with an error raised on this thread.
    ///
    /// # Safety
    ///
    /// * `body` may be called from several threads at once with `data`, until this returns.
    /// * It neither unwinds nor jumps past its caller.
    pub(crate) unsafe fn launch(
        &self,
        services: &'static Services,
        body: ChipdockParallelBody,
        data: *mut c_void,
        tasks_max: i32,
    ) -> i32 {
        if let Some(team) = self.team_for(services, tasks_max) {
            let others_max = usize::try_from(tasks_max).ok().filter(|max| *max > 0).map(|max| max - 1);
            let claimed = team.claim(others_max.unwrap_or(usize::MAX));
            if !claimed.is_empty() {
                // SAFETY: the caller's word.
                return unsafe { fork_join(services, &claimed, body, data) };
            }
        }
        // SAFETY: the caller's word.
        unsafe { (body.0)(0, 1, data) }
    }

    /// The threads, started if need be; nothing where a region is one task whatever they do.
    fn team_for(&self, services: &'static Services, tasks_max: i32) -> Option<&Team> {
        if tasks_max < 0 || tasks_max == 1 || IN_REGION.get() || services.check_process().is_err() {
            return None;
        }
        let team = match self.team.get() {
            Some(team) => team,
            None if self.size() == 1 || self.closed.load(Ordering::Acquire) => return None,
            None => self.team.get_or_init(|| Team::start(services, self.size())),
        };
        Some(team)
    }

    /// Ends the threads and waits for them. Within a task of a region, where that would be for ever, somebody else waits.
    pub(crate) fn shut_down(&'static self) {
        self.closed.store(true, Ordering::Release);
        let Some(team) = self.team.get() else { return };
        if !IN_REGION.get() {
            return team.stop();
        }
        // If even this thread is refused, the others stay parked: they cost no time, and their memory was leaked before.
        let _ = std::thread::Builder::new().name("chipdock-stop".to_owned()).spawn(|| team.stop());
    }
}

/// Runs a region of one task more than was claimed.
///
/// # Safety
///
/// As [`Pool::launch`].
unsafe fn fork_join(
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
unsafe fn run_task(services: &'static Services, job: &Job) -> Option<Failure> {
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

#[cfg(test)]
mod tests;
