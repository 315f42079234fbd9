//! What plugins and host ask about their own process: who it acts for, and whose environment it may believe.
//!
//! 1. A process has *raised privileges* when it may do more than whoever started it: a set-user-id or set-group-id program,
//!    or one with file capabilities.
//! 2. With raised privileges no variable of the environment and no path of the user is believed: whoever started the
//!    process chose them. [`variable`] therefore answers none, and it is the only way to a variable for plugins.
//! 3. What is started with raised privileges gets an environment of its own making ([`believe_nothing`]).

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Where programs of the system are, for a process with raised privileges.
pub const SYSTEM_FOLDERS: &[&str] = &["/usr/bin", "/bin"];

/// Whether the process may do more than whoever started it (rule 1).
#[cfg(target_os = "linux")]
#[must_use]
pub fn has_raised_privileges() -> bool {
    // SAFETY: reads the auxiliary vector; 0 when the entry is not there.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether the process may do more than whoever started it (rule 1).
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn has_raised_privileges() -> bool {
    // SAFETY: all four take nothing and cannot fail.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// The number of the user that the process acts for.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() }
}

/// A variable of the environment as it is set, which may be empty; none with raised privileges (rule 2).
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    if has_raised_privileges() { None } else { std::env::var_os(name) }
}

/// The folder for temporary files: `TMPDIR` where it is an absolute path, else `/tmp`.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    let named = variable("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// With raised privileges, takes every variable of the caller's from a command; else does nothing (rule 3).
pub fn believe_nothing(command: &mut Command) {
    if has_raised_privileges() {
        command.env_clear().env("PATH", SYSTEM_FOLDERS.join(":"));
    }
}
