//! Signal handlers that write the stack of the thread, and then let the signal take effect (SUITE-S9).

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::{mem, ptr};

/// Prefix of the line before a stack, followed by the signal's number.
pub(super) const MARK: &str = "@chipdock-stack ";
/// The line after a stack.
pub(super) const END: &str = "@chipdock-stack-end";
/// Signal that asks a worker for the stack of its main thread.
pub(super) const ASK: c_int = libc::SIGQUIT;
/// Signals that end a process because of its own action.
const FATAL: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGSYS];
/// Frames that are written.
const N_FRAMES: usize = 64;
/// The stack of the handlers: what unwinds needs some.
const STACK_BYTES: usize = 256 << 10;
/// Unwinding may wait for a lock that the thread itself holds; the process ends after so long.
const PATIENCE_SECONDS: u32 = 3;

struct Here {
    process: libc::pid_t,
    stderr: RawFd,
}

static HERE: OnceLock<Here> = OnceLock::new();

/// Takes the signals of this process. `stderr` is a descriptor of its own that stacks are written to.
pub(super) fn install(stderr: RawFd) {
    // SAFETY: asks for a number.
    let process = unsafe { libc::getpid() };
    if HERE.set(Here { process, stderr }).is_err() {
        return;
    }
    let stack = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: a stack that is never given back.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
    // The first call loads the unwinder, which a handler must not.
    let mut frames = [ptr::null_mut(); 2];
    // SAFETY: a place for two frames.
    unsafe { libc::backtrace(frames.as_mut_ptr(), 2) };
    // SAFETY: all zero is an action, which is filled in.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_ONSTACK;
    for signal in FATAL.into_iter().chain([ASK]) {
        // SAFETY: a whole action; the handler does what a handler may, and unwinds, which mostly goes well.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
}

extern "C" fn handle(signal: c_int) {
    let Some(here) = HERE.get() else { return };
    // SAFETY: asks for a number.
    let is_worker = unsafe { libc::getpid() } == here.process;
    // A fork of the plugin's dies for itself.
    if is_worker {
        write_stack(here.stderr, signal);
    }
    if signal != ASK || !is_worker {
        // SAFETY: what the signal does by itself comes next, once this handler returns.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        // SAFETY: as above.
        unsafe { libc::raise(signal) };
    }
}

fn write_stack(stderr: RawFd, signal: c_int) {
    // SAFETY: ends the process when the rest does not come to an end.
    unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
    // SAFETY: as above.
    unsafe { libc::alarm(PATIENCE_SECONDS) };
    let digits = [b'0' + (signal / 10 % 10) as u8, b'0' + (signal % 10) as u8];
    for part in [b"\n", MARK.as_bytes(), &digits, b"\n"] {
        write(stderr, part);
    }
    let mut frames: [*mut c_void; N_FRAMES] = [ptr::null_mut(); N_FRAMES];
    // SAFETY: a place for so many frames.
    let n_frames = unsafe { libc::backtrace(frames.as_mut_ptr(), N_FRAMES as c_int) };
    // SAFETY: the frames that were just written; it does not allocate.
    unsafe { libc::backtrace_symbols_fd(frames.as_ptr(), n_frames, stderr) };
    for part in [END.as_bytes(), b"\n"] {
        write(stderr, part);
    }
    // SAFETY: it came to an end.
    unsafe { libc::alarm(0) };
}

fn write(to: RawFd, bytes: &[u8]) {
    // SAFETY: bytes that are live for the call; a failure cannot be reported.
    let _ = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
}
