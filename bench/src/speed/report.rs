//! The report of a run: each row with its contenders, ratios and goals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contender::LIMIT;
use super::rows::{C_OVER_LLVM, Row, SHARE_ENOUGH, Work};
use crate::contest::{Spread, paired, spread};

/// Target kind that the goals are of.
pub const GOALS_OF: &str = "llvm";

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
    pub fn of(row: &Row, threads: usize) -> Self {
        Self {
            faster: row.faster,
            at_most: row.at_most.iter().map(|(peer, ratio)| ((*peer).to_owned(), *ratio)).collect(),
            share: row.share,
            enough: SHARE_ENOUGH,
            over_one: if threads == 2 { row.over_one() } else { None },
            // A compiler of C takes as long as it takes.
            c: (row.work != Work::Compile).then_some(C_OVER_LLVM),
        }
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

/// Names, ways and faults of contenders, for [`Entry::of_times`].
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
    pub fn of_times(row: &Row, threads: usize, times: &[Times], said: &Said) -> Self {
        let find = |who: &str, threads: usize| {
            times
                .iter()
                .find(|times| times.who == who && times.threads == threads)
                .map(|times| times.ns.as_slice())
        };
        let ours = find(GOALS_OF, threads).unwrap_or_default();
        let over = |other: &[f64]| spread(paired(other, ours));
        let is_peer = |times: &&Times| {
            times.threads == threads && ![LIMIT, GOALS_OF, "c"].contains(&times.who.as_str())
        };
        let peer = |times: &Times| {
            let way = said.ways.get(&(times.who.clone(), threads)).cloned().unwrap_or_default();
            let ns = spread(times.ns.clone())?;
            Some(Peer { who: times.who.clone(), ns, faster: over(&times.ns)?, way })
        };
        let mut peers: Vec<Peer> = times.iter().filter(is_peer).filter_map(peer).collect();
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
        let kinds = [GOALS_OF, "c"].into_iter();
        let one = if threads > 1 { find(GOALS_OF, 1) } else { None };
        let here = |who: &(String, usize)| who.1 == threads;
        Self {
            name: row.name.to_owned(),
            title: row.title.to_owned(),
            threads,
            rounds: ours.len(),
            ours: kinds
                .filter_map(|kind| Some((kind.to_owned(), spread(find(kind, threads)?.to_vec())?)))
                .collect(),
            peers,
            limit,
            over_one: one.and_then(over),
            c: find("c", threads).and_then(over),
            goals: Goals::of(row, threads),
            absent: said
                .absent
                .iter()
                .filter(|(who, _)| here(who))
                .map(|(who, why)| (who.0.clone(), why.clone()))
                .collect(),
            failed: said.failed.iter().filter(|who| here(who)).map(|who| who.0.clone()).collect(),
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
        self.failed.iter().filter(|who| [GOALS_OF, "c"].contains(&who.as_str())).count()
    }

    /// Returns the goals that were not reached, in words; none of a row that was not measured is.
    #[must_use]
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        if !self.ours.contains_key(GOALS_OF) {
            return vec!["not measured".to_owned()];
        }
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
            let found = self.peers.iter().find(|found| found.who == *peer);
            if !found.is_some_and(|found| hundredth(1.0 / found.faster.median) <= *goal) {
                missed.push(peer.clone());
            }
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

/// The share of the limit from which on a peer is beyond it, and not only faster by chance.
const BEYOND_LIMIT: f64 = 1.1;

/// Rounds a ratio as it is shown.
fn hundredth(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}

#[cfg(test)]
pub(crate) use tests::entry as entry_for_tests;

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
        Entry::of_times(row, threads, &all[skipped..], &said)
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
    fn a_ratio_to_one_peer_is_judged_beside_that_peer() {
        let row = ROWS.iter().find(|row| row.name == "packed_call").expect("a row");
        let verdict = |tvm: f64, bare: f64| {
            let all =
                [times("tvm", 1, [tvm; 3]), times("bare call", 1, [bare; 3]), times(GOALS_OF, 1, [52.0; 3])];
            Entry::of_times(row, 1, &all, &Said::default()).missed()
        };
        assert_eq!(verdict(100.0, 24.0), [""; 0]);
        assert_eq!(verdict(98.0, 24.0), ["tvm"]);
        assert_eq!(verdict(100.0, 23.0), ["bare call"]);
    }
}
