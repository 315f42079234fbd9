//! What a run found: the one model that every form of report is printed from.

pub mod details;
pub mod grid;
pub mod html;
pub mod junit;
pub mod text;
pub mod verdict;

use serde::{Deserialize, Serialize};

use crate::{Facts, Failure, Group, Level, Profile};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "chipdock.conformance/1";

/// How an instance ended, all told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It passed.
    Passed,
    /// It passed as far as building goes; what runs the result is not here (SUITE-S4).
    Built,
    /// It needs a profile that is not claimed, and was answered `Unsupported` (SUITE-S6).
    Unsupported,
    /// What it needs is not here: no device (SUITE-S8).
    Absent,
    /// It failed, crashed or hung as the expectations say (SUITE-S7).
    Expected,
    /// It failed.
    Failed,
    /// The process was ended by a signal, or ended itself.
    Crashed,
    /// It did not come back before its deadline.
    Hung,
    /// It failed among others and passed alone, and then among the same others (SUITE-S10).
    Flaky,
    /// It fails after certain others and passes alone (SUITE-S10).
    OrderDependent,
    /// It passed, and the expectations say that it does not (SUITE-S7).
    Stale,
    /// The suite is at fault.
    SuiteFault,
}

impl Status {
    /// All, in the order in which they are counted.
    pub const ALL: &[Self] = &[
        Self::Passed,
        Self::Built,
        Self::Unsupported,
        Self::Absent,
        Self::Expected,
        Self::Failed,
        Self::Crashed,
        Self::Hung,
        Self::Flaky,
        Self::OrderDependent,
        Self::Stale,
        Self::SuiteFault,
    ];

    /// For a person, lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Built => "built only",
            Self::Unsupported => "unsupported",
            Self::Absent => "absent",
            Self::Expected => "expected failure",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::Flaky => "flaky",
            Self::OrderDependent => "order-dependent",
            Self::Stale => "stale expectation",
            Self::SuiteFault => "suite's fault",
        }
    }

    /// Whether it is as it should be.
    #[must_use]
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Passed | Self::Built | Self::Unsupported | Self::Absent | Self::Expected)
    }
}

/// How one instance ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The instance's id.
    pub id: String,
    /// Its group.
    pub group: Group,
    /// The clause that it tests.
    pub clause: String,
    /// What it needs beyond what every plugin has: all of these. Without those that it shows nothing of (SUITE-S6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// How it ended.
    pub status: Status,
    /// How long it took.
    pub seconds: f64,
    /// Why it is unsupported, absent, built only, expected or stale, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What was wrong; there unless it is fine or stale, and where a failure was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// How its process ended, when it did so by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub death: Option<Death>,
    /// The reduced program that fails, as a file that the suite takes back, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repro: String,
    /// The command that repeats it alone; empty for what is fine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repeat: String,
}

/// How a worker ended that should not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Death {
    /// The signal by number, if one ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The exit code, if it ended itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// In words: `killed by signal 11 (SIGSEGV)`, `ended its process with code 3`, `silent for 20 s`.
    pub text: String,
    /// The stack, innermost first, as far as it could be had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backtrace: Vec<String>,
    /// The end of what it wrote to its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// How a profile came out (SUITE-S6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileReport {
    /// Which.
    pub profile: Profile,
    /// Whether the plugin claims it.
    pub claimed: bool,
    /// Instances that need it and show something of it.
    pub n_cases: usize,
    /// Of them, those that passed.
    pub n_passed: usize,
    /// Of them, those that were answered `Unsupported`.
    pub n_unsupported: usize,
    /// What is wrong with the claim, in words; empty when nothing is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
}

/// Whether a level was reached (SUITE-S13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelReport {
    /// Which.
    pub level: Level,
    /// Whether it was.
    pub reached: bool,
    /// Why not, or what to know: how many are expected failures, that nothing ran.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An expectation or claim that no longer holds (SUITE-S6, SUITE-S7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleReport {
    /// The pattern of the expectation, or the profile.
    pub what: String,
    /// Why, and what to do.
    pub why: String,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// By Rust's name.
    pub os: String,
    /// By Rust's name.
    pub arch: String,
    /// The processor's name.
    pub cpu: String,
    /// Threads that the process may use.
    pub n_threads: usize,
    /// The kernel's release.
    pub kernel: String,
}

/// Everything about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`crate::SUITE_VERSION`].
    pub suite_version: String,
    /// The library, as it was named.
    pub library: String,
    /// SHA-256 of the library, in hexadecimal.
    pub sha256: String,
    /// What the plugin says of itself; nothing but names when it was refused.
    pub plugin: Facts,
    /// Why it was refused; empty when it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refused: String,
    /// The machine.
    pub machine: Machine,
    /// How far the run went.
    pub level: Level,
    /// Which cases were left out by filters; empty when none were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// What was set of plugins, as `PLUGIN.KEY=VALUE`; empty when nothing was (SUITE-S16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// What the plugin claims.
    pub claims: Vec<Profile>,
    /// The first seed of random programs.
    pub seed: u64,
    /// How many of them.
    pub programs: u64,
    /// When it began, seconds since 1970.
    pub started_unix: u64,
    /// How long it took.
    pub seconds: f64,
    /// Every instance, in order.
    pub cases: Vec<CaseReport>,
    /// Every profile that an instance needs.
    pub profiles: Vec<ProfileReport>,
    /// The levels that were asked for.
    pub levels: Vec<LevelReport>,
    /// What of expectations and claims no longer holds.
    pub stale: Vec<StaleReport>,
    /// What to know of the run: what was cut short, what the probe could not find out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What went wrong with the suite itself, beyond cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The exit code (SUITE-S14).
    pub exit: u8,
}

impl Report {
    /// How many instances of a group ended so.
    #[must_use]
    pub fn count(&self, group: Option<Group>, status: Status) -> usize {
        let of_group = |case: &&CaseReport| group.is_none_or(|group| case.group == group);
        self.cases.iter().filter(of_group).filter(|case| case.status == status).count()
    }

    /// Instances that are not as they should be, in order.
    pub fn unfine(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !case.status.is_fine())
    }

    /// The greatest level that was reached, if any.
    #[must_use]
    pub fn reached(&self) -> Option<Level> {
        self.levels.iter().filter(|level| level.reached).map(|level| level.level).max()
    }
}
