//! Signals: their names, and those that end a process.

/// The name of a signal, as `SIGSEGV`.
#[must_use]
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGVTALRM => "SIGVTALRM",
        libc::SIGPROF => "SIGPROF",
        libc::SIGSYS => "SIGSYS",
        #[cfg(target_os = "linux")]
        libc::SIGSTKFLT => "SIGSTKFLT",
        #[cfg(target_os = "linux")]
        libc::SIGIO => "SIGIO",
        #[cfg(target_os = "linux")]
        libc::SIGPWR => "SIGPWR",
        #[cfg(target_os = "linux")]
        found if (libc::SIGRTMIN()..=libc::SIGRTMAX()).contains(&found) => "a real-time signal",
        _ => "a signal without a name here",
    }
}

/// What a signal that ended a process says about its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An error of the code that ran, unless somebody sent it.
    Crash,
    /// Somebody wanted the end.
    Request,
    /// The limit of processor time was reached.
    TimeLimit,
    /// Something else sent it.
    Other,
}

impl Meaning {
    /// Returns that of a signal.
    #[must_use]
    pub fn of(signal: i32) -> Self {
        match signal {
            libc::SIGSEGV
            | libc::SIGBUS
            | libc::SIGFPE
            | libc::SIGILL
            | libc::SIGABRT
            | libc::SIGTRAP
            | libc::SIGSYS => Self::Crash,
            libc::SIGHUP | libc::SIGINT | libc::SIGQUIT | libc::SIGTERM => Self::Request,
            libc::SIGXCPU => Self::TimeLimit,
            _ => Self::Other,
        }
    }

    /// Returns the words that follow the name of what was ended.
    #[must_use]
    pub fn words(self) -> &'static str {
        if self == Self::Crash { "crashed" } else { "was killed" }
    }
}

/// Makes a write past the limit of a file's size an error of that write, as a full disk is, in
/// place of a signal that ends the process. For programs; what they start inherits it.
pub fn make_file_limit_an_error() {
    // SAFETY: sets an action that is none of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Returns the signals that end a process which does nothing about them, and that it can do
/// something about.
pub(crate) fn fatal() -> impl Iterator<Item = i32> {
    #[cfg(target_os = "linux")]
    let (named, others) = (31, libc::SIGRTMIN()..=libc::SIGRTMAX());
    #[cfg(not(target_os = "linux"))]
    let (named, others) = (31, 32..=31);
    (1..=named).chain(others).filter(|signal| !is_harmless(*signal) && *signal != libc::SIGKILL)
}

/// Returns true for a signal that is ignored, or stops or continues a process, by itself.
fn is_harmless(signal: i32) -> bool {
    #[cfg(not(target_os = "linux"))]
    if matches!(signal, libc::SIGIO | libc::SIGINFO) {
        return true;
    }
    matches!(
        signal,
        libc::SIGCHLD
            | libc::SIGCONT
            | libc::SIGSTOP
            | libc::SIGTSTP
            | libc::SIGTTIN
            | libc::SIGTTOU
            | libc::SIGURG
            | libc::SIGWINCH
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CHILD-V10: as signal(7) lists them, of those with a name all that terminate or dump core.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_fatal_signals_are_those_of_the_system() {
        let named: Vec<&str> = fatal().filter(|signal| *signal < 32).map(signal_name).collect();
        let expected = [
            "SIGHUP",
            "SIGINT",
            "SIGQUIT",
            "SIGILL",
            "SIGTRAP",
            "SIGABRT",
            "SIGBUS",
            "SIGFPE",
            "SIGUSR1",
            "SIGSEGV",
            "SIGUSR2",
            "SIGPIPE",
            "SIGALRM",
            "SIGTERM",
            "SIGSTKFLT",
            "SIGXCPU",
            "SIGXFSZ",
            "SIGVTALRM",
            "SIGPROF",
            "SIGIO",
            "SIGPWR",
            "SIGSYS",
        ];
        assert_eq!(named, expected);
        assert!(
            fatal().filter(|signal| *signal >= 32).all(|signal| signal_name(signal) == "a real-time signal")
        );
    }
}
