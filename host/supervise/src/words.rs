//! Last words: a message of a process that a signal or a foreign `exit` ends (CHILD-V10).

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{mem, ptr};

use crate::aborted;
use crate::handler::Given;
use crate::maps::{Spot, spot};
use crate::signals::{self, Meaning};

/// Signals that an instruction raises, again when it is run again.
const FAULTS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// Time in milliseconds that a thread waits for another one's last words: a reader that has stopped
/// may block them.
const WAIT_MILLIS: u32 = 1000;

/// Cause of the end of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A signal, which takes effect afterwards: a process that waits for this one sees it.
    Signal {
        /// Its number.
        number: i32,
        /// Where the thread was that raised it; `None` for a signal that another process sent, and
        /// where it is not known.
        spot: Option<Spot>,
    },
    /// A call of `exit` that was not the program's own.
    Exit,
}

/// Size of the buffer of last words: a pipe takes it in one piece.
const AT_ONCE_BYTES: usize = 1024;

/// Standard error, for a signal's handler: without allocation or locks. It is written in one piece
/// at the end, so that what another thread writes comes before or after it; a text of more than
/// 1,024 bytes is written in several.
#[derive(Debug)]
pub struct Words {
    bytes: [u8; AT_ONCE_BYTES],
    n_bytes: usize,
}

impl Words {
    const fn new() -> Self {
        Self { bytes: [0; AT_ONCE_BYTES], n_bytes: 0 }
    }

    /// Appends a text.
    pub fn put(&mut self, text: &str) {
        for &byte in text.as_bytes() {
            if self.n_bytes == AT_ONCE_BYTES {
                self.flush();
            }
            self.bytes[self.n_bytes] = byte;
            self.n_bytes += 1;
        }
    }

    /// Writes what was appended. No error can be reported.
    fn flush(&mut self) {
        let mut rest = &self.bytes[..self.n_bytes];
        while !rest.is_empty() {
            // SAFETY: bytes that are live for the call.
            let written = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) if written > 0 => rest = &rest[written.min(rest.len())..],
                _ => break,
            }
        }
        self.n_bytes = 0;
    }

    /// Returns true if standard error is a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        // SAFETY: asks about a descriptor.
        unsafe { libc::isatty(2) == 1 }
    }
}

/// Writes the last words. It runs in a signal's handler: it must not allocate, lock or panic.
pub type Speak = fn(Fate, &mut Words);

struct Installed {
    process: libc::pid_t,
    speak: Speak,
    /// Exit code of a process that was ended by a foreign `exit`.
    exit_code: c_int,
    /// Actions of the faults before ours.
    before: [libc::sigaction; FAULTS.len()],
}

static WORDS: Given<Words> = Given::new(Words::new());
static INSTALLED: OnceLock<Installed> = OnceLock::new();
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static HAS_SPOKEN: AtomicBool = AtomicBool::new(false);
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Marks the program's own end: when it is dropped, also by a panic, the following exit is the
/// program's own.
#[derive(Debug)]
pub struct OwnEnd(());

impl Drop for OwnEnd {
    fn drop(&mut self) {
        HAS_ENDED.store(true, Ordering::Relaxed);
    }
}

/// Makes this process write last words before a signal ends it that it does not ignore, and before
/// an `exit` that comes while the returned value is alive; such an exit ends with `exit_code`. For
/// programs, once; a library leaves signals alone.
///
/// Handlers run on the alternate stack that a thread of Rust's has, so that a stack that is full is
/// no obstacle.
#[must_use]
pub fn speak_at_the_end(speak: Speak, exit_code: i32) -> OwnEnd {
    let mut before: [libc::sigaction; FAULTS.len()] =
        // SAFETY: all zero is an action.
        unsafe { mem::zeroed() };
    for (signal, old) in FAULTS.into_iter().zip(&mut before) {
        // SAFETY: asks for the action, into a place for it.
        unsafe { libc::sigaction(signal, ptr::null(), old) };
    }
    aborted::prepare();
    // SAFETY: asks for a number.
    let process = unsafe { libc::getpid() };
    if INSTALLED.set(Installed { process, speak, exit_code, before }).is_err() {
        return OwnEnd(());
    }
    // SAFETY: all zero is an action, which is filled in.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO;
    for signal in signals::fatal().filter(|signal| !is_ignored(*signal)) {
        // SAFETY: a whole action, whose handler does what a handler may.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
    // SAFETY: a function that lives as long as the process.
    unsafe { libc::atexit(at_exit) };
    OwnEnd(())
}

/// Returns true for a signal that whoever started this process, or its own code, has it ignore.
fn is_ignored(signal: c_int) -> bool {
    // SAFETY: all zero is an action.
    let mut found: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: asks for the action, into a place for it.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), &raw mut found) };
    answer == 0 && found.sa_sigaction == libc::SIG_IGN
}

