//! Comparing times on a shared machine: contenders are visited in turn, and what is reported is the median of the
//! ratios of neighbours.

use std::time::Instant;

/// The median of a list; 0 for an empty one.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Nanoseconds per call of `run`, over `calls` calls.
pub fn ns_per_call(calls: u32, mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

/// Ours and a peer, visited in turn: the medians of both, and the median of the ratios ours / peer.
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
