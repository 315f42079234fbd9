//! Opening one plugin in a process of its own: crashes and hangs stay there.
//!
//! The child is this executable again, with a hidden command. It reports by one line of JSON through a pipe that is its
//! standard input, so that whatever the plugin prints disturbs nothing.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use chipdock_host::discovery::Candidate;
use chipdock_host::{Host, HostOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::failure;
use crate::args::CheckChildArgs;
use crate::report::{Failure, Result};

/// The hidden command.
pub(crate) const CHILD: &str = "__check-plugin";
/// How often the child is looked after.
const POLL: Duration = Duration::from_millis(2);
/// What of a child's standard error is shown.
const STDERR_SHOWN_BYTES: u64 = 400;

/// What became of a plugin that was opened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It opened and registered what is told.
    Opened(Opened),
    /// The host refused it, with the reason.
    Refused { message: String },
    /// The process was killed by a signal.
    Killed { signal: i32, stderr: String },
    /// The process ended by itself without a report.
    Exited { code: i32, stderr: String },
    /// It did not come back in time.
    TimedOut { deadline: Duration },
    /// The process could not be started.
    NotStarted { message: String },
}

impl Outcome {
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Refused { .. } => "refused",
            Self::Killed { .. } => "killed",
            Self::Exited { .. } => "exited",
            Self::TimedOut { .. } => "timed out",
            Self::NotStarted { .. } => "not started",
        }
    }

    pub(super) fn message(&self) -> String {
        let with = |what: String, stderr: &str| {
            if stderr.is_empty() { what } else { format!("{what}, saying: {stderr}") }
        };
        match self {
            Self::Opened(opened) => {
                let registered = format!("registered {}", opened.keys.join(" "));
                let all: Vec<String> = std::iter::once(registered).chain(opened.shortcomings()).collect();
                all.join("; ")
            }
            Self::Refused { message } | Self::NotStarted { message } => message.clone(),
            Self::Killed { signal, stderr } => {
                with(format!("killed by signal {signal}{}", signal_name(*signal)), stderr)
            }
            Self::Exited { code, stderr } => {
                with(format!("ended its process with exit code {code} while being opened"), stderr)
            }
            Self::TimedOut { deadline } => {
                format!("did not come back within {} s, and was ended", deadline.as_secs_f64())
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = json!({"outcome": self.status().replace(' ', "_"), "message": self.message()});
        match self {
            Self::Opened(opened) => {
                if let (Some(object), Value::Object(told)) = (object.as_object_mut(), json!(opened)) {
                    object.extend(told);
                }
            }
            Self::Killed { signal, .. } => object["signal"] = json!(signal),
            Self::Exited { code, .. } => object["code"] = json!(code),
            Self::Refused { .. } | Self::TimedOut { .. } | Self::NotStarted { .. } => {}
        }
        object
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// What an open plugin tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Opened {
    /// What it registered, sorted.
    pub(crate) keys: Vec<String>,
    /// Its version.
    pub(crate) version: Option<String>,
    /// The ABI that it was built for.
    pub(crate) abi: Option<String>,
    /// What tells two builds of one version apart.
    pub(crate) build_id: Option<String>,
    /// Whether it carried type layouts to compare.
    pub(crate) attested: Option<bool>,
    /// What of it cannot be used here, for instance for want of a library, and why.
    pub(crate) unusable: Vec<Unusable>,
    /// How long opening took.
    pub(crate) seconds: f64,
}

impl Opened {
    /// What of it cannot be used here, in words.
    pub(super) fn shortcomings(&self) -> Vec<String> {
        let words = |unusable: &Unusable| format!("{} is unavailable: {}", unusable.key, unusable.message);
        self.unusable.iter().map(words).collect()
    }
}

/// A key that is registered and of no use here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unusable {
    pub(crate) key: String,
    /// Why, and what to do.
    pub(crate) message: String,
}

/// What the child says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Report {
    Opened(Opened),
    Refused { message: String },
}

/// Opens a plugin in a child process and says what became of it.
pub(super) fn open(candidate: &Candidate, deadline: Duration) -> Outcome {
    open_by(&mut command(&candidate.library), deadline)
}

fn command(library: &Path) -> Command {
    let executable = std::env::current_exe().unwrap_or_else(|_| "chipdock".into());
    let mut command = Command::new(executable);
    command.arg(CHILD).arg(library);
    command
}

fn open_by(command: &mut Command, deadline: Duration) -> Outcome {
    match start(command) {
        Ok((child, reports, stderr)) => watch(child, &reports, stderr, deadline),
        Err(error) => {
            Outcome::NotStarted { message: format!("cannot start a process to open it in: {error}") }
        }
    }
}

fn start(command: &mut Command) -> std::io::Result<(Child, mpsc::Receiver<String>, File)> {
    let (reader, writer) = std::io::pipe()?;
    let stderr = tempfile::tempfile()?;
    let child = command.stdin(writer).stdout(Stdio::null()).stderr(stderr.try_clone()?).spawn()?;
    // The command still holds its end of the pipe, which would keep the reader waiting.
    command.stdin(Stdio::null());
    let (sender, reports) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        // A child of the child may keep the pipe open: the first line is enough.
        if BufReader::new(reader.take(1 << 20)).read_line(&mut line).is_ok() {
            let _ = sender.send(line);
        }
    });
    Ok((child, reports, stderr))
}

