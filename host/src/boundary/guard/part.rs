//! A watched part of the process, and what changed in it.

use std::fmt;
use std::mem::MaybeUninit;

use serde::{Deserialize, Serialize};

/// A change that a plugin made to the process while it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessChange {
    /// The step after which it was found, such as `opening its library`.
    pub during: String,
    /// The part of the process, such as `the umask`.
    pub what: String,
    /// Its state before.
    pub before: String,
    /// The state that the plugin left.
    pub after: String,
    /// Whether the state before was put back.
    pub undone: bool,
}

impl fmt::Display for ProcessChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { during, what, before, after, undone } = self;
        let end = if *undone { "put back" } else { "which could not be put back" };
        write!(f, "{during} changed the process: {what} was {before}, became {after}, {end}")
    }
}

/// Changes of one step, as they are found.
#[derive(Default)]
pub(super) struct Found(pub(super) Vec<ProcessChange>);

impl Found {
    pub(super) fn add(&mut self, what: impl Into<String>, before: String, after: String, undone: bool) {
        let during = String::new();
        self.0.push(ProcessChange { during, what: what.into(), before, after, undone });
    }
}

/// A watched part: its state as it was.
pub(super) trait Part {
    /// Compares it with the state now, puts the state before back, and adds the differences.
    fn settle(&mut self, found: &mut Found);
}

/// Returns the value that a call of the system writes, where it succeeds.
///
/// # Safety
///
/// `ask` writes a `T` where it answers 0, and all zeros are a `T`.
pub(super) unsafe fn asked<T>(ask: impl FnOnce(*mut T) -> libc::c_int) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: zeros, or what `ask` wrote.
    (ask(value.as_mut_ptr()) == 0).then(|| unsafe { value.assume_init() })
}
