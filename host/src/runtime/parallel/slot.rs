//! A slot: one thread of the pool, with the protocol by which it receives a job and returns the
//! outcome.
//!
//! A slot has two words. The *owner* says whether a region has it: a caller changes it from `FREE`
//! to `TAKEN` and back, the team closes it when it is free. The *state* is between that owner and
//! the thread:
//!
//! | State | Changes to it | Access to the cells |
//! |---|---|---|
//! | `DONE` | the owner to `READY`, the thread to `PARKED` | the owner |
//! | `PARKED` | the owner to `READY`, and wakes the thread | the owner; the thread sleeps or is about to |
//! | `READY` | the thread to `RUNNING`; the owner to `DONE`, when it takes the job back | none |
//! | `RUNNING` | the thread to `DONE`, the owner to `AWAITED` | the thread: job, failure; the owner: waiter |
//! | `AWAITED` | the thread to `DONE`, and wakes the owner | the thread; the owner sleeps or is about to |
//! | `CLOSED` | none | none: the thread ends |
//!
//! A change that hands cells on is a release, one that takes them is an acquire. That also makes
//! the caller's writes visible to the task (`READY`, seen by the change to `RUNNING`) and the
//! task's to the caller (`DONE`). The changes of the owner do the same from one caller to the next.
//! A sleeper checks the state again before it sleeps, and is woken after the change that it waits
//! for: no wake is lost, and a superfluous one does no harm.
//!
//! While it waits, the thread reads nothing but the state and the job, and callers settle between
//! themselves on another cache line: so a hand-over costs the least that the machine allows, one
//! cache line transferred there and back.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};

use chipdock_abi::ChipdockParallelBody;
use chipdock_plugin_api as api;

use super::context::Context;
use super::region::Region;
use super::wait::{For, Patience};
use crate::process::HostProcess;
use crate::runtime::interrupt::ASK_EVERY;

const FREE: u32 = 0;
const TAKEN: u32 = 1;

const DONE: u32 = 0;
const PARKED: u32 = 1;
const READY: u32 = 2;
const RUNNING: u32 = 3;
const AWAITED: u32 = 4;
const CLOSED: u32 = 5;

/// A job of a thread. Its pointers are valid only while the job runs.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) body: ChipdockParallelBody,
    pub(super) data: *mut c_void,
    pub(super) task: i32,
    pub(super) count: i32,
    pub(super) region: *const Region,
    /// The caller's context; null where it has none.
    pub(super) context: *const Context,
}

/// Failure of a task.
pub(super) enum Failure {
    /// The task failed with this error.
    Raised(api::Error),
    /// The task failed without an error.
    Silent,
    /// This is a forked child, which does not have the tasks.
    Forked,
}

/// The part of a slot that the thread watches.
#[repr(C, align(64))]
struct Mailbox {
    state: AtomicU32,
    job: UnsafeCell<Job>,
}

/// The part of a slot that the thread does not watch.
#[repr(C, align(64))]
struct OwnerState {
    owner: AtomicU32,
    failure: UnsafeCell<Option<Failure>>,
    /// The owner, while it sleeps.
    waiter: UnsafeCell<Option<Thread>>,
    /// The thread itself, set before it parks for the first time.
    thread: OnceLock<Thread>,
}

#[repr(C, align(128))] // processors fetch lines in pairs: neighbours do not disturb each other
pub(super) struct Slot {
    mailbox: Mailbox,
    owner_state: OwnerState,
}

// SAFETY: only the side that the state names (the table above) accesses the cells; pointers in a
// job are for the body, whose caller guarantees that it may be called from any thread.
unsafe impl Sync for Slot {}
// SAFETY: only the side that the state names (the table above) accesses the cells; pointers in a
// job are for the body, whose caller guarantees that it may be called from any thread.
unsafe impl Send for Slot {}

unsafe extern "C" fn nothing(_task: i32, _count: i32, _data: *mut c_void) -> i32 {
    0
}

/// The next action of a thread.
pub(super) enum Next {
    /// Run a job; true if the thread was asleep and starts it late.
    Run(Job, bool),
    End,
}

impl Slot {
    /// Makes the slot of a thread that has no job and no owner.
    pub(super) fn new() -> Self {
        let job = Job {
            body: ChipdockParallelBody(nothing),
            data: ptr::null_mut(),
            task: 0,
            count: 0,
            region: ptr::null(),
            context: ptr::null(),
        };
        Self {
            mailbox: Mailbox { state: AtomicU32::new(DONE), job: UnsafeCell::new(job) },
            owner_state: OwnerState {
                owner: AtomicU32::new(FREE),
                failure: UnsafeCell::new(None),
                waiter: UnsafeCell::new(None),
                thread: OnceLock::new(),
            },
        }
    }

    fn is(&self, state: u32) -> bool {
        self.mailbox.state.load(Ordering::Relaxed) == state
    }

