//! Samples: what an ordinary run takes of a test that is too long to run completely.
//!
//! - **SAMPLE-1** A sample takes one in so many of a set by name, rounded up, so that it is never
//!   empty. It depends on the names and on the seed of property tests (`PROPTEST_RNG_SEED`) alone.
//!   `cargo xtask test` makes the seed from the committed files: the same commit has the same
//!   sample, the next one another. Of programs made from a number each it takes some in a row, and
//!   one long step that cannot be divided has its turn in one of so many runs.
//! - **SAMPLE-2** A whole run (`CHIPDOCK_TEST_ALL=1`, which `cargo xtask test --all` sets) takes
//!   everything. So do `BLESS=1`, because goldens list everything, and `CHIPDOCK_ONLY`, which
//!   selects files by name.
//! - **SAMPLE-3** Each sample is printed, as in "27 of 124 mutants", and added to the file that
//!   `CHIPDOCK_SAMPLE_LOG` names; `cargo xtask test` lists them at the end.
//! - **SAMPLE-4** A test that is called `every_…`, or that `SECURITY.md` names as the proof of a
//!   promise, takes no sample.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::ops::Range;

use crate::workspace;

/// Variable that names the file to which samples are added.
pub const LOG: &str = "CHIPDOCK_SAMPLE_LOG";

/// Returns true if this run takes everything (SAMPLE-2).
#[must_use]
pub fn is_whole_run() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    is_set("BLESS")
        || is_set("CHIPDOCK_ONLY")
        || std::env::var("CHIPDOCK_TEST_ALL").is_ok_and(|all| all == "1")
}

/// The names that a run takes of a set.
#[derive(Clone, Debug)]
pub struct Drawn {
    names: BTreeSet<String>,
}

impl Drawn {
    /// Takes one in `one_in` of the names, and reports how many of `what` that is. Names that occur
    /// twice count once.
    ///
    /// # Panics
    ///
    /// If the test promises to take everything (SAMPLE-4).
    #[must_use]
    pub fn of<S: Into<String>>(what: &str, one_in: usize, names: impl IntoIterator<Item = S>) -> Self {
        let all: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        let n_all = all.len();
        let names = if is_whole_run() { all } else { chosen(&seed(), one_in, all) };
        report(what, names.len(), n_all);
        Self { names }
    }

