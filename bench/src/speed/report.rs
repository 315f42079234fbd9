//! The report of a run: each row with its contenders, ratios and goals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contender::LIMIT;
use super::rows::{BARE, C_OVER_LLVM, PEERS, Row, SHARE_ENOUGH, Work};
use crate::contest::{Spread, paired, spread};
use crate::options::Set;

/// Target kind that the goals are of; the others are measured for information.
pub const GOALS_OF: &str = "llvm";
/// Name of the peer that goals of the examples refer to.
pub const TVM: &str = "tvm";

/// Times of a contender, by round.
#[derive(Clone, Debug)]
pub struct Times {
    /// Contender.
    pub who: String,
    /// Number of threads.
    pub threads: usize,
    /// Nanoseconds per call.
    pub ns: Vec<f64>,
}

/// A peer in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// Its name.
    pub who: String,
    /// Nanoseconds per call.
    pub ns: Spread,
    /// Times that `llvm` is as fast: time of the peer over ours, of the same rounds.
    pub faster: Spread,
    /// Which of several ways was the fastest; empty if there is one.
    pub way: String,
    /// Time of each target kind over that of the peer, of the same rounds; in the set `examples`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over: BTreeMap<String, Spread>,
}

/// Amount of work of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Bytes or operations, by `unit`.
    pub amount: f64,
    /// Unit of the rate: `GB/s` or `GFLOP/s`.
    pub unit: String,
}

/// The machine's limit in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What was measured.
    pub name: String,
    /// Rate in `unit`.
    pub rate: f64,
    /// Unit of the rate.
    pub unit: String,
    /// Share of the limit that `llvm` reaches: time of the limit over ours.
    pub share: Spread,
}

/// What a row is to reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goals {
    /// Times as fast as the best peer.
    pub faster: Option<f64>,
    /// Times that it takes over a peer, at most, by peer.
    pub at_most: BTreeMap<String, f64>,
    /// Nanoseconds, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_ns: Option<f64>,
    /// Share of the limit.
    pub share: Option<f64>,
    /// Share of the limit that is enough whatever the peers do.
    pub enough: f64,
    /// Speed over that of one thread, for a row of two.
    pub over_one: Option<f64>,
    /// Time of target `c` over that of `llvm`, at most.
    pub c: Option<f64>,
}

impl Goals {
    /// Returns the goals of a row with that number of threads.
    #[must_use]
    pub fn new(row: &Row, threads: usize) -> Self {
        Self {
            faster: row.faster,
            at_most: row.at_most.iter().map(|(peer, ratio)| ((*peer).to_owned(), *ratio)).collect(),
            at_most_ns: row.at_most_ns,
            share: row.share,
            enough: SHARE_ENOUGH,
            over_one: if threads == 2 { row.over_one() } else { None },
            // A compiler of C takes as long as it takes.
            c: (row.work != Work::Compile && row.set != Set::Examples).then_some(C_OVER_LLVM),
        }
    }

    /// Returns true if the row is measured for information.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { faster, at_most, at_most_ns, share, enough: _, over_one, c } = self;
        at_most.is_empty() && [faster, at_most_ns, share, over_one, c].iter().all(|goal| goal.is_none())
    }
}

/// A row with one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the row.
    pub name: String,
    /// What it is, in words.
    pub title: String,
    /// Number of threads.
    pub threads: usize,
    /// Rounds that `llvm` took part in.
    pub rounds: usize,
    /// Work of a call, if it is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Amount>,
    /// Nanoseconds per call of each target kind.
    pub ours: BTreeMap<String, Spread>,
    /// Peers, the fastest first.
    pub peers: Vec<Peer>,
    /// Limit of the machine.
    pub limit: Option<Limit>,
    /// Speed over that of one thread.
    pub over_one: Option<Spread>,
    /// Time of target `c` over that of `llvm`.
    pub c: Option<Spread>,
    /// What is to be reached.
    pub goals: Goals,
    /// Contenders that were not timed, with the reason.
    pub absent: BTreeMap<String, String>,
    /// Contenders among these that are at fault.
    pub failed: Vec<String>,
}

/// Names, ways and faults of contenders, for [`Entry::from_times`].
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Ways of peers, by (name, threads).
    pub ways: BTreeMap<(String, usize), String>,
    /// Names of limits, by threads.
    pub limits: BTreeMap<usize, String>,
    /// Reasons of absent contenders, by (name, threads).
    pub absent: BTreeMap<(String, usize), String>,
    /// Contenders that failed.
    pub failed: Vec<(String, usize)>,
}

