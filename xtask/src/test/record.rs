//! The record of a run: where its time went and how much of the long tests it took, as a page that
//! is committed.
//!
//! `xtask/results/gate.md` is that of an ordinary run, `xtask/results/whole.md` that of
//! `cargo xtask test --all`. A whole run takes hours, so that it may be made crate by crate
//! (`--all --package NAME`): the page keeps the rows of the other crates, each with its day and
//! commit.
//!
//! A run is compared with a kept one by processor minutes, which depend least on what else the
//! machine does; a machine that is slower as a whole is allowed for by the median of all rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::junit::Test;
use super::stages::Stage;

/// The name of the stage in which the tests run; its rows are the crates.
pub(crate) const TESTS: &str = "tests";

/// The tests that are listed by name.
const LONGEST: usize = 20;

/// Growth, in minutes, that is not worth a line.
const GROWTH_MIN: f64 = 0.5;

/// Returns the crate of a binary such as `chipdock-cli-tests::it`.
fn package(binary: &str) -> &str {
    binary.split("::").next().unwrap_or(binary)
}

/// What a test took of what it goes through in a whole run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sample {
    pub(crate) what: String,
    pub(crate) n_taken: u64,
    pub(crate) n_all: u64,
    /// The crate of the test.
    pub(crate) package: String,
}

impl Sample {
    /// Reads a line such as `27 of 124 mutants`, a tab, and the test's binary.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (line, binary) = line.split_once('\t').unwrap_or((line, ""));
        let mut words = line.splitn(4, ' ');
        let (n_taken, of, n_all, what) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let (n_taken, n_all) = (n_taken.parse().ok()?, n_all.parse().ok()?);
        (of == "of").then(|| Self {
            what: what.to_owned(),
            n_taken,
            n_all,
            package: package(binary).to_owned(),
        })
    }
}

/// The tests of a crate, of the last run that had all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) package: String,
    pub(crate) n_tests: usize,
    pub(crate) n_failed: usize,
    /// Of all tests one after the other.
    pub(crate) minutes: f64,
    pub(crate) date: String,
    pub(crate) commit: String,
}

/// A test by its binary and name, and how long it took.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Long {
    pub(crate) binary: String,
    pub(crate) name: String,
    pub(crate) seconds: f64,
}

/// A run, or what a page keeps of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// Date, commit, seed and machine, each with its name.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) rows: Vec<Row>,
    pub(crate) longest: Vec<Long>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) skipped: Vec<String>,
    /// The tests that failed in this run, and why; a page does not have them.
    pub(crate) failures: Vec<(String, String)>,
}

