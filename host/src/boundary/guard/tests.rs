use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;

use super::*;

/// Each test changes the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs `change` under a guard, and returns what it found, by part.
fn found(change: impl FnOnce()) -> Vec<ProcessChange> {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut guard = Guard::of_opening();
    change();
    let found = guard.settle("the test");
    let again = guard.settle("the test");
    assert_eq!(again, [], "GUARD-G2: put back, or known from now on (GUARD-G4)");
    found
}

fn parts(changes: &[ProcessChange]) -> Vec<&str> {
    assert!(changes.iter().all(|change| change.during == "the test"));
    changes.iter().map(|change| change.what.as_str()).collect()
}

/// The sum of subnormal numbers, computed now.
fn subnormal_sum() -> f32 {
    std::hint::black_box(1e-39_f32) + std::hint::black_box(1e-39_f32)
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn flush_to_zero() {
    let mode = 0x1f80_u32 | 0x8040;
    // SAFETY: a valid mode, for this thread.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, readonly)) };
}

#[cfg(target_arch = "aarch64")]
pub(crate) fn flush_to_zero() {
    let mode = 1_u64 << 24;
    // SAFETY: a valid mode, for this thread.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) mode, options(nomem, nostack)) };
}

/// GUARD-G1, GUARD-G2: a mode that makes sums wrong is found, and sums are right afterwards.
#[test]
fn g2_subnormals_are_back() {
    let sum = subnormal_sum();
    assert!(sum > 0.0);
    let mut within = 1.0;
    let changes = found(|| {
        flush_to_zero();
        within = subnormal_sum();
    });
    assert_eq!(within, 0.0, "the mode has its effect");
    assert_eq!(parts(&changes), ["the floating-point mode"]);
    assert!(changes[0].undone && changes[0].before.contains("keeps subnormals"), "{changes:?}");
    assert!(changes[0].after.contains("subnormals to zero"), "{changes:?}");
    assert_eq!(subnormal_sum(), sum);
}

/// GUARD-G1, GUARD-G3: nothing is found where nothing changed.
#[test]
fn g3_nothing_is_said_of_nothing() {
    assert_eq!(found(|| {}), []);
}

/// GUARD-G2: the umask, the folder and the environment are back; values are not shown (GUARD-G3).
#[test]
fn g2_surroundings_are_back() {
    let folder = std::env::current_dir().unwrap();
    let count = std::env::vars_os().count();
    let changes = found(|| {
        // SAFETY: tests that change or read the process are excluded by the lock.
        unsafe {
            libc::umask(0o777);
            std::env::remove_var("PATH");
            std::env::set_var("CHIPDOCK_GUARD_TEST", "a secret");
        }
        std::env::set_current_dir("/").unwrap();
    });
    assert_eq!(parts(&changes), ["the environment", "the working folder", "the umask"]);
    assert!(changes[0].after.ends_with("(CHIPDOCK_GUARD_TEST added, PATH removed)"), "{changes:?}");
    assert!(!format!("{changes:?}").contains("secret"));
    assert_eq!(std::env::current_dir().unwrap(), folder);
    assert_eq!(std::env::vars_os().count(), count);
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    assert_ne!(fs::metadata(&file).unwrap().permissions().mode() & 0o400, 0);
}

/// GUARD-G2: handlers, the mask and the stack for signals.
#[test]
fn g2_signals_are_back() {
    let changes = found(|| {
        // SAFETY: valid calls; what they change is put back.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            let mut all = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
            let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            libc::sigaltstack(&raw const none, std::ptr::null_mut());
        }
    });
    let all = ["what SIGCHLD does", "the thread's stack for signals", "the signal mask of the thread"];
    assert_eq!(parts(&changes), all);
    assert!(changes.iter().all(|change| change.undone), "{changes:?}");
    // A child can be waited for.
    assert!(std::process::Command::new("true").status().unwrap().success());
}

/// GUARD-G2: limits and timers.
#[test]
fn g2_limits_are_back() {
    let changes = found(|| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        let soon = libc::timeval { tv_sec: 0, tv_usec: 50_000 };
        let timer = libc::itimerval { it_interval: soon, it_value: soon };
        // SAFETY: valid calls; what they change is put back.
        unsafe {
            libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
            limit.rlim_cur = 3;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
            libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
        }
    });
    assert_eq!(parts(&changes), ["the limit RLIMIT_NOFILE", "interval timer 0"]);
    assert!(changes.iter().all(|change| change.undone), "{changes:?}");
    // SIGALRM would have ended this process.
    std::thread::sleep(std::time::Duration::from_millis(80));
}

/// GUARD-G2: a standard stream that was closed leads to its file again.
#[test]
#[cfg(target_os = "linux")]
fn g2_streams_are_back() {
    let of_input = || fs::read_link("/proc/self/fd/0").ok();
    let before = of_input();
    let changes = found(|| {
        // SAFETY: put back by the guard.
        unsafe { libc::close(0) };
    });
    assert_eq!(parts(&changes), ["standard input"]);
    assert_eq!((changes[0].after.as_str(), changes[0].undone), ("closed", true));
    assert_eq!(of_input(), before);
}

/// GUARD-G4: a change that nobody can undo is named once.
#[test]
#[cfg(target_os = "linux")]
fn g4_a_change_that_stays_is_named_once() {
    // The flag is that of the thread, which ends.
    let of_thread = std::thread::spawn(|| {
        let mut guard = Guard::of_opening();
        // SAFETY: takes numbers.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1_u64, 0_u64, 0_u64, 0_u64) };
        [guard.settle("x"), guard.settle("x")]
    });
    let [first, second] = of_thread.join().unwrap();
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(!first[0].undone && first[0].to_string().ends_with("which could not be put back"), "{first:?}");
    assert_eq!(second, []);
}

/// GUARD-G1: the processors of the thread, where there are several.
#[test]
#[cfg(target_os = "linux")]
fn g2_processors_are_back() {
    let count = std::thread::available_parallelism().unwrap().get();
    let changes = found(|| {
        // SAFETY: a set of one processor, on which the thread is; put back by the guard.
        unsafe {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(usize::try_from(libc::sched_getcpu()).unwrap(), &mut one);
            libc::sched_setaffinity(0, size_of_val(&one), &raw const one);
        }
    });
    let expected: &[&str] = if count > 1 { &["the processors of the thread"] } else { &[] };
    assert_eq!(parts(&changes), expected);
    assert_eq!(std::thread::available_parallelism().unwrap().get(), count);
}

/// What a snapshot and its comparisons cost, for whoever runs it with `--nocapture`.
#[test]
fn a_guard_is_cheap() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let started = std::time::Instant::now();
    for _ in 0..100 {
        let mut guard = Guard::of_opening();
        for _ in 0..3 {
            assert_eq!(guard.settle("x"), []);
        }
    }
    let each = started.elapsed() / 100;
    println!("the guard of one opening: {each:?}");
    assert!(each < std::time::Duration::from_millis(20), "{each:?}");
}
