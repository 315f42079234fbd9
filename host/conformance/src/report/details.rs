//! Details of one case, in the order that every report format uses.

use super::{CaseReport, Group, Status};
use crate::clauses;

/// One detail: a label and its text.
pub type Detail = (&'static str, String);

/// Returns the clause that a case broke, which may differ from the one that it tests.
#[must_use]
pub fn broken_clause(case: &CaseReport) -> &str {
    case.failure.as_ref().and_then(|failure| failure.clause.as_deref()).unwrap_or(&case.clause)
}

/// Returns the non-empty details of a case.
#[must_use]
pub fn details(case: &CaseReport) -> Vec<Detail> {
    let mut all = Vec::new();
    let mut add = |label, value: String| {
        if !value.trim().is_empty() {
            all.push((label, value));
        }
    };
    let broken = broken_clause(case);
    add("clause", format!("{broken}  {}", clauses::text(broken)));
    if broken != case.clause {
        add("tests", format!("{}  {}", case.clause, clauses::text(&case.clause)));
    }
    if let Some(failure) = &case.failure {
        let found = if failure.found.trim().is_empty() { "(nothing)" } else { &failure.found };
        add("expected", failure.expected.clone());
        add("found", found.to_owned());
        add("note", failure.note.clone());
    }
    add("reason", case.reason.clone());
    if let Some(death) = &case.death {
        add("process", death.text.clone());
        add("stack", death.backtrace.join("\n"));
        add("stderr", death.stderr.trim_end().to_owned());
    }
    add("program", case.repro.clone());
    add("alone", case.repeat.clone());
    all
}

/// Summarizes the result of a case in one line.
#[must_use]
pub fn headline(case: &CaseReport) -> String {
    let text = match (&case.failure, &case.death) {
        (_, Some(death)) => death.text.clone(),
        (Some(failure), None) => format!("expected {}, found {}", failure.expected, failure.found),
        (None, None) => case.reason.clone(),
    };
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    const LENGTH_MAX: usize = 300;
    if let Some((at, _)) = line.char_indices().nth(LENGTH_MAX) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// Returns a key that is equal for similar failures: same group, status and clause, and the same
/// text apart from numbers.
#[must_use]
pub fn likeness(case: &CaseReport) -> (Group, Status, String, String) {
    let words = match (&case.failure, &case.death) {
        (Some(failure), _) => format!("{}\n{}", failure.expected, failure.found),
        (None, Some(death)) => {
            format!("{}\n{}", death.text, death.backtrace.first().cloned().unwrap_or_default())
        }
        (None, None) => case.reason.clone(),
    };
    let mut masked = String::new();
    for c in words.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if !(c == '0' && masked.ends_with('0')) {
            masked.push(c);
        }
    }
    (case.group, case.status, broken_clause(case).to_owned(), masked)
}
