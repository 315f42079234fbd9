//! What libraries of TVM's code generators ask of TVM's run time: workspace and parallel regions
//! (LIB-9, LIB-12).
//!
//! They work for the host that calls a function of the library on this thread. Signatures: TVM's
//! `c_backend_api.h`.

use std::ffi::c_void;
use std::sync::Barrier;
use std::thread;

use chipdock_abi::{CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockDevice, ChipdockParallelBody};

use super::caller::Caller;
use crate::error::{Error, ErrorKind};

/// `TVMParallelGroupEnv`.
#[repr(C)]
struct Group {
    /// The barrier of the tasks; null where they do not wait for each other.
    barrier: *const Barrier,
    count: i32,
}

/// `FTVMParallelLambda`.
type Lambda = unsafe extern "C" fn(i32, *mut Group, *mut c_void) -> i32;

/// The name of the function by which tasks of a region wait for each other.
pub(in crate::library) const BARRIER: &str = "TVMBackendParallelBarrier";

/// Returns the name of the function whose address a variable is filled in with.
pub(in crate::library) fn of_variable(variable: &str) -> &str {
    variable.trim_start_matches("__")
}

/// Returns true if the dynamic linker of this process takes the address of a local symbol as it
/// stands (LIB-12): glibc does since version 2.28, and other linkers add the library's own address.
pub(in crate::library) fn binds_addresses() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it returns a static string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        let version = version.to_str().ok().and_then(|version| version.split_once('.'));
        let parsed = version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        parsed.is_some_and(|version: (u32, u32)| version >= (2, 28))
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

/// Returns the function of that name.
pub(in crate::library) fn function(name: &str) -> Option<*mut c_void> {
    Some(match name {
        "TVMBackendAllocWorkspace" => allocate_workspace as *mut c_void,
        "TVMBackendFreeWorkspace" => free_workspace as *mut c_void,
        "TVMBackendParallelLaunch" => parallel_launch as *mut c_void,
        "TVMBackendParallelBarrier" => parallel_barrier as *mut c_void,
        _ => return None,
    })
}

/// Runs a function for the host that calls; without one there is nobody to serve it.
fn served<R>(what: &str, otherwise: R, body: impl FnOnce(Caller) -> R) -> R {
    match Caller::current() {
        Some(caller) => caller.services.guarded(what, otherwise, || body(caller)),
        None => otherwise,
    }
}

unsafe extern "C" fn allocate_workspace(
    device_type: i32,
    device_id: i32,
    size_bytes: u64,
    _code: i32,
    _bits: i32,
) -> *mut c_void {
    served("TVMBackendAllocWorkspace", std::ptr::null_mut(), |Caller { services, .. }| {
        let device = ChipdockDevice { device_type, device_id };
        let allocated = services.live().and_then(|host| host.device_state_by_number(device));
        let allocated =
            allocated.and_then(|device| device.allocate_workspace(size_bytes, device.current_stream()));
        allocated.unwrap_or_else(|error| {
            services.raise_own(&error);
            std::ptr::null_mut()
        })
    })
}

unsafe extern "C" fn free_workspace(device_type: i32, device_id: i32, data: *mut c_void) -> i32 {
    served("TVMBackendFreeWorkspace", CHIPDOCK_ERROR, |Caller { services, .. }| {
        let device = ChipdockDevice { device_type, device_id };
        let device = services.live().and_then(|host| host.device_state_by_number(device));
        match device.and_then(|device| device.free_workspace(data, device.current_stream())) {
            Ok(()) => CHIPDOCK_OK,
            Err(error) => {
                services.raise_own(&error);
                CHIPDOCK_ERROR
            }
        }
    })
}

/// A parallel region of a library.
struct Region {
    lambda: Lambda,
    data: *mut c_void,
    caller: Caller,
}

// SAFETY: TVM's regions may run on several threads, with their data.
unsafe impl Sync for Region {}

impl Region {
    /// Runs a task for the caller of the region.
    fn run(&self, task: i32, group: &mut Group) -> i32 {
        // SAFETY: TVM's call of a region, with its own data.
        let status = self.caller.call(|| unsafe { (self.lambda)(task, group, self.data) });
        if status == 0 { CHIPDOCK_OK } else { CHIPDOCK_ERROR }
    }
}

unsafe extern "C" fn run_task(task: i32, count: i32, data: *mut c_void) -> i32 {
    // SAFETY: the region of `parallel_launch`, which waits for this task.
    let region = unsafe { &*data.cast::<Region>() };
    region.run(task, &mut Group { barrier: std::ptr::null(), count })
}

unsafe extern "C" fn parallel_launch(lambda: Lambda, data: *mut c_void, tasks: i32) -> i32 {
    served("TVMBackendParallelLaunch", CHIPDOCK_ERROR, |caller| {
        let services = caller.services;
        let mut region = Region { lambda, data, caller };
        if caller.waits {
            return launch_with_barrier(&region, tasks);
        }
        // SAFETY: `run_task` may run on several threads with the region, which lives until this
        // returns.
        unsafe {
            services.threads.launch(
                services,
                ChipdockParallelBody(run_task),
                std::ptr::from_mut(&mut region).cast(),
                tasks,
            )
        }
    })
}

/// Runs each task on a thread of its own: tasks of the host's threads may not wait for each other
/// (POOL-F1).
fn launch_with_barrier(region: &Region, tasks: i32) -> i32 {
    let most = i32::try_from(region.caller.services.threads.size()).unwrap_or(1);
    let count = if tasks > 0 { tasks.min(most) } else { most }.max(1);
    let barrier = Barrier::new(usize::try_from(count).unwrap_or(1));
    let run = |task: i32| {
        let status = region.run(task, &mut Group { barrier: &barrier, count });
        (status != CHIPDOCK_OK).then(|| region.caller.services.take())
    };
    let failures = thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|task| scope.spawn(move || run(task))).collect();
        let own = run(0);
        let others = others.into_iter().map(|other| other.join().unwrap_or(Some(None)));
        std::iter::once(own).chain(others).collect::<Vec<_>>()
    });
    let Some(first) = failures.into_iter().flatten().next() else { return CHIPDOCK_OK };
    match first {
        Some(error) => region.caller.services.raise(error),
        None => region
            .caller
            .services
            .raise_own(&Error::new(ErrorKind::Internal, "a task failed without an error")),
    }
    CHIPDOCK_ERROR
}

unsafe extern "C" fn parallel_barrier(_task: i32, group: *mut Group) -> i32 {
    // SAFETY: the group that the task was given; a barrier outlives its tasks.
    if let Some(barrier) = unsafe { group.as_ref().and_then(|group| group.barrier.as_ref()) } {
        barrier.wait();
        return CHIPDOCK_OK;
    }
    // SAFETY: as above.
    let is_alone = unsafe { group.as_ref() }.is_none_or(|group| group.count <= 1);
    if is_alone { CHIPDOCK_OK } else { CHIPDOCK_ERROR }
}
