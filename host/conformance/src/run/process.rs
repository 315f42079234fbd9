//! One worker process: starts it, reads its messages and ends it, whatever the plugin in it does.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chipdock_supervise::{Child, Ended, Start, signal_name};

use super::lines::{Heard, LINE_BYTES, Messages};
use super::{CLOSED_PIPE, Job, Message, signals, stack};
use crate::context::BUILDS_TOGETHER;
use crate::report::Death;

/// Time that a hung process has to write its stack before it is killed.
const STACK_WAIT: Duration = Duration::from_secs(10);

/// A running worker.
pub(super) struct Worker {
    child: Child,
    messages: Messages,
    executable: PathBuf,
    folder: PathBuf,
}

/// Next event of a worker.
pub(super) enum Next {
    /// The worker sent a message.
    Said(Message),
    /// A message of the worker is missing: other writers used its pipe.
    Garbled,
    /// The process has ended.
    Gone,
    /// The worker sent nothing in time.
    Silent,
}

impl Worker {
    /// Starts a worker in a folder of its own, which holds the job.
    pub(super) fn start(worker: &(PathBuf, Vec<String>), job: &Job) -> io::Result<Self> {
        let folder = job.scratch.clone();
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("job.json");
        std::fs::write(&file, serde_json::to_vec(job)?)?;
        let mut command = Command::new(&worker.0);
        command.args(&worker.1).arg(&file).current_dir(&folder).env("TMPDIR", &folder);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = Start::new(command).keep_stderr().line_bytes_max(LINE_BYTES).start()?;
        Ok(Self { child, messages: Messages::new(job.token.clone()), executable: worker.0.clone(), folder })
    }

    /// Waits for the next event until a deadline.
    pub(super) fn next(&mut self, until: Instant) -> Next {
        loop {
            match self.child.next(until) {
                chipdock_supervise::Next::Line(line) => match self.messages.hear(&line) {
                    Some(Heard::Said(message)) => return Next::Said(message),
                    Some(Heard::Garbled) => return Next::Garbled,
                    // A stream of lines that are no messages does not extend the deadline.
                    None if Instant::now() >= until => return Next::Silent,
                    None => {}
                },
                chipdock_supervise::Next::Gone => return Next::Gone,
                chipdock_supervise::Next::Silent => return Next::Silent,
            }
        }
    }

    /// Returns true if the process ended by itself with code 0.
    pub(super) fn ended_well(&self) -> bool {
        self.child.status().is_some_and(|status| status.success())
    }

    /// Returns true if the worker is building, or ended while it built, kernels of several cases in
    /// one module.
    pub(super) fn builds_together(&self) -> bool {
        self.folder.join(BUILDS_TOGETHER).exists()
    }

    /// Describes the abnormal end of a process that has ended.
    pub(super) fn death(&mut self) -> Death {
        let written = stack::Written::parse(&self.child.tail().text());
        let (signal, code) = match Ended::from_status(self.child.status().unwrap_or_default()) {
            // A stuck unwinder is ended by SIGALRM; the signal before it is the cause.
            Ended::Killed { signal: libc::SIGALRM } => (written.signal.or(Some(libc::SIGALRM)), None),
            Ended::Killed { signal } => (Some(signal), None),
            Ended::Exited { code } => (None, Some(code)),
            Ended::Silent { .. } | Ended::NotStarted { .. } => (None, None),
        };
        let text = match (signal, code) {
            (Some(signal), _) => format!("killed by signal {signal} ({})", signal_name(signal)),
            (None, Some(CLOSED_PIPE)) => {
                "closed descriptors that are not its own, the one that its worker reports by too".to_owned()
            }
            (None, code) => format!("ended its process with code {}", code.unwrap_or_default()),
        };
        self.describe(signal, code, text, written)
    }

    /// Asks a silent worker for its stack, kills it and describes the hang.
    pub(super) fn hang(&mut self, silent: Duration) -> Death {
        // The worker has a handler for this signal.
        self.child.signal(signals::ASK);
        let until = Instant::now() + STACK_WAIT;
        while Instant::now() < until && !self.child.has_ended() && !self.child.tail().has(signals::END) {
            let _ = self.child.listen(Duration::from_millis(10));
        }
        // The signal may have ended what it waited for, and the process with it, before it was
        // listened to.
        let _ = self.child.listen(Duration::ZERO);
        let written = stack::Written::parse(&self.child.tail().text());
        self.child.stop();
        self.describe(None, None, format!("silent for {:.0} s", silent.as_secs_f64()), written)
    }

    /// Kills a worker whose pipe others wrote into, and describes that.
    pub(super) fn garbled(&mut self) -> Death {
        self.child.stop();
        let written = stack::Written::parse(&self.child.tail().text());
        let text = "had its report garbled: something wrote to descriptors that are not its own";
        self.describe(None, None, text.to_owned(), written)
    }

    fn describe(
        &self,
        signal: Option<i32>,
        exit_code: Option<i32>,
        text: String,
        written: stack::Written,
    ) -> Death {
        let backtrace = stack::readable(&written.frames, &self.executable);
        Death { signal, exit_code, text, backtrace, stderr: written.rest }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A running process may still write to the folder.
        self.child.stop();
        remove(&self.folder);
    }
}

/// Removes a folder, even if a plugin has restricted its permissions.
fn remove(folder: &Path) {
    if std::fs::remove_dir_all(folder).is_err() {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
        let _ = std::fs::remove_dir_all(folder);
    }
}
