//! Runs a compiler so that it ends when this process ends.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal};

use crate::process::believe_nothing;

/// Shell command that ends its process group when its standard input ends, that is, when this
/// process has ended in any way.
const WATCH: &str = "read -r line; kill -9 0";

/// A separate process group, whose processes are all ended when this is dropped or this process
/// ends.
///
/// Its leader is a shell that waits for the end of a pipe, whose other end only this process has.
/// The group lives until the shell is waited for, so that its number is not reused.
struct Group {
    leader: Child,
}

impl Group {
    fn new() -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCH]).env_clear().process_group(0);
        let leader = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { leader })
    }

    fn number(&self) -> i32 {
        i32::try_from(self.leader.id()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.number()) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.leader.kill();
        let _ = self.leader.wait();
    }
}

/// Returns the path of a program for use from another folder: a relative path is resolved against
/// the current one.
pub(super) fn program(name: &OsStr) -> std::path::PathBuf {
    let path = Path::new(name);
    let is_path = path.components().count() > 1;
    if is_path && path.is_relative() {
        return std::env::current_dir().map_or_else(|_| path.to_owned(), |folder| folder.join(path));
    }
    path.to_owned()
}

/// Runs a command in a folder and waits for it; rules SCRATCH-S6 to SCRATCH-S8 of `scratch`.
pub(super) fn run(command: &mut Command, folder: BorrowedFd<'_>) -> io::Result<Output> {
    believe_nothing(command);
    command.env("LC_ALL", "C").env("TMPDIR", ".").stdin(Stdio::null());
    // Without a shell, the command itself still ends with this thread (see below).
    let group = Group::new().ok();
    command.process_group(group.as_ref().map_or(0, Group::number));
    let (folder, parent) = (folder.as_raw_fd(), rustix::process::getpid());
    let prepare = move || {
        end_with(parent)?;
        rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
        // SAFETY: `run` borrows the folder until the child was spawned.
        rustix::process::fchdir(unsafe { BorrowedFd::borrow_raw(folder) })?;
        Ok(())
    };
    // SAFETY: between fork and exec there are only system calls; nothing is allocated.
    unsafe { command.pre_exec(prepare) };
    command.output()
}

/// Makes the calling process end together with the thread that started it, which waits for it in
/// [`run`].
#[cfg(target_os = "linux")]
fn end_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before this was requested.
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

#[cfg(not(target_os = "linux"))]
fn end_with(_: Pid) -> io::Result<()> {
    Ok(())
}