fn watch(mut child: Child, reports: &mpsc::Receiver<String>, stderr: File, deadline: Duration) -> Outcome {
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < deadline => std::thread::sleep(POLL),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Outcome::TimedOut { deadline };
            }
            Err(error) => {
                return Outcome::NotStarted { message: format!("cannot wait for its process: {error}") };
            }
        }
    };
    // It has ended: what it reported is in the pipe.
    let line = reports.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    match (status.success(), serde_json::from_str(&line)) {
        (true, Ok(Report::Opened(opened))) => Outcome::Opened(opened),
        (true, Ok(Report::Refused { message })) => Outcome::Refused { message },
        _ => ended(status, &tail(stderr)),
    }
}

fn ended(status: ExitStatus, stderr: &str) -> Outcome {
    let stderr = stderr.to_owned();
    match status.signal() {
        Some(signal) => Outcome::Killed { signal, stderr },
        None => Outcome::Exited { code: status.code().unwrap_or(-1), stderr },
    }
}

/// The last lines of a file as one.
fn tail(mut file: File) -> String {
    let size = file.seek(SeekFrom::End(0)).unwrap_or(0);
    let mut bytes = Vec::new();
    let start = file.seek(SeekFrom::Start(size.saturating_sub(STDERR_SHOWN_BYTES)));
    if start.is_err() || file.read_to_end(&mut bytes).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" / ")
}

/// The child: opens the plugin and reports.
///
/// # Errors
///
/// Exit code 1 when the report cannot be given.
pub(crate) fn child(args: &CheckChildArgs) -> Result<()> {
    let pipe = std::io::stdin().as_fd().try_clone_to_owned();
    let mut pipe = File::from(pipe.map_err(|error| Failure::work(format!("no pipe to report by: {error}")))?);
    let report = match open_here(&args.plugin) {
        Ok(report) => report,
        Err(failure) => Report::Refused { message: failure.problems[0].what.clone() },
    };
    let line = serde_json::to_string(&report).unwrap_or_default();
    writeln!(pipe, "{line}").map_err(|error| Failure::work(format!("cannot report: {error}")))
}

fn open_here(library: &Path) -> Result<Report> {
    let started = Instant::now();
    // Who may write the file was judged by the parent, with its own options.
    let options = HostOptions {
        plugin_paths: vec![library.to_owned()],
        trust: library.parent().into_iter().chain([library]).map(Path::to_owned).collect(),
        ..HostOptions::isolated()
    };
    let host = Host::new(options).map_err(|error| failure(&error))?;
    let name = host.plugins().into_iter().next().map(|plugin| plugin.name).unwrap_or_default();
    let opened = match host.open_plugin(&name) {
        Ok(opened) => opened,
        Err(error) => {
            // The reason alone: which plugin it is about is known.
            let reason = host.plugins().into_iter().find_map(|plugin| plugin.problem);
            let message = reason.map_or_else(|| error.to_string(), |reason| reason.message);
            return Ok(Report::Refused { message });
        }
    };
    Ok(Report::Opened(Opened {
        unusable: unusable(&host, &opened.provides),
        keys: opened.provides,
        version: opened.version,
        abi: opened.abi,
        build_id: opened.build_id,
        attested: opened.attested,
        seconds: started.elapsed().as_secs_f64(),
    }))
}

/// Target kinds and devices that the plugin brings and that do not answer.
fn unusable(host: &Host, keys: &[String]) -> Vec<Unusable> {
    let asked = |key: &String| {
        let answer = if let Some(kind) = key.strip_prefix("target.kind.") {
            // Another plugin may bring the code generator; it is not here.
            match keys.contains(&format!("target.build.{kind}")) {
                true => host.usable_target(kind).map(drop),
                false => host.target(kind).map(drop),
            }
        } else if let Some(device) = key.strip_prefix("device_api.") {
            host.device_count(device).map(drop)
        } else {
            return None;
        };
        let error = answer.err()?;
        let message = [error.message(), error.advice()].map(str::trim);
        let message = message.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("; ");
        Some(Unusable { key: key.clone(), message })
    };
    keys.iter().filter_map(asked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        open_by(&mut command, Duration::from_millis(500))
    }

    #[test]
    fn a_child_that_dies_or_hangs_is_told_apart() {
        let said = "it hurts".to_owned();
        assert_eq!(shell("echo it hurts >&2; kill -11 $$"), Outcome::Killed { signal: 11, stderr: said });
        assert_eq!(shell("exit 0"), Outcome::Exited { code: 0, stderr: String::new() });
        assert_eq!(shell("exit 7"), Outcome::Exited { code: 7, stderr: String::new() });
        assert_eq!(shell("exec sleep 60"), Outcome::TimedOut { deadline: Duration::from_millis(500) });
        let mut missing = Command::new("/no/such/program");
        assert!(matches!(open_by(&mut missing, POLL), Outcome::NotStarted { .. }));
    }

    #[test]
    fn what_a_plugin_prints_disturbs_nothing() {
        let report = r#"{"outcome":"opened","keys":["device_api.toy"],"seconds":0.5}"#;
        let outcome = shell(&format!("echo noise; echo noise >&2; echo '{report}' >&0"));
        let keys = vec!["device_api.toy".to_owned()];
        assert_eq!(outcome, Outcome::Opened(Opened { keys, seconds: 0.5, ..Opened::default() }));
    }

    #[test]
    fn a_grandchild_that_holds_the_pipe_is_not_waited_for() {
        let started = Instant::now();
        assert_eq!(shell("sleep 8 & exit 3"), Outcome::Exited { code: 3, stderr: String::new() });
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_report_counts_only_when_the_process_ended_well() {
        let report = r#"{"outcome":"opened","keys":[],"seconds":0.5}"#;
        let outcome = shell(&format!("echo '{report}' >&0; kill -6 $$"));
        assert!(matches!(outcome, Outcome::Killed { signal: 6, .. }));
    }
}
