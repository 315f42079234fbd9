//! What the generator promises (G1 to G6).

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use chipdock_ir::{Stage, validate::validate};
use chipdock_test_programs::{Case, Compared, Failure, Options, Trial, arbitrary, turns};

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn runs(case: &Case) -> Result<Compared, Failure> {
    if let Err(problems) = validate(&case.module, Stage::Blocks) {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(Failure::new("validate", problems.join("\n")));
    }
    // The interpreter agrees with itself, with and without bounds.
    let arrays = case.run(&case.module).map_err(|error| Failure::new("run", error))?;
    case.check(&arrays).map_err(|error| Failure::new("bounds", error))
}

#[test]
fn g1_g2_programs_validate_and_run() {
    Trial::new("g1_g2_programs_validate_and_run", FOLDER).programs(1000).run(|case| runs(case).map(drop));
}

#[test]
fn survey() {
    let mut kinds = std::collections::BTreeMap::<String, (u64, String)>::new();
    let mut compared = Compared::default();
    let options = Options::default();
    println!("turns {}", turns(&options));
    let start = std::time::Instant::now();
    for seed in 0..2000 {
        let case = arbitrary(seed, &options);
        match runs(&case) {
            Ok(found) => compared += found,
            Err(failure) => {
                let key: String = failure.details.split('`').next().unwrap().chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
                let entry = kinds.entry(format!("{} {key}", failure.what)).or_insert((0, String::new()));
                if entry.0 == 0 { entry.1 = format!("seed {seed} {}", failure.details); }
                entry.0 += 1;
            }
        }
    }
    println!("{compared:?} {:?}", start.elapsed());
    for (key, (count, example)) in kinds { println!("{count} {key}: {example}\n"); }
}
