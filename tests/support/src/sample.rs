//! Samples of long tests: a run takes a third of what they go through, another third for each seed of property tests
//! (`PROPTEST_RNG_SEED`); `CHIPDOCK_TEST_ALL=1`, which `cargo xtask test --all` sets, and `BLESS=1` take all of it, and so does
//! `CHIPDOCK_ONLY`, whose files are chosen by name.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A run takes one of so many.
const SHARE: u64 = 3;

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
    let mut hasher = DefaultHasher::new();
    (std::env::var("PROPTEST_RNG_SEED").unwrap_or_default(), name).hash(&mut hasher);
    is_whole_run() || hasher.finish().is_multiple_of(SHARE)
}
