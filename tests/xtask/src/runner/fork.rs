//! A region of two tasks that do nothing.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

use chipdock_abi::ChipdockParallelBody;
use chipdock_host::Host;

/// Launches the region as compiled code does, on a host of two threads.
///
/// # Panics
///
/// When it was not run by both.
pub fn launch(host: &Host) {
    unsafe extern "C" fn nothing(_task_id: i32, tasks_count: i32, told: *mut c_void) -> i32 {
        // SAFETY: the counter below, which outlives the region.
        unsafe { (*told.cast::<AtomicI32>()).store(tasks_count, Ordering::Relaxed) };
        0
    }
    let (env, told) = (host.environment(), AtomicI32::new(0));
    // SAFETY: the table's own environment; the body may run on any thread.
    let status = unsafe {
        let told = (&raw const told).cast_mut().cast();
        (env.parallel_launch)(env, ChipdockParallelBody(nothing), told, 0)
    };
    assert_eq!((status, told.load(Ordering::Relaxed)), (0, 2));
}
