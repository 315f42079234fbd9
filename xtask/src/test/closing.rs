//! The end of a run: what it left out, where its time went, and the counts in one line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::junit;
use super::record::{Long, Record, Sample, TESTS};
use super::stages;
use crate::commands::{Result, output, root, target_folder};

/// Minutes above which a run says what grew: CI ends one after 90, and its machines differ by a
/// factor of two.
const BUDGET_MINUTES: f64 = 60.0;

/// Bounds of what is repeated of failed tests.
const FAILURES_MAX: usize = 8;
const FAILURE_LINES_MAX: usize = 24;
const FAILURE_LINE_CHARACTERS_MAX: usize = 400;

/// The files to which tests add lines, and the report of the runner.
#[derive(Debug)]
pub(crate) struct Logs {
    pub(crate) skipped: PathBuf,
    pub(crate) samples: PathBuf,
    pub(crate) junit: PathBuf,
}

impl Logs {
    /// Returns the files, which are not there yet.
    pub(crate) fn new() -> Self {
        let folder = target_folder();
        let logs = Self {
            skipped: folder.join("skipped.txt"),
            samples: folder.join("samples.txt"),
            junit: folder.join("nextest/default/junit.xml"),
        };
        for path in [&logs.skipped, &logs.samples, &logs.junit] {
            let _ = fs::remove_file(path);
        }
        logs
    }

    /// Returns what ran so far.
    pub(crate) fn record(&self, seed: &str) -> Record {
        let lines = |path: &Path| -> Vec<String> {
            let mut lines: Vec<String> =
                fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect();
            lines.sort();
            lines.dedup();
            lines
        };
        let samples = lines(&self.samples);
        let tests = junit::tests(&self.junit).unwrap_or_else(|why| {
            eprintln!("no report of the tests: {why}");
            Vec::new()
        });
        let record = Record {
            facts: facts(seed),
            stages: stages::done(),
            samples: samples.iter().filter_map(|line| Sample::parse(line)).collect(),
            skipped: lines(&self.skipped),
            ..Record::default()
        };
        record.with_tests(&tests)
    }
}

/// Date, commit, seed and machine.
fn facts(seed: &str) -> Vec<(String, String)> {
    let folder = root().to_string_lossy().into_owned();
    let first = |text: Option<String>| text.and_then(|text| text.lines().next().map(str::to_owned));
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let git = |arguments: &[&str]| output("git", &[&["-C", &folder], arguments].concat());
    let commit = first(git(&["describe", "--always", "--abbrev=12"])).map(|commit| {
        // A record that an earlier run wrote changes no test.
        let changed =
            git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)xtask/results"]);
        let mark = if changed.is_some_and(|changed| !changed.trim().is_empty()) { "-dirty" } else { "" };
        commit + mark
    });
    let facts = [
        ("date", first(output("date", &["+%Y-%m-%d"])).unwrap_or_default()),
        ("commit", commit.unwrap_or("not known".to_owned())),
        ("seed", seed.to_owned()),
        ("machine", format!("{cores} cores, {}", model.unwrap_or("processor not known"))),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Prints the end of a run; `kept` is the page of an earlier one, with its name.
pub(crate) fn print(record: &Record, seed: &str, kept: (&str, &Record)) {
    if !record.samples.is_empty() {
        eprintln!(
            "\nof long tests a run takes samples, this one by the seed {seed} (`--all` takes everything):"
        );
        for sample in &record.samples {
            eprintln!("  {:>5} of {:>5} {}", sample.n_taken, sample.n_all, sample.what);
        }
    }
    if !record.skipped.is_empty() {
        eprintln!("\nskipped, and why:\n{}", record.skipped.join("\n"));
    }
    eprintln!("\nthe longest tests, in seconds:");
    for Long { binary, name, seconds } in &record.longest {
        eprintln!("  {seconds:>7.1}  {binary} {name}");
    }
    eprintln!("\n{}", aligned(&record.stages_table()));
    if let Some(lines) = over_budget(record, kept) {
        eprintln!("{lines}");
    }
    eprint!("{}", failed(record));
    // A line that every reader of results knows.
    let n_tests: usize = record.rows.iter().map(|row| row.n_tests).sum();
    let n_failed: usize = record.rows.iter().map(|row| row.n_failed).sum();
    println!("{} passed, {n_failed} failed", n_tests - n_failed);
}

/// Returns the tests that failed with the ends of what they said: where only the last lines of a
/// run are kept, these are what is looked for.
fn failed(record: &Record) -> String {
    let mut text = String::new();
    for (name, why) in record.failures.iter().take(FAILURES_MAX) {
        let lines: Vec<&str> = why.lines().collect();
        text += &format!("failed: {name}\n");
        for line in lines.iter().skip(lines.len().saturating_sub(FAILURE_LINES_MAX)) {
            let cut: String = line.chars().take(FAILURE_LINE_CHARACTERS_MAX).collect();
            text += &format!("  {cut}\n");
        }
    }
    if record.failures.len() > FAILURES_MAX {
        text += &format!("and {} more failed\n", record.failures.len() - FAILURES_MAX);
    }
    text
}

/// Returns what to say of a run that took longer than it may.
fn over_budget(record: &Record, (name, kept): (&str, &Record)) -> Option<String> {
    let minutes = record.minutes();
    if minutes <= BUDGET_MINUTES {
        return None;
    }
    let mut text = format!("this run took {minutes:.0} minutes; the budget is {BUDGET_MINUTES:.0}.");
    let grown = record.grown_since(kept);
    if grown.is_empty() {
        text += &format!(" Nothing grew since {name}: the machine is slower.\n");
        return Some(text);
    }
    text += &format!(" Since {name} grew, in processor minutes, after allowing for the machine:\n");
    for (row, now, then) in grown.iter().take(10) {
        text += &format!("  {now:>6.1} instead of {then:>5.1}  {row}\n");
    }
    Some(text)
}

/// A table of Markdown as columns of a terminal.
fn aligned(table: &str) -> String {
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with("|---"))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('*')).collect())
        .collect();
    let width = rows.iter().filter_map(|row| Some(row.first()?.len())).max().unwrap_or(0);
    let line = |row: &Vec<&str>| match row.as_slice() {
        [first, rest @ ..] => {
            let rest: String = rest.iter().map(|cell| format!("  {cell:>9}")).collect();
            format!("{first:<width$}{rest}\n")
        }
        [] => String::new(),
    };
    rows.iter().map(line).collect()
}

