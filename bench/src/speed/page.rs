//! Writes the page of the guide from the results of all processors.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::plot;
use super::report::{Entry, GOALS_OF};
use super::results::{Results, all, reasons};
use super::show::goal;
use super::topi;
use crate::Result;
use crate::peers::show::time;

/// A file of the guide: its name in `guide/docs`, and its text.
pub type File = (String, String);

const HEAD: &str = "\
# Speed on processors

Written by `cargo xtask bench --peers --bless` from `bench/results`; a test of `bench` checks that it is current.

Each row is an unscheduled kernel of `bench/kernels`, compiled for `llvm` and called through its packed entry, beside the fastest
function of the libraries that have it, called in its best way. All contenders of a row take turns in one run: *times as fast* is the
median of the ratios peer / ours of the same rounds, in brackets the middle half of them. *Of the limit* is the share of what the machine
does in the same rounds: streams of as many bytes from and to as many tensors, or multiply-adds in registers. *Two over one* is the speed
with two threads over that with one, *c over llvm* the time of target `c` over that of `llvm`. A goal of more than 0.95 of the limit
is 0.95 of the limit, that of two threads over one too. Results are held against the interpreter, or against float64 with a derived bound. Times are those of the machine.
";

/// Returns the folder of the guide's pages.
#[must_use]
pub fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guide/docs")
}

/// Returns the page and its plots, from the results in that folder.
///
/// # Errors
///
/// A row that missed a goal has no reason, a reason belongs to no such row, or a file cannot be read.
pub fn files(folder: &Path) -> Result<Vec<File>> {
    let mut page = HEAD.to_owned();
    let mut files = Vec::new();
    let results = all(folder)?;
    if results.is_empty() {
        page.push_str("\nNothing is measured yet.\n");
    }
    for results in &results {
        let plot = format!("cpu-speed-{}.svg", results.processor);
        section(&mut page, results, &reasons(folder, &results.processor)?, &plot)?;
        files.push((plot, plot::draw(results, 1)));
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

fn section(
    page: &mut String,
    results: &Results,
    reasons: &BTreeMap<String, String>,
    plot: &str,
) -> Result<()> {
    check(results, reasons)?;
    let _ = writeln!(page, "\n## {}\n", results.processor);
    let _ = writeln!(page, "Measured {}, {} rounds.\n", results.date, results.rounds);
    for (key, value) in &results.machine {
        let _ = writeln!(page, "- {key}: {value}");
    }
    let _ = writeln!(page, "- peers: {}", versions(results));
    let _ = writeln!(page, "\n![Rows of {} beside its roofline]({plot})\n", results.processor);
    page.push_str("| row | threads | llvm | best peer | its time | times as fast | goal | | of the limit | two over one | c over llvm |\n");
    page.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
    for entry in &results.rows {
        row(page, entry);
    }
    page.push_str("\nNot reached, and why:\n\n");
    let missed: Vec<&Entry> = results.rows.iter().filter(|entry| !entry.missed().is_empty()).collect();
    if missed.is_empty() {
        page.push_str("- nothing\n");
    }
    for entry in missed {
        let why = reasons.get(&entry.key()).map_or("", |why| why.trim());
        let _ = writeln!(page, "- {} ({}): {why}", entry.key(), entry.missed().join(", "));
    }
    if !results.not_run.is_empty() {
        page.push_str("\nNot run on this processor:\n\n");
        for (what, why) in &results.not_run {
            let _ = writeln!(page, "- {what}: *not run*, {why}");
        }
    }
    page.push_str("\n| limit of the machine | threads | measured |\n|---|---|---|\n");
    for limit in &results.limits {
        let _ = writeln!(page, "| {} | {} | {:.1} {} |", limit.name, limit.threads, limit.value, limit.unit);
    }
    topi::section(page, &results.topi);
    Ok(())
}

fn versions(results: &Results) -> String {
    let mut all = BTreeMap::new();
    for process in results.peers.as_array().into_iter().flatten() {
        for (name, version) in process["versions"].as_object().into_iter().flatten() {
            all.insert(name.clone(), version.as_str().unwrap_or_default().to_owned());
        }
    }
    all.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(", ")
}

fn row(page: &mut String, entry: &Entry) {
    let best = entry.best();
    let faster = best
        .map(|peer| format!("{:.2} ({:.2} to {:.2})", peer.faster.median, peer.faster.low, peer.faster.high));
    let missed = entry.missed();
    let _ = writeln!(
        page,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        entry.title,
        entry.threads,
        entry.ours.get(GOALS_OF).map(|ns| time(ns.median)).unwrap_or_default(),
        best.map(|peer| peer.who.clone()).unwrap_or_default(),
        best.map(|peer| time(peer.ns.median)).unwrap_or_default(),
        faster.unwrap_or_default(),
        goal(entry),
        if missed.is_empty() { "reached".to_owned() } else { format!("not reached: {}", missed.join(", ")) },
        entry.limit.as_ref().map(|limit| format!("{:.0} %", 100.0 * limit.share.median)).unwrap_or_default(),
        entry.over_one.map(|over| format!("{:.2}", over.median)).unwrap_or_default(),
        entry.c.map(|c| format!("{:.2}", c.median)).unwrap_or_default(),
    );
}

/// Refuses a row that missed a goal without its reason, and a reason without such a row.
fn check(results: &Results, reasons: &BTreeMap<String, String>) -> Result<()> {
    let missed: Vec<String> =
        results.rows.iter().filter(|entry| !entry.missed().is_empty()).map(Entry::key).collect();
    let has_reason = |key: &&String| reasons.get(*key).is_some_and(|why| !why.trim().is_empty());
    let without: Vec<&str> = missed.iter().filter(|key| !has_reason(key)).map(String::as_str).collect();
    if !without.is_empty() {
        return Err(format!(
            "these did not reach their goals; give the reason of each in bench/results/{}{} and bless again with --resume:\n  {}",
            results.processor,
            super::results::REASONS,
            without.join("\n  ")
        ));
    }
    match reasons.keys().find(|key| !missed.contains(key)) {
        None => Ok(()),
        Some(key) => Err(format!("there is a reason for `{key}`, which is no row that missed a goal")),
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
        assert!(pages[0].1.contains("- add, 1 thread (best peer, limit): its stores"), "{}", pages[0].1);
        assert!(pages[0].1.contains("not reached: best peer, limit"));
        assert_eq!(pages[1].0, "cpu-speed-some-lake.svg");
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
