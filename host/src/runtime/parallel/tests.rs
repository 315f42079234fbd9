//! The contract of the front page, rule by rule, with bodies written by hand; then all of it at
//! once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use chipdock_abi::{ChipdockEnv, ChipdockParallelBody};
use chipdock_plugin_api as api;
use chipdock_programs::Random;

use super::region::{Region, is_useless, run_handed};
use super::size;
use super::slot::{Job, Slot};
use super::wait::Patience;
use crate::boundary::guard::FloatMode;
use crate::boundary::guard::tests::flush_to_zero;
use crate::boundary::services::Services;
use crate::options::HostOptions;
use crate::{Device, Host};

/// A host with so many threads, and the environment that its compiled code would have.
struct Fixture {
    host: Host,
    env: Env,
}

#[derive(Clone, Copy)]
struct Env {
    raw: &'static ChipdockEnv,
    services: &'static Services,
}

impl Fixture {
    fn new(threads: u32) -> Self {
        let host = Host::new(HostOptions { threads: Some(threads), ..HostOptions::isolated() }).unwrap();
        let env = Env { raw: host.environment(), services: host.0.services };
        Self { host, env }
    }
}

impl Env {
    /// Launches a region whose body is a closure of task id and count.
    fn launch(self, tasks_max: i32, body: impl Fn(i32, i32) -> i32 + Sync) -> i32 {
        unsafe extern "C" fn call<F: Fn(i32, i32) -> i32 + Sync>(
            task: i32,
            count: i32,
            data: *mut c_void,
        ) -> i32 {
            // SAFETY: the closure lives until the region has ended, and may be called from several
            // threads.
            unsafe { (*data.cast::<F>())(task, count) }
        }
        fn body_of<F: Fn(i32, i32) -> i32 + Sync>(_: &F) -> ChipdockParallelBody {
            ChipdockParallelBody(call::<F>)
        }
        let raw = self.raw;
        let data = (&raw const body).cast_mut().cast();
        // SAFETY: the table's own environment, a body that may run on several threads.
        unsafe { (raw.parallel_launch)(raw, body_of(&body), data, tasks_max) }
    }

    /// How many tasks a region is told now.
    fn count(self, tasks_max: i32) -> i32 {
        let told = AtomicI32::new(0);
        self.launch(tasks_max, |_, count| {
            told.store(count, Ordering::Relaxed);
            0
        });
        told.into_inner()
    }

    fn raise(self, message: &str) -> i32 {
        let error = api::Error::new(api::ErrorKind::new("KeyError"), message.to_owned());
        self.services.raise(error);
        -1
    }

    /// This thread's error, taken.
    fn raised(self) -> String {
        self.services.take().map_or_else(|| "nothing".to_owned(), |error| error.message().into_owned())
    }
}

/// POOL-F1: each id once, task 0 on the caller's thread; the count is within its bounds.
#[test]
fn every_task_runs_once() {
    for size in 1..=8 {
        let fixture = Fixture::new(size);
        for tasks_max in (0..10).chain([1000, i32::MAX]) {
            let ran: Mutex<Vec<(i32, i32, ThreadId)>> = Mutex::default();
            let status = fixture.env.launch(tasks_max, |task, count| {
                ran.lock().unwrap().push((task, count, thread::current().id()));
                0
            });
            assert_eq!(status, 0);
            let mut ran = ran.into_inner().unwrap();
            ran.sort_by_key(|(task, _, _)| *task);
            let size = size as i32;
            let expected = if tasks_max == 0 { size } else { size.min(tasks_max) };
            let ids: Vec<i32> = ran.iter().map(|(task, _, _)| *task).collect();
            assert_eq!(ids, (0..expected).collect::<Vec<_>>(), "{size} threads, at most {tasks_max}");
            assert!(ran.iter().all(|(_, count, _)| *count == expected));
            assert_eq!(ran[0].2, thread::current().id());
        }
    }
}

