//! Opens one plugin in a process of its own, so that crashes and hangs stay there.
//!
//! The child is this executable again, with a hidden command; [`chipdock_supervise`] waits for its
//! end.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chipdock_host::discovery::{Candidate, discover};
use chipdock_host::{Environment, Host, HostOptions, ProcessChange, name_in_key};
use chipdock_supervise::{Asked, Ended, Inside, Start, signal_name};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{failure, host_of_child, preferences, settings};
use crate::args::{CheckChildArgs, GlobalArgs};
use crate::report::{Failure, Result};

/// The hidden command.
pub(crate) const CHILD: &str = "__check-plugin";
/// Number of bytes of a child's standard error that are shown.
const STDERR_SHOWN_BYTES: usize = 400;

/// Outcome of opening a plugin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The plugin opened and registered these keys.
    Opened(Opened),
    /// The host refused the plugin, with the reason.
    Refused { message: String },
    /// The plugin's process ended without a report.
    Ended { ended: Ended, stderr: String },
}

impl Outcome {
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Refused { .. } => "refused",
            Self::Ended { ended: Ended::Killed { .. }, .. } => "killed",
            Self::Ended { ended: Ended::Exited { .. }, .. } => "exited",
            Self::Ended { ended: Ended::Silent { .. }, .. } => "timed out",
            Self::Ended { ended: Ended::NotStarted { .. }, .. } => "not started",
        }
    }

    pub(super) fn message(&self) -> String {
        let (ended, stderr) = match self {
            Self::Opened(opened) => {
                let registered = format!("registered {}", opened.keys.join(" "));
                let all: Vec<String> = std::iter::once(registered).chain(opened.shortcomings()).collect();
                return all.join("; ");
            }
            Self::Refused { message } => return message.clone(),
            Self::Ended { ended, stderr } => (ended, stderr),
        };
        let what = match ended {
            Ended::Killed { signal } => format!("killed by signal {signal} ({})", signal_name(*signal)),
            Ended::Exited { code } => format!("ended its process with exit code {code} while being opened"),
            Ended::Silent { deadline } => {
                format!("did not come back within {} s, and was ended", deadline.as_secs_f64())
            }
            Ended::NotStarted { message } => format!("cannot start a process to open it in: {message}"),
        };
        if stderr.is_empty() { what } else { format!("{what}, saying: {stderr}") }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = json!({"outcome": self.status().replace(' ', "_"), "message": self.message()});
        match self {
            Self::Opened(opened) => {
                if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), json!(opened)) {
                    object.extend(fields);
                }
            }
            Self::Ended { ended: Ended::Killed { signal }, .. } => object["signal"] = json!(signal),
            Self::Ended { ended: Ended::Exited { code }, .. } => object["code"] = json!(code),
            Self::Refused { .. } | Self::Ended { .. } => {}
        }
        object
    }
}

/// Facts about an open plugin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Opened {
    /// Its keys, sorted.
    pub(crate) keys: Vec<String>,
    /// Version of the plugin.
    pub(crate) version: Option<String>,
    /// The ABI that it was built for.
    pub(crate) abi: Option<String>,
    /// Id of the build.
    pub(crate) build_id: Option<String>,
    /// Whether it carried type layouts to compare.
    pub(crate) attested: Option<bool>,
    /// Keys that cannot be used here, for instance because a library is missing, with the reason.
    pub(crate) unusable: Vec<Unusable>,
    /// Changes that it made to the process while it was opened.
    pub(crate) changes: Vec<ProcessChange>,
    /// Time that opening took.
    pub(crate) seconds: f64,
}

impl Opened {
    /// Describes the keys that cannot be used here, and the changes that it made to the process.
    pub(super) fn shortcomings(&self) -> Vec<String> {
        let words = |unusable: &Unusable| format!("{} is unavailable: {}", unusable.key, unusable.message);
        let unusable = self.unusable.iter().map(words);
        unusable.chain(self.changes.iter().map(ToString::to_string)).collect()
    }
}

/// A registered key that cannot be used here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unusable {
    pub(crate) key: String,
    /// Reason, and what to do.
    pub(crate) message: String,
}

/// Report of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Report {
    Opened(Opened),
    Refused { message: String },
}

/// Opens a plugin in a child process and returns the outcome.
pub(super) fn open(
    candidate: &Candidate,
    needed: &[&Candidate],
    global: &GlobalArgs,
    deadline: Duration,
) -> Outcome {
    let mut arguments: Vec<OsString> = vec![CHILD.into()];
    // The child's host sees no other plugins than those that this one needs (P5.15).
    let is_seen =
        |name: Option<&str>| std::iter::once(&candidate).chain(needed).any(|seen| name == Some(&seen.name));
    let own = global.config.iter().filter(|text| is_seen(text.split('.').next()));
    arguments.extend(own.map(|text| OsString::from(format!("--config={text}"))));
    if !needed.is_empty() {
        arguments.extend(global.prefer.iter().map(|text| OsString::from(format!("--prefer={text}"))));
    }
    for needed in needed {
        let mut word = OsString::from("--plugin=");
        word.push(needed.library.as_os_str());
        arguments.push(word);
    }
    arguments.extend(["--".into(), candidate.library.clone().into_os_string()]);
    match Start::again(arguments) {
        Ok(start) => outcome(chipdock_supervise::ask(start.keep_stderr(), Some(deadline))),
        Err(error) => {
            let ended = Ended::NotStarted { message: error.to_string() };
            Outcome::Ended { ended, stderr: String::new() }
        }
    }
}

