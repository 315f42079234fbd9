//! Runs the suite: the supervisor, its workers, and the judgement of their verdicts.

mod again;
mod conclude;
mod judge;
mod lines;
mod machine;
mod plan;
mod pool;
mod process;
#[cfg(test)]
mod rule_tests;
mod signals;
mod stack;
mod state;
mod supervisor;
mod together;
mod worker;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::case::Seeds;
use crate::expectations::Expectations;
use crate::{Facts, Level, Profile, Stop};

pub use supervisor::{probe, supervise};
pub use worker::work;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the plugin's library.
    pub library: PathBuf,
    /// Executable that calls [`work`], and its arguments before the path of the job.
    pub worker: (PathBuf, Vec<String>),
    /// Level of the run.
    pub level: Level,
    /// Globs over ids; an empty list selects all.
    pub filters: Vec<String>,
    /// Claims and expectations of the plugin.
    pub expectations: Expectations,
    /// Further plugins that the hosts may use, for instance to compile host functions.
    pub companions: Vec<PathBuf>,
    /// Libraries or folders that are trusted regardless of their owner and permissions.
    pub trust: Vec<PathBuf>,
    /// Plugin settings: plugin, key and value (SUITE-S16).
    pub settings: Vec<(String, String, String)>,
    /// Random programs of the run.
    pub seeds: Seeds,
    /// Number of concurrent workers.
    pub jobs: usize,
    /// Factor of all deadlines, for slow machines.
    pub patience: f64,
    /// Whether failed cases are run again (SUITE-S10).
    pub again: bool,
    /// Folder that reduced programs are written to.
    pub repro_folder: PathBuf,
    /// Further arguments of the command that repeats a case, such as `--plugin` and a path
    /// (SUITE-S15).
    pub repeat: Vec<String>,
}

/// Reason why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The request is wrong: exit code 2.
    Usage(String),
    /// The suite itself failed: exit code 7.
    Suite(String),
}

impl RunError {
    /// Returns the exit code (SUITE-S14).
    #[must_use]
    pub fn exit(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Suite(_) => 7,
        }
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(what) | Self::Suite(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RunError {}

/// Progress of a run, for display.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// The probe is running.
    Probing,
    /// Number of instances that will be run.
    Planned(usize),
    /// Report of an instance that ended.
    Ended(&'a crate::report::CaseReport),
    /// Number of failed instances that are run again.
    Again(usize),
}

/// Job of a worker, passed as a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    library: PathBuf,
    facts: Facts,
    companions: Vec<PathBuf>,
    trust: Vec<PathBuf>,
    settings: Vec<(String, String, String)>,
    scratch: PathBuf,
    /// Folder that failing programs are written to.
    repros: PathBuf,
    seeds: Seeds,
    token: String,
    task: Task,
}

/// Task of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    /// Find out what the plugin registers and which devices it has.
    Probe,
    /// Check the plugin's health.
    Health,
    /// Run instances with these ids, in order; if required, with each kernel in a module of its own
    /// (SUITE-S17).
    Cases { ids: Vec<String>, builds_alone: bool },
}

/// Message of a worker: one line each, over a private pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Message {
    /// The plugin opened, with its registrations. Its devices are queried next.
    Opened { facts: Facts },
    /// Result of the probe, or the reason why the plugin is refused.
    Probed { facts: Result<Facts, Refusal> },
    /// Result of the health check; `None` if the devices are well.
    Health { stop: Option<Stop> },
    /// An instance begins.
    Begin { index: usize },
    /// An instance ended.
    End { index: usize, seconds: f64, ended: Ended, repro: String },
    /// All have ended; the process ends next.
    Done,
}

/// Result of an instance that ended by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ended {
    /// Reason why the instance did not pass; `None` if it passed.
    stop: Option<Stop>,
    /// Reason why the instance built its result but could not run it (SUITE-S4).
    not_run: Option<String>,
    /// Profiles of which nothing reached the device (SUITE-S6).
    untested: Vec<Profile>,
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Self { stop: Some(stop), ..Self::default() }
    }
}

/// Reason why a plugin is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refusal {
    clause: String,
    message: String,
}

/// A message with the worker's token and its number, from 0 (SUITE-S11).
#[derive(Debug, Serialize, Deserialize)]
struct Signed {
    token: String,
    number: u64,
    #[serde(flatten)]
    message: Message,
}

/// Exit code of a worker whose pipe was closed by someone else.
const CLOSED_PIPE: i32 = 120;
