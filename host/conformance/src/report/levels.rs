//! States of levels, from the counts of cases (SUITE-S13).

use serde::{Deserialize, Serialize};

use crate::{Group, Level, Status};

/// State of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelState {
    /// Every case ended as expected, and cases of every group ran.
    Reached,
    /// Every case ended as expected, but there is a group whose code was built and never ran.
    BuiltOnly,
    /// Every case ended as expected, but there is a group of which nothing could be tried, as
    /// without a device.
    NotRun,
    /// A case did not end as expected, or there is nothing to try.
    NotReached,
}

impl LevelState {
    /// All states, the best first.
    pub const ALL: &[Self] = &[Self::Reached, Self::BuiltOnly, Self::NotRun, Self::NotReached];

    /// Returns the name of the state for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::BuiltOnly => "built only",
            Self::NotRun => "not run",
            Self::NotReached => "not reached",
        }
    }
}

/// Returns the state of a level whose cases all ended as expected, and the groups because of which
/// it is not reached. `n` is the number of cases of a group with a status.
pub(crate) fn state(level: Level, n: impl Fn(Group, Status) -> u64) -> (LevelState, Vec<Group>) {
    let of = |wanted: Status| -> Vec<Group> {
        let groups = Group::ALL.iter().copied().filter(|group| level.includes(group.level()));
        let ran = |group| n(group, Status::Passed) + n(group, Status::Stale) > 0;
        groups.filter(|group| n(*group, wanted) > 0 && !ran(*group)).collect()
    };
    match (of(Status::Absent), of(Status::Built)) {
        (absent, _) if !absent.is_empty() => (LevelState::NotRun, absent),
        (_, built) if !built.is_empty() => (LevelState::BuiltOnly, built),
        _ => (LevelState::Reached, Vec::new()),
    }
}
