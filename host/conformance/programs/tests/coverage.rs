//! Coverage of IR features by generated programs, and the share of their results that can be
//! compared (PROG-G5).

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use chipdock_programs::{Compared, NEVER, Options, arbitrary, features, possible, turns};

#[test]
fn programs_have_all_that_is_possible() {
    let mut seen = BTreeSet::new();
    for options in [Options::default(), Options::with_threads()] {
        for seed in 0..turns(&options) {
            seen.append(&mut features(&arbitrary(seed, &options).module));
        }
    }
    let possible = possible();
    let never: BTreeSet<String> = NEVER.iter().map(|(name, _)| (*name).to_owned()).collect();
    let missing: Vec<&String> = possible.difference(&seen).filter(|name| !never.contains(*name)).collect();
    assert!(missing.is_empty(), "never generated, and not in the list of what is not: {missing:#?}");
    let unknown: Vec<&String> = seen.difference(&possible).collect();
    assert!(unknown.is_empty(), "not in the list of what is possible: {unknown:#?}");
    let stale: Vec<&String> =
        never.iter().filter(|name| seen.contains(*name) || !possible.contains(*name)).collect();
    assert!(stale.is_empty(), "in the list of what is never generated, and is: {stale:#?}");
    println!("{} of {} features seen", seen.len(), possible.len());
}

#[test]
fn prog_g5_nearly_everything_can_be_compared() {
    for options in [Options::default(), Options::with_threads()] {
        let (mut compared, mut n_floats, mut n_odd) = (Compared::default(), 0, 0);
        for seed in 0..1000 {
            let case = arbitrary(seed, &options);
            let arrays = case.run(&case.module).unwrap();
            compared += case.check(&arrays).unwrap();
            for array in arrays.iter().filter(|array| array.dtype.is_float()) {
                n_floats += array.n_lanes();
                n_odd += array.to_f64().iter().filter(|value| !value.is_finite()).count();
            }
        }
        println!("{compared:?}, {n_odd} of {n_floats} floats are not finite");
        assert!(compared.n_unbounded * 100 < compared.n_lanes, "{compared:?}");
        assert!(n_odd * 20 < n_floats, "{n_odd} of {n_floats} floats are not finite");
    }
}