/// POOL-F1: while the caller is busy with task 0, each other task has a thread of its own, and all
/// run at once.
#[test]
fn tasks_have_threads_of_their_own() {
    let fixture = Fixture::new(5);
    let barrier = Barrier::new(5);
    for _ in 0..20 {
        let threads: Mutex<Vec<ThreadId>> = Mutex::default();
        let status = fixture.env.launch(0, |_, _| {
            threads.lock().unwrap().push(thread::current().id());
            barrier.wait();
            0
        });
        let threads = threads.into_inner().unwrap();
        assert_eq!((status, threads.len()), (0, 5));
        assert!((1..5).all(|at| !threads[..at].contains(&threads[at])));
    }
}

/// POOL-F1: what no thread has begun, the caller runs: here the pool's only thread is kept busy by
/// a task of the same region.
#[test]
fn the_caller_runs_tasks_that_have_not_begun() {
    let fixture = Fixture::new(2);
    let slot = Slot::new();
    let region = Region::new();
    unsafe extern "C" fn nothing(_task: i32, _count: i32, _data: *mut c_void) -> i32 {
        0
    }
    let (data, context) = (std::ptr::null_mut(), std::ptr::null());
    let body = ChipdockParallelBody(nothing);
    let job = Job { body, data, task: 1, count: 2, region: &raw const region, context };
    for _ in 0..2 {
        assert!(slot.claim() && !slot.claim());
        // SAFETY: claimed; nothing runs it, it is taken back.
        unsafe { slot.post(job) };
        assert!(slot.take_back() && !slot.take_back());
        // SAFETY: taken back: it has ended.
        let joined =
            unsafe { slot.join(fixture.host.0.services.process, Patience { is_crowded: false }, &mut || ()) };
        assert!(matches!(joined, Ok(None)));
        // SAFETY: claimed above.
        unsafe { slot.release() };
    }
}

/// POOL-F1: a loop without iterations may ask for a negative number.
#[test]
fn a_negative_number_of_tasks_is_one() {
    assert_eq!(Fixture::new(4).env.count(-3), 1);
    assert_eq!(Fixture::new(4).env.count(i32::MIN), 1);
}

/// POOL-F2: no atomic is in the data: what is written before is seen in the tasks, what they write
/// is seen afterwards.
#[test]
fn plain_memory_is_seen_on_both_sides() {
    struct Shared(*mut u64);
    // SAFETY: tasks touch pieces of their own; the caller touches it between regions alone.
    unsafe impl Sync for Shared {}
    for size in [2, 3, 8] {
        let fixture = Fixture::new(size);
        let mut data = vec![0_u64; 64];
        for round in 1..=2000 {
            data[0] = round;
            let shared = Shared(data.as_mut_ptr());
            let status = fixture.env.launch(0, |task, count| {
                let shared = &shared;
                // SAFETY: task t owns element t + 1; element 0 is only read.
                unsafe {
                    let own = shared.0.add(task as usize + 1);
                    *own += *shared.0 * u64::from(count as u32);
                }
                0
            });
            assert_eq!(status, 0);
            let expected = u64::from(size) * (round * (round + 1) / 2);
            assert!(data[1..=size as usize].iter().all(|value| *value == expected), "round {round}");
        }
    }
}

/// POOL-F3: of several failures the lowest id's is the caller's, whichever is first in time.
#[test]
fn the_failure_of_the_lowest_task_is_the_callers() {
    let fixture = Fixture::new(6);
    let env = fixture.env;
    for lowest in 0..6 {
        let barrier = Barrier::new(6);
        let status = env.launch(0, |task, _| {
            barrier.wait();
            if task < lowest {
                return 0;
            }
            // The higher, the sooner.
            thread::sleep(Duration::from_micros(200) * (6 - task) as u32);
            env.raise(&format!("task {task}"))
        });
        assert_eq!((status, env.raised()), (-1, format!("task {lowest}")));
        assert_eq!((env.launch(0, |_, _| 0), env.raised()), (0, "nothing".to_owned()));
    }
}

