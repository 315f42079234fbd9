//! Promises of the generator (PROG-G1 to PROG-G6).

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use chipdock_interpret::Arg;
use chipdock_ir::{DType, Stage, validate::validate};
use chipdock_programs::{Case, Compared, Failure, Options, ProgramCheck, arbitrary, features, spelled};

use sha2::{Digest as _, Sha256};

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
fn prog_g1_g2_programs_validate_and_run() {
    ProgramCheck::new("prog_g1_g2_programs_validate_and_run", FOLDER)
        .programs(1000)
        .run(|case| runs(case).map(drop));
}

#[test]
fn prog_g4_a_case_prints_its_inputs_and_its_kernel() {
    let text = arbitrary(1, &Options::default()).text();
    assert!(text.starts_with("# A0 = ") && text.contains("def kernel("), "{text}");
}

/// Change this only on purpose: a seed that was written down somewhere means another program then.
#[test]
fn prog_g6_a_seed_makes_the_same_program() {
    let mut digest = Sha256::new();
    for seed in 0..50 {
        digest.update(arbitrary(seed, &Options::default()).text());
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "a291feea48b9a770519baa6b0bc151aa13f45e0ba3d8a83a85fac490fdf28dbc");
}

/// Tapes of a fixed sequence: what a fuzzer's bytes spell is a program like any other, and every
/// byte of it may matter.
#[test]
fn prog_g1_g2_g6_tapes_spell_programs() {
    let options = Options::with_threads();
    let mut texts = BTreeSet::new();
    for length in [0, 1, 2, 40, 41, 150, 600, 3000] {
        for first in [0, 1, 128, 255] {
            let mut tape: Vec<u8> = (0..length).map(|at: usize| (at * at + at / 3) as u8).collect();
            tape.iter_mut().take(3).for_each(|byte| *byte = first);
            let case = spelled(&tape, &options);
            runs(&case).unwrap_or_else(|failure| panic!("{failure:?}\n{case:?}"));
            assert_eq!(spelled(&tape, &options).text(), case.text());
            texts.insert(case.text());
        }
    }
    // The empty tape spells one whatever its first bytes would be, and the shortest ones nearly
    // alike: 23 were counted.
    assert!(texts.len() > 20, "{} programs", texts.len());
}

/// A changed byte in the middle leaves what was drawn before it.
#[test]
fn tapes_that_are_nearly_alike_spell_programs_that_are() {
    let options = Options::default();
    let tape: Vec<u8> = (0..2000).map(|at: usize| ((at * 7919) >> 3) as u8).collect();
    let mut changed = tape.clone();
    changed[900] ^= 0x15;
    let [one, other] = [&tape, &changed].map(|tape| spelled(tape, &options).text());
    let alike = one.lines().zip(other.lines()).take_while(|(a, b)| a == b).count();
    assert!(alike >= 5, "only {alike} lines are alike:\n{one}\n{other}");
}

#[test]
fn options_are_kept() {
    let options = Options {
        types: vec![DType::FLOAT32],
        special_values: false,
        vectorized: false,
        vectors: false,
        while_loops: false,
        symbolic: false,
        blocks: false,
        views: false,
        calls: false,
        results: false,
        externs: false,
        exits: false,
        ..Options::default()
    };
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let case = arbitrary(seed, &options);
        runs(&case).unwrap();
        seen.append(&mut features(&case.module));
        for arg in &case.args {
            if let Arg::Tensor(array) = arg {
                assert!(array.to_f64().iter().all(|value| value.is_finite()), "{case:?}");
            }
        }
    }
    let without = [
        "for Vectorized",
        "vector float32",
        "stmt While",
        "stmt Break",
        "stmt Continue",
        "for of symbolic extent",
        "stmt BlockRealize",
        "stmt DeclBuffer",
        "several functions",
        "call of a C function",
        "stmt Assert",
        "stmt Return",
        "stmt Attr",
        "Load float64",
        "Store int8",
    ];
    for name in without {
        assert!(!seen.contains(name), "{name}");
    }
}

/// PROG-G1, PROG-G2 of kernels with threads: no races, no barrier that some thread misses.
#[test]
fn prog_g2_threads_run() {
    ProgramCheck::new("prog_g2_threads_run", FOLDER)
        .options(Options::with_threads())
        .programs(1000)
        .run(|case| runs(case).map(drop));
}