/// Returns the configuration of the test runner that begins the longest tests of a kept page first:
/// what begins last runs alone at the end.
pub(crate) fn longest_first(kept: &Record) -> String {
    let priority = |(index, Long { binary, name, .. }): (usize, &Long)| {
        format!(
            "[[profile.default.overrides]]\nfilter = 'binary_id(={binary}) & test(={name})'\npriority = {}\n",
            100 - index
        )
    };
    kept.longest.iter().enumerate().map(priority).collect()
}

/// Runs a command of the test runner as the stage in which tests run.
///
/// # Errors
///
/// The command fails.
pub(crate) fn tests(command: &mut Command) -> Result<()> {
    stages::stage(TESTS, || crate::commands::step("tests", command))
}

#[cfg(test)]
mod tests {
    use super::super::stages::Stage;
    use super::*;

    fn record(minutes: f64) -> Record {
        let stage = Stage { name: "lints".to_owned(), minutes, processor_minutes: Some(minutes) };
        Record { stages: vec![stage], ..Record::default() }
    }

    #[test]
    fn a_run_over_its_budget_says_what_grew() {
        let kept = record(20.0);
        assert_eq!(over_budget(&record(59.0), ("gate.md", &kept)), None);
        let slower = over_budget(&record(61.0), ("gate.md", &kept));
        assert!(slower.is_some_and(|text| text.contains("61 minutes") && text.contains("slower")));
        let mut grown = record(50.0);
        grown.stages.push(Stage { name: "new".to_owned(), minutes: 30.0, processor_minutes: Some(31.0) });
        let text = over_budget(&grown, ("gate.md", &kept)).unwrap_or_default();
        assert!(text.contains("31.0 instead of   0.0  new"), "{text}");
    }

    #[test]
    fn failed_tests_say_why_at_the_end() {
        let why = |n: usize| (format!("a::it test_{n}"), "first\n".repeat(30) + &"long".repeat(200));
        let record = Record { failures: (0..10).map(why).collect(), ..Record::default() };
        let text = failed(&record);
        assert!(text.starts_with("failed: a::it test_0\n  first\n"), "{text}");
        assert!(text.ends_with("and 2 more failed\n") && !text.contains("test_8"), "{text}");
        assert_eq!(text.matches("first").count(), FAILURES_MAX * (FAILURE_LINES_MAX - 1));
        assert!(text.lines().all(|line| line.len() <= FAILURE_LINE_CHARACTERS_MAX + 2));
        assert_eq!(failed(&Record::default()), "");
    }

    #[test]
    fn a_table_is_aligned() {
        let text = aligned("| step | minutes |\n|---|---:|\n| a | 1.0 |\n| **all** | 10.0 |\n");
        assert_eq!(text, "step    minutes\na           1.0\nall        10.0\n");
    }

    #[test]
    fn the_longest_tests_have_the_highest_priority() {
        let long = |binary: &str, name: &str| Long { binary: binary.into(), name: name.into(), seconds: 1.0 };
        let kept = Record { longest: vec![long("a::it", "b::c"), long("d", "e")], ..Record::default() };
        let text = longest_first(&kept);
        assert!(text.contains("filter = 'binary_id(=a::it) & test(=b::c)'\npriority = 100"), "{text}");
        assert!(text.contains("priority = 99"), "{text}");
    }
}
