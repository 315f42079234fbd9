//! Samples of long tests: a run takes a fifth of what they go through, another fifth for each seed of property tests
//! (`PROPTEST_RNG_SEED`); `CHIPDOCK_TEST_ALL=1`, which `cargo xtask test --all` sets, and `BLESS=1` take all of it, and so does
//! `CHIPDOCK_ONLY`, whose files are chosen by name.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A run takes one of so many.
const SHARE: u64 = 5;

/// Returns true if this run takes everything.
#[must_use]
pub fn is_whole_run() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    is_set("BLESS")
        || is_set("CHIPDOCK_ONLY")
        || std::env::var("CHIPDOCK_TEST_ALL").is_ok_and(|all| all == "1")
}

/// Returns true if this run takes what has that name.
#[must_use]
pub fn is_drawn(name: &str) -> bool {
    is_whole_run() || number(name).is_multiple_of(SHARE)
}

/// Returns the index, below `count`, of what this run takes of several that only differ in details.
#[must_use]
pub fn drawn_of(name: &str, count: usize) -> usize {
    usize::try_from(number(name) % (count.max(1) as u64)).unwrap_or_default()
}

/// A number that depends on the name and the seed.
fn number(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (std::env::var("PROPTEST_RNG_SEED").unwrap_or_default(), name).hash(&mut hasher);
    hasher.finish()
}
