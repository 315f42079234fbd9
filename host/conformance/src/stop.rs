//! Outcomes of a case that does not pass.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// Failure found by a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The broken clause, if it is not the case's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// Expected behaviour.
    pub expected: String,
    /// Observed behaviour.
    pub found: String,
    /// Further context, such as the steps before the failure; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Reason why a case stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The plugin does not behave as the clause says.
    Failed(Failure),
    /// The plugin answered `Unsupported`, with this message: correct for an unclaimed profile, else
    /// a failure (SUITE-S6).
    Unsupported(String),
    /// This machine lacks what the case needs. Accepted only if the probe found the same, else a
    /// failure (SUITE-S8).
    Absent(String),
    /// The target kind does not declare the thread axes that the case is about. It is as a refusal
    /// for an unclaimed profile, and accepted of a claimed one (SUITE-S18).
    NoAxis(String),
    /// The suite itself is at fault, not the plugin.
    Suite(String),
}

/// Result of a case, or of a step of one.
pub type Verdict<T = ()> = Result<T, Stop>;

impl Stop {
    /// Creates a failure of the case's own clause.
    pub fn failed(expected: impl Display, found: impl Display) -> Self {
        Self::Failed(Failure {
            expected: expected.to_string(),
            found: found.to_string(),
            ..Failure::default()
        })
    }

    /// Appends a note to a failure; does nothing for other reasons.
    #[must_use]
    pub fn note(mut self, note: impl Display) -> Self {
        if let Self::Failed(failure) = &mut self {
            let separator = if failure.note.is_empty() { "" } else { "; " };
            failure.note.push_str(separator);
            failure.note.push_str(&note.to_string());
        }
        self
    }

    /// Attributes a failure to another clause; does nothing for other reasons.
    #[must_use]
    pub fn clause(mut self, clause: &str) -> Self {
        if let Self::Failed(failure) = &mut self {
            failure.clause = Some(clause.to_owned());
        }
        self
    }

    /// Creates a fault of the suite.
    pub fn suite(what: impl Display) -> Self {
        Self::Suite(what.to_string())
    }

    fn of_error(kind: &str, message: &str) -> Self {
        match kind {
            "Unsupported" => Self::Unsupported(message.to_owned()),
            "Unavailable" => Self::Absent(message.to_owned()),
            _ => Self::failed("success", format!("{kind}: {message}")),
        }
    }
}

impl From<chipdock_plugin_api::Error> for Stop {
    fn from(error: chipdock_plugin_api::Error) -> Self {
        Self::of_error(error.kind().as_str(), &error.message())
    }
}

impl From<chipdock_host::Error> for Stop {
    fn from(error: chipdock_host::Error) -> Self {
        Self::of_error(error.kind().as_str(), &error.to_string())
    }
}

/// Checks that `found` equals `expected`.
///
/// # Errors
///
/// A failure that shows both values.
pub fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Verdict {
    if found == expected {
        return Ok(());
    }
    Err(Stop::failed(format!("{what}: {expected:?}"), format!("{found:?}")))
}

/// Checks a condition.
///
/// # Errors
///
/// A failure with these texts.
pub fn ensure(condition: bool, expected: impl Display, found: impl Display) -> Verdict {
    if condition { Ok(()) } else { Err(Stop::failed(expected, found)) }
}

/// Checks that a call was refused with an error of one of these kinds.
///
/// # Errors
///
/// A failure that names the expected kinds and the actual result.
pub fn refused<T>(what: &str, result: Result<T, chipdock_plugin_api::Error>, kinds: &[&str]) -> Verdict {
    let expected = || format!("{what}: refused with {}", kinds.join(" or "));
    match result {
        Ok(_) => Err(Stop::failed(expected(), "success")),
        Err(error) if kinds.contains(&error.kind().as_str()) => ensure(
            !error.message().is_empty(),
            format!("{what}: an error that says what was expected and found"),
            "no message",
        )
        .map_err(|stop| stop.clause("P7.3")),
        Err(error) => {
            let kind = error.kind();
            let stop = Stop::failed(expected(), format!("{kind}: {}", error.message()));
            // An unknown error kind does not say whose fault it is.
            let is_unknown = kind.status() == chipdock_abi::CHIPDOCK_ERROR && kind.as_str() != "RuntimeError";
            Err(if is_unknown { stop.clause("P7.3") } else { stop })
        }
    }
}
