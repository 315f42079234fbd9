//! What signals do, which of them are blocked, and the stack that their handlers run on.

use std::ptr;

use super::part::{Found, Part, asked};

/// Signals have numbers from 1 to this one.
const SIGNAL_MAX: i32 = 64;
/// So many names of signals are written out.
const NAMES_SHOWN: usize = 6;

fn name(signal: i32) -> String {
    let known = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGCHLD => "SIGCHLD",
        libc::SIGCONT => "SIGCONT",
        libc::SIGURG => "SIGURG",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGPROF => "SIGPROF",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}"),
    };
    known.to_owned()
}

/// Returns the signals of a set as bits; bit 0 is signal 1.
fn bits(set: &libc::sigset_t) -> u64 {
    // SAFETY: reads an initialised set; a number that is no signal is in none.
    let has = |signal: i32| unsafe { libc::sigismember(set, signal) } == 1;
    (1..=SIGNAL_MAX).filter(|signal| has(*signal)).fold(0, |bits, signal| bits | 1 << (signal - 1))
}

/// What each signal does: nothing for numbers that are no signal, or not the program's.
pub(super) struct Actions(Vec<(i32, libc::sigaction)>);

fn action(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: writes the action, plain integers, and changes nothing.
    unsafe { asked(|action| libc::sigaction(signal, ptr::null(), action)) }
}

/// The flags that a program sets; the C library and the kernel have others.
const FLAGS: libc::c_int = libc::SA_NOCLDSTOP
    | libc::SA_NOCLDWAIT
    | libc::SA_SIGINFO
    | libc::SA_ONSTACK
    | libc::SA_RESTART
    | libc::SA_NODEFER
    | libc::SA_RESETHAND;

fn is_same(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    let has_handler = ![libc::SIG_DFL, libc::SIG_IGN].contains(&one.sa_sigaction);
    one.sa_sigaction == other.sa_sigaction
        && one.sa_flags & FLAGS == other.sa_flags & FLAGS
        && (!has_handler || bits(&one.sa_mask) == bits(&other.sa_mask))
}

fn words(action: &libc::sigaction) -> String {
    match action.sa_sigaction {
        libc::SIG_DFL if action.sa_flags & libc::SA_NOCLDWAIT != 0 => {
            "the default, without waiting".to_owned()
        }
        libc::SIG_DFL => "the default".to_owned(),
        libc::SIG_IGN => "ignored".to_owned(),
        handler => format!("the handler at {handler:#x}"),
    }
}

impl Actions {
    pub(super) fn now() -> Self {
        Self((1..=SIGNAL_MAX).filter_map(|signal| Some((signal, action(signal)?))).collect())
    }
}

impl Part for Actions {
    fn settle(&mut self, found: &mut Found) {
        let mut changed: Vec<(String, String, String, bool)> = Vec::new();
        for (signal, before) in &mut self.0 {
            let Some(after) = action(*signal).filter(|after| !is_same(before, after)) else { continue };
            // SAFETY: the action that was there before.
            let undone = unsafe { libc::sigaction(*signal, before, ptr::null_mut()) } == 0;
            changed.push((name(*signal), words(before), words(&after), undone));
            if !undone {
                *before = after;
            }
        }
        let others = changed.split_off(changed.len().min(NAMES_SHOWN));
        for (name, before, after, undone) in changed {
            found.add(format!("what {name} does"), before, after, undone);
        }
        if !others.is_empty() {
            let what = format!("what {} more signals do", others.len());
            let undone = others.iter().all(|(.., undone)| *undone);
            found.add(what, "as it was".to_owned(), "another".to_owned(), undone);
        }
    }
}

/// The signals that this thread blocks.
pub(super) struct SignalMask(Option<libc::sigset_t>);

fn mask() -> Option<libc::sigset_t> {
    // SAFETY: writes the mask, plain integers, and changes nothing.
    unsafe { asked(|set| libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), set)) }
}

fn blocked(set: &libc::sigset_t) -> String {
    let bits = bits(set);
    let names: Vec<String> =
        (1..=SIGNAL_MAX).filter(|signal| bits >> (signal - 1) & 1 != 0).map(name).collect();
    match names.len() {
        0 => "empty".to_owned(),
        count if count > NAMES_SHOWN => format!("{count} signals"),
        _ => names.join(" "),
    }
}

impl SignalMask {
    pub(super) fn now() -> Self {
        Self(mask())
    }
}

impl Part for SignalMask {
    fn settle(&mut self, found: &mut Found) {
        let (Some(before), Some(after)) = (&self.0, mask()) else { return };
        if bits(before) == bits(&after) {
            return;
        }
        // SAFETY: the mask that was there before.
        let undone = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) } == 0;
        found.add("the signal mask of the thread", blocked(before), blocked(&after), undone);
        if !undone {
            self.0 = Some(after);
        }
    }
}

/// The stack on which handlers of this thread may run.
pub(super) struct SignalStack(Option<libc::stack_t>);

fn stack() -> Option<libc::stack_t> {
    // SAFETY: writes the stack's place, a pointer and integers, and changes nothing.
    unsafe { asked(|stack| libc::sigaltstack(ptr::null(), stack)) }
}

fn place(stack: &libc::stack_t) -> String {
    match stack.ss_flags & libc::SS_DISABLE {
        0 => format!("{} bytes at {:p}", stack.ss_size, stack.ss_sp),
        _ => "none".to_owned(),
    }
}

impl SignalStack {
    pub(super) fn now() -> Self {
        Self(stack())
    }
}

impl Part for SignalStack {
    fn settle(&mut self, found: &mut Found) {
        let (Some(before), Some(after)) = (&self.0, stack()) else { return };
        if place(before) == place(&after) {
            return;
        }
        // SAFETY: the stack that was there before, whose owner keeps it as long as this thread has
        // it.
        let undone = unsafe { libc::sigaltstack(before, ptr::null_mut()) } == 0;
        found.add("the thread's stack for signals", place(before), place(&after), undone);
        if !undone {
            self.0 = Some(after);
        }
    }
}