/// POOL-F3: no old error of a thread is taken for a task's.
#[test]
fn a_failure_without_an_error_gets_one() {
    let fixture = Fixture::new(2);
    let env = fixture.env;
    let barrier = Barrier::new(2);
    let both = |status: i32, raises: bool| {
        env.launch(0, |task, _| {
            barrier.wait();
            if raises && task == 1 {
                env.raise("forgotten");
            }
            if task == 1 { status } else { 0 }
        })
    };
    assert_eq!((both(0, true), env.raised()), (0, "nothing".to_owned()));
    assert_eq!(both(7, false), -1);
    assert_eq!(
        env.raised(),
        "task 1 of 2 of a parallel region failed and raised no error; report it to the maintainer of the code generator"
    );
}

/// POOL-F4: a failure keeps later tasks from starting, and none before.
#[test]
fn a_task_is_left_out_only_after_a_lower_failure() {
    unsafe extern "C" fn count(_task: i32, _count: i32, data: *mut c_void) -> i32 {
        // SAFETY: the counter below.
        unsafe { (*data.cast::<AtomicU32>()).fetch_add(1, Ordering::Relaxed) };
        0
    }
    let fixture = Fixture::new(2);
    let runs = |failed: Option<i32>, task| {
        let ran = AtomicU32::new(0);
        let region = Region::new();
        if let Some(failed) = failed {
            region.fail(failed);
        }
        let data = (&raw const ran).cast_mut().cast();
        let (body, context) = (ChipdockParallelBody(count), std::ptr::null());
        let job = Job { body, data, task, count: 4, region: &raw const region, context };
        // SAFETY: the region and the counter are live.
        let is_left_out =
            unsafe { is_useless(&job) || run_handed(fixture.host.0.services.slots, &job).is_some() };
        assert_eq!(ran.into_inner(), u32::from(!is_left_out));
        !is_left_out
    };
    assert!(runs(None, 3));
    assert!(runs(Some(3), 2));
    assert!(!runs(Some(1), 2));
    assert!(!runs(Some(0), 3));
}

/// POOL-F5: the caller's floating-point mode, whatever the thread that started the pool had, and
/// whatever a task left.
#[test]
fn tasks_have_the_callers_floating_point_mode() {
    let fixture = Fixture::new(3);
    let env = fixture.env;
    let sums = |leave: bool| {
        let (barrier, sums) = (Barrier::new(3), Mutex::new(Vec::new()));
        let status = env.launch(0, |task, _| {
            barrier.wait();
            let sum = std::hint::black_box(1e-39_f32) + std::hint::black_box(1e-39_f32);
            sums.lock().unwrap().push(sum);
            if leave && task != 0 {
                flush_to_zero();
            }
            0
        });
        assert_eq!(status, 0);
        sums.into_inner().unwrap()
    };
    let before = FloatMode::now();
    flush_to_zero();
    assert_eq!(sums(false), [0.0; 3], "the mode of a caller that chose it");
    before.put_back();
    assert_eq!(sums(true), [1e-39 + 1e-39; 3], "the pool's threads were started under another");
    assert_eq!(sums(false), [1e-39 + 1e-39; 3], "tasks left another");
}

