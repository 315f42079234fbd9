//! One child process: started, read, and waited for, whatever happens in it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{PipeReader, Read as _};
use std::marker::PhantomData;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, io, mem};

use crate::inside::VARIABLE;
use crate::lines::{Lines, Tail};
use crate::signals::{Meaning, signal_name};

/// Default for the greatest length of a message, in bytes.
const LINE_BYTES_MAX: usize = 512 << 10;
/// Greatest time between checks of the process itself: a pipe that others keep open proves nothing.
const LOOK: Duration = Duration::from_millis(50);
/// Greatest time between checks once the pipe is closed: the end is near.
const CLOSED_LOOK: Duration = Duration::from_millis(1);
/// Time after which a killed process that does not end, as with a driver that hangs in the kernel,
/// is left behind.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// The exit code of a child whose supervisor was gone before its program ran.
const ORPHAN: i32 = 121;

/// Options of a child that is about to be started.
#[derive(Debug)]
pub struct Start {
    command: Command,
    shared: Vec<File>,
    line_bytes_max: usize,
    keeps_stderr: bool,
}

impl Start {
    /// Makes the options for that command. Standard input, output and error are set by the command,
    /// except for [`Self::keep_stderr`].
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self { command, shared: Vec::new(), line_bytes_max: LINE_BYTES_MAX, keeps_stderr: false }
    }

    /// Makes the options to run this program again, with those arguments, and neither standard
    /// input nor output.
    ///
    /// # Errors
    ///
    /// This program cannot determine its own path.
    pub fn again(arguments: impl IntoIterator<Item = OsString>) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Self::new(command))
    }

    /// Gives the child a file, which it finds with
    /// [`Inside::take_shared`](crate::Inside::take_shared), in this order.
    #[must_use]
    pub fn share(mut self, file: File) -> Self {
        self.shared.push(file);
        self
    }

    /// Sets the greatest length of a message, in bytes with its end (CHILD-V4).
    #[must_use]
    pub fn line_bytes_max(mut self, bytes: usize) -> Self {
        self.line_bytes_max = bytes;
        self
    }

    /// Sends standard error to the supervisor, which keeps its end (CHILD-V5).
    #[must_use]
    pub fn keep_stderr(mut self) -> Self {
        self.keeps_stderr = true;
        self
    }

    /// Starts the child (CHILD-V1, CHILD-V2).
    ///
    /// # Errors
    ///
    /// The program cannot be run, or the system has no descriptors or processes left. Nothing is
    /// left running.
    pub fn start(mut self) -> io::Result<Child> {
        let (pipe, writer) = io::pipe()?;
        non_blocking(&pipe)?;
        let mut errors = None;
        if self.keeps_stderr {
            let (reader, error_writer) = io::pipe()?;
            non_blocking(&reader)?;
            self.command.stderr(error_writer);
            errors = Some(reader);
        }
        let inherited: Vec<RawFd> =
            std::iter::once(writer.as_raw_fd()).chain(self.shared.iter().map(File::as_raw_fd)).collect();
        let numbers: Vec<String> = inherited.iter().map(ToString::to_string).collect();
        self.command.env(VARIABLE, numbers.join(",")).process_group(0);
        let supervisor = std::process::id();
        // SAFETY: between fork and exec nothing but system calls, which need neither locks nor
        // memory; the descriptors are open as long as this function runs, which waits for the exec.
        unsafe { self.command.pre_exec(move || settle(supervisor, &inherited)) };
        let child = self.command.spawn()?;
        let group = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
        Ok(Child {
            child,
            group,
            pipe: Some(pipe),
            errors,
            lines: Lines::new(self.line_bytes_max),
            tail: Tail::default(),
            status: None,
            not_send: PhantomData,
        })
    }
}

