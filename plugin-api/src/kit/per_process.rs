//! State that belongs to the process that made it.

use core::fmt;
use core::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::process::{fork_generation, watch_forks};
use crate::{Error, ErrorKind, bail};

/// A static value of each process: a forked child makes its own (KIT-21).
///
/// A lock that another thread held during the fork is locked for ever in the child, a channel to a
/// thread leads nowhere, and a `OnceLock` that was being filled is never full. So whatever has a
/// lock or a thread, and is not a host's, is put into one of these.
///
/// # Examples
///
/// ```
/// use std::sync::Mutex;
/// use chipdock_plugin_api::kit::{PerProcess, carried, lock};
///
/// static VERSIONS: PerProcess<Mutex<Vec<String>>> = PerProcess::new(carried);
///
/// lock(VERSIONS.of_this()).push("gcc 12".to_owned());
/// assert_eq!(lock(VERSIONS.of_this()).len(), 1);
/// ```
pub struct PerProcess<T: 'static> {
    made: AtomicPtr<Made<T>>,
    make: fn(Option<&'static T>) -> T,
}

struct Made<T> {
    generation: u64,
    value: T,
}

impl<T> fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerProcess").finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// Makes an empty one. `make` makes the value of a process at its first use; in a forked child
    /// it is given the value of the nearest ancestor that had one. Of that it must lock nothing
    /// (`try_lock` is allowed), and use no thread.
    ///
    /// Threads that come first at once may each call `make`; one value is kept.
    #[must_use]
    pub const fn new(make: fn(Option<&'static T>) -> T) -> Self {
        Self { made: AtomicPtr::new(ptr::null_mut()), make }
    }

    /// Returns the value of this process. It waits for nobody, and lives as long as the process.
    pub fn of_this(&'static self) -> &'static T {
        let found = self.made.load(Ordering::Acquire);
        // SAFETY: null, or a value that was leaked below.
        let before = unsafe { found.as_ref() };
        match before {
            Some(made) if made.generation == fork_generation() => &made.value,
            _ => self.made_now(found, before),
        }
    }

    #[cold]
    fn made_now(&'static self, found: *mut Made<T>, before: Option<&'static Made<T>>) -> &'static T {
        watch_forks();
        let generation = fork_generation();
        let value = (self.make)(before.map(|made| &made.value));
        let made = Box::into_raw(Box::new(Made { generation, value }));
        let kept = match self.made.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made,
            Err(other) => {
                // SAFETY: made above, and given to nobody.
                drop(unsafe { Box::from_raw(made) });
                other
            }
        };
        // SAFETY: one that was leaked, by this thread or the one that came first.
        unsafe { &(*kept).value }
    }
}

/// Makes the lock of a forked child, with a copy of what the ancestor's lock holds: for what a
/// child inherits, such as which libraries are open. Empty where the ancestor's was locked during
/// the fork.
#[must_use]
pub fn carried<T: Clone + Default>(ancestors: Option<&'static Mutex<T>>) -> Mutex<T> {
    let held = ancestors.and_then(|mutex| mutex.try_lock().ok().map(|held| held.clone()));
    Mutex::new(held.unwrap_or_default())
}

/// The claim of one process on a driver that does not survive a fork (KIT-22).
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::kit::Claim;
///
/// static DRIVER: Claim = Claim::new();
///
/// DRIVER.take("the driver of toy")?;
/// DRIVER.take("the driver of toy")?; // once more in the same process; an error in a forked child
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Claim(AtomicU64);

impl Claim {
    /// Makes one that nobody has.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Takes it for this process, before anything of the driver is called; `what` names the driver
    /// in the error.
    ///
    /// # Errors
    ///
    /// `WrongState`: a process that this one was forked from has it.
    pub fn take(&self, what: &str) -> Result<(), Error> {
        watch_forks();
        let me = fork_generation() + 1;
        match self.0.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(holder) if holder == me => Ok(()),
            Err(_) => bail!(
                ErrorKind::WRONG_STATE,
                "{what} was opened before this process was forked, and does not work in a forked child; use it in the child \
                 alone, or start a new process (in Python, multiprocessing with the start method \"spawn\")"
            ),
        }
    }

    /// Gives it up again, where the driver could not be opened.
    pub fn give_up(&self) {
        self.0.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;

    /// Forks, runs `child` there, and returns whether it answered true within ten seconds.
    fn in_child(child: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child runs code that takes no lock of another thread, and ends without
        // destructors.
        let id = unsafe { libc::fork() };
        if id == 0 {
            let code = i32::from(!child());
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) };
        }
        let ends = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let mut status = -1;
        // SAFETY: a child of ours, and a place for its status.
        while unsafe { libc::waitpid(id, &raw mut status, libc::WNOHANG) } == 0 {
            if std::time::Instant::now() > ends {
                // SAFETY: a child of ours, which is still there.
                unsafe { libc::kill(id, libc::SIGKILL) };
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        status == 0
    }

    /// KIT-21: a lock that is held during the fork is free in the child, whose value is its own.
    #[test]
    fn kit_21_a_child_has_its_own() {
        static LISTS: PerProcess<Mutex<Vec<u32>>> = PerProcess::new(carried);
        static ONES: PerProcess<OnceLock<u32>> = PerProcess::new(|_| OnceLock::new());
        super::super::lock(LISTS.of_this()).push(1);
        ONES.of_this().get_or_init(|| 1);
        let list = || super::super::lock(LISTS.of_this()).clone();
        assert!(in_child(|| {
            let inherited = list() == [1] && ONES.of_this().get().is_none();
            super::super::lock(LISTS.of_this()).push(2);
            inherited && list() == [1, 2] && in_child(|| list() == [1, 2])
        }));
        let held = super::super::lock(LISTS.of_this());
        assert!(in_child(|| list().is_empty()), "locked during the fork");
        drop(held);
        assert_eq!((list(), ONES.of_this().get()), (vec![1], Some(&1)), "the parent keeps its own");
    }

    /// KIT-22: a child and its child are refused; one of a process that gave it up is not.
    #[test]
    fn kit_22_a_driver_has_one_process() {
        static DRIVER: Claim = Claim::new();
        let is_refused = || DRIVER.take("x").is_err_and(|error| error.kind() == ErrorKind::WRONG_STATE);
        assert!(in_child(|| !is_refused()), "nobody has it");
        assert!(!is_refused() && !is_refused());
        assert!(in_child(|| is_refused() && in_child(is_refused)));
        DRIVER.give_up();
        assert!(in_child(|| !is_refused()));
    }
}