impl Entry {
    /// Makes the entry of a row with that number of threads from the times of all contenders.
    #[must_use]
    pub fn from_times(row: &Row, threads: usize, times: &[Times], said: &Said) -> Self {
        let find = |who: &str, threads: usize| {
            times
                .iter()
                .find(|times| times.who == who && times.threads == threads)
                .map(|times| times.ns.as_slice())
        };
        let ours = find(GOALS_OF, threads).unwrap_or_default();
        let over = |other: &[f64]| spread(paired(other, ours));
        let here = || times.iter().filter(|times| times.threads == threads);
        let is_peer = |times: &&Times| times.who != LIMIT && !is_ours(&times.who);
        let kinds = || here().filter(|times| is_ours(&times.who));
        let peer = |times: &Times| {
            let way = said.ways.get(&(times.who.clone(), threads)).cloned().unwrap_or_default();
            let ns = spread(times.ns.clone())?;
            let over_peer = |kind: &Times| Some((kind.who.clone(), spread(paired(&kind.ns, &times.ns))?));
            let is_example = row.set == Set::Examples;
            let ratios = kinds().filter(|_| is_example).filter_map(over_peer).collect();
            Some(Peer { who: times.who.clone(), ns, faster: over(&times.ns)?, way, over: ratios })
        };
        let mut peers: Vec<Peer> = here().filter(is_peer).filter_map(peer).collect();
        peers.sort_by(|one, other| one.ns.median.total_cmp(&other.ns.median));
        let limit = find(LIMIT, threads).and_then(|ns| {
            let (amount, unit) = row.work.amount();
            let name = said.limits.get(&threads).cloned().unwrap_or_default();
            Some(Limit {
                name,
                rate: amount / spread(ns.to_vec())?.median,
                unit: unit.to_owned(),
                share: over(ns)?,
            })
        });
        let (amount, unit) = row.work.amount();
        let one = if threads > 1 { find(GOALS_OF, 1) } else { None };
        let has_these = |who: &(String, usize)| who.1 == threads;
        Self {
            name: row.name.to_owned(),
            title: row.title(),
            threads,
            rounds: ours.len(),
            work: (amount > 0.0).then(|| Amount { amount, unit: unit.to_owned() }),
            ours: kinds().filter_map(|times| Some((times.who.clone(), spread(times.ns.clone())?))).collect(),
            peers,
            limit,
            over_one: one.and_then(over),
            c: find("c", threads).and_then(over),
            goals: Goals::new(row, threads),
            absent: said
                .absent
                .iter()
                .filter(|(who, _)| has_these(who))
                .map(|(who, why)| (who.0.clone(), why.clone()))
                .collect(),
            failed: said.failed.iter().filter(|who| has_these(who)).map(|who| who.0.clone()).collect(),
        }
    }

    /// Returns the best peer.
    #[must_use]
    pub fn best(&self) -> Option<&Peer> {
        self.peers.first()
    }

    /// Returns the number of our target kinds that failed; a peer that does is not timed, and that
    /// is all.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.failed.iter().filter(|who| is_ours(who)).count()
    }

    /// Returns the peer of that name.
    #[must_use]
    pub fn peer(&self, who: &str) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.who == who)
    }

    /// Returns the goals that were not reached, in words; none of a row that was not measured is.
    /// Ratios are rounded as they are shown, to the hundredth.
    #[must_use]
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let Some(ours) = self.ours.get(GOALS_OF) else {
            return if self.goals.is_empty() { missed } else { vec!["not measured".to_owned()] };
        };
        let share = self.limit.as_ref().map(|limit| limit.share.median);
        // A limit that a peer is beyond is none: it has instructions that the limit was not
        // measured with.
        let is_limit = |share: f64| self.best().is_none_or(|peer| share / peer.faster.median < BEYOND_LIMIT);
        let is_enough = share.is_some_and(|share| hundredth(share) >= self.goals.enough && is_limit(share));
        if let Some(goal) = self.goals.faster {
            let is_faster = self.best().is_some_and(|peer| hundredth(peer.faster.median) >= goal);
            if !is_enough && !is_faster {
                missed.push("best peer".to_owned());
            }
        }
        for (peer, goal) in &self.goals.at_most {
            if !self.peer(peer).is_some_and(|found| hundredth(1.0 / found.faster.median) <= *goal) {
                missed.push(peer.clone());
            }
        }
        if self.goals.at_most_ns.is_some_and(|goal| ours.median > goal) {
            missed.push("time".to_owned());
        }
        if let (Some(share), Some(goal)) = (share, self.goals.share)
            && hundredth(share) < goal
        {
            missed.push("limit".to_owned());
        }
        if let (Some(over), Some(goal)) = (self.over_one, self.goals.over_one)
            && hundredth(over.median) < goal
            && !is_enough
        {
            missed.push("two threads".to_owned());
        }
        match (self.c, self.goals.c) {
            (Some(c), Some(goal)) if hundredth(c.median) > goal => missed.push("c".to_owned()),
            _ => {}
        }
        missed
    }

    /// Returns name and number of threads, which identify the entry.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}, {} thread{}", self.name, self.threads, if self.threads == 1 { "" } else { "s" })
    }
}

