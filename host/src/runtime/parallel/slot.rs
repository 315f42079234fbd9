//! A slot: one thread of the pool, and how it is handed work and hands back what came of it.
//!
//! The state says who may touch the cells; whoever changes it hands them on.
//!
//! | State | Who changes it | Who owns the cells |
//! |---|---|---|
//! | `Closed` | nobody | nobody; the thread ends |
//! | `Idle` | a caller to `Claimed`, the thread to `Parked`, the team to `Closed` | nobody |
//! | `Parked` | a caller to `Summoned`, the team to `Closed` | nobody; the thread sleeps or is about to |
//! | `Claimed`, `Summoned` | the caller, to `Ready` | the caller; a summoned thread has to be woken |
//! | `Ready` | the thread to `Done`, the caller to `Awaited` | the thread: job and failure; the caller: waiter |
//! | `Awaited` | the thread, to `Done` | the thread; the caller sleeps or is about to |
//! | `Done` | the caller to `Idle`, the thread to `Resting` | the caller |
//! | `Resting` | the caller, to `Parked` | the caller; the thread sleeps or is about to |
//!
//! Every change that hands cells on is a release, every read that takes them is an acquire. That is also what makes the
//! caller's writes visible to the task (`Ready`) and the task's to the caller (`Done`). `Idle` is a release so that the
//! next caller's writes come after the last one's reads; the thread's change to `Parked` reads and writes at once, so that
//! a claim of a parked thread still sees that release.
//!
//! A sleeper is woken by whoever changes its state to what it waits for, after the change; it looks at the state again
//! before it sleeps. So no wake is lost, and one too many does no harm.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};

use chipdock_abi::ChipdockParallelBody;
use chipdock_plugin_api as api;

use super::region::Region;
use super::wait::Patience;
use crate::services::Services;

const CLOSED: u32 = 0;
const IDLE: u32 = 1;
const PARKED: u32 = 2;
const CLAIMED: u32 = 3;
const SUMMONED: u32 = 4;
const READY: u32 = 5;
const AWAITED: u32 = 6;
const DONE: u32 = 7;
const RESTING: u32 = 8;

/// What a thread is to do.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) body: ChipdockParallelBody,
    pub(super) data: *mut c_void,
    pub(super) task: i32,
    pub(super) count: i32,
    pub(super) region: *const Region,
}

/// Why a task failed.
pub(super) enum Failure {
    /// Its error stands in the caller's slot already.
    RaisedHere,
    /// With this error, raised on a thread of the pool.
    Raised(api::Error),
    /// Without an error; the task's id.
    Silent(i32),
    /// This is a forked child, the tasks are elsewhere.
    Forked,
}

/// Two cache lines, as processors fetch them: neighbours do not disturb each other.
#[repr(align(128))]
pub(super) struct Slot {
    state: AtomicU32,
    job: UnsafeCell<Job>,
    failure: UnsafeCell<Option<Failure>>,
    /// The caller, while it sleeps.
    waiter: UnsafeCell<Option<Thread>>,
    /// The thread itself, set before it parks for the first time.
    thread: OnceLock<Thread>,
}

// SAFETY: the cells are touched by the one thread that the state names (the table above); pointers in a job are for the
// body, whose caller promised that it may be called from any thread.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

unsafe extern "C" fn nothing(_task: i32, _count: i32, _data: *mut c_void) -> i32 {
    0
}

/// What a thread is to do next.
pub(super) enum Next {
    Run(Job),
    End,
}

impl Slot {
    pub(super) fn new() -> Self {
        let job = Job {
            body: ChipdockParallelBody(nothing),
            data: ptr::null_mut(),
            task: 0,
            count: 0,
            region: ptr::null(),
        };
        Self {
            state: AtomicU32::new(IDLE),
            job: UnsafeCell::new(job),
            failure: UnsafeCell::new(None),
            waiter: UnsafeCell::new(None),
            thread: OnceLock::new(),
        }
    }

    fn change(&self, from: u32, to: u32) -> Result<u32, u32> {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }

    /// Takes the thread for one region, if it is idle. Whoever did posts to it and joins it.
    pub(super) fn claim(&self) -> bool {
        // A plain read first: it leaves the line with the thread where that is busy.
        match self.state.load(Ordering::Relaxed) {
            IDLE => self.change(IDLE, CLAIMED).is_ok() || self.change(PARKED, SUMMONED).is_ok(),
            PARKED => self.change(PARKED, SUMMONED).is_ok(),
            _ => false,
        }
    }