    /// Changes the state, if it is `from`. An acquire in either case: finding another state takes
    /// cells over too.
    fn change(&self, from: u32, to: u32) -> bool {
        let state = &self.mailbox.state;
        state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn take_over(&self, to: u32) -> bool {
        let owner = &self.owner_state.owner;
        // A plain read first: it leaves the line where it is when another has the slot.
        owner.load(Ordering::Relaxed) == FREE
            && owner.compare_exchange(FREE, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the thread for one region, if it is free; returns whether it was.
    pub(super) fn claim(&self) -> bool {
        self.take_over(TAKEN)
    }

    /// Releases the thread.
    ///
    /// # Safety
    ///
    /// * This thread claimed it; its job was taken back or joined.
    pub(super) unsafe fn release(&self) {
        self.owner_state.owner.store(FREE, Ordering::Release);
    }

    /// Sets a state that the thread waits for.
    fn call(&self, state: u32) {
        let was = self.mailbox.state.swap(state, Ordering::AcqRel);
        if was == PARKED
            && let Some(thread) = self.owner_state.thread.get()
        {
            thread.unpark();
        }
    }

    /// Posts a job to the thread.
    ///
    /// # Safety
    ///
    /// * This thread claimed it, and took back or joined the job that it posted before.
    /// * The data that the job points to stands until the job is taken back or joined, and the body
    ///   may be called there.
    pub(super) unsafe fn post(&self, job: Job) {
        // SAFETY: claimed, with no job: the cell is the owner's.
        unsafe { *self.mailbox.job.get() = job };
        self.call(READY);
    }

    /// Takes a job back that has not begun; returns false when it has.
    pub(super) fn take_back(&self) -> bool {
        self.is(READY) && self.change(READY, DONE)
    }

    /// Waits for the job's end, and calls `on_wait` now and then (CALL-E5); returns its failure, if
    /// it failed.
    ///
    /// # Errors
    ///
    /// In a forked child, which does not have the thread; the slot stays as it is.
    ///
    /// # Safety
    ///
    /// * This thread posted to it, and has neither taken the job back nor joined it since.
    pub(super) unsafe fn join(
        &self,
        process: HostProcess,
        patience: Patience,
        on_wait: &mut dyn FnMut(),
    ) -> Result<Option<Failure>, ForkedChild> {
        let has_ended = || matches!(self.mailbox.state.load(Ordering::Acquire), DONE | PARKED);
        if !patience.spin(For::End, has_ended) {
            if process.check().is_err() {
                return Err(ForkedChild);
            }
            // SAFETY: the waiter is the owner's until the state says that it waits.
            unsafe { *self.owner_state.waiter.get() = Some(thread::current()) };
            if self.change(RUNNING, AWAITED) {
                while !has_ended() {
                    thread::park_timeout(ASK_EVERY);
                    on_wait();
                }
            }
        }
        // SAFETY: the job has ended: the cells are the owner's.
        unsafe {
            *self.owner_state.waiter.get() = None;
            Ok((*self.owner_state.failure.get()).take())
        }
    }

    /// Lets the thread end; returns true if the slot was free or closed already.
    pub(super) fn close(&self) -> bool {
        if self.take_over(CLOSED) {
            self.call(CLOSED);
        }
        self.owner_state.owner.load(Ordering::Relaxed) == CLOSED
    }

    /// Returns the next action of the slot's own thread; waits for it.
    pub(super) fn next(&self, process: HostProcess, patience: Patience) -> Next {
        let _ = self.owner_state.thread.get_or_init(thread::current);
        let mut is_late = false;
        loop {
            if !patience.spin(For::Work, || self.is(READY) || self.is(CLOSED)) {
                // In a child that a task forked, this is the only thread, and no caller is left.
                if process.check().is_err() {
                    return Next::End;
                }
                is_late = self.change(DONE, PARKED);
                while self.is(PARKED) {
                    thread::park();
                }
            }
            if self.change(READY, RUNNING) {
                // SAFETY: the job runs: the cell is the thread's.
                return Next::Run(unsafe { *self.mailbox.job.get() }, is_late);
            }
            if self.is(CLOSED) {
                return Next::End;
            }
        }
    }

    /// Returns the outcome of the job to the owner.
    ///
    /// # Safety
    ///
    /// * The slot's own thread calls it, once for each job.
    pub(super) unsafe fn finish(&self, failure: Option<Failure>) {
        if failure.is_some() {
            // SAFETY: the job runs: the cell is the thread's.
            unsafe { *self.owner_state.failure.get() = failure };
        }
        if self.change(RUNNING, DONE) {
            return;
        }
        // SAFETY: awaited: the owner set the waiter before, and leaves it alone now.
        let waiter = unsafe { (*self.owner_state.waiter.get()).take() };
        self.mailbox.state.store(DONE, Ordering::Release);
        if let Some(waiter) = waiter {
            waiter.unpark();
        }
    }
}

/// Error: this process was forked while its region ran.
pub(super) struct ForkedChild;