/// POOL-F5, D.10: streams and devices of the caller; the pool's threads are at their defaults
/// afterwards.
#[test]
fn tasks_have_the_callers_stream_and_device() {
    let fixture = Fixture::new(3);
    let device: Device = fixture.host.device("toy", 1).unwrap();
    let (number, raw) = (device.number(), fixture.env.raw);
    let seen = |env: Env| {
        let (barrier, seen) = (Barrier::new(3), Mutex::new(Vec::new()));
        let status = env.launch(0, |task, _| {
            barrier.wait();
            // SAFETY: the table's own environment.
            let (status, here) = unsafe {
                let (mut stream, mut current) = (std::ptr::null_mut(), -1);
                let (device_type, device_id) = (number.device_type, number.device_id);
                let status = (raw.current_stream)(raw, device_type, device_id, &mut stream)
                    | (raw.current_device)(raw, device_type, &mut current);
                (status, (task, stream.addr(), current))
            };
            seen.lock().unwrap().push(here);
            status
        });
        assert_eq!(status, 0);
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        seen
    };
    let stream = device.create_stream().unwrap();
    let chosen = stream.raw().addr();
    let guard = stream.enter().unwrap();
    // SAFETY: the table's own environment.
    assert_eq!(unsafe { (raw.set_device)(raw, number.device_type, number.device_id) }, 0);
    let all = |stream, device| (0..3).map(|task| (task, stream, device)).collect::<Vec<_>>();
    assert_eq!(seen(fixture.env), all(chosen, 1));
    drop(guard);
    // SAFETY: the table's own environment.
    assert_eq!(unsafe { (raw.set_device)(raw, number.device_type, 0) }, 0);
    assert_eq!(seen(fixture.env), all(0, 0));
}

/// POOL-F5: workspace is each thread's own.
#[test]
fn tasks_have_workspace_of_their_own() {
    let fixture = Fixture::new(4);
    let raw = fixture.env.raw;
    for _ in 0..50 {
        let (barrier, pieces) = (Barrier::new(4), Mutex::new(BTreeSet::new()));
        let status = fixture.env.launch(0, |task, _| {
            // SAFETY: the table's own environment; what is allocated is written within its bounds
            // and freed once.
            unsafe {
                let data = (raw.allocate_workspace)(raw, 1, 0, 4096);
                data.cast::<u8>().write_bytes(task as u8, 4096);
                barrier.wait();
                let intact = (0..4096).all(|at| *data.cast::<u8>().add(at) == task as u8);
                pieces.lock().unwrap().insert(data.addr());
                barrier.wait();
                let freed = (raw.free_workspace)(raw, 1, 0, data);
                i32::from(!intact) - freed
            }
        });
        assert_eq!((status, pieces.into_inner().unwrap().len()), (0, 4), "{}", fixture.env.raised());
    }
}

/// POOL-F6: within a task a region is one task there, of another host too; a region of one task is
/// none.
#[test]
fn nested_regions_run_where_they_are() {
    let (fixture, other) = (Fixture::new(4), Fixture::new(4));
    let (env, barrier) = (fixture.env, Barrier::new(4));
    let status = env.launch(0, |task, _| {
        barrier.wait();
        let me = thread::current().id();
        let is_here = |task: i32, count: i32| i32::from((task, count, thread::current().id()) != (0, 1, me));
        let bad = env.launch(0, is_here) + other.env.launch(0, is_here) + env.launch(3, is_here);
        if bad != 0 { env.raise(&format!("in task {task}")) } else { 0 }
    });
    assert_eq!((status, env.raised()), (0, "nothing".to_owned()));
    assert_eq!(env.count(0), 4);
    let told = AtomicI32::new(0);
    env.launch(1, |_, _| {
        told.store(env.count(0), Ordering::Relaxed);
        0
    });
    assert_eq!(told.into_inner(), 4);
}

/// POOL-F6: a failure of a nested region is its task's.
#[test]
fn a_nested_failure_reaches_the_caller() {
    let fixture = Fixture::new(3);
    let env = fixture.env;
    let status =
        env.launch(0, |task, _| env.launch(0, |_, _| if task == 2 { env.raise("inner") } else { 0 }));
    assert_eq!((status, env.raised()), (-1, "inner".to_owned()));
}

