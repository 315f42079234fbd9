//! Tests of programs that real TVM has scheduled for threads, as it prints them: what TVM builds is built for CUDA, and on
//! OpenCL computes what TVM does without a schedule.
//!
//! A run takes a sample of TOPI's operators, each by every rule of dlight that applies to it, and one of larger programs and of
//! schedules by steps ([`chipdock_test_support::sample`]); a whole run takes all.

use std::collections::BTreeSet;

use chipdock_peers::programs::{Kind, programs};
use chipdock_peers::python::python;
use chipdock_test_support::sample;

use super::tvm_programs::{Cell, Row, Targets, rows};

/// From what the shapes, values and choices of all programs are drawn.
const SEED: &str = "20261129";

/// The rules, each of which applies to some program.
const RULES: &[&str] =
    &["Matmul", "GEMV", "LowBatchGEMV", "Reduction", "GeneralReduction", "RMSNorm", "Transpose", "Fallback"];

/// Words of refusals that are right, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("runs on the host", "TVM's sorts for a processor call a function of the host"),
    ("interpreter:", "too many steps for it: the result is TVM's alone"),
];

/// What is wrong with a row: a refusal that is not on the list, a wrong result.
fn complaints(row: &Row) -> Vec<String> {
    let complaint = |(target, cell): &(String, Cell)| match cell {
        Cell::Right => None,
        Cell::Refused(why) if REFUSED.iter().any(|(words, _)| why.contains(words)) => None,
        Cell::Refused(why) => Some(format!("{} on {target}: refused: {why}", row.name)),
        Cell::Wrong(why) => Some(format!("{} on {target}: wrong: {why}", row.name)),
    };
    row.cells.iter().filter_map(complaint).collect()
}

/// Checks a sample of the programs of a kind, one draw in `one_in`; returns the names of all programs.
fn check(kind: Kind, what: &str, one_in: usize) -> BTreeSet<String> {
    let Some(python) = python(what) else { return BTreeSet::new() };
    let one_in = if sample::is_whole_run() { 1 } else { one_in };
    let drawn = programs(&python, kind, SEED, &sample::seed(), one_in);
    let drawn = drawn.unwrap_or_else(|error| panic!("{error}"));
    sample::report(what, drawn.n_all.div_ceil(one_in), drawn.n_all);
    let targets = Targets::all().only(&["cuda", "opencl"]);
    let rows = rows(&targets, &drawn.made);
    println!("{} programs on {:?}", rows.len(), targets.names());
    let mut all: Vec<String> = rows.iter().flat_map(complaints).collect();
    all.extend(drawn.refused.iter().map(|(name, why)| format!("{name} could not be made: {why}")));
    assert!(all.is_empty(), "{} complaints\n{}", all.len(), all.join("\n"));
    rows.into_iter().map(|row| row.name).collect()
}

#[test]
fn programs_that_tvms_rules_schedule_are_right() {
    let names = check(Kind::Rules, "draws of programs that TVM's rules schedule", 60);
    assert!(names.is_empty() || !sample::is_whole_run() || names.len() >= 500, "only {}", names.len());
}

#[test]
fn programs_that_tvms_steps_schedule_are_right() {
    let names = check(Kind::Steps, "draws of larger programs and of steps that TVM schedules", 6);
    if sample::is_whole_run() && !names.is_empty() {
        let is_there = |rule: &&&str| names.iter().any(|name| name.contains(&format!(":{rule}.")));
        let missing: Vec<&&str> = RULES.iter().filter(|rule| !is_there(rule)).collect();
        assert!(missing.is_empty(), "no program is scheduled by {missing:?}");
    }
}
