//! The three standard streams (CLI-C1), whatever a plugin does with them.
//!
//! Results go to a descriptor of the command's own, which no other program inherits. The former
//! standard output leads to standard error from then on: output of a plugin, or of a compiler that
//! it runs, disturbs no result.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use chipdock_host::files::advice_of_writing;
use chipdock_supervise::leave;
use rustix::io::{fcntl_dupfd_cloexec, fcntl_getfd};
use rustix::stdio;

use crate::isolate;
use crate::report::{Exit, Failure, Result};

/// Set before `main` where standard output is closed: Rust's runtime then puts `/dev/null` in its
/// place, and a result would be lost without a word.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Id of the command's process; 0 until it is taken.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Stream of results; None when standard output was closed when the command began.
static RESULTS: OnceLock<Option<File>> = OnceLock::new();

extern "C" fn look() {
    IS_CLOSED.store(fcntl_getfd(stdio::stdout()).is_err(), Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions that are called once before `main`, on its only
// thread; this one asks for the flags of a descriptor and stores one atomic, and needs nothing of
// the runtime.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

/// Takes standard output for results, and makes the descriptor that other code knows as standard
/// output lead to standard error. To be called once, before any plugin is opened.
///
/// # Errors
///
/// Exit code 1 when no descriptor is left for it.
pub(crate) fn take() -> Result<()> {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    let failed = |error: rustix::io::Errno| {
        Failure::work(format!("cannot keep a descriptor for the result: {}", io::Error::from(error)))
            .at("standard output")
            .help("allow more open files (ulimit -n)")
    };
    let results = if IS_CLOSED.load(Ordering::Relaxed) {
        None
    } else {
        Some(File::from(fcntl_dupfd_cloexec(stdio::stdout(), 3).map_err(failed)?))
    };
    stdio::dup2_stdout(stdio::stderr()).map_err(failed)?;
    let _ = RESULTS.set(results);
    Ok(())
}

/// Ends a process that a plugin or a kernel forked, in silence (CLI-C15): it has come back as if it
/// were the command, and the command itself goes on.
pub(crate) fn leave_if_forked() {
    let own = PROCESS.load(Ordering::Relaxed);
    if own != 0 && own != std::process::id() {
        leave(Exit::Plugin as i32);
    }
}

/// Returns the stream of results, as a file to examine; `None` when there is none.
pub(crate) fn results() -> Option<&'static File> {
    RESULTS.get()?.as_ref()
}

/// Returns true if results go to a terminal.
pub(crate) fn results_are_watched() -> bool {
    isolate::is_watched().unwrap_or_else(|| results().is_some_and(File::is_terminal))
}

/// Writes to the stream of results. A reader that has gone away is no error: it has seen enough.
///
/// # Errors
///
/// Exit code 1 when it cannot be written for another reason, as with a full disk, or was closed
/// from the start.
pub(crate) fn write_results(bytes: &[u8]) -> Result<()> {
    leave_if_forked();
    if let Some(handed_over) = isolate::hand_over(None, &mut |out| out.write_all(bytes)) {
        let failed = |error| Failure::work(format!("cannot hand over the result: {error}"));
        return handed_over.map_err(failed);
    }
    let written = match RESULTS.get() {
        Some(Some(file)) => (&*file).write_all(bytes),
        Some(None) => Err(io::Error::other("it was closed when the command began")),
        // Before the streams are taken no code is running that could disturb them.
        None => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let failed = Failure::work(format!("cannot write the result: {error}")).at("standard output");
            let is_full = error.kind() == io::ErrorKind::StorageFull;
            Err(if is_full { failed.help(advice_of_writing(&error)) } else { failed })
        }
        _ => Ok(()),
    }
}

/// Writes messages to standard error. A full or closed one does not change how the command ends:
/// the exit code reports the work.
pub(crate) fn say(text: &str) {
    leave_if_forked();
    let _ = io::stderr().write_all(text.as_bytes());
}
