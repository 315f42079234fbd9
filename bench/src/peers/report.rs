//! The report of measurements, as it is saved, printed and blessed.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;
use crate::contest::{Spread, paired, spread};

/// Name and version of the report's schema.
pub const SCHEMA: &str = "chipdock.bench.peers/1";

/// Target kind to which the goals apply; the others are measured for information.
pub const GOALS_OF: &str = "llvm";

/// Name of the peer that goals refer to.
pub const TVM: &str = "tvm";

/// Goal of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// No goal: measured for information.
    None,
    /// No more time than TVM, rounded to the hundredth that is shown.
    NoSlowerThanTvm,
    /// At most this number of nanoseconds.
    AtMostNs(f64),
}

/// Result of comparing a contender with a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no goal.
    Information,
    /// The goal was reached.
    Reached,
    /// The goal was not reached, or the contender was not measured.
    NotReached,
}

/// Time of a contender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Contender: a target kind of ours, or a peer.
    pub who: String,
    /// Nanoseconds per call.
    pub ns: Spread,
}

/// Ratio of our time to a peer's, of the same rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Our target kind.
    pub ours: String,
    /// The peer.
    pub peer: String,
    /// Quartiles of the ratios.
    pub ratio: Spread,
}

/// Amount of work of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Amount in bytes or floating-point operations, by `unit`.
    pub amount: f64,
    /// Unit of the rate: `GB/s` or `GFLOP/s`.
    pub unit: String,
}

/// Result of one contest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the kernel or of the figure.
    pub name: String,
    /// Number of threads of each contender.
    pub threads: usize,
    /// Sizes of the kernel, as text.
    pub sizes: String,
    /// Work of a call, if it is counted.
    pub work: Option<Amount>,
    /// Goal of the contest.
    pub goal: Goal,
    /// Times of the contenders that were timed.
    pub times: Vec<Time>,
    /// Ratios of each of our target kinds to each peer.
    pub ratios: Vec<Ratio>,
    /// Contenders that were not timed, with the reason: a peer without the operation, a result out
    /// of bounds, a process that ended.
    pub absent: BTreeMap<String, String>,
    /// Contenders among the absent ones that are at fault.
    pub failed: Vec<String>,
}

impl Entry {
    /// Creates an entry from the times of each contender in order of rounds, ours first.
    #[must_use]
    pub fn of_rounds(name: &str, threads: usize, ours: &[String], rounds: &[(String, Vec<f64>)]) -> Self {
        let times = rounds
            .iter()
            .filter_map(|(who, ns)| Some(Time { who: who.clone(), ns: spread(ns.clone())? }))
            .collect();
        let is_ours = |who: &String| ours.contains(who);
        let mut ratios = Vec::new();
        for (who, ns) in rounds.iter().filter(|(who, _)| is_ours(who)) {
            for (peer, peer_ns) in rounds.iter().filter(|(who, _)| !is_ours(who)) {
                if let Some(ratio) = spread(paired(ns, peer_ns)) {
                    ratios.push(Ratio { ours: who.clone(), peer: peer.clone(), ratio });
                }
            }
        }
        Self {
            name: name.to_owned(),
            threads,
            sizes: String::new(),
            work: None,
            goal: Goal::None,
            times,
            ratios,
            absent: BTreeMap::new(),
            failed: Vec::new(),
        }
    }

    /// Returns name and number of threads, which identify the entry.
    #[must_use]
    pub fn title(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        format!("{}, {} thread{plural}", self.name, self.threads)
    }

    /// Returns the time of one contender.
    #[must_use]
    pub fn time(&self, who: &str) -> Option<Spread> {
        self.times.iter().find(|time| time.who == who).map(|time| time.ns)
    }

    /// Returns the ratio of one of our target kinds to a peer.
    #[must_use]
    pub fn ratio(&self, ours: &str, peer: &str) -> Option<Spread> {
        self.ratios.iter().find(|ratio| ratio.ours == ours && ratio.peer == peer).map(|ratio| ratio.ratio)
    }

    /// Compares one of our target kinds with the goal. A ratio is rounded as it is shown, to the
    /// hundredth. A contender that was not measured has not reached its goal.
    #[must_use]
    pub fn verdict(&self, ours: &str) -> Verdict {
        let is_reached = match self.goal {
            Goal::None => return Verdict::Information,
            Goal::NoSlowerThanTvm => {
                self.ratio(ours, TVM).is_some_and(|ratio| (ratio.median * 100.0).round() <= 100.0)
            }
            Goal::AtMostNs(ns) => self.time(ours).is_some_and(|time| time.median <= ns),
        };
        if is_reached { Verdict::Reached } else { Verdict::NotReached }
    }
}

/// One of the machine's own limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Name of the limited quantity.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// Largest measured value.
    pub value: f64,
    /// Unit: `GB/s` or `GFLOP/s`.
    pub unit: String,
}

/// A complete report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name and version of the schema, [`SCHEMA`].
    pub schema: String,
    /// Fingerprint of the measured plugins and of the peers' script.
    pub build: String,
    /// Day in UTC, in the form `2026-05-30`.
    pub date: String,
    /// Processor, number of processors, memory pages.
    pub machine: BTreeMap<String, String>,
    /// Versions of the peers, and the target that TVM compiled for, as they report it.
    pub peers: Value,
    /// Number of rounds of each contest.
    pub rounds: usize,
    /// The machine's limits.
    pub limits: Vec<Limit>,
    /// Result of each contest.
    pub entries: Vec<Entry>,
}

