//! The host's threads, which compiled code uses through `parallel_launch` of its environment.
//!
//! # Contract
//!
//! * **POOL-F1 Tasks.** A region runs a body once for each task id from 0 to the count that it is
//!   given, each exactly once (except for POOL-F4). The count is at least 1 and at most the pool's
//!   threads; at most `tasks_max` too, where that is above
//!   0. The body decides which iterations a task has: it splits by its id and the count. The thread
//!   that launches runs task 0, the others are handed to a thread each; tasks that have not begun
//!   when the caller is done with its own, it takes back and runs itself. So no caller waits for a
//!   thread to wake up or to be given a processor, and tasks must not wait for each other. A
//!   `tasks_max` below 0 counts as 1: a loop without iterations.
//! * **POOL-F2 Join.** `launch` returns when every task that started has ended. The caller's
//!   earlier writes are visible to the tasks, and their writes are visible to the caller
//!   afterwards.
//! * **POOL-F3 Failures.** A body that fails returns something other than 0, with an error raised
//!   on the thread that runs it. The failure of the lowest task id is the caller's: its error is
//!   moved to the caller's slot, the others are dropped. Where tasks are consecutive pieces of a
//!   loop, that is the failure that a serial run meets first. A failure without an error gets an
//!   error that says so.
//! * **POOL-F4 No useless work.** A task that has not started when one of a lower id has failed
//!   does not start. Only then, so that POOL-F3 does not depend on timing.
//! * **POOL-F5 State of a thread.** During a task, a thread of the pool has the caller's
//!   floating-point mode, current devices and streams, whatever it ran before. Error slot and
//!   workspace are its own.
//! * **POOL-F6 Nested.** A region that is launched within a task, of this or another host, is one
//!   task on the thread that launches it. A region with a single task runs inline, so loops
//!   launched inside it may still use the pool.
//! * **POOL-F7 Several callers.** A region takes those threads of the pool that are idle when it is
//!   launched, the first ones first, and its count is the number of threads that it got, its own
//!   included. No caller waits for a thread of the pool, so there is no deadlock, and the machine
//!   is not given more threads than callers and pool have. (A region that finds no idle thread is
//!   one task on its own: the callers themselves keep the machine busy.)
//! * **POOL-F8 Waiting.** A thread that waits, for work or for the last task, spins for at most
//!   [`wait::SPIN`], then parks. One that waits for work yields its processor once in a while,
//!   because the caller may have been given the same one; where the pool has more threads than the
//!   process has processors, every thread yields at each turn.
//! * **POOL-F9 Size.** A number from 1 to [`THREADS_MAX`], or automatic: the least of the
//!   processors in the affinity mask, the quota of the control group rounded up, and the processors
//!   online; see [`size`]. Automatic is counted once, when it is first needed, on the thread that
//!   needs it: threads of the pool inherit that thread's mask. They are not pinned.
//! * **POOL-F10 Life.** The threads start at the first region that can use them. If the system
//!   refuses some, the pool works without them, with a warning. When the host goes they end, and
//!   are waited for; after that a region is one task. The end of the process waits for none of
//!   them.
//! * **POOL-F11 Forks.** In a forked child, which does not have the threads, a region is one task.
//!   In the child of a task that forks, the task's region has failed.

mod context;
mod region;
pub(crate) mod size;
mod slot;
mod team;
mod threads;
mod wait;

pub(crate) use threads::Threads;

#[cfg(test)]
mod tests;