    /// Hands it a job.
    ///
    /// # Safety
    ///
    /// * This thread claimed it, and has not posted since.
    /// * The job's region stands until the slot was joined, and the body may be called there.
    pub(super) unsafe fn post(&self, job: Job) {
        // SAFETY: claimed: the cell is the caller's.
        unsafe { *self.job.get() = job };
        // Nobody else changes a claimed slot.
        let was = self.state.load(Ordering::Relaxed);
        self.state.store(READY, Ordering::Release);
        if was == SUMMONED
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Waits for the job's end and gives the thread back; what failed, if anything did.
    ///
    /// # Errors
    ///
    /// `Failure::Forked` in a forked child: the thread is not there, the slot stays as it is.
    ///
    /// # Safety
    ///
    /// * This thread posted to it, and has not joined it since.
    pub(super) unsafe fn join(
        &self,
        services: &Services,
        patience: Patience,
    ) -> Result<Option<Failure>, Failure> {
        let has_ended = || matches!(self.state.load(Ordering::Relaxed), DONE | RESTING);
        if !patience.spin(has_ended) {
            if services.check_process().is_err() {
                return Err(Failure::Forked);
            }
            // SAFETY: the waiter is the caller's until the state says that somebody waits.
            unsafe { *self.waiter.get() = Some(thread::current()) };
            if self.change(READY, AWAITED).is_ok() {
                while !has_ended() {
                    thread::park();
                }
            } else {
                // SAFETY: the job has ended: the cells are the caller's.
                unsafe { *self.waiter.get() = None };
            }
        }
        // Takes the cells.
        self.state.load(Ordering::Acquire);
        // SAFETY: the job has ended: the cells are the caller's.
        let failure = unsafe { (*self.failure.get()).take() };
        if self.change(DONE, IDLE).is_err() {
            self.state.store(PARKED, Ordering::Release);
        }
        Ok(failure)
    }

    /// Lets the thread end, if it is idle.
    pub(super) fn close(&self) -> bool {
        if self.change(IDLE, CLOSED).is_ok() {
            return true;
        }
        let was_parked = self.change(PARKED, CLOSED).is_ok();
        if was_parked && let Some(thread) = self.thread.get() {
            thread.unpark();
        }
        was_parked || self.state.load(Ordering::Relaxed) == CLOSED
    }

    /// What a slot's own thread is to do next; waits for it. The job's cells are the thread's until it calls `finish`.
    pub(super) fn next(&self, services: &Services, patience: Patience) -> Next {
        let _ = self.thread.get_or_init(thread::current);
        loop {
            let is_called = || matches!(self.state.load(Ordering::Relaxed), READY | AWAITED | CLOSED);
            let mut is_asleep = false;
            if !patience.spin(is_called) {
                // In a child that a task forked, this is the only thread, and nobody calls it any more.
                if services.check_process().is_err() {
                    return Next::End;
                }
                is_asleep = self.change(IDLE, PARKED).is_ok() || self.change(DONE, RESTING).is_ok();
            }
            while is_asleep && !is_called() {
                thread::park();
            }
            match self.state.load(Ordering::Acquire) {
                // SAFETY: ready: the cell is the thread's.
                READY | AWAITED => return Next::Run(unsafe { *self.job.get() }),
                CLOSED => return Next::End,
                // Claimed in this moment, or joined between the two changes: it goes on.
                _ => {}
            }
        }
    }

    /// Hands back what came of the job.
    ///
    /// # Safety
    ///
    /// * The slot's own thread calls it, once for each job.
    pub(super) unsafe fn finish(&self, failure: Option<Failure>) {
        if failure.is_some() {
            // SAFETY: the job runs: the cell is the thread's.
            unsafe { *self.failure.get() = failure };
        }
        if self.change(READY, DONE).is_ok() {
            return;
        }
        // SAFETY: awaited: the caller set the waiter before, and leaves it alone now.
        let waiter = unsafe { (*self.waiter.get()).take() };
        self.state.store(DONE, Ordering::Release);
        if let Some(waiter) = waiter {
            waiter.unpark();
        }
    }
}