/// POOL-F7: what one caller has, another does not get; what it leaves, another gets.
#[test]
fn callers_share_idle_threads() {
    let fixture = Fixture::new(4);
    let env = fixture.env;
    let (begun, end) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            env.launch(2, |_, _| {
                begun.wait();
                end.wait();
                0
            })
        });
        begun.wait();
        assert_eq!(env.count(0), 3);
        let told = AtomicI32::new(0);
        env.launch(0, |task, _| {
            if task == 0 {
                told.store(
                    thread::scope(|scope| scope.spawn(|| env.count(0)).join().unwrap()),
                    Ordering::Relaxed,
                );
            }
            0
        });
        assert_eq!(told.into_inner(), 1);
        end.wait();
        assert_eq!(first.join().unwrap(), 0);
    });
    assert_eq!(env.count(0), 4);
}

/// POOL-F8: a pool that has nothing to do takes no processor time.
#[cfg(target_os = "linux")]
#[test]
fn an_idle_pool_sleeps() {
    let fixture = Fixture::new(4);
    let clocks: Mutex<Vec<libc::clockid_t>> = Mutex::default();
    let barrier = Barrier::new(4);
    fixture.env.launch(0, |task, _| {
        if task != 0 {
            let mut clock = 0;
            // SAFETY: this thread's own handle, a place to write to.
            assert_eq!(unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) }, 0);
            clocks.lock().unwrap().push(clock);
        }
        barrier.wait();
        0
    });
    let clocks = clocks.into_inner().unwrap();
    assert_eq!(clocks.len(), 3);
    let used = || -> Duration {
        let of = |clock: &libc::clockid_t| {
            // SAFETY: plain data.
            let mut time: libc::timespec = unsafe { std::mem::zeroed() };
            // SAFETY: the clock of a live thread, a place to write to.
            assert_eq!(unsafe { libc::clock_gettime(*clock, &mut time) }, 0);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        };
        clocks.iter().map(of).sum()
    };
    thread::sleep(Duration::from_millis(200));
    let before = used();
    thread::sleep(Duration::from_millis(400));
    let idle = used() - before;
    assert!(idle < Duration::from_millis(40), "three idle threads took {idle:?} of 400 ms");
    assert_eq!(fixture.env.count(0), 4);
}

/// POOL-F8: both ends sleep, and are woken: a caller whose last task is late, a thread whose caller
/// is late.
#[test]
fn sleepers_are_woken() {
    let fixture = Fixture::new(3);
    for late in [0, 1, 2, 0, 2] {
        let ran = AtomicU32::new(0);
        let status = fixture.env.launch(0, |task, _| {
            if task == late {
                thread::sleep(Duration::from_millis(20));
            }
            ran.fetch_add(1, Ordering::Relaxed);
            0
        });
        assert_eq!((status, ran.into_inner()), (0, 3));
    }
    thread::sleep(Duration::from_millis(20));
    assert_eq!(fixture.env.count(0), 3);
}

/// POOL-F9, POOL-F10: nothing starts before a region can use it.
#[test]
fn threads_start_with_the_first_region_that_needs_them() {
    let fixture = Fixture::new(3);
    let pool = &fixture.host.0.services.threads;
    assert_eq!(fixture.host.threads(), 3);
    assert_eq!((fixture.env.count(1), pool.team.get().is_some()), (1, false));
    assert_eq!((fixture.env.count(0), pool.team.get().is_some()), (3, true));
    let single = Fixture::new(1);
    assert_eq!((single.env.count(0), single.host.0.services.threads.team.get().is_some()), (1, false));
    let refused = Host::new(HostOptions { threads: Some(100_000), ..HostOptions::isolated() });
    assert!(refused.unwrap_err().message().starts_with("100000 threads are asked for; expected 1 to 1024"));
}

