//! Tests of programs that real TVM has scheduled for threads, as it prints them: what TVM builds is
//! built for CUDA, and on OpenCL computes what TVM does without a schedule.
//!
//! A run takes a sample of TOPI's operators, each by every rule of dlight that applies to it, and
//! one of larger programs and of schedules by steps ([`chipdock_test_support::sample`]); a whole
//! run takes all, and writes the table `programs/SCHEDULED.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use chipdock_peers::programs::{Kind, programs};
use chipdock_peers::python::python;
use chipdock_test_support::sample;

use super::tvm_programs::report::{is_not_made, listed};
use super::tvm_programs::{Cell, Row, Targets, rows};

/// From what the shapes, values and choices of all programs are drawn.
const SEED: &str = "20261129";

/// The rules, each of which applies to some program.
const RULES: &[&str] =
    &["Matmul", "GEMV", "LowBatchGEMV", "Reduction", "GeneralReduction", "RMSNorm", "Transpose", "Fallback"];

/// Words of refusals that are right, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("runs on the host", "TVM's sorts for a processor call a function of the host"),
    ("iterations and calls", "too many steps for the interpreter: judged by the plain program"),
    (
        "is out of bounds: its shape is",
        "TOPI's slice_scatter reads past a tensor and drops the value, without a schedule too",
    ),
    (
        "bytes of memory are wanted",
        "whole buffers of every thread are too much for the interpreter: judged by the plain program",
    ),
    (
        "two threads touch",
        "every thread of a block stores the same value in one element, a race here: judged by the plain program",
    ),
];

/// The reason why an answer is not the one that is wanted, if it is known: here, or of the program
/// without a schedule.
fn reason(row: &Row, target: &str, why: &str) -> Option<&'static str> {
    let refused = REFUSED.iter().find(|(words, _)| why.contains(words)).map(|(_, reason)| *reason);
    refused.or_else(|| listed(row, target, why).map(|entry| entry.reason))
}

/// What is wrong with a row: a refusal or a wrong result without a known reason.
fn complaints(row: &Row) -> Vec<String> {
    let complaint = |(target, cell): &(String, Cell)| match cell {
        Cell::Right => None,
        Cell::Refused(why) | Cell::Wrong(why) if reason(row, target, why).is_some() => None,
        Cell::Refused(why) => Some(format!("{} on {target}: refused: {why}", row.name)),
        Cell::Wrong(why) => Some(format!("{} on {target}: wrong: {why}", row.name)),
    };
    row.cells.iter().filter_map(complaint).collect()
}

/// The rule or the steps by which a program is scheduled: of `topi.add/0:Fallback.small` the first.
fn rule(row: &Row) -> &str {
    let (draw, rule) = row.name.split_once(':').unwrap_or((&row.name, ""));
    if rule.is_empty() { draw.split('/').next() } else { rule.split('.').next() }.unwrap_or_default()
}

/// The table of a whole run: counts, then programs that do not end as wanted, by reason.
fn markdown(rows: &[Row], n_draws: usize, targets: &[String]) -> String {
    let mut text = format!(
        "# Programs that TVM has scheduled\n\nWritten by `BLESS=1 cargo xtask test --all programs_that_tvm_schedules`: {} \
         programs of {n_draws} draws, scheduled for threads by rules of TVM's dlight and by steps of its schedules. `tvm` is \
         TVM's result without a schedule against the interpreter's with it; `opencl` is run on PoCL, `cuda` built.\n\n\
         | By | On | Programs | Right | Otherwise, with a reason | Not right |\n|---|---|---|---|---|---|\n",
        rows.len(),
    );
    let mut refused: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    let kinds: BTreeSet<&str> = rows.iter().map(rule).collect();
    for kind in kinds {
        for target in ["read", "tvm"].into_iter().chain(targets.iter().map(String::as_str)) {
            let own = rows.iter().filter(|row| rule(row) == kind);
            let mut counts = [0; 4];
            for row in own {
                let Some((_, cell)) = row.cells.iter().find(|(of, _)| of == target) else { continue };
                let why = match cell {
                    Cell::Right => None,
                    Cell::Refused(why) => Some(reason(row, target, why).unwrap_or("not on the list")),
                    Cell::Wrong(why) => Some(reason(row, target, why).unwrap_or("wrong")),
                };
                counts[0] += 1;
                counts[match why {
                    None => 1,
                    Some("not on the list" | "wrong") => 3,
                    Some(_) => 2,
                }] += 1;
                if let Some(why) = why {
                    refused.entry((target, why)).or_default().push(&row.name);
                }
            }
            let [all, right, known, bad] = counts;
            let _ = writeln!(text, "| {kind} | {target} | {all} | {right} | {known} | {bad} |");
        }
    }
    text.push_str("\n| On | Why | How many | Programs |\n|---|---|---|---|\n");
    for ((target, why), names) in refused {
        let shown: Vec<&str> = names.iter().take(6).copied().collect();
        let more = if names.len() > shown.len() { ", …" } else { "" };
        let _ = writeln!(text, "| {target} | {why} | {} | {}{more} |", names.len(), shown.join(", "));
    }
    text
}

#[test]
fn programs_that_tvm_schedules_are_right() {
    let Some(python) = python("programs that real TVM schedules") else { return };
    let is_whole = sample::is_whole_run();
    let targets = Targets::all().only(&["cuda", "opencl"]);
    let (mut all, mut n_draws, mut wrong) = (Vec::new(), 0, Vec::new());
    for (kind, what, one_in) in [
        (Kind::Rules, "draws of programs that TVM's rules schedule", 60),
        (Kind::Steps, "draws of larger programs and of steps that TVM schedules", 6),
    ] {
        let one_in = if is_whole { 1 } else { one_in };
        let drawn = programs(&python, kind, SEED, &sample::seed(), one_in);
        let drawn = drawn.unwrap_or_else(|error| panic!("{error}"));
        sample::report(what, drawn.n_all.div_ceil(one_in), drawn.n_all);
        n_draws += drawn.n_all;
        let unknown = drawn.refused.iter().filter(|(name, why)| !is_not_made(name, why));
        wrong.extend(unknown.map(|(name, why)| format!("{name} could not be made: {why}")));
        all.extend(rows(&targets, &drawn.made));
    }
    wrong.extend(all.iter().flat_map(complaints));
    println!("{} programs on {:?}", all.len(), targets.names());
    println!("{} complaints\n{}", wrong.len(), wrong.join("\n"));
    if is_whole {
        assert!(all.len() >= 500, "only {} programs were made", all.len());
        let missing: Vec<&&str> =
            RULES.iter().filter(|of| !all.iter().any(|row| rule(row) == **of)).collect();
        assert!(missing.is_empty(), "no program is scheduled by {missing:?}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/SCHEDULED.md");
        let text = markdown(&all, n_draws, &targets.names());
        chipdock_test_support::bless(&path, &text).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(wrong.is_empty(), "{} complaints, see above", wrong.len());
}