/// Writes the last words once for each process: two threads may fail at once, and a handler may
/// fail itself.
fn speak(installed: &Installed, fate: Fate) -> bool {
    // SAFETY: asks for a number.
    let is_ours = unsafe { libc::getpid() } == installed.process;
    if is_ours && !HAS_BEGUN.swap(true, Ordering::Relaxed) {
        if let Some(words) = WORDS.take() {
            (installed.speak)(fate, words);
            words.flush();
        }
        HAS_SPOKEN.store(true, Ordering::Release);
    } else if is_ours {
        // Another thread is writing: the next step of this one would cut it short.
        for _ in 0..WAIT_MILLIS {
            if HAS_SPOKEN.load(Ordering::Acquire) {
                break;
            }
            let wait = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            // SAFETY: a time that is live for the call; a handler may wait.
            unsafe { libc::nanosleep(&raw const wait, ptr::null_mut()) };
        }
    }
    // A process that was forked from ours ends without last words of ours.
    is_ours
}

/// Returns where the thread was that raised a signal, unless another process sent it.
///
/// # Safety
///
/// * Both are what the kernel hands to a handler.
unsafe fn own_spot(info: *const libc::siginfo_t, context: *const c_void) -> Option<Spot> {
    // SAFETY: this function requires it.
    let info = unsafe { info.as_ref() }?;
    // SAFETY: a signal of this process has the sender's number, one of the kernel's a code above 0.
    let is_own = info.si_code > 0 || unsafe { info.si_pid() == libc::getpid() };
    // SAFETY: this function requires it.
    is_own.then(|| unsafe { spot(context) }).flatten()
}

/// Is called with a crash and its place, in a signal's handler: it must not allocate, lock or
/// panic.
pub type Tell = fn(i32, Option<Spot>);

/// What tells, and the process that does: not one that was forked from it.
static TELL: OnceLock<(libc::pid_t, Tell)> = OnceLock::new();
static HAS_TOLD: AtomicBool = AtomicBool::new(false);

/// In a child: has each signal that means a crash told of before it ends the process as it would
/// (CHILD-V11).
pub fn tell_of_crashes(tell: Tell) {
    aborted::prepare();
    // SAFETY: asks for a number.
    let process = unsafe { libc::getpid() };
    if TELL.set((process, tell)).is_err() {
        return;
    }
    // SAFETY: all zero is an action, which is filled in.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = tell_and_end as *const () as usize;
    action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO;
    for signal in
        signals::fatal().filter(|signal| Meaning::of(*signal) == Meaning::Crash && !is_ignored(*signal))
    {
        // SAFETY: a whole action, whose handler does what a handler may.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
}

extern "C" fn tell_and_end(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: asks for a number.
    let here = unsafe { libc::getpid() };
    let is_first = |told: &&(libc::pid_t, Tell)| told.0 == here && !HAS_TOLD.swap(true, Ordering::Relaxed);
    if let Some((_, tell)) = TELL.get().filter(is_first) {
        // SAFETY: what the kernel hands to a handler.
        tell(signal, unsafe { own_spot(info, context) });
    }
    // SAFETY: what the signal does by itself comes next: a fault comes again, another is raised
    // again.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    // SAFETY: what the kernel hands to a handler.
    let is_a_fault = !info.is_null() && unsafe { (*info).si_code } > 0;
    if !is_a_fault || !FAULTS.contains(&signal) {
        // SAFETY: as above.
        unsafe { libc::raise(signal) };
    }
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(installed) = INSTALLED.get() else { return };
    // SAFETY: what the kernel hands to a handler.
    let spot = unsafe { own_spot(info, context) };
    speak(installed, Fate::Signal { number: signal, spot });
    // SAFETY: what the kernel hands to a handler.
    let is_a_fault = !info.is_null() && unsafe { (*info).si_code } > 0;
    let before = FAULTS.iter().zip(&installed.before).find(|(fault, _)| **fault == signal);
    match before {
        // The fault comes again once this handler returns; Rust's own handler recognises a full
        // stack.
        Some((_, before)) if is_a_fault => {
            // SAFETY: the action that was there before ours.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
        _ => {
            // SAFETY: what the signal does by itself comes next, once this handler returns.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            // SAFETY: as above.
            unsafe { libc::raise(signal) };
        }
    }
}

extern "C" fn at_exit() {
    let Some(installed) = INSTALLED.get() else { return };
    if !HAS_ENDED.load(Ordering::Relaxed) && speak(installed, Fate::Exit) {
        crate::leave(installed.exit_code);
    }
}
