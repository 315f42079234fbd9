//! The child's side: its report pipe, and the files that it was given.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// Variable with the child's descriptors: that of its report, then those that are shared with it.
pub(crate) const VARIABLE: &str = "CHIPDOCK_REPORT_TO";

/// The child's end of the connection to its supervisor.
///
/// In a process that was forked from the child it does not work: nothing is sent.
#[derive(Debug)]
pub struct Inside {
    pipe: File,
    shared: Vec<File>,
    process: u32,
}

impl Inside {
    /// Takes the descriptors that this process was started with; from now on a fatal signal is
    /// fatal (CHILD-V7). To be called once, before any code that may take descriptors.
    ///
    /// # Errors
    ///
    /// This process has no supervisor, or its descriptors are gone.
    pub fn take() -> io::Result<Self> {
        let value =
            std::env::var(VARIABLE).map_err(|_| io::Error::other("nobody supervises this process"))?;
        let numbers: Result<Vec<RawFd>, _> = value.split(',').map(str::parse).collect();
        let mut files = Vec::new();
        for number in numbers.map_err(io::Error::other)? {
            // The variable may come from another program: the three standard descriptors are not
            // taken.
            if number <= 2 {
                return Err(io::Error::other("a descriptor that is none of the supervisor's"));
            }
            files.push(moved(number)?);
        }
        if files.is_empty() {
            return Err(io::Error::other("no descriptor to report by"));
        }
        let pipe = files.remove(0);
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            // SAFETY: what the signal does by itself. Rust's own handler lets one that was sent,
            // not caused, go by.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(Self { pipe, shared: files, process: std::process::id() })
    }

    /// Takes the files that were shared with this process, in order.
    pub fn take_shared(&mut self) -> Vec<File> {
        std::mem::take(&mut self.shared)
    }

    /// Returns true if this is the process that was started, and not one that was forked from it.
    #[must_use]
    pub fn is_the_child(&self) -> bool {
        std::process::id() == self.process
    }

    /// Sends one message. Output of another writer in the pipe before it ends with a line of its
    /// own.
    ///
    /// # Errors
    ///
    /// The pipe was closed, or this is a forked process.
    pub fn say(&mut self, message: &[u8]) -> io::Result<()> {
        if !self.is_the_child() {
            return Err(io::Error::other("a forked process does not report"));
        }
        self.pipe.write_all(&[b"\n", message, b"\n"].concat())
    }
}

/// Moves a descriptor that this process was given.
fn moved(descriptor: RawFd) -> io::Result<File> {
    let copy = raised(descriptor)?;
    // SAFETY: inherited for this process alone, and not used again.
    unsafe { libc::close(descriptor) };
    Ok(File::from(copy))
}

/// Copies a descriptor to a high number, out of the way of code that counts from 0; closed when
/// another program is run.
///
/// # Errors
///
/// It is not open, or there is no room.
pub fn raised(descriptor: RawFd) -> io::Result<OwnedFd> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place to write to.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let from = i32::try_from(limit.rlim_cur.min(1024)).unwrap_or(1024).saturating_sub(8).max(3);
    // SAFETY: asks for a copy of a descriptor.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, from) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, with no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Ends this process now, after what C code has printed to standard output was written: no
/// destructor runs, of this program or of a library. A stream that another thread holds is not
/// waited for.
pub fn leave_printed(code: i32) -> ! {
    #[cfg(target_os = "linux")]
    {
        unsafe extern "C" {
            static stdout: *mut libc::FILE;
            fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
        }
        // SAFETY: the C library's own stream, which is there until the process ends; it stays
        // locked by this thread, which may flush it.
        unsafe {
            if !stdout.is_null() && ftrylockfile(stdout) == 0 {
                libc::fflush(stdout);
            }
        }
    }
    leave(code)
}

/// Ends this process now: no destructor runs, of this program or of a library.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it is used afterwards.
    unsafe { libc::_exit(code) }
}