/// Prepares the child before its program runs: it ends with its supervisor, leaves no core file,
/// and keeps its inherited descriptors.
fn settle(supervisor: u32, inherited: &[RawFd]) -> io::Result<()> {
    // SAFETY: sets a number of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // From here on the kernel ensures it; if the supervisor ended before, this process has another
    // parent.
    if std::os::unix::process::parent_id() != supervisor {
        crate::leave(ORPHAN);
    }
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a whole limit.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    for descriptor in inherited {
        // SAFETY: sets a flag of a descriptor of this process.
        if unsafe { libc::fcntl(*descriptor, libc::F_SETFD, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// A running or ended child. It stays on the thread that started it (CHILD-V3).
#[derive(Debug)]
pub struct Child {
    child: std::process::Child,
    group: libc::pid_t,
    pipe: Option<PipeReader>,
    errors: Option<PipeReader>,
    lines: Lines,
    tail: Tail,
    status: Option<ExitStatus>,
    not_send: PhantomData<*const ()>,
}

/// Next event of a child.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A line, without its end.
    Line(Vec<u8>),
    /// The process is gone, and everything that it sent was read.
    Gone,
    /// It did not send anything in time.
    Silent,
}

impl Child {
    /// Returns the next event, waiting until that time.
    pub fn next(&mut self, until: Instant) -> Next {
        let mut looked = Instant::now();
        loop {
            if let Some(line) = self.lines.next() {
                return Next::Line(line);
            }
            if self.status.is_some() {
                return Next::Gone;
            }
            let now = Instant::now();
            let look = if self.pipe.is_some() { LOOK } else { CLOSED_LOOK };
            let heard = self.listen(look.min(until.saturating_duration_since(now)));
            // A writer without end, perhaps another than the child, must not prevent checks of the
            // child.
            if heard && now < until && looked.elapsed() < LOOK {
                continue;
            }
            looked = Instant::now();
            if self.has_ended() {
                self.reap();
            } else if now >= until {
                return self.lines.next().map_or(Next::Silent, Next::Line);
            }
        }
    }

    /// Reads available data, waiting for it at most that long; returns whether there was some.
    pub fn listen(&mut self, wait: Duration) -> bool {
        let descriptor = |pipe: &Option<PipeReader>| pipe.as_ref().map_or(-1, |pipe| pipe.as_raw_fd());
        poll([descriptor(&self.pipe), descriptor(&self.errors)], wait);
        let said = drain(&mut self.pipe, &mut |bytes| self.lines.push(bytes));
        let wrote = drain(&mut self.errors, &mut |bytes| self.tail.push(bytes));
        said || wrote
    }

    /// Returns true if the process has ended; it keeps its number until it is reaped.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        if self.status.is_some() {
            return true;
        }
        // SAFETY: all zero is such a value, and is written to.
        let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: a child of ours that is not reaped, and a place to write to.
        let answer = unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, flags) };
        // SAFETY: written by `waitid`, or zero.
        answer != 0 || unsafe { info.si_pid() } != 0
    }

    /// Ends the rest of its group, while its number is still its own, then takes its status
    /// (CHILD-V6).
    fn reap(&mut self) {
        self.kill();
        self.status = self.child.wait().ok().or(Some(ExitStatus::default()));
        // Its output from before its end is in the pipes, whoever else keeps them open.
        let _ = self.listen(Duration::ZERO);
        self.pipe = None;
        self.errors = None;
    }

    fn kill(&self) {
        // SAFETY: the group of a child that is not reaped.
        unsafe { libc::kill(-self.group, libc::SIGKILL) };
    }

    /// Sends a signal to its main thread, unless it is gone.
    pub fn signal(&self, signal: i32) {
        if self.status.is_none() {
            // SAFETY: the main thread of a child that is not reaped.
            unsafe { libc::syscall(libc::SYS_tgkill, self.group, self.group, signal) };
        }
    }

    /// Ends its group, and waits until it is gone (CHILD-V6).
    pub fn stop(&mut self) {
        if self.status.is_some() {
            return;
        }
        self.kill();
        let until = Instant::now() + KILL_WAIT;
        while self.status.is_none() && Instant::now() < until {
            if self.has_ended() {
                self.reap();
            } else {
                let _ = self.listen(Duration::from_millis(5));
            }
        }
    }

    /// Returns its exit status; `None` while it runs.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Returns the end of its standard error, when that is kept.
    #[must_use]
    pub fn tail(&self) -> &Tail {
        &self.tail
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop();
    }
}

