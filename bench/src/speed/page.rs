//! Writes the page of the guide from the results of all processors.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::plot;
use super::report::{Entry, GOALS_OF};
use super::results::{Results, all, check, reasons, reasons_file};
use super::show::{goal, time};
use super::topi;
use crate::Result;

/// A file of the guide: its name in `guide/docs`, and its text.
pub type File = (String, String);

const HEAD: &str = "\
# Speed on processors

Written by `cargo xtask bench --peers --bless` from `bench/results`, which has the spreads, the peers' own times and each kernel of
TOPI; a test of `bench` checks that the page is current.

Each row is an unscheduled kernel of `bench/kernels`, compiled for `llvm` and called through its packed entry, beside the fastest
function of the libraries that have it. All contenders take turns in one run, and of two values the second is with two threads. *Times
as fast* is the median of the ratios peer / ours of the same rounds. *Of the limit* is the share of what the machine does in the same
rounds: streams of as many bytes from and to as many tensors, or multiply-adds in registers. *Two over one* is the speed with two
threads over that with one, *c over llvm* the time of target `c` over that of `llvm`. A goal of more than 0.95 of the limit is 0.95 of the
limit, that of two threads over one too. Results are checked against the interpreter, or against float64 with a derived bound. The
numbers of missed goals are those of the [reasons](#reasons).
";

/// A reason that stands for that of the same kernel with one thread.
const AS_WITH_ONE: &str = "as with one thread";

/// Returns the folder of the guide's pages.
#[must_use]
pub fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guide/docs")
}

/// Returns the page and its plots, from the results in that folder.
///
/// # Errors
///
/// A row that missed a goal has no reason, a reason belongs to no such row, or a file cannot be
/// read.
pub fn files(folder: &Path) -> Result<Vec<File>> {
    let mut page = HEAD.to_owned();
    let mut files = Vec::new();
    let mut notes = Notes::default();
    let results = all(folder)?;
    if results.is_empty() {
        page.push_str("\nNothing is measured yet.\n");
    }
    for results in &results {
        let plot = format!("cpu-speed-{}.svg", results.processor);
        let file = reasons_file(folder, &results.processor);
        let reasons = reasons(&file)?;
        check(&results.rows, &reasons, &file)?;
        section(&mut page, results, &reasons, &mut notes, &plot);
        files.push((plot, plot::draw(results, 1)));
    }
    page.push_str("\n## Reasons\n\nWhy goals were not reached:\n\n");
    for (number, why) in (1..).zip(&notes.0) {
        let _ = writeln!(page, "{number}. {why}");
    }
    if notes.0.is_empty() {
        page.push_str("- all were\n");
    }
    files.insert(0, ("cpu-speed.md".to_owned(), page));
    Ok(files)
}