/// POOL-F9.
#[test]
fn a_mask_of_one_processor_makes_one_thread() {
    std::thread::spawn(|| {
        // SAFETY: plain data.
        let mut mask: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: a live mask, this thread alone; a processor of the mask that the thread has.
        unsafe {
            libc::sched_getaffinity(0, size_of_val(&mask), &mut mask);
            let first = (0..libc::CPU_SETSIZE as usize).find(|index| libc::CPU_ISSET(*index, &mask)).unwrap();
            libc::CPU_ZERO(&mut mask);
            libc::CPU_SET(first, &mut mask);
            assert_eq!(libc::sched_setaffinity(0, size_of_val(&mask), &mask), 0);
        }
        assert_eq!(size::automatic(), 1);
    })
    .join()
    .unwrap();
}

/// Counts the threads that end.
struct AtEnd(Arc<AtomicUsize>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

/// Runs a region in which each thread of the pool is made to count its end.
fn watch_ends(env: Env, size: usize) -> Arc<AtomicUsize> {
    let (ended, barrier) = (Arc::new(AtomicUsize::new(0)), Barrier::new(size));
    env.launch(0, |task, _| {
        barrier.wait();
        if task != 0 {
            AT_END.set(Some(AtEnd(Arc::clone(&ended))));
        }
        0
    });
    ended
}

/// POOL-F10: threads end with their host, awake or asleep; a late region is one task; workspace
/// goes back.
#[test]
fn threads_end_with_the_host() {
    for pause_ms in [0, 30] {
        let Fixture { host, env } = Fixture::new(4);
        let ended = watch_ends(env, 4);
        assert_eq!(ended.load(Ordering::Relaxed), 0);
        thread::sleep(Duration::from_millis(pause_ms));
        drop(host);
        assert_eq!(ended.load(Ordering::Relaxed), 3);
        assert_eq!(env.count(0), 1);
    }
    // Never started, and gone before a region.
    let Fixture { host, env } = Fixture::new(4);
    drop(host);
    assert_eq!(env.count(0), 1);
}

/// POOL-F10: the last handle may be dropped by a task, of either kind.
#[test]
fn the_host_may_go_within_a_region() {
    for dropper in [0, 1] {
        let Fixture { host, env } = Fixture::new(3);
        let ended = watch_ends(env, 3);
        let host = Mutex::new(Some(host));
        let barrier = Barrier::new(3);
        let status = env.launch(0, |task, _| {
            barrier.wait();
            if task == dropper {
                drop(host.lock().unwrap().take());
            }
            0
        });
        assert_eq!(status, 0);
        while ended.load(Ordering::Relaxed) < 2 {
            thread::yield_now();
        }
        assert_eq!(env.count(0), 1);
    }
}

/// POOL-F10: each host has threads of its own.
#[test]
fn hosts_do_not_share_threads() {
    let (a, b) = (Fixture::new(3), Fixture::new(2));
    thread::scope(|scope| {
        for (env, size) in [(a.env, 3), (b.env, 2)] {
            scope.spawn(move || (0..500).for_each(|_| assert_eq!(env.count(0), size)));
        }
    });
    drop(a.host);
    assert_eq!((a.env.count(0), b.env.count(0)), (1, 2));
}

/// The exit status of a forked child that does this, or a signal as a number below 0.
fn in_child(work: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child calls only what is at home in a forked child, and leaves without cleaning
    // up.
    match unsafe { libc::fork() } {
        0 => {
            // A child that hangs is ended.
            // SAFETY: takes a number.
            unsafe { libc::alarm(20) };
            let status = work();
            // SAFETY: does not return.
            unsafe { libc::_exit(status) }
        }
        child => {
            let mut status = 0;
            // SAFETY: a child of ours, a place to write to.
            unsafe { libc::waitpid(child, &mut status, 0) };
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -status }
        }
    }
}

/// POOL-F11.
#[test]
fn a_forked_child_runs_one_task_and_can_end() {
    let fixture = Fixture::new(3);
    assert_eq!(fixture.env.count(0), 3);
    let Fixture { host, env } = fixture;
    let mut host = Some(host);
    let status = in_child(|| {
        let count = env.count(0);
        // Neither waits for threads that are not there.
        drop(host.take());
        count
    });
    assert_eq!(status, 1);
    assert_eq!(env.count(0), 3);
}

