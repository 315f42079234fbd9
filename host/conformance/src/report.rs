//! The report of a run: the one model from which every form of report is printed.

pub mod details;
pub mod grid;
pub mod html;
pub mod junit;
pub mod text;
pub mod verdict;

use serde::{Deserialize, Serialize};

use crate::{Facts, Failure, Group, Level, Profile};

/// Schema of a [`Report`] in JSON.
pub const SCHEMA: &str = "chipdock.conformance/1";

/// Final status of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The case passed.
    Passed,
    /// The case built its module; nothing here can run the result (SUITE-S4).
    Built,
    /// The case needs a profile that is not claimed, and was answered `Unsupported` (SUITE-S6).
    Unsupported,
    /// The case needs something that is not here: a device (SUITE-S8).
    Absent,
    /// The case failed, crashed or hung as the expectations say (SUITE-S7).
    Expected,
    /// The case failed.
    Failed,
    /// The process was ended by a signal, or ended itself.
    Crashed,
    /// The case did not end before its deadline.
    Hung,
    /// The case failed among others, passed alone, and then passed among the same others (SUITE-S10).
    Flaky,
    /// The case fails after certain others and passes alone (SUITE-S10).
    OrderDependent,
    /// The case passed, and the expectations say that it does not (SUITE-S7).
    Stale,
    /// The suite is at fault.
    SuiteFault,
}

impl Status {
    /// All statuses, in the order in which they are counted.
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

    /// Returns the status for a person, in lower case.
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

    /// Returns true if the status is as it should be.
    #[must_use]
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Passed | Self::Built | Self::Unsupported | Self::Absent | Self::Expected)
    }
}

/// Result of one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The instance's id.
    pub id: String,
    /// Group of the case.
    pub group: Group,
    /// The clause that it tests.
    pub clause: String,
    /// Optional profiles that it needs, all of them. Without those that it does not exercise (SUITE-S6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// Status of the instance.
    pub status: Status,
    /// Time that it took in seconds.
    pub seconds: f64,
    /// Reason why it is unsupported, absent, built only, expected or stale, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The failure; present unless the status is fine or stale, and where a failure was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// End of its process, when that ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub death: Option<Death>,
    /// Path of the reduced program that fails, which the suite can replay; or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repro: String,
    /// Command that repeats the case alone; empty where the status is fine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub repeat: String,
}

/// Abnormal end of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Death {
    /// Number of the signal, if one ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The exit code, if it ended itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Description: `killed by signal 11 (SIGSEGV)`, `ended its process with code 3`, `silent for 20 s`.
    pub text: String,
    /// The stack, innermost first, as far as it is available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backtrace: Vec<String>,
    /// The end of its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// Result of a profile (SUITE-S6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileReport {
    /// The profile.
    pub profile: Profile,
    /// Whether the plugin claims it.
    pub claimed: bool,
    /// Number of instances that need it and exercise it.
    pub n_cases: usize,
    /// Number of them that passed.
    pub n_passed: usize,
    /// Number of them that were answered `Unsupported`.
    pub n_unsupported: usize,
    /// Problem of the claim, in words; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
}

/// Result of a level (SUITE-S13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelReport {
    /// The level.
    pub level: Level,
    /// Whether it was reached.
    pub reached: bool,
    /// Reason why not, or a remark: how many are expected failures, that nothing ran.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An expectation or claim that no longer holds (SUITE-S6, SUITE-S7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleReport {
    /// The pattern of the expectation, or the profile.
    pub what: String,
    /// Reason, and what to do.
    pub why: String,
}

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system, by Rust's name.
    pub os: String,
    /// Processor architecture, by Rust's name.
    pub arch: String,
    /// The processor's name.
    pub cpu: String,
    /// Number of threads that the process may use.
    pub n_threads: usize,
    /// The kernel's release.
    pub kernel: String,
}

/// Complete result of a run.
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
    /// Facts about the plugin; only names when it was refused.
    pub plugin: Facts,
    /// Reason why it was refused; empty when it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refused: String,
    /// The machine.
    pub machine: Machine,
    /// Level of the run.
    pub level: Level,
    /// Filters that left cases out; empty when none were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Settings of plugins, as `PLUGIN.KEY=VALUE`; empty when there were none (SUITE-S16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Profiles that the plugin claims.
    pub claims: Vec<Profile>,
    /// The first seed of random programs.
    pub seed: u64,
    /// Number of random programs.
    pub programs: u64,
    /// Start of the run, in seconds since 1970.
    pub started_unix: u64,
    /// Time that the run took in seconds.
    pub seconds: f64,
    /// Every instance, in order.
    pub cases: Vec<CaseReport>,
    /// Every profile that an instance needs.
    pub profiles: Vec<ProfileReport>,
    /// Results of the requested levels.
    pub levels: Vec<LevelReport>,
    /// Expectations and claims that no longer hold.
    pub stale: Vec<StaleReport>,
    /// Remarks on the run: what was cut short, what the probe could not find out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Faults of the suite itself, outside cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The exit code (SUITE-S14).
    pub exit: u8,
}

impl Report {
    /// Returns the number of instances of a group with a status.
    #[must_use]
    pub fn count(&self, group: Option<Group>, status: Status) -> usize {
        let of_group = |case: &&CaseReport| group.is_none_or(|group| case.group == group);
        self.cases.iter().filter(of_group).filter(|case| case.status == status).count()
    }

    /// Returns the instances that are not as they should be, in order.
    pub fn unfine(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !case.status.is_fine())
    }

    /// Returns the greatest level that was reached, if any.
    #[must_use]
    pub fn reached(&self) -> Option<Level> {
        self.levels.iter().filter(|level| level.reached).map(|level| level.level).max()
    }
}
