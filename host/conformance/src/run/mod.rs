//! Running a suite: the supervisor, its workers, and what becomes of their verdicts.

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

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The plugin's library.
    pub library: PathBuf,
    /// The executable, and the arguments before the job's path, that [`work`] is reached by.
    pub worker: (PathBuf, Vec<String>),
    /// How far.
    pub level: Level,
    /// Globs over ids; empty: all.
    pub filters: Vec<String>,
    /// What the plugin claims and expects.
    pub expectations: Expectations,
    /// Plugins that may take part, for instance to compile host functions.
    pub companions: Vec<PathBuf>,
    /// Libraries or folders that are used whatever their owner and permissions are.
    pub trust: Vec<PathBuf>,
    /// What is set of plugins: plugin, key and value (SUITE-S16).
    pub settings: Vec<(String, String, String)>,
    /// Random programs.
    pub seeds: Seeds,
    /// Workers at once.
    pub jobs: usize,
    /// What deadlines are multiplied with, for slow machines.
    pub patience: f64,
    /// Whether what failed is run again (SUITE-S10).
    pub again: bool,
    /// Where reduced programs are written.
    pub repro_folder: PathBuf,
    /// Words that the command which repeats a case needs besides library and filter, as `--plugin` and a path (SUITE-S15).
    pub repeat: Vec<String>,
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The user asked for what cannot be done: exit code 2.
    Usage(String),
    /// The suite could not do its part: exit code 7.
    Suite(String),
}

impl RunError {
    /// The exit code (SUITE-S14).
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

/// Signs of life, for whoever shows them.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// The probe is running.
    Probing,
    /// So many instances will be run.
    Planned(usize),
    /// One ended.
    Ended(&'a crate::report::CaseReport),
    /// What failed is run again.
    Again(usize),
}

/// What a worker is told, as a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    library: PathBuf,
    facts: Facts,
    companions: Vec<PathBuf>,
    trust: Vec<PathBuf>,
    settings: Vec<(String, String, String)>,
    scratch: PathBuf,
    /// Where programs that fail are written.
    repros: PathBuf,
    seeds: Seeds,
    token: String,
    task: Task,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    /// Find out what the plugin is.
    Probe,
    /// Find out whether it is still well.
    Health,
    /// Run instances with these ids, in order.
    Cases(Vec<String>),
}

/// What a worker says, one line each, through its own pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Message {
    /// The plugin opened; what it registered. Its devices are asked next.
    Opened { facts: Facts },
    /// What the probe found, or why the plugin is refused.
    Probed { facts: Result<Facts, Refusal> },
    /// What is wrong with its devices, if anything.
    Health { stop: Option<Stop> },
    /// An instance begins.
    Begin { index: usize },
    /// It ended.
    End { index: usize, seconds: f64, ended: Ended, repro: String },
    /// All have ended; the process ends next.
    Done,
}

/// How an instance ended that ended by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ended {
    /// Why it did not pass; none: it did.
    stop: Option<Stop>,
    /// Why it could build but not run what it built (SUITE-S4).
    not_run: Option<String>,
    /// Profiles of which nothing came to the device (SUITE-S6).
    untested: Vec<Profile>,
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Self { stop: Some(stop), ..Self::default() }
    }
}

/// Why a plugin is refused.
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
