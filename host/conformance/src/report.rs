//! Report of a run: the one model from which every output format is written.

pub mod details;
pub mod grid;
pub mod html;
pub mod junit;
pub mod levels;
pub mod text;
pub mod verdict;

use serde::{Deserialize, Serialize};

pub use levels::LevelState;

use crate::{Facts, Failure, Group, Level, Profile};

/// The schema of [`Report`] as JSON.
pub const SCHEMA: &str = "chipdock.conformance/1";

/// Final status of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The case passed.
    Passed,
    /// The result was built; nothing on this machine can run it (SUITE-S4).
    Built,
    /// The case needs an unclaimed profile and was answered with `Unsupported` (SUITE-S6).
    Unsupported,
    /// The case has nothing to run on: there is no device (SUITE-S8), or not the thread axes that
    /// it is about (SUITE-S18).
    Absent,
    /// The case failed, crashed or hung as the expectations file says (SUITE-S7).
    Expected,
    /// The case failed.
    Failed,
    /// The process was killed by a signal or exited by itself.
    Crashed,
    /// The case did not end before its deadline.
    Hung,
    /// The case failed once, then passed alone and after the same preceding cases (SUITE-S10).
    Flaky,
    /// The case fails after certain others and passes alone (SUITE-S10).
    OrderDependent,
    /// The case passed although the expectations file says otherwise (SUITE-S7).
    Stale,
    /// The suite itself is at fault.
    SuiteFault,
}

impl Status {
    /// All statuses, in the order in which reports count them.
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

    /// Returns the name for users, in lower case.
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

    /// Returns true if the status is as required or expected.
    #[must_use]
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Passed | Self::Built | Self::Unsupported | Self::Absent | Self::Expected)
    }
}

/// Result of one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// Id of the instance.
    pub id: String,
    /// Group of the case.
    pub group: Group,
    /// Clause that the case tests.
    pub clause: String,
    /// Profiles that the case needs, all of them, except those that it is silent about (SUITE-S6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// Final status.
    pub status: Status,
    /// Duration in seconds.
    pub seconds: f64,
    /// Reason for a status of unsupported, absent, built, expected or stale.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Details of the failure; present unless the status is fine or stale, and for an expected
    /// failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// End of the process, if it died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub death: Option<Death>,
    /// File with the reduced failing program, which the suite can replay; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repro: String,
    /// Command that repeats the instance alone; empty if the status is fine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repeat: String,
}

/// Unexpected end of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Death {
    /// Number of the signal, if a signal killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Exit code, if it exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Description, such as `killed by signal 11 (SIGSEGV)`, `ended its process with code 3`,
    /// `silent for 20 s`.
    pub text: String,
    /// Stack trace, innermost frame first, as far as it is available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backtrace: Vec<String>,
    /// End of its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// Result of one profile (SUITE-S6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileReport {
    /// The profile.
    pub profile: Profile,
    /// Whether the plugin claims the profile.
    pub claimed: bool,
    /// Number of instances that need the profile and are not silent about it.
    pub n_cases: usize,
    /// Number of those that passed.
    pub n_passed: usize,
    /// Number of those that were answered with `Unsupported`.
    pub n_unsupported: usize,
    /// Problem with the claim; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
}

/// Result of one level (SUITE-S13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelReport {
    /// The level.
    pub level: Level,
    /// State of the level.
    pub state: LevelState,
    /// Reason why the level was not reached, or a remark, such as the number of expected failures.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An expectation or claim that no longer holds (SUITE-S6, SUITE-S7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleReport {
    /// Pattern of the expectation, or name of the profile.
    pub what: String,
    /// Reason, and what to change.
    pub why: String,
}

/// Machine of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system, as Rust names it.
    pub os: String,
    /// Architecture, as Rust names it.
    pub arch: String,
    /// Name of the processor.
    pub cpu: String,
    /// Number of threads that the process may use.
    pub n_threads: usize,
    /// Release of the system's kernel.
    pub kernel: String,
}

/// Complete result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Always [`crate::SUITE_VERSION`].
    pub suite_version: String,
    /// Path of the library, as given.
    pub library: String,
    /// SHA-256 of the library, in hexadecimal.
    pub sha256: String,
    /// Facts about the plugin; names only if it was refused.
    pub plugin: Facts,
    /// Reason why the plugin was refused; empty if it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refused: String,
    /// Machine of the run.
    pub machine: Machine,
    /// Level that the run was asked for.
    pub level: Level,
    /// Filters that restricted the cases; empty if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Plugin settings, as `PLUGIN.KEY=VALUE`; empty if there were none (SUITE-S16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Profiles that the plugin claims.
    pub claims: Vec<Profile>,
    /// Seed of the first random program.
    pub seed: u64,
    /// Number of random programs.
    pub programs: u64,
    /// Start time, in seconds since 1970.
    pub started_unix: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Results of all instances, in order.
    pub cases: Vec<CaseReport>,
    /// Results of every profile that an instance needs.
    pub profiles: Vec<ProfileReport>,
    /// Results of the requested levels.
    pub levels: Vec<LevelReport>,
    /// Expectations and claims that no longer hold.
    pub stale: Vec<StaleReport>,
    /// Remarks on the run, such as parts cut short or facts that the probe could not determine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Faults of the suite itself outside cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Exit code of the run (SUITE-S14).
    pub exit: u8,
}

impl Report {
    /// Returns the number of instances with a status, in one group or in all.
    #[must_use]
    pub fn count(&self, group: Option<Group>, status: Status) -> usize {
        let of_group = |case: &&CaseReport| group.is_none_or(|group| case.group == group);
        self.cases.iter().filter(of_group).filter(|case| case.status == status).count()
    }

    /// Iterates over the instances whose status is not fine, in order.
    pub fn unfine(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !case.status.is_fine())
    }

    /// Returns the highest level that was reached, if any.
    #[must_use]
    pub fn reached(&self) -> Option<Level> {
        let reached = self.levels.iter().filter(|level| level.state == LevelState::Reached);
        reached.map(|level| level.level).max()
    }
}