    /// Returns true if this name was taken.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns true if nothing was taken, because there was nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Takes one in `one_in` of a set, in its order, and reports how many of `what` that is.
///
/// # Panics
///
/// As [`Drawn::of`].
#[must_use]
pub fn draw<T>(what: &str, one_in: usize, mut all: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
    let drawn = Drawn::of(what, one_in, all.iter().map(&name));
    all.retain(|one| drawn.has(&name(one)));
    all
}

/// Returns `some`, or `all` in a whole run, and reports it: for a number of calls or seconds.
///
/// # Panics
///
/// As [`Drawn::of`].
#[must_use]
pub fn amount(what: &str, some: u64, all: u64) -> u64 {
    let taken = if is_whole_run() { all } else { some };
    let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
    report(what, count(taken), count(all));
    taken
}

/// Returns `some` numbers in a row of those below `all`, or all of them in a whole run, and reports
/// it: for programs that are made from a number each.
///
/// # Panics
///
/// As [`Drawn::of`].
#[must_use]
pub fn numbers(what: &str, some: u64, all: u64) -> Range<u64> {
    let taken = amount(what, some.min(all), all);
    let first = first_of(&seed(), what, taken, all);
    first..first + taken
}

/// Returns true in one of `one_in` runs, by the seed, and in a whole run, and reports it: for one
/// long step that cannot be divided.
///
/// # Panics
///
/// As [`Drawn::of`].
#[must_use]
pub fn has_turn(what: &str, one_in: u64) -> bool {
    let is_taken = is_whole_run() || is_turn(&seed(), one_in, what);
    report(what, usize::from(is_taken), 1);
    is_taken
}

/// Returns the seed of samples and of property tests; empty if none is set.
#[must_use]
pub fn seed() -> String {
    std::env::var("PROPTEST_RNG_SEED").unwrap_or_default()
}

/// Reports a sample that was drawn elsewhere (SAMPLE-3).
///
/// # Panics
///
/// If the test promises to take everything (SAMPLE-4).
pub fn report(what: &str, n_taken: usize, n_all: usize) {
    // Where the runner does not name the test, the standard harness names its thread so.
    let thread = std::thread::current();
    let test = std::env::var("NEXTEST_TEST_NAME").ok();
    let test = test.as_deref().or(thread.name()).unwrap_or_default();
    let security = fs::read_to_string(workspace().join("SECURITY.md")).unwrap_or_default();
    assert!(
        !promises_all(test, &security),
        "{test} takes a sample of {what}, and promises everything (SAMPLE-4)"
    );
    println!("sample: {n_taken} of {n_all} {what}");
    if let Some(path) = std::env::var_os(LOG) {
        let log = fs::OpenOptions::new().create(true).append(true).open(path);
        let binary = std::env::var("NEXTEST_BINARY_ID").unwrap_or_default();
        // In one piece: tests run side by side.
        let line = format!("{n_taken} of {n_all} {what}\t{binary}\n");
        let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
    }
}

/// Returns true if a test promises by its name, or by the text of SECURITY.md, to leave nothing out
/// (SAMPLE-4).
fn promises_all(test: &str, security: &str) -> bool {
    // A list of tests has names such as `check::file`.
    test.split("::").any(|part| {
        part.starts_with("every_") || (!part.is_empty() && security.contains(&format!("::{part}`")))
    })
}

/// The names with the least hashes: one in `one_in`, rounded up.
fn chosen(seed: &str, one_in: usize, all: BTreeSet<String>) -> BTreeSet<String> {
    let count = all.len().div_ceil(one_in.max(1));
    let mut names: Vec<String> = all.into_iter().collect();
    names.sort_by_cached_key(|name| number(seed, name));
    names.into_iter().take(count).collect()
}

/// The first of `taken` numbers in a row below `all`.
fn first_of(seed: &str, what: &str, taken: u64, all: u64) -> u64 {
    number(seed, what) % (all - taken + 1)
}

/// Whether a step has its turn.
fn is_turn(seed: &str, one_in: u64, what: &str) -> bool {
    number(seed, what).is_multiple_of(one_in.max(1))
}

/// A number that depends on the name and the seed.
fn number(seed: &str, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn names(count: usize) -> BTreeSet<String> {
        (0..count).map(|number| format!("name {number}")).collect()
    }

    #[test]
    fn sample_1_a_sample_depends_on_the_seed_and_is_never_empty() {
        for (count, one_in, expected) in [(0, 5, 0), (1, 5, 1), (124, 5, 25), (10, 1, 10), (3, 40, 1)] {
            assert_eq!(chosen("1", one_in, names(count)).len(), expected, "one in {one_in} of {count}");
        }
        let of = |seed: &str| chosen(seed, 5, names(100));
        assert_eq!(of("1"), of("1"));
        assert_ne!(of("1"), of("2"));
    }

    #[test]
    fn sample_1_each_name_has_its_turn() {
        let all = names(50);
        let taken: BTreeSet<String> =
            (0..60).flat_map(|seed| chosen(&seed.to_string(), 5, all.clone())).collect();
        assert_eq!(taken, all);
    }

    #[test]
    fn sample_1_each_number_has_its_turn() {
        let rows = (0..1000).map(|seed| first_of(&seed.to_string(), "programs", 12, 300));
        let taken: BTreeSet<u64> = rows.flat_map(|first| first..first + 12).collect();
        assert_eq!(taken, (0..300).collect());
        assert_eq!(first_of("1", "programs", 300, 300), 0);
    }

    #[test]
    fn sample_1_a_long_step_has_its_turn() {
        let turns = (0..400).filter(|seed| is_turn(&seed.to_string(), 4, "a long step")).count();
        assert!((60..140).contains(&turns), "{turns} of 400, for one in 4");
        assert!(is_turn("any", 1, "a long step") && is_turn("any", 0, "a long step"));
    }

    #[test]
    fn sample_4_a_test_of_everything_takes_no_sample() {
        let security = "| A promise | `tests/a.rs::a_promise_is_kept`, `tests/b.rs::another` |";
        for (test, expected) in [
            ("every_mutant_is_caught", true),
            ("module::every_mutant_is_caught", true),
            ("a_promise_is_kept", true),
            ("tests::another", true),
            ("promise_is_kept", false),
            ("drawn_mutants_are_caught", false),
            ("", false),
        ] {
            assert_eq!(promises_all(test, security), expected, "{test}");
        }
    }
}
