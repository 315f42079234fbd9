//! Runs the suite: the supervisor, its workers, and the processing of their verdicts.

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
    /// The plugin's library.
    pub library: PathBuf,
    /// The executable, and the arguments before the job's path, that [`work`] is reached by.
    pub worker: (PathBuf, Vec<String>),
    /// Level of the run.
    pub level: Level,
    /// Globs over ids; empty for all.
    pub filters: Vec<String>,
    /// Claims and expectations of the plugin.
    pub expectations: Expectations,
    /// Other plugins that may be used, for instance to compile host functions.
    pub companions: Vec<PathBuf>,
    /// Libraries or folders that are used whatever their owner and permissions are.
    pub trust: Vec<PathBuf>,
    /// Settings of plugins: plugin, key and value (SUITE-S16).
    pub settings: Vec<(String, String, String)>,
    /// Seeds of random programs.
    pub seeds: Seeds,
    /// Number of workers at once.
    pub jobs: usize,
    /// Factor by which deadlines are multiplied, for slow machines.
    pub patience: f64,
    /// Whether failures are run again (SUITE-S10).
    pub again: bool,
    /// Folder for reduced programs.
    pub repro_folder: PathBuf,
    /// Words that the command that repeats a case needs besides library and filter, as `--plugin` and a path (SUITE-S15).
    pub repeat: Vec<String>,
}

/// Reason why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The user's request cannot be carried out: exit code 2.
    Usage(String),
    /// The suite failed itself: exit code 7.
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
    /// The number of instances that will be run.
    Planned(usize),
    /// An instance ended.
    Ended(&'a crate::report::CaseReport),
    /// This many failures are run again.
    Again(usize),
}

/// Job of a worker, which it reads from a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    library: PathBuf,
    facts: Facts,
    companions: Vec<PathBuf>,
    trust: Vec<PathBuf>,
    settings: Vec<(String, String, String)>,
    scratch: PathBuf,
    /// Folder for programs that fail.
    repros: PathBuf,
    seeds: Seeds,
    token: String,
    task: Task,
}

/// Task of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    /// Collect the facts of the plugin.
    Probe,
    /// Check that the plugin still works.
    Health,
    /// Run instances with these ids, in order.
    Cases(Vec<String>),
}

/// Message of a worker, one line each, through its own pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Message {
    /// The plugin opened, with its registrations. Its devices are queried next.
    Opened { facts: Facts },
    /// Result of the probe, or the reason why the plugin is refused.
    Probed { facts: Result<Facts, Refusal> },
    /// Problem of its devices, if there is one.
    Health { stop: Option<Stop> },
    /// An instance begins.
    Begin { index: usize },
    /// The instance ended.
    End { index: usize, seconds: f64, ended: Ended, repro: String },
    /// All instances have ended; the process ends next.
    Done,
}

/// Result of an instance that ended by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ended {
    /// Reason why it did not pass; none if it did.
    stop: Option<Stop>,
    /// Reason why it could build but not run the result (SUITE-S4).
    not_run: Option<String>,
    /// Profiles that it did not exercise on the device (SUITE-S6).
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

/// The exit code of a worker whose pipe was closed under it.
const CLOSED_PIPE: i32 = 120;
