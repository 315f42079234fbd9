//! The report of measurements, as it is kept, printed and blessed.

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

/// The target kind whose goals these are; the others are measured for information.
pub const GOALS_OF: &str = "llvm";

/// The peer in the goals.
pub const TVM: &str = "tvm";

/// Goal of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// No goal: for information.
    None,
    /// At most the time of TVM, to the hundredth that is shown.
    NoSlowerThanTvm,
    /// At most that many nanoseconds.
    AtMostNs(f64),
}

/// Result of a contender for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no goal.
    Information,
    /// At least as good as the goal.
    Reached,
    /// Worse than the goal, or not measured at all.
    NotReached,
}

/// Time of a contender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// A target kind of ours, or a peer.
    pub who: String,
    /// Time per call in nanoseconds.
    pub ns: Spread,
}

/// Ratio of our time to a peer's, of the same rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Our target kind.
    pub ours: String,
    /// The peer.
    pub peer: String,
    /// The middle half of the ratios.
    pub ratio: Spread,
}

/// The work of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Amount of work.
    pub amount: f64,
    /// Unit of the rate per second: `GB/s` or `GFLOP/s`.
    pub unit: String,
}

/// One contest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the kernel, or of another figure.
    pub name: String,
    /// Number of threads of every contender.
    pub threads: usize,
    /// The sizes of the kernel, in words.
    pub sizes: String,
    /// The work of a call, where it is counted.
    pub work: Option<Amount>,
    /// The goal.
    pub goal: Goal,
    /// Times of the contenders that were timed.
    pub times: Vec<Time>,
    /// Ratios of each of ours to each peer.
    pub ratios: Vec<Ratio>,
    /// Contenders that were not timed, with the reason: a peer without the operation, a result out of bounds, a process that
    /// ended.
    pub absent: BTreeMap<String, String>,
    /// Those of them that are at fault.
    pub failed: Vec<String>,
}

impl Entry {
    /// Makes an entry from rounds: per contender its times in order of rounds, ours first.
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

    /// Returns name and threads, which no two entries share.
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

    /// Returns the ratio of one of ours to a peer.
    #[must_use]
    pub fn ratio(&self, ours: &str, peer: &str) -> Option<Spread> {
        self.ratios.iter().find(|ratio| ratio.ours == ours && ratio.peer == peer).map(|ratio| ratio.ratio)
    }

    /// Returns the verdict of one of ours for the goal. A ratio is judged as it is shown, to the hundredth. A contender that
    /// was not measured has not reached it.
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
    /// Name of the limit.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// Greatest measured value.
    pub value: f64,
    /// Unit: `GB/s` or `GFLOP/s`.
    pub unit: String,
}

/// Content of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// Fingerprint of the measured plugins and of the peers' script.
    pub build: String,
    /// The day, as `2026-05-30`.
    pub date: String,
    /// Processor, number of processors, memory pages.
    pub machine: BTreeMap<String, String>,
    /// Versions of the peers, and TVM's description of its target.
    pub peers: Value,
    /// Rounds of each contest.
    pub rounds: usize,
    /// The machine's limits.
    pub limits: Vec<Limit>,
    /// Entries of the report.
    pub entries: Vec<Entry>,
}

impl Report {
    /// Returns the entry of that name with that many threads.
    #[must_use]
    pub fn entry(&self, name: &str, threads: usize) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name && entry.threads == threads)
    }

    /// Returns a limit.
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
    /// Opens the report at that path: `fresh`, or the existing one when it is to be resumed.
    ///
    /// # Errors
    ///
    /// The existing report is not readable, or is of another build.
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

/// Writes a file under another name and renames it.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let fresh = path.with_extension(format!("fresh-{}", std::process::id()));
    fs::write(&fresh, text)
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns a fingerprint of the content of these files.
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
