//! Launch of a parallel region of two tasks that only wait for each other.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

use chipdock_abi::ChipdockParallelBody;
use chipdock_host::Host;

/// Launches the region as compiled code does, on a host of two threads. Task 0 waits for task 1 to
/// begin, so both threads take part: otherwise the caller, after its own task, would also run any
/// task that no thread has begun.
///
/// # Panics
///
/// If the host does not have two threads.
pub fn launch(host: &Host) {
    unsafe extern "C" fn meet(task_id: i32, tasks_count: i32, begun: *mut c_void) -> i32 {
        // SAFETY: `begun` points to the flag below, which outlives the region.
        let begun = unsafe { &*begun.cast::<AtomicI32>() };
        if task_id != 0 {
            begun.store(tasks_count, Ordering::Relaxed);
        }
        while tasks_count > 1 && begun.load(Ordering::Relaxed) == 0 {
            std::hint::spin_loop();
        }
        0
    }
    let (env, begun) = (host.environment(), AtomicI32::new(0));
    // SAFETY: `env` is the host's own environment; the body may run on any thread.
    let status = unsafe {
        let begun = (&raw const begun).cast_mut().cast();
        (env.parallel_launch)(env, ChipdockParallelBody(meet), begun, 0)
    };
    assert_eq!((status, begun.load(Ordering::Relaxed)), (0, 2));
}