impl Record {
    /// Adds the tests of a run.
    pub(crate) fn with_tests(mut self, tests: &[Test]) -> Self {
        let fact = |name: &str| {
            let found = self.facts.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let (date, commit) = (fact("date"), fact("commit"));
        let mut rows = BTreeMap::<&str, Row>::new();
        for test in tests {
            let package = package(&test.binary);
            let row = rows.entry(package).or_insert_with(|| Row {
                package: package.to_owned(),
                n_tests: 0,
                n_failed: 0,
                minutes: 0.0,
                date: date.clone(),
                commit: commit.clone(),
            });
            row.n_tests += 1;
            row.n_failed += usize::from(test.failure.is_some());
            row.minutes += test.seconds / 60.0;
            let (binary, name) = (test.binary.clone(), test.name.clone());
            if let Some(why) = &test.failure {
                self.failures.push((format!("{binary} {name}"), why.clone()));
            }
            self.longest.push(Long { binary, name, seconds: test.seconds });
        }
        self.rows = rows.into_values().collect();
        self.sorted()
    }

    /// The longest first, and of the longest tests as many as are listed.
    fn sorted(mut self) -> Self {
        self.rows.sort_by(|a, b| b.minutes.total_cmp(&a.minutes));
        self.longest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        self.longest.truncate(LONGEST);
        self.samples.sort();
        self
    }

    /// Adds from an earlier page what this run of some crates did not have; its steps are those of
    /// the last complete run.
    pub(crate) fn over(mut self, earlier: Self) -> Self {
        self.stages = earlier.stages;
        let here: BTreeSet<String> = self.rows.iter().map(|row| row.package.clone()).collect();
        let is_other = |package: &str| !here.contains(package);
        self.rows.extend(earlier.rows.into_iter().filter(|row| is_other(&row.package)));
        self.longest.extend(earlier.longest.into_iter().filter(|test| is_other(package(&test.binary))));
        self.samples.extend(earlier.samples.into_iter().filter(|sample| is_other(&sample.package)));
        self.sorted()
    }

    /// Returns the minutes of the whole run.
    pub(crate) fn minutes(&self) -> f64 {
        self.stages.iter().map(|stage| stage.minutes).sum()
    }

    /// Returns the table of the stages, as Markdown.
    pub(crate) fn stages_table(&self) -> String {
        let mut text = "| step | minutes | processor minutes |\n|---|---:|---:|\n".to_owned();
        let shown = |minutes: Option<f64>| minutes.map_or("-".to_owned(), |minutes| format!("{minutes:.1}"));
        for stage in &self.stages {
            let processor = shown(stage.processor_minutes);
            let _ = writeln!(text, "| {} | {:.1} | {processor} |", stage.name, stage.minutes);
        }
        let processor: Option<f64> = self.stages.iter().map(|stage| stage.processor_minutes).sum();
        let _ = writeln!(text, "| **all** | {:.1} | {} |", self.minutes(), shown(processor));
        text
    }

    /// Returns the page.
    pub(crate) fn page(&self, title: &str, how: &str) -> String {
        let mut text = format!("# {title}\n\n{how}\n\n");
        for (name, value) in &self.facts {
            let _ = writeln!(text, "- {name}: {value}");
        }
        if !self.stages.is_empty() {
            let _ = write!(text, "\n## Steps\n\n{}", self.stages_table());
        }
        text += "\n## Tests by crate\n\nMinutes are those of all tests one after the other.\n\n";
        text += "| crate | tests | failed | minutes | day | commit |\n|---|---:|---:|---:|---|---|\n";
        for row in &self.rows {
            let Row { package, n_tests, n_failed, minutes, date, commit } = row;
            let _ =
                writeln!(text, "| {package} | {n_tests} | {n_failed} | {minutes:.1} | {date} | {commit} |");
        }
        text += "\n## The longest tests\n\n| test | binary | seconds |\n|---|---|---:|\n";
        for Long { binary, name, seconds } in &self.longest {
            let _ = writeln!(text, "| `{name}` | `{binary}` | {seconds:.1} |");
        }
        text += "\n## What was taken of long tests\n\n| taken | of | what | crate |\n|---:|---:|---|---|\n";
        for Sample { what, n_taken, n_all, package } in &self.samples {
            let _ = writeln!(text, "| {n_taken} | {n_all} | {what} | {package} |");
        }
        text += "\n## Skipped\n\n";
        for line in &self.skipped {
            let _ = writeln!(text, "- {}", line.trim());
        }
        if self.skipped.is_empty() {
            text += "Nothing.\n";
        }
        text
    }

    /// Reads a page. What it does not have is left out.
    pub(crate) fn parse(page: &str) -> Self {
        let mut record = Self::default();
        let mut section = "";
        for line in page.lines() {
            section = line.strip_prefix("## ").unwrap_or(section);
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let bare = |cell: &str| cell.trim_matches('`').to_owned();
            match (section, cells.as_slice()) {
                ("Steps", [name, minutes, processor]) if *name != "**all**" => {
                    record.stages.extend(minutes.parse().map(|minutes| Stage {
                        name: (*name).to_owned(),
                        minutes,
                        processor_minutes: processor.parse().ok(),
                    }));
                }
                ("Tests by crate", [package, n_tests, n_failed, minutes, date, commit]) => {
                    let numbers = n_tests.parse().ok().zip(n_failed.parse().ok()).zip(minutes.parse().ok());
                    record.rows.extend(numbers.map(|((n_tests, n_failed), minutes)| Row {
                        package: (*package).to_owned(),
                        n_tests,
                        n_failed,
                        minutes,
                        date: (*date).to_owned(),
                        commit: (*commit).to_owned(),
                    }));
                }
                ("The longest tests", [name, binary, seconds]) => {
                    let (binary, name) = (bare(binary), bare(name));
                    record.longest.extend(seconds.parse().map(|seconds| Long { binary, name, seconds }));
                }
                ("What was taken of long tests", [n_taken, n_all, what, package]) => {
                    record.samples.extend(Sample::parse(&format!("{n_taken} of {n_all} {what}\t{package}")));
                }
                _ => {}
            }
        }
        record
    }

    /// Returns minutes by row: the processor minutes of stages, and of crates the minutes of their
    /// tests.
    fn minutes_by_row(&self) -> BTreeMap<String, f64> {
        let stages = self.stages.iter().filter(|stage| stage.name != TESTS);
        let stages =
            stages.map(|stage| (stage.name.clone(), stage.processor_minutes.unwrap_or(stage.minutes)));
        let crates = self.rows.iter().map(|row| (format!("tests of {}", row.package), row.minutes));
        stages.chain(crates).collect()
    }

    /// Returns the rows that take more than in the earlier run, as (name, minutes, minutes of then
    /// on this machine), the greatest growth first.
    pub(crate) fn grown_since(&self, earlier: &Self) -> Vec<(String, f64, f64)> {
        let (now, then) = (self.minutes_by_row(), earlier.minutes_by_row());
        let both = now.iter().filter_map(|(name, minutes)| Some((*minutes, *then.get(name)?)));
        let mut ratios: Vec<f64> =
            both.filter(|(_, then)| *then >= GROWTH_MIN).map(|(minutes, then)| minutes / then).collect();
        ratios.sort_by(f64::total_cmp);
        let slower = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
        let rows = now.into_iter().map(|(name, minutes)| {
            let then = then.get(&name).copied().unwrap_or_default() * slower;
            (name, minutes, then)
        });
        let mut grown: Vec<(String, f64, f64)> =
            rows.filter(|(_, minutes, then)| minutes - then >= GROWTH_MIN).collect();
        grown.sort_by(|a, b| (b.1 - b.2).total_cmp(&(a.1 - a.2)));
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(name: &str, minutes: f64) -> Stage {
        Stage { name: name.to_owned(), minutes, processor_minutes: Some(2.0 * minutes) }
    }

    fn test(binary: &str, name: &str, seconds: f64) -> Test {
        Test {
            binary: binary.to_owned(),
            name: name.to_owned(),
            seconds,
            failure: (name == "long").then(|| "late".to_owned()),
        }
    }

    fn record(factor: f64) -> Record {
        let facts = [("date", "2026-11-28"), ("commit", "abc")];
        let record = Record {
            facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            stages: vec![
                stage("lints", 2.0 * factor),
                stage("build", 5.0 * factor),
                stage(TESTS, 10.0 * factor),
            ],
            samples: Sample::parse("27 of 124 mutants\tchipdock-host").into_iter().collect(),
            skipped: vec!["  torch: not there".to_owned()],
            ..Record::default()
        };
        record.with_tests(&[
            test("chipdock-host", "a::short", 6.0 * factor),
            test("chipdock-cli-tests::it", "long", 300.0 * factor),
            test("chipdock-host", "a::middle", 60.0 * factor),
        ])
    }

    #[test]
    fn a_sample_is_a_line() {
        let sample = Sample::parse("27 of 124 mutants of the plugin\tchipdock-conformance::it");
        let expected = Sample {
            what: "mutants of the plugin".to_owned(),
            n_taken: 27,
            n_all: 124,
            package: "chipdock-conformance".to_owned(),
        };
        assert_eq!(sample, Some(expected));
        for line in ["", "27 of 124", "27 in 124 mutants", "some of 124 mutants"] {
            assert_eq!(Sample::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_page_is_read_back() {
        let record = record(1.0);
        let page = record.page("A run", "How.");
        let read = Record::parse(&page);
        assert_eq!(
            (&read.stages, &read.longest, &read.samples),
            (&record.stages, &record.longest, &record.samples)
        );
        assert_eq!((read.rows[0].n_failed, read.rows[1].n_tests), (1, 2));
        assert!(page.contains("| 27 | 124 | mutants | chipdock-host |") && page.contains("torch: not there"));
        assert!(page.contains("| chipdock-cli-tests | 1 | 1 | 5.0 | 2026-11-28 | abc |"), "{page}");
    }

    #[test]
    fn a_run_of_some_crates_keeps_the_others() {
        let of_one = Record::default().with_tests(&[test("chipdock-host", "a::new", 1.0)]);
        let all = of_one.over(record(1.0));
        let names: Vec<&str> = all.longest.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["long", "a::new"]);
        assert_eq!(all.rows.len(), 2);
        assert_eq!((all.rows[1].n_tests, all.samples.len()), (1, 0));
    }

    #[test]
    fn a_run_of_some_crates_has_no_steps_of_its_own() {
        let of_one = Record { stages: vec![stage("set-up", 0.5)], ..record(1.0) };
        assert_eq!(of_one.clone().over(record(1.0)).stages, record(1.0).stages);
        let first = of_one.over(Record::default());
        assert_eq!(first.stages, []);
        assert!(!first.page("A run", "How.").contains("## Steps"));
    }

    #[test]
    fn a_slower_machine_is_no_growth_and_one_row_is() {
        let kept = Record::parse(&record(1.0).page("A run", "How."));
        assert_eq!(record(2.0).grown_since(&kept), []);
        let mut now = record(2.0);
        now.rows[0].minutes += 2.0;
        now.stages.push(stage("a new step", 0.5));
        let grown: Vec<String> = now.grown_since(&kept).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(grown, ["tests of chipdock-cli-tests", "a new step"]);
    }
}