fn outcome(asked: Asked) -> Outcome {
    let ended = match asked.outcome {
        chipdock_supervise::Outcome::Ended(ended) => ended,
        chipdock_supervise::Outcome::Reported(line) => match serde_json::from_slice(&line) {
            Ok(Report::Opened(opened)) => return Outcome::Opened(opened),
            Ok(Report::Refused { message }) => return Outcome::Refused { message },
            Err(_) => Ended::Exited { code: 0 },
        },
    };
    Outcome::Ended { ended, stderr: asked.stderr.last_lines(STDERR_SHOWN_BYTES) }
}

/// Runs the child: opens the plugin and reports.
///
/// # Errors
///
/// Exit code 1 when the report cannot be sent.
pub(crate) fn child(args: &CheckChildArgs) -> Result<()> {
    let mut inside = Inside::take()
        .map_err(|error| Failure::work(format!("this is a part of plugins --check: {error}")))?;
    let report = match open_here(args) {
        Ok(report) => report,
        Err(failure) => Report::Refused { message: failure.problems[0].what.clone() },
    };
    let line = serde_json::to_vec(&report).unwrap_or_default();
    inside.say(&line).map_err(|error| Failure::work(format!("cannot report: {error}")))
}

fn open_here(args: &CheckChildArgs) -> Result<Report> {
    let (library, started) = (&args.plugin, Instant::now());
    let (process, isolated) = (Environment::of_process(), HostOptions::isolated());
    let opened: Vec<PathBuf> = std::iter::once(library).chain(&args.global.plugins).cloned().collect();
    // The parent has checked, with its own options, who may write the files.
    let folders = opened.iter().filter_map(|path| path.parent());
    let mut options = HostOptions {
        trust: folders.chain(opened.iter().map(PathBuf::as_path)).map(Path::to_owned).collect(),
        plugin_paths: opened.clone(),
        settings: settings(&args.global)?,
        environment: Environment { config_home: process.config_home.clone(), ..isolated.environment.clone() },
        ..isolated
    };
    options.prefer = preferred_here(&options, &process, &args.global)?;
    let host = host_of_child(options).map_err(|error| failure(&error))?;
    let name = host.plugins().into_iter().next().map(|plugin| plugin.name).unwrap_or_default();
    let opened = match host.open_plugin(&name) {
        Ok(opened) => opened,
        Err(error) => {
            // Only the reason: the plugin is known.
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
        changes: opened.changes,
        seconds: started.elapsed().as_secs_f64(),
    }))
}

/// Returns the preferences among the plugins that the child sees, where it sees several; a plugin
/// that it does not see cannot be preferred.
fn preferred_here(
    options: &HostOptions,
    process: &Environment,
    global: &GlobalArgs,
) -> Result<Vec<(String, String)>> {
    if global.plugins.is_empty() {
        return Ok(Vec::new());
    }
    let variable = process.prefer.as_deref().filter(|_| !process.raised_privileges);
    let variable = variable.and_then(OsStr::to_str).unwrap_or_default().split(',');
    let of_variable = variable.filter_map(|entry| entry.split_once('='));
    let of_variable = of_variable.map(|(key, plugin)| (key.trim().to_owned(), plugin.trim().to_owned()));
    let mut prefer: Vec<(String, String)> = of_variable.chain(preferences(global)?).collect();
    let seen = discover(options).map_err(|error| failure(&error))?.candidates;
    prefer.retain(|(_, plugin)| seen.iter().any(|candidate| candidate.name == *plugin));
    Ok(prefer)
}

/// Returns the target kinds and devices of the plugin that do not answer.
fn unusable(host: &Host, keys: &[String]) -> Vec<Unusable> {
    let asked = |key: &String| {
        let answer = if let Some(kind) = name_in_key(key, "target.kind.") {
            // Another plugin may provide the code generator; it is not here.
            match keys.contains(&format!("target.build.{kind}")) {
                true => host.usable_target(kind).map(drop),
                false => host.target(kind).map(drop),
            }
        } else if let Some(device) = name_in_key(key, "device_api.") {
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

    /// How a child ends is the supervisor's matter; what is said of it is ours.
    #[test]
    fn a_crash_is_reported_with_the_output_of_the_child() {
        let ended = Ended::Killed { signal: 11 };
        let outcome = Outcome::Ended { ended, stderr: "it hurts".to_owned() };
        assert_eq!(outcome.message(), "killed by signal 11 (SIGSEGV), saying: it hurts");
        assert_eq!((outcome.status(), &outcome.to_json()["signal"]), ("killed", &json!(11)));
        let ended = Ended::Exited { code: 0 };
        let outcome = Outcome::Ended { ended, stderr: String::new() };
        assert_eq!(outcome.message(), "ended its process with exit code 0 while being opened");
        assert_eq!((outcome.status(), &outcome.to_json()["code"]), ("exited", &json!(0)));
    }

    /// A child that ends well and reports what nobody understands did not report.
    #[test]
    fn a_report_that_is_none_counts_as_an_end() {
        let asked = |line: &str| Asked {
            outcome: chipdock_supervise::Outcome::Reported(line.as_bytes().to_vec()),
            stderr: chipdock_supervise::Tail::default(),
        };
        let keys = vec!["device_api.toy".to_owned()];
        let opened = outcome(asked(r#"{"outcome":"opened","keys":["device_api.toy"],"seconds":0.5}"#));
        assert_eq!(opened, Outcome::Opened(Opened { keys, seconds: 0.5, ..Opened::default() }));
        assert_eq!(outcome(asked("noise")).status(), "exited");
    }
}
