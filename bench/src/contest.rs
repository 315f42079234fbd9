//! Compares times on a shared machine: contenders are measured in turn, and the reported value is
//! the median of the ratios of measurements that follow each other.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Returns the median of a list; 0 for an empty one.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Returns the time of a call of `run` in nanoseconds, averaged over `calls` calls.
pub fn ns_per_call(calls: u32, mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

/// Measures ours and a peer in turn; returns the median of each, and the median of the ratios ours
/// / peer.
pub fn duel(rounds: usize, mut ours: impl FnMut() -> f64, mut peer: impl FnMut() -> f64) -> (f64, f64, f64) {
    ours();
    peer();
    let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (ours(), peer())).collect();
    (
        median(pairs.iter().map(|(ours, _)| *ours).collect()),
        median(pairs.iter().map(|(_, peer)| *peer).collect()),
        median(pairs.iter().map(|(ours, peer)| ours / peer).collect()),
    )
}

/// Quartiles of a list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// First quartile: a quarter of the values are at most this.
    pub low: f64,
    /// Median: half of the values are at most this.
    pub median: f64,
    /// Third quartile: three quarters of the values are at most this.
    pub high: f64,
}

/// Returns the quartiles of a list, each of them a value of the list; `None` for an empty list.
#[must_use]
pub fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.sort_by(f64::total_cmp);
    let at = |quarter: usize| values.get(((values.len().checked_sub(1)?) * quarter + 2) / 4).copied();
    Some(Spread { low: at(1)?, median: at(2)?, high: at(3)? })
}

/// Returns the order in which a round visits `n` contenders: each once, and each round begins one
/// later than the round before.
pub fn order(n: usize, round: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |place| (place + round) % n)
}

/// Returns the ratios ours / peer of the same rounds, for the rounds that both lists have.
#[must_use]
pub fn paired(ours: &[f64], peer: &[f64]) -> Vec<f64> {
    ours.iter().zip(peer).filter(|(_, peer)| **peer > 0.0).map(|(ours, peer)| ours / peer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_values_of_the_list() {
        let values = |list: &[f64]| spread(list.to_vec());
        assert_eq!(values(&[]), None);
        assert_eq!(values(&[7.0]), Some(Spread { low: 7.0, median: 7.0, high: 7.0 }));
        assert_eq!(values(&[5.0, 1.0, 4.0, 2.0, 3.0]), Some(Spread { low: 2.0, median: 3.0, high: 4.0 }));
    }

    /// A machine that slows down for a while slows both of a pair: the ratio stays the same, though
    /// the times change.
    #[test]
    fn ratios_are_of_one_round() {
        let ours = [10.0, 20.0, 30.0, 10.0];
        let peer = [20.0, 40.0, 60.0, 20.0];
        assert_eq!(paired(&ours, &peer), [0.5; 4]);
        assert_eq!(spread(paired(&ours, &peer)).map(|spread| spread.median), Some(0.5));
        assert_eq!(paired(&[1.0, 2.0], &[0.0, 4.0]), [0.5], "a peer that took no time says nothing");
    }

    #[test]
    fn everybody_is_visited_once_a_round_and_first_in_turn() {
        let mut first = Vec::new();
        for round in 0..3 {
            let visits: Vec<usize> = order(3, round).collect();
            let mut sorted = visits.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            first.push(visits[0]);
        }
        assert_eq!(first, [0, 1, 2]);
    }
}