/// Writes the page and its plots.
///
/// # Errors
///
/// As for [`files`], or a file cannot be written; nothing is written if a reason is missing.
pub fn write(folder: &Path, guide: &Path) -> Result<()> {
    for (name, text) in files(folder)? {
        let path = guide.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// The reasons of all processors, each once, in the order of their first row.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// Returns the number of a reason, from 1.
    fn number(&mut self, why: &str) -> usize {
        let at = self.0.iter().position(|known| known == why).unwrap_or_else(|| {
            self.0.push(why.to_owned());
            self.0.len() - 1
        });
        at + 1
    }
}

fn section(
    page: &mut String,
    results: &Results,
    reasons: &BTreeMap<String, String>,
    notes: &mut Notes,
    plot: &str,
) {
    let _ = writeln!(page, "\n## {}\n", results.processor);
    let _ = writeln!(page, "Measured {}, {} rounds.\n", results.date, results.rounds);
    for (key, value) in &results.machine {
        let _ = writeln!(page, "- {key}: {value}");
    }
    let _ = writeln!(page, "- peers: {}", versions(results));
    let _ = writeln!(page, "\n![Rows of {} beside its roofline]({plot})\n", results.processor);
    page.push_str("| kernel | llvm | best peer | times as fast | goal | of the limit | two over one | c over llvm | goal missed |\n");
    page.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for entries in results.rows.chunk_by(|one, other| one.name == other.name) {
        row(page, entries, reasons, notes);
    }
    if !results.not_run.is_empty() {
        page.push_str("\nNot run on this processor:\n\n");
        for (what, why) in &results.not_run {
            let _ = writeln!(page, "- {what}: *not run*, {why}");
        }
    }
    limits(page, results);
    topi::section(page, &results.topi);
}

/// Writes the limits of the machine, a row each with the values for each number of threads.
fn limits(page: &mut String, results: &Results) {
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for limit in &results.limits {
        let value = format!("{:.1} {}", limit.value, limit.unit);
        match rows.iter_mut().find(|(name, _)| *name == limit.name) {
            Some((_, values)) => values.push(value),
            None => rows.push((&limit.name, vec![value])),
        }
    }
    page.push_str("\n| limit of the machine | measured |\n|---|---|\n");
    for (name, values) in rows {
        let _ = writeln!(page, "| {name} | {} |", values.join(" / "));
    }
}

/// Returns the versions of the peers of all processes, in words.
pub(super) fn versions(results: &Results) -> String {
    let mut all = BTreeMap::new();
    for process in results.peers.as_array().into_iter().flatten() {
        for (name, version) in process["versions"].as_object().into_iter().flatten() {
            all.insert(name.clone(), version.as_str().unwrap_or_default().to_owned());
        }
    }
    all.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(", ")
}

/// Writes the row of a kernel, whose entries differ in their number of threads.
fn row(page: &mut String, entries: &[Entry], reasons: &BTreeMap<String, String>, notes: &mut Notes) {
    let Some(first) = entries.first() else { return };
    let each = |cell: &dyn Fn(&Entry) -> String| joined(&entries.iter().map(cell).collect::<Vec<_>>());
    let missed = entries.iter().map(|entry| {
        let missed = entry.missed();
        if missed.is_empty() {
            return String::new();
        }
        let why = reasons.get(&entry.key()).map_or("", |why| why.trim());
        let why = match reasons.get(&first.key()) {
            Some(of_first) if why == AS_WITH_ONE => of_first.trim(),
            _ => why,
        };
        format!("{} ({})", missed.join(", "), notes.number(why))
    });
    let missed = joined(&missed.collect::<Vec<_>>());
    let over_one = entries.iter().find_map(|entry| entry.over_one);
    let cells = [
        first.title.clone(),
        each(&|entry| entry.ours.get(GOALS_OF).map(|ns| time(ns.median)).unwrap_or_default()),
        each(&|entry| entry.best().map(|peer| peer.who.clone()).unwrap_or_default()),
        each(&|entry| entry.best().map(|peer| format!("{:.2}", peer.faster.median)).unwrap_or_default()),
        each(&goal),
        each(&|entry| {
            let share = entry.limit.as_ref().map(|limit| 100.0 * limit.share.median);
            share.map(|share| format!("{share:.0} %")).unwrap_or_default()
        }),
        over_one.map(|over| format!("{:.2}", over.median)).unwrap_or_default(),
        each(&|entry| entry.c.map(|c| format!("{:.2}", c.median)).unwrap_or_default()),
        missed,
    ];
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

/// Joins the values of each number of threads: one if they are the same, with a dash for one that
/// is missing.
fn joined(values: &[String]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.clone(),
        _ => {
            let shown = values.iter().map(|value| if value.is_empty() { "-" } else { value.as_str() });
            shown.collect::<Vec<_>>().join(" / ")
        }
    }
}

#[cfg(test)]
mod tests {
    use chipdock_test_support::bless;

    use super::super::report::entry_for_tests as entry;
    use super::super::results::tests::results;
    use super::*;

    fn filed(rows: Vec<Entry>, reasons: Option<&str>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        results(rows).write(&folder.path().join("some-lake.json")).expect("written");
        if let Some(reasons) = reasons {
            fs::write(folder.path().join("some-lake.reasons.json"), reasons).expect("written");
        }
        folder
    }

    #[test]
    fn a_row_that_missed_a_goal_needs_a_reason_and_no_other_has_one() {
        let slow = || vec![entry(1, 20.0, 9.5, 20.0), entry(2, 5.0, 4.8, 5.0)];
        for reasons in [None, Some(r#"{"add, 1 thread": " "}"#), Some(r#"{"add, 2 threads": "x"}"#)] {
            let error = files(filed(slow(), reasons).path()).expect_err("refused");
            assert!(error.contains("add, 1 thread"), "{error}");
        }
        let both = r#"{"add, 1 thread": "x", "add, 2 threads": "y"}"#;
        let error = files(filed(slow(), Some(both)).path()).expect_err("refused");
        assert!(error.contains("add, 2 threads"), "{error}");
        let pages = files(filed(slow(), Some(r#"{"add, 1 thread": "its stores"}"#)).path()).expect("pages");
        assert!(pages[0].1.contains("best peer, limit (1) / - |"), "{}", pages[0].1);
        assert!(pages[0].1.ends_with("\n1. its stores\n"), "{}", pages[0].1);
        assert_eq!(pages[1].0, "cpu-speed-some-lake.svg");
    }

    #[test]
    fn a_reason_of_both_numbers_of_threads_is_written_once() {
        let slow = vec![entry(1, 20.0, 9.5, 20.0), entry(2, 20.0, 9.5, 20.0)];
        let reasons = r#"{"add, 1 thread": "its stores", "add, 2 threads": "as with one thread"}"#;
        let pages = files(filed(slow, Some(reasons)).path()).expect("pages");
        assert_eq!(pages[0].1.matches("its stores").count(), 1, "{}", pages[0].1);
        assert!(!pages[0].1.contains(AS_WITH_ONE), "{}", pages[0].1);
        assert!(
            pages[0].1.contains("best peer, limit (1) / best peer, limit, two threads (1) |"),
            "{}",
            pages[0].1
        );
    }

    #[test]
    fn the_page_and_its_plots_are_current() {
        let wanted = files(&super::super::results::folder()).expect("pages");
        for (name, text) in &wanted {
            if let Err(why) = bless(&guide().join(name), text) {
                panic!("{why}");
            }
        }
        let plots = fs::read_dir(guide()).expect("the guide").flatten();
        for name in plots.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
            let is_ours = name.starts_with("cpu-speed-") && name.ends_with(".svg");
            assert!(!is_ours || wanted.iter().any(|(wanted, _)| *wanted == name), "{name} is of no results");
        }
    }
}
