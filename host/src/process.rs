//! Queries of the operating system about the host's process and machine.

pub(crate) use chipdock_plugin_api::process::{effective_user, has_raised_privileges};
use chipdock_plugin_api::process::{fork_generation, watch_forks};

use crate::error::{Error, ErrorKind};

/// The process in which a host was made.
#[derive(Clone, Copy)]
pub(crate) struct HostProcess {
    fork_generation: u64,
}

impl HostProcess {
    /// Returns this process.
    pub(crate) fn this() -> Self {
        watch_forks();
        Self { fork_generation: fork_generation() }
    }

    /// Refuses a forked child, which does not have the locks, threads and drivers of the parent.
    pub(crate) fn check(self) -> Result<(), Error> {
        if fork_generation() == self.fork_generation {
            return Ok(());
        }
        Err(Error::new(ErrorKind::WrongState, "this host was made before the process was forked")
            .hint("make a host in the child, or start a new program"))
    }
}

/// Returns glibc's version, where it is the libc.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn glibc_version() -> Option<String> {
    // SAFETY: takes nothing and returns a static NUL-terminated string.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_str().ok().map(str::to_owned)
}

/// Returns glibc's version, where it is the libc.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn glibc_version() -> Option<String> {
    None
}

/// Returns the number of processors in this thread's affinity mask.
#[cfg(target_os = "linux")]
pub(crate) fn affinity_count() -> Option<u32> {
    // The kernel refuses a mask that is shorter than its own, and does not report that length.
    for words in [16, 128, 1024] {
        let mut mask = vec![0_u64; words];
        // SAFETY: writes at most so many bytes to the mask, which is aligned as the kernel's is.
        let status =
            unsafe { libc::sched_getaffinity(0, size_of_val(mask.as_slice()), mask.as_mut_ptr().cast()) };
        if status == 0 {
            return Some(mask.iter().map(|word| word.count_ones()).sum());
        }
    }
    None
}

/// Returns `None`: there is no such mask on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn affinity_count() -> Option<u32> {
    None
}

/// Returns the number of online processors.
pub(crate) fn online_count() -> Option<u32> {
    // SAFETY: takes a number and returns one; below 0 when it is unknown.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(count).ok().filter(|count| *count > 0)
}
