//! What the host asks of the operating system about its own process and machine.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counted up in a forked child: whatever was made before belongs to the parent.
static FORK_GENERATION: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_fork() {
    FORK_GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Makes [`fork_generation`] change in forked children from now on.
pub(crate) fn watch_forks() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: the handler touches one atomic, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
}

/// Tells this process from one that it was forked from.
pub(crate) fn fork_generation() -> u64 {
    FORK_GENERATION.load(Ordering::Relaxed)
}

/// The effective user.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether the process has more privileges than whoever started it.
#[cfg(target_os = "linux")]
pub(crate) fn has_raised_privileges() -> bool {
    // SAFETY: reads the auxiliary vector; 0 when the entry is not there.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether the process has more privileges than whoever started it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_raised_privileges() -> bool {
    // SAFETY: all four take nothing and cannot fail.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// glibc's version, where it is the libc.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn glibc_version() -> Option<String> {
    // SAFETY: takes nothing and answers a static NUL-terminated string.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_str().ok().map(str::to_owned)
}

/// glibc's version, where it is the libc.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn glibc_version() -> Option<String> {
    None
}