impl Report {
    /// Returns the entry of that name with that number of threads.
    #[must_use]
    pub fn entry(&self, name: &str, threads: usize) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name && entry.threads == threads)
    }

    /// Returns the value of a limit.
    #[must_use]
    pub fn limit(&self, name: &str, threads: usize) -> Option<f64> {
        self.limits
            .iter()
            .find(|limit| limit.name == name && limit.threads == threads)
            .map(|limit| limit.value)
    }
}

/// The report on disk, written again after each contest.
pub struct Store {
    path: PathBuf,
    /// The report so far.
    pub report: Report,
}

impl Store {
    /// Opens the report at that path: `fresh`, or the existing one if it is to be continued.
    ///
    /// # Errors
    ///
    /// The existing report cannot be read, or is of another build.
    pub fn open(path: &Path, fresh: Report, resume: bool) -> Result<Self> {
        let path = path.to_path_buf();
        if !resume || !path.is_file() {
            return Ok(Self { path, report: fresh });
        }
        let name = path.display();
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let report: Report = serde_json::from_str(&text)
            .map_err(|error| format!("{name}: {error}; measure anew, without --resume"))?;
        if report.schema != SCHEMA || report.build != fresh.build {
            return Err(format!(
                "{name} was measured with other plugins or another peers.py; measure anew, without --resume"
            ));
        }
        Ok(Self { path, report })
    }

    /// Adds an entry and writes the report, whole or not at all.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add(&mut self, entry: Entry) -> Result<()> {
        self.report.entries.push(entry);
        self.save()
    }

    /// Writes the report, whole or not at all.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn save(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.report).map_err(|error| error.to_string())?;
        write_whole(&self.path, &text)
    }
}

/// Writes a file under another name and renames it, so that it is never incomplete.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let fresh = path.with_extension(format!("fresh-{}", std::process::id()));
    fs::write(&fresh, text)
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns a hash of the contents of these files.
///
/// # Errors
///
/// A file cannot be read.
pub fn fingerprint(files: &[PathBuf]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

#[cfg(test)]
pub(crate) use tests::{entry as entry_for_tests, report as report_for_tests};

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn entry(goal: Goal, ours: &[f64], peer: &[f64]) -> Entry {
        let rounds = [(GOALS_OF.to_owned(), ours.to_vec()), (TVM.to_owned(), peer.to_vec())];
        Entry { goal, ..Entry::of_rounds("add", 1, &[GOALS_OF.to_owned()], &rounds) }
    }

    #[test]
    fn a_goal_is_judged_as_it_is_shown() {
        let verdict = |ours: f64| entry(Goal::NoSlowerThanTvm, &[ours], &[1.0]).verdict(GOALS_OF);
        assert_eq!(verdict(0.5), Verdict::Reached);
        assert_eq!(verdict(1.004), Verdict::Reached);
        assert_eq!(verdict(1.006), Verdict::NotReached);
        assert_eq!(entry(Goal::AtMostNs(1000.0), &[1001.0], &[1.0]).verdict(GOALS_OF), Verdict::NotReached);
        assert_eq!(entry(Goal::AtMostNs(1000.0), &[999.0], &[1.0]).verdict(GOALS_OF), Verdict::Reached);
        assert_eq!(entry(Goal::None, &[9.0], &[1.0]).verdict(GOALS_OF), Verdict::Information);
    }

    #[test]
    fn what_was_not_measured_has_not_reached_its_goal() {
        assert_eq!(entry(Goal::NoSlowerThanTvm, &[], &[1.0]).verdict(GOALS_OF), Verdict::NotReached);
        assert_eq!(entry(Goal::NoSlowerThanTvm, &[1.0], &[]).verdict(GOALS_OF), Verdict::NotReached);
        assert_eq!(entry(Goal::AtMostNs(1.0), &[], &[]).verdict(GOALS_OF), Verdict::NotReached);
    }

    pub(crate) fn report(entries: Vec<Entry>) -> Report {
        Report {
            schema: SCHEMA.to_owned(),
            build: "b".to_owned(),
            date: "2026-05-30".to_owned(),
            machine: BTreeMap::new(),
            peers: Value::Null,
            rounds: 3,
            limits: Vec::new(),
            entries,
        }
    }

    #[test]
    fn a_report_goes_on_only_with_the_same_plugins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.json");
        let mut store = Store::open(&path, report(Vec::new()), true).expect("nothing there yet");
        store.add(entry(Goal::NoSlowerThanTvm, &[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0])).expect("written");
        let again = Store::open(&path, report(Vec::new()), true).expect("the same build");
        assert_eq!(again.report, store.report);
        assert!(
            Store::open(&path, report(Vec::new()), false).is_ok_and(|fresh| fresh.report.entries.is_empty())
        );
        let other = Report { build: "c".to_owned(), ..report(Vec::new()) };
        assert!(Store::open(&path, other, true).err().is_some_and(|error| error.contains("--resume")));
        fs::write(&path, "{\"schema\": ").expect("cut off");
        assert!(Store::open(&path, report(Vec::new()), true).is_err());
    }
}
