//! Undoes changes that a plugin makes to the process while it is opened, and names them.
//!
//! A library's constructors, its entry and `init` run in everybody's process. One that was linked
//! with `-ffast-math` makes the whole thread flush small numbers to zero; others ignore SIGCHLD,
//! clear the environment or set the umask. P1.11 and P10.8 of the contract forbid that; the host
//! does not rely on it.
//!
//! * **GUARD-G1 Everything.** Watched are, of the thread: the floating-point mode (rounding,
//!   subnormals, traps), the signal mask, the alternate signal stack, the locale, priority and
//!   processors; of the process: what each signal does, the environment, the working folder, the
//!   umask, the locale, limits, interval timers, the three standard streams, and on Linux whether
//!   it may dump core, gain privileges, and outlive its parent.
//! * **GUARD-G2 Put back.** A change is undone at once, before anything else runs on the thread:
//!   after the library was opened, after its entry, and after `init`, whether they succeeded or
//!   not. Handlers of signals are put back as well: a driver that needs one is opened by the first
//!   call that needs it, and may keep it (P10.10).
//! * **GUARD-G3 Named.** Each change is a warning that names the plugin, the step, the state before
//!   and after, and whether it could be undone; it is in the plugin's report too. Values of
//!   variables are never shown. A plugin is not refused for it.
//! * **GUARD-G4 Once.** A change that cannot be undone, such as a hard limit without privileges, is
//!   named once; from then on it is the state.
//! * **GUARD-G5 Calls.** The first call that asks for a plugin's devices opens its driver;
//!   afterwards the parts that no call may change (P10.10) are put back and named; signal handlers
//!   and their stack are the driver's. After every other call of a table the floating-point mode is
//!   put back, with one warning for each function.
//! * **GUARD-G6 Other threads.** A change that another thread makes to the process in that time
//!   cannot be told from the plugin's, and is undone too. So nothing of the process is watched
//!   during ordinary calls.

mod float;
mod limits;
mod part;
mod signals;
mod streams;
mod surroundings;

use std::path::Path;

pub(crate) use float::FloatMode;
use limits::{Limits, Scheduling};
pub use part::ProcessChange;
use part::{Found, Part};
use signals::{Actions, SignalMask, SignalStack};
use streams::Streams;
use surroundings::{Folder, Locale, Umask, Variables};

use crate::log::{Log, LogLevel};

/// The state of the process before a plugin's code runs.
pub(crate) struct Guard {
    /// In the order in which they are put back: limits first, as others need descriptors; the mask
    /// after the handlers.
    parts: Vec<Box<dyn Part>>,
}

impl Guard {
    /// Takes a snapshot of everything that is watched (GUARD-G1).
    pub(crate) fn of_opening() -> Self {
        let mut parts: Vec<Box<dyn Part>> = vec![
            Box::new(Limits::now()),
            Box::new(Streams::now()),
            Box::new(Variables::now()),
            Box::new(Actions::now()),
            Box::new(Scheduling::now()),
            Box::new(SignalStack::now()),
        ];
        parts.extend(Self::of_first_call().parts);
        Self { parts }
    }

    /// Takes a snapshot of the parts that no call may change (GUARD-G5).
    pub(crate) fn of_first_call() -> Self {
        let parts: Vec<Box<dyn Part>> = vec![
            Box::new(Folder::now()),
            Box::new(Umask::now()),
            Box::new(Locale::now()),
            Box::new(SignalMask::now()),
            Box::new(FloatMode::now()),
        ];
        Self { parts }
    }

    /// Puts back what changed since the snapshot, or since this was called before, and returns the
    /// changes (GUARD-G2, GUARD-G4).
    pub(crate) fn settle(&mut self, during: &str) -> Vec<ProcessChange> {
        let mut found = Found::default();
        for part in &mut self.parts {
            part.settle(&mut found);
        }
        for change in &mut found.0 {
            during.clone_into(&mut change.during);
        }
        found.0
    }
}

/// Logs the changes that a plugin made (GUARD-G3).
pub(crate) fn warn(log: &Log, plugin: &str, changes: &[ProcessChange]) {
    warn_of(log, &format!("plugin \"{plugin}\""), changes);
}

/// Logs the changes that a library made which is no plugin.
pub(crate) fn warn_of_library(log: &Log, path: &Path, changes: &[ProcessChange]) {
    warn_of(log, &format!("library {}", path.display()), changes);
}

fn warn_of(log: &Log, whose: &str, changes: &[ProcessChange]) {
    for change in changes {
        log.write(LogLevel::Warning, &format!("{whose}: {change}; report it to its maintainer"));
    }
}

#[cfg(test)]
pub(crate) mod tests;
