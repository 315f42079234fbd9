//! Queries about the current process: its privileges, and the environment that it may trust.
//!
//! 1. A process has *raised privileges* when it may do more than its caller: a set-user-id or
//!    set-group-id program, or one with file capabilities.
//! 2. With raised privileges no variable of the environment and no path of the user is trusted: the
//!    caller chose them. [`variable`] therefore returns `None`, and it is the only way to a
//!    variable for plugins.
//! 3. A program that is started with raised privileges gets a clean environment
//!    ([`believe_nothing`]).
//! 4. From [`watch_forks`] on, [`fork_generation`] differs between a process and one that is forked
//!    from it.

use std::ffi::{CStr, OsStr, OsString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The folders of system programs, for a process with raised privileges.
pub const SYSTEM_FOLDERS: &[&str] = &["/usr/bin", "/bin"];

/// Returns true if the process has more privileges than its caller (rule 1).
#[cfg(target_os = "linux")]
#[must_use]
pub fn has_raised_privileges() -> bool {
    // SAFETY: reads the auxiliary vector; 0 when the entry is not there.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns true if the process has more privileges than its caller (rule 1).
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn has_raised_privileges() -> bool {
    // SAFETY: all four take nothing and cannot fail.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// Returns the number of the user for whom the process acts.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns a variable of the environment as it is set, which may be empty; `None` with raised
/// privileges (rule 2).
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    if has_raised_privileges() { None } else { std::env::var_os(name) }
}

/// Returns the folder for temporary files: `TMPDIR` if it is an absolute path, else `/tmp`.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    let named = variable("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// Returns a text that distinguishes the library that contains an address of this process: its
/// file's path, size and time of the last change; `None` if there is no such file. It is for the
/// fingerprint of a build (C.35): versions alone do not distinguish two builds of a library.
#[must_use]
pub fn library_of(address: *const c_void) -> Option<String> {
    let path = std::fs::canonicalize(library_path_of(address)?).ok()?;
    let file = std::fs::metadata(&path).ok()?;
    Some(format!("{} {} {}.{:09}", path.display(), file.size(), file.mtime(), file.mtime_nsec()))
}

/// Returns the path by which the system's linker opened the library that contains an address of
/// this process, which may be relative and lead over links; `None` if it is in none.
#[must_use]
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "`dladdr` compares the address and does not follow it")]
pub fn library_path_of(address: *const c_void) -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: core::ptr::null(),
        dli_fbase: core::ptr::null_mut(),
        dli_sname: core::ptr::null(),
        dli_saddr: core::ptr::null_mut(),
    };
    // SAFETY: takes any address, and writes to our own place.
    let is_known = unsafe { libc::dladdr(address, &mut info) } != 0 && !info.dli_fname.is_null();
    if !is_known {
        return None;
    }
    // SAFETY: a text that ends with a zero and lives while the library is open.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// With raised privileges, removes every variable of the caller from a command's environment; else
/// does nothing (rule 3).
pub fn believe_nothing(command: &mut Command) {
    if has_raised_privileges() {
        command.env_clear().env("PATH", SYSTEM_FOLDERS.join(":"));
    }
}

/// Counter that a forked child increments.
static FORK_GENERATION: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_fork() {
    FORK_GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Makes [`fork_generation`] change in children that are forked from now on (rule 4).
pub fn watch_forks() {
    // No `Once`: a fork in the middle of it would let the child wait for ever.
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler touches one atomic, which is allowed in a forked child; this library
        // is never closed.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    }
}

/// Returns a number that differs between this process and the one that it was forked from (rule 4).
#[inline]
#[must_use]
pub fn fork_generation() -> u64 {
    FORK_GENERATION.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_an_address_in_it() {
        let here = library_of(library_of as *const c_void).unwrap();
        let program = std::env::current_exe().unwrap().canonicalize().unwrap();
        assert!(here.starts_with(&format!("{} ", program.display())), "{here}");
        let other = library_of(libc::dladdr as *const c_void).unwrap();
        assert_ne!(here, other);
        assert_eq!(library_of(core::ptr::null()), None);
    }
}