/// Returns true for a target kind of Chipdock.
fn is_ours(who: &str) -> bool {
    ![LIMIT, BARE].contains(&who) && !PEERS.contains(&who)
}

/// The share of the limit from which on a peer is beyond it, and not only faster by chance.
const BEYOND_LIMIT: f64 = 1.1;

/// Rounds a ratio as it is shown.
fn hundredth(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}

#[cfg(test)]
pub(crate) use tests::{entry as entry_for_tests, example as example_for_tests};

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    fn times(who: &str, threads: usize, ns: [f64; 3]) -> Times {
        Times { who: who.to_owned(), threads, ns: ns.to_vec() }
    }

    /// The row `add` (1.4 times the best peer, 0.95 of the limit) with these times of `llvm`, of
    /// the limit and of `c`.
    pub(crate) fn entry(threads: usize, ours: f64, limit: f64, c: f64) -> Entry {
        let row = ROWS.iter().find(|row| row.name == "add").expect("a row");
        let all = [
            times(GOALS_OF, 1, [10.0, 20.0, 10.0]),
            times("c", 1, [10.0, 20.0, 10.0]),
            times("torch", threads, [14.0, 28.0, 14.0]),
            times("numpy", threads, [28.0, 56.0, 28.0]),
            times("c", threads, [c, 2.0 * c, c]),
            times(LIMIT, threads, [limit, 2.0 * limit, limit]),
            times(GOALS_OF, threads, [ours, 2.0 * ours, ours]),
        ];
        let skipped = if threads == 1 { 2 } else { 0 };
        let said = Said { limits: [(threads, "streams".to_owned())].into(), ..Said::default() };
        Entry::from_times(row, threads, &all[skipped..], &said)
    }

    /// A row of the set `examples` with these times of `llvm` and of TVM; `at_most_ns` makes it a
    /// figure whose goal that is.
    pub(crate) fn example(name: &'static str, at_most_ns: Option<f64>, ours: &[f64], tvm: &[f64]) -> Entry {
        let rows = super::super::rows::examples().expect("readable");
        let row = rows.iter().find(|row| row.name == "vector_add").expect("a row");
        let row = Row { name, at_most_ns, ..*row };
        let row = if at_most_ns.is_some() { Row { at_most: &[], ..row } } else { row };
        let times = [(GOALS_OF, ours), (TVM, tvm)].map(|(who, ns)| Times {
            who: who.to_owned(),
            threads: 1,
            ns: ns.to_vec(),
        });
        Entry::from_times(&row, 1, &times, &Said::default())
    }

    #[test]
    fn a_goal_of_an_example_is_judged_as_it_is_shown() {
        let missed = |ours: f64| example("add", None, &[ours], &[1.0]).missed();
        assert_eq!(missed(0.5), [""; 0]);
        assert_eq!(missed(1.004), [""; 0]);
        assert_eq!(missed(1.006), [TVM]);
        assert_eq!(example("add", Some(1000.0), &[1001.0], &[1.0]).missed(), ["time"]);
        assert_eq!(example("add", Some(1000.0), &[999.0], &[1.0]).missed(), [""; 0]);
    }

    #[test]
    fn a_goal_without_a_measurement_is_not_reached() {
        assert_eq!(example("add", None, &[], &[1.0]).missed(), ["not measured"]);
        assert_eq!(example("add", None, &[1.0], &[]).missed(), [TVM]);
        assert_eq!(example("add", Some(1.0), &[], &[]).missed(), ["not measured"]);
        let mut free = example("add", None, &[], &[]);
        free.goals.at_most.clear();
        assert_eq!(free.missed(), [""; 0], "without a goal");
    }

    #[test]
    fn every_target_of_an_example_is_compared_with_every_peer() {
        let rows = super::super::rows::examples().expect("readable");
        let row = rows.iter().find(|row| row.name == "vector_add").expect("a row");
        let all = [
            times(GOALS_OF, 1, [10.0, 20.0, 10.0]),
            times("opencl", 1, [40.0, 80.0, 40.0]),
            times(TVM, 1, [20.0, 40.0, 20.0]),
            times("numpy", 1, [40.0, 80.0, 40.0]),
        ];
        let entry = Entry::from_times(row, 1, &all, &Said::default());
        let ratio = |kind: &str, peer: &str| entry.peer(peer).and_then(|peer| peer.over.get(kind));
        for (kind, peer, wanted) in [(GOALS_OF, TVM, 0.5), ("opencl", TVM, 2.0), ("opencl", "numpy", 1.0)] {
            assert_eq!(ratio(kind, peer).map(|ratio| ratio.median), Some(wanted), "{kind} / {peer}");
        }
        assert_eq!(entry.ours.keys().collect::<Vec<_>>(), [GOALS_OF, "opencl"]);
        assert_eq!(entry.work.map(|work| work.unit), Some("GB/s".to_owned()));
        let failed = Entry {
            failed: vec!["opencl".to_owned(), "numpy".to_owned()],
            ..Entry::from_times(row, 1, &[], &Said::default())
        };
        assert_eq!(failed.failures(), 1, "a peer's failure is not ours");
    }

    #[test]
    fn ratios_are_of_the_same_rounds_and_the_best_peer_is_the_fastest() {
        let entry = entry(2, 5.0, 4.8, 6.0);
        let best = entry.best().expect("a peer");
        assert_eq!((best.who.as_str(), best.faster.median), ("torch", 2.8));
        assert_eq!(entry.over_one.map(|over| over.median), Some(2.0));
        assert_eq!(entry.c.map(|c| c.median), Some(1.2));
        assert_eq!(entry.limit.as_ref().map(|limit| limit.share.median), Some(0.96));
        assert!(entry.missed().is_empty(), "{:?}", entry.missed());
    }

    #[test]
    fn each_goal_that_is_missed_is_named() {
        assert_eq!(entry(1, 10.0, 9.5, 13.0).missed(), [""; 0]);
        assert_eq!(entry(1, 10.2, 9.6, 13.0).missed(), ["best peer", "limit"]);
        assert_eq!(entry(1, 10.0, 9.5, 13.2).missed(), ["c"]);
        assert_eq!(entry(2, 6.5, 6.0, 6.5).missed(), ["limit", "two threads"]);
        assert_eq!(
            entry(2, 6.5, 6.4, 6.5).missed(),
            [""; 0],
            "no faster than the memory, whatever one thread takes"
        );
        let mut absent = entry(1, 10.0, 9.5, 10.0);
        absent.ours.clear();
        assert_eq!(absent.missed(), ["not measured"]);
    }

    /// A multiple of the best peer's speed that is beyond the machine is no goal (SPEED-4).
    #[test]
    fn most_of_the_limit_is_enough() {
        assert_eq!(entry(1, 12.0, 11.4, 12.0).missed(), [""; 0]);
        assert_eq!(entry(1, 12.0, 11.2, 12.0).missed(), ["best peer", "limit"]);
        // Both are beyond what was measured as the limit, the peer (14) further.
        assert_eq!(entry(1, 20.0, 22.0, 20.0).missed(), ["best peer"]);
    }

    #[test]
    fn a_goal_against_one_peer_is_judged_by_that_peer() {
        let row = ROWS.iter().find(|row| row.name == "packed_call").expect("a row");
        let verdict = |tvm: f64, bare: f64| {
            let all =
                [times("tvm", 1, [tvm; 3]), times("bare call", 1, [bare; 3]), times(GOALS_OF, 1, [52.0; 3])];
            Entry::from_times(row, 1, &all, &Said::default()).missed()
        };
        assert_eq!(verdict(100.0, 24.0), [""; 0]);
        assert_eq!(verdict(98.0, 24.0), ["tvm"]);
        assert_eq!(verdict(100.0, 23.0), ["bare call"]);
    }
}
