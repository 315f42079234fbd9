//! Verdict of a run in words, the same in every report format.

use super::LevelState;
use super::grid::{count, several};
use crate::{Group, Level, Report, Status};

/// Severity of a verdict, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All results are as expected.
    Good,
    /// Nothing was proved, or the expectations must be corrected.
    Warn,
    /// The plugin or the suite is at fault.
    Bad,
}

/// Summary of a run in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Severity of the verdict.
    pub tone: Tone,
    /// Verdict in a few words.
    pub headline: String,
    /// Number of cases by status.
    pub counts: String,
    /// Levels by their state.
    pub levels: String,
}

impl Summary {
    /// Builds the summary of a report.
    #[must_use]
    pub fn new(report: &Report) -> Self {
        let n = |status| report.count(None, status);
        let n_wrong = report.unfine().filter(|case| case.status != Status::Stale).count();
        let n_dead = n(Status::Crashed) + n(Status::Hung);
        let cases = |number| several(number, "case", "cases");
        let (tone, headline) = match report.exit {
            0 => (Tone::Good, "all as expected".to_owned()),
            2 => (Tone::Bad, "nothing was run: wrong usage".to_owned()),
            3 => (Tone::Bad, "the plugin was refused".to_owned()),
            4 => (Tone::Warn, "no device here: nothing beyond loading was proved".to_owned()),
            5 => (Tone::Bad, crashes(n(Status::Crashed), n(Status::Hung), n_wrong - n_dead)),
            6 => (
                Tone::Warn,
                several(report.stale.len(), "expectation no longer holds", "expectations no longer hold"),
            ),
            7 => (Tone::Bad, "the suite itself is at fault: nothing is proved by this run".to_owned()),
            _ if n_wrong == 0 => (Tone::Bad, "a claim does not hold".to_owned()),
            _ => (Tone::Bad, format!("{} failed", cases(n_wrong))),
        };
        let ended = Status::ALL.iter().map(|status| (*status, n(*status))).filter(|(_, n)| *n > 0);
        let ended: Vec<String> = ended.map(|(status, n)| format!("{} {}", count(n), status.name())).collect();
        let counts = match report.cases.len() {
            0 => "no case was run".to_owned(),
            all => format!("{}: {}", cases(all), ended.join(", ")),
        };
        Self { tone, headline, counts, levels: levels(report) }
    }
}

fn crashes(n_crashed: usize, n_hung: usize, n_more: usize) -> String {
    let cases = |number| several(number, "case", "cases");
    let mut words = Vec::new();
    if n_crashed > 0 {
        words.push(format!("{} crashed", cases(n_crashed)));
    }
    if n_hung > 0 {
        words.push(format!("{} hung", cases(n_hung)));
    }
    if n_more > 0 {
        words.push(format!("{} failed", cases(n_more)));
    }
    if words.is_empty() { "a crash or a hang".to_owned() } else { words.join(", ") }
}

fn levels(report: &Report) -> String {
    let of = |state: &LevelState| {
        let levels = report.levels.iter().filter(|level| level.state == *state);
        let names: Vec<&str> = levels.map(|level| level_name(level.level)).collect();
        (!names.is_empty()).then(|| format!("{}: {}", state.name(), names.join(", ")))
    };
    let parts: Vec<String> = LevelState::ALL.iter().filter_map(of).collect();
    if parts.is_empty() { "no level was asked for".to_owned() } else { parts.join("; ") }
}

/// Returns the name of a level.
#[must_use]
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Loadable => "loadable",
        Level::Device => "device",
        Level::Codegen => "codegen",
        Level::Full => "full",
    }
}

/// Returns the total duration of the cases of a group, in seconds.
#[must_use]
pub fn seconds_of(report: &Report, group: Option<Group>) -> f64 {
    let of_group = report.cases.iter().filter(|case| group.is_none_or(|group| case.group == group));
    // An empty sum of floats is -0.0, so the sum starts at 0.0.
    of_group.map(|case| case.seconds).fold(0.0, |sum, seconds| sum + seconds)
}

/// Iterates over the groups that have instances in a report.
pub fn groups(report: &Report) -> impl Iterator<Item = Group> {
    Group::ALL.iter().copied().filter(|group| report.cases.iter().any(|case| case.group == *group))
}

/// Returns the statuses that occur, with passed and failed in any case.
#[must_use]
pub fn columns(report: &Report) -> Vec<Status> {
    let always = [Status::Passed, Status::Failed];
    let occurs = |status: &Status| always.contains(status) || report.count(None, *status) > 0;
    Status::ALL.iter().copied().filter(occurs).collect()
}

/// Formats a time as `2027-03-31 12:00 UTC`.
#[must_use]
pub fn moment(unix_seconds: u64) -> String {
    time(unix_seconds, "%Y-%m-%d %H:%M UTC")
}

/// Formats a day as `2027-03-31`.
#[must_use]
pub fn day(unix_seconds: u64) -> String {
    time(unix_seconds, "%Y-%m-%d")
}

fn time(unix_seconds: u64, format: &str) -> String {
    let seconds = i64::try_from(unix_seconds).ok();
    let time = seconds.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    time.map_or_else(|| format!("{unix_seconds} s since 1970"), |time| time.format(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(day(1_709_164_800), "2024-02-29");
        assert_eq!(day(u64::MAX), "18446744073709551615 s since 1970");
    }
}