/// POOL-F11: a fork by the caller within its region.
#[test]
fn a_task_that_forks_fails_in_the_child() {
    let fixture = Fixture::new(2);
    let (env, child) = (fixture.env, AtomicI32::new(-1));
    let barrier = Barrier::new(2);
    let status = env.launch(0, |task, _| {
        barrier.wait();
        if task == 0 {
            // SAFETY: what the child does below is at home in one.
            child.store(unsafe { libc::fork() }, Ordering::Relaxed);
            if child.load(Ordering::Relaxed) == 0 {
                // SAFETY: takes a number.
                unsafe { libc::alarm(20) };
            }
        } else {
            thread::sleep(Duration::from_millis(50));
        }
        0
    });
    if child.load(Ordering::Relaxed) == 0 {
        // SAFETY: does not return.
        unsafe { libc::_exit(if status == -1 { 5 } else { 6 }) };
    }
    assert_eq!(status, 0);
    let mut exit = 0;
    // SAFETY: a child of ours, a place to write to.
    unsafe { libc::waitpid(child.into_inner(), &mut exit, 0) };
    assert!(libc::WIFEXITED(exit) && libc::WEXITSTATUS(exit) == 5, "{exit:#x}");
}

/// All at once: pools larger than the machine, several callers, nested regions, failures, regions
/// of many sizes.
#[test]
fn many_callers_at_once() {
    for size in 1..=8 {
        let fixture = Fixture::new(size);
        let env = fixture.env;
        thread::scope(|scope| {
            for caller in 0..6_u64 {
                scope.spawn(move || storm(env, caller * 77 + u64::from(size), 400));
            }
        });
        assert_eq!(env.count(0), size as i32);
    }
}

/// A caller's regions, of pseudo-random shapes; each checks that every element was visited once and
/// every failure found.
fn storm(env: Env, seed: u64, rounds: u32) {
    let mut numbers = Random::new(seed);
    let mut random = |below: u64| numbers.below(below);
    for _ in 0..rounds {
        let extent = 1 + random(1000);
        let tasks_max = [0, extent as i32, 1 + random(9) as i32][random(3) as usize];
        let fails_at = (random(4) == 0).then(|| random(extent));
        let is_nested = random(3) == 0;
        let visits: Vec<AtomicU64> = (0..extent).map(|_| AtomicU64::new(0)).collect();
        let status = env.launch(tasks_max, |task, count| {
            let (task, count) = (task as u64, count as u64);
            for at in extent * task / count..extent * (task + 1) / count {
                if Some(at) == fails_at {
                    return env.raise(&format!("at {at}"));
                }
                // Where the outer region is one task, the inner one may have several.
                let visit = |task: i32, _: i32| {
                    visits[at as usize].fetch_add(u64::from(task == 0), Ordering::Relaxed);
                    0
                };
                if is_nested {
                    env.launch(0, visit)
                } else {
                    visit(0, 1)
                };
            }
            0
        });
        match fails_at {
            Some(at) => assert_eq!((status, env.raised()), (-1, format!("at {at}"))),
            None => {
                assert_eq!(status, 0);
                assert!(visits.iter().all(|visits| visits.load(Ordering::Relaxed) == 1));
            }
        }
    }
}

/// POOL-F10: hosts come and go while others work.
#[test]
fn hosts_come_and_go() {
    let stop = AtomicBool::new(false);
    let busy = Fixture::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                storm(busy.env, 5, 10);
            }
        });
        for round in 0..60 {
            let fixture = Fixture::new(1 + round % 5);
            storm(fixture.env, u64::from(round), 5);
        }
        stop.store(true, Ordering::Relaxed);
    });
}