/// End of a child that did not report (CHILD-V7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A signal ended it.
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// It ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// It did not come back in time, and was ended.
    Silent {
        /// The deadline.
        deadline: Duration,
    },
    /// It could not be started.
    NotStarted {
        /// The system's reason.
        message: String,
    },
}

impl Ended {
    /// Returns the end of a process with this status.
    #[must_use]
    pub fn from_status(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Killed { signal },
            None => Self::Exited { code: status.code().unwrap_or(-1) },
        }
    }
}

impl fmt::Display for Ended {
    /// Writes the words that follow the name of the process: `crashed (SIGSEGV)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed { signal } => {
                write!(f, "{} ({})", Meaning::of(*signal).words(), signal_name(*signal))
            }
            Self::Exited { code } => write!(f, "ended its process with exit code {code}"),
            Self::Silent { deadline } => {
                write!(f, "did not come back within {} s", deadline.as_secs_f64())
            }
            Self::NotStarted { message } => write!(f, "could not be started: {message}"),
        }
    }
}

/// Result of asking a child (CHILD-V7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The child sent this last message, and ended well.
    Reported(Vec<u8>),
    /// The child did not report, and ended so.
    Ended(Ended),
}

/// An outcome, with the end of standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Outcome of asking the child.
    pub outcome: Outcome,
    /// The end of its standard error, when that is kept.
    pub stderr: Tail,
}

/// Starts a child and waits for its report and its end, at most that long; without a deadline,
/// indefinitely.
#[must_use]
pub fn ask(start: Start, deadline: Option<Duration>) -> Asked {
    let started = Instant::now();
    let mut child = match start.start() {
        Ok(child) => child,
        Err(error) => {
            let ended = Ended::NotStarted { message: error.to_string() };
            return Asked { outcome: Outcome::Ended(ended), stderr: Tail::default() };
        }
    };
    let mut last = None;
    let ended = loop {
        let until = deadline.and_then(|deadline| started.checked_add(deadline));
        match (child.next(until.unwrap_or_else(|| Instant::now() + LOOK)), until) {
            // An empty line ends the output of another writer.
            (Next::Line(line), _) if line.is_empty() => {}
            (Next::Line(line), _) => last = Some(line),
            (Next::Silent, None) => {}
            (Next::Silent, Some(_)) => {
                child.stop();
                break Ended::Silent { deadline: deadline.unwrap_or_default() };
            }
            (Next::Gone, _) => break Ended::from_status(child.status().unwrap_or_default()),
        }
    };
    let outcome = match (last, ended) {
        (Some(report), Ended::Exited { code: 0 }) => Outcome::Reported(report),
        (_, ended) => Outcome::Ended(ended),
    };
    Asked { outcome, stderr: mem::take(&mut child.tail) }
}

fn non_blocking(pipe: &PipeReader) -> io::Result<()> {
    // SAFETY: sets a flag of an open descriptor.
    let answer = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn poll(descriptors: [RawFd; 2], wait: Duration) {
    let mut entries = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let millis = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: two entries; a negative descriptor is passed over.
    unsafe { libc::poll(entries.as_mut_ptr(), 2, millis) };
}

/// Reads available data without waiting, at most that much at a time; returns whether there was
/// some. Closes the pipe at its end.
fn drain(pipe: &mut Option<PipeReader>, each: &mut dyn FnMut(&[u8])) -> bool {
    let Some(reader) = pipe else { return false };
    let mut buffer = [0; 16 << 10];
    let mut some = false;
    // A pipe that is filled without end must not keep us from the other one.
    for _ in 0..64 {
        match reader.read(&mut buffer) {
            Ok(0) => {
                *pipe = None;
                break;
            }
            Ok(n) => {
                each(&buffer[..n]);
                some = true;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    some
}
