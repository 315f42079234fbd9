//! Signal handlers that write the stack of the interrupted thread, then let the signal take its
//! default effect (SUITE-S9).

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::{mem, ptr};

/// First part of the line before a stack; the signal's number follows.
pub(super) const MARK: &str = "@chipdock-stack ";
/// Line after a stack.
pub(super) const END: &str = "@chipdock-stack-end";
/// Signal that asks a worker for the stack of its main thread.
pub(super) const ASK: c_int = libc::SIGQUIT;
/// Signals that end a process because of a fault in it.
const FATAL: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGSYS];
/// Maximum number of frames that are written.
const N_FRAMES: usize = 64;
/// Size of the handlers' stack, which unwinding needs too.
const STACK_BYTES: usize = 256 << 10;
/// Time after which a stuck handler ends the process: unwinding may wait for a lock that its own
/// thread holds.
const PATIENCE_SECONDS: u32 = 3;

struct Here {
    process: libc::pid_t,
    stderr: RawFd,
}

static HERE: OnceLock<Here> = OnceLock::new();

/// Installs the handlers in this process. `stderr` is a separate descriptor that stacks are written
/// to.
pub(super) fn install(stderr: RawFd) {
    // SAFETY: `getpid` only returns a number.
    let process = unsafe { libc::getpid() };
    if HERE.set(Here { process, stderr }).is_err() {
        return;
    }
    let stack = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack is leaked, so it stays valid.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
    // The first call loads the unwinder, which must not happen in a handler.
    let mut frames = [ptr::null_mut(); 2];
    // SAFETY: the array has room for two frames.
    unsafe { libc::backtrace(frames.as_mut_ptr(), 2) };
    // SAFETY: all zero is a valid `sigaction`, which is filled in below.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_ONSTACK;
    for signal in FATAL.into_iter().chain([ASK]) {
        // SAFETY: the action is complete; apart from unwinding, which usually succeeds in a
        // handler, the handler only calls functions that are allowed there.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
}

extern "C" fn handle(signal: c_int) {
    let Some(here) = HERE.get() else { return };
    // SAFETY: `getpid` only returns a number.
    let is_worker = unsafe { libc::getpid() } == here.process;
    // A process that the plugin forked writes no stack.
    if is_worker {
        write_stack(here.stderr, signal);
    }
    if signal != ASK || !is_worker {
        // SAFETY: restores the default action, which takes effect once this handler returns.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        // SAFETY: as above.
        unsafe { libc::raise(signal) };
    }
}

fn write_stack(stderr: RawFd, signal: c_int) {
    // SAFETY: restores the default action, which ends the process if the rest does not finish.
    unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
    // SAFETY: as above.
    unsafe { libc::alarm(PATIENCE_SECONDS) };
    let digits = [b'0' + (signal / 10 % 10) as u8, b'0' + (signal % 10) as u8];
    for part in [b"\n", MARK.as_bytes(), &digits, b"\n"] {
        write(stderr, part);
    }
    let mut frames: [*mut c_void; N_FRAMES] = [ptr::null_mut(); N_FRAMES];
    // SAFETY: the array has room for that many frames.
    let n_frames = unsafe { libc::backtrace(frames.as_mut_ptr(), N_FRAMES as c_int) };
    // SAFETY: the frames were just written; the function does not allocate.
    unsafe { libc::backtrace_symbols_fd(frames.as_ptr(), n_frames, stderr) };
    for part in [END.as_bytes(), b"\n"] {
        write(stderr, part);
    }
    // SAFETY: only cancels the alarm.
    unsafe { libc::alarm(0) };
}

fn write(to: RawFd, bytes: &[u8]) {
    // SAFETY: the bytes are live for the call; a failure cannot be reported here.
    let _ = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
}
