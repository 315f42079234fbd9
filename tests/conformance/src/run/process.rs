//! One worker process: started, heard, and seen to its end, whatever the plugin in it does.

use std::io::{PipeReader, Read as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{io, mem};

use super::lines::{Heard, Lines, Tail};
use super::{CLOSED_PIPE, Job, Message, signals, stack};
use crate::report::Death;

/// The longest time without a look at the process itself: a pipe that others keep open says nothing.
const LOOK: Duration = Duration::from_millis(50);
/// The same once the pipe is closed: the end is near.
const CLOSED_LOOK: Duration = Duration::from_millis(1);
/// What a process that was asked for its stack gets before it is killed.
const STACK_WAIT: Duration = Duration::from_secs(3);
/// A killed process that does not go, as with a driver that hangs in the kernel, is left behind.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// A worker that runs.
pub(super) struct Worker {
    child: Child,
    group: libc::pid_t,
    pipe: Option<PipeReader>,
    errors: Option<PipeReader>,
    lines: Lines,
    tail: Tail,
    executable: PathBuf,
    folder: PathBuf,
    status: Option<ExitStatus>,
}

/// What comes next from a worker.
pub(super) enum Next {
    /// It said something.
    Said(Message),
    /// A message of its is missing: others wrote into its pipe.
    Garbled,
    /// The process is gone.
    Gone,
    /// It did not say anything in time.
    Silent,
}

fn non_blocking(pipe: &PipeReader) -> io::Result<()> {
    // SAFETY: sets a flag of an open descriptor.
    let answer = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Worker {
    /// Starts one in a folder of its own, where the job is written to.
    pub(super) fn start(worker: &(PathBuf, Vec<String>), job: &Job) -> io::Result<Self> {
        let folder = job.scratch.clone();
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("job.json");
        std::fs::write(&file, serde_json::to_vec(job)?)?;
        let (pipe, writer) = io::pipe()?;
        let (errors, error_writer) = io::pipe()?;
        non_blocking(&pipe)?;
        non_blocking(&errors)?;
        let mut command = Command::new(&worker.0);
        command.args(&worker.1).arg(&file).current_dir(&folder).env("TMPDIR", &folder);
        command.stdin(writer).stdout(Stdio::null()).stderr(error_writer).process_group(0);
        let child = command.spawn()?;
        let group = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
        Ok(Self {
            child,
            group,
            pipe: Some(pipe),
            errors: Some(errors),
            lines: Lines::new(job.token.clone()),
            tail: Tail::default(),
            executable: worker.0.clone(),
            folder,
            status: None,
        })
    }

    /// What comes next, until then.
    pub(super) fn next(&mut self, until: Instant) -> Next {
        loop {
            match self.lines.next() {
                Some(Heard::Said(message)) => return Next::Said(message),
                Some(Heard::Garbled) => return Next::Garbled,
                None => {}
            }
            if self.status.is_some() {
                return Next::Gone;
            }
            let now = Instant::now();
            let look = if self.pipe.is_some() { LOOK } else { CLOSED_LOOK };
            let heard = self.listen(look.min(until.saturating_duration_since(now)));
            if !heard && self.has_ended() {
                self.reap();
            } else if !heard && now >= until {
                return Next::Silent;
            }
        }
    }

    /// Reads what there is, waiting for it; whether there was something.
    fn listen(&mut self, wait: Duration) -> bool {
        let descriptor = |pipe: &Option<PipeReader>| pipe.as_ref().map_or(-1, |pipe| pipe.as_raw_fd());
        poll([descriptor(&self.pipe), descriptor(&self.errors)], wait);
        let said = drain(&mut self.pipe, &mut |bytes| self.lines.push(bytes));
        let wrote = drain(&mut self.errors, &mut |bytes| self.tail.push(bytes));
        said || wrote
    }

    /// Whether the process has ended; it keeps its number until it is reaped.
    fn has_ended(&self) -> bool {
        // SAFETY: all zero is such a value, and is written to.
        let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: a child of ours that is not reaped, and a place to write to.
        let answer = unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, flags) };
        // SAFETY: written by `waitid`, or zero.
        answer != 0 || unsafe { info.si_pid() } != 0
    }

    /// Ends what is left of its group, while its number is still its own, then takes its status.
    fn reap(&mut self) {
        self.kill();
        self.status = self.child.wait().ok().or(Some(ExitStatus::default()));
        // What it wrote before it ended is in the pipes, whoever else keeps them open.
        let _ = self.listen(Duration::ZERO);
        self.pipe = None;
        self.errors = None;
    }

    fn kill(&self) {
        // SAFETY: the group of a child that is not reaped.
        unsafe { libc::kill(-self.group, libc::SIGKILL) };
    }

    /// Whether it ended by itself with code 0.
    pub(super) fn ended_well(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// How it ended, which it should not have.
    pub(super) fn death(&mut self) -> Death {
        let status = self.status.unwrap_or_default();
        let written = stack::Written::of(&self.tail.text());
        // Unwinding that got stuck ends by an alarm; the first signal is what happened.
        let signal = match (status.signal(), written.signal) {
            (Some(libc::SIGALRM), Some(first)) => Some(first),
            (signal, _) => signal,
        };
        let text = match (signal, status.code()) {
            (Some(signal), _) => format!("killed by signal {signal} ({})", signals::name(signal)),
            (None, Some(CLOSED_PIPE)) => {
                "closed descriptors that are not its own, the one that its worker reports by too".to_owned()
            }
            (None, code) => format!("ended its process with code {}", code.unwrap_or_default()),
        };
        self.told(signal, status.code(), text, written)
    }

    /// Asks where it is, ends it, and says so.
    pub(super) fn hang(&mut self, silent: Duration) -> Death {
        // SAFETY: a signal to the main thread of a child that is not reaped; the worker has a handler for it.
        unsafe { libc::syscall(libc::SYS_tgkill, self.group, self.group, signals::ASK) };
        let until = Instant::now() + STACK_WAIT;
        while Instant::now() < until && !self.has_ended() && !self.tail.has(signals::END) {
            let _ = self.listen(Duration::from_millis(10));
        }
        let written = stack::Written::of(&self.tail.text());
        self.stop();
        self.told(None, None, format!("silent for {:.0} s", silent.as_secs_f64()), written)
    }

    /// Ends it; others wrote into its pipe.
    pub(super) fn garbled(&mut self) -> Death {
        self.stop();
        let written = stack::Written::of(&self.tail.text());
        let text = "its report was garbled: something wrote to descriptors that are not its own";
        self.told(None, None, text.to_owned(), written)
    }

    fn told(
        &self,
        signal: Option<i32>,
        exit_code: Option<i32>,
        text: String,
        written: stack::Written,
    ) -> Death {
        let backtrace = stack::readable(&written.frames, &self.executable);
        Death { signal, exit_code, text, backtrace, stderr: written.rest }
    }

    fn stop(&mut self) {
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
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.stop();
        }
        remove(&self.folder);
    }
}

/// A plugin may have taken rights away from what it made.
fn remove(folder: &Path) {
    if std::fs::remove_dir_all(folder).is_err() {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn poll(descriptors: [RawFd; 2], wait: Duration) {
    let mut entries = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let millis = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: two entries; a negative descriptor is passed over.
    unsafe { libc::poll(entries.as_mut_ptr(), 2, millis) };
}

/// Reads what there is without waiting, at most so much at a time; whether there was something. Closes at the end.
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
