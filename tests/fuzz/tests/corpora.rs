//! Runs every kept input and every seed through the function of its target: rules FUZZ-F1 to
//! FUZZ-F5.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use chipdock_fuzz::seeds::{files, kept, seeds};
use chipdock_fuzz::{TARGETS, Target, pipeline_outcome, target_named};

/// Largest number of kept files of a target, so that people can look at all of them.
const KEPT_FILES_MAX: usize = 60;
const KEPT_BYTES_MAX: usize = 160 << 10;

fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is there for the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "the clock of this process");
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("below a second"))
}

/// Runs an input and says its name when it fails.
fn run(target: &Target, name: &str, bytes: &[u8]) {
    let before = processor_time();
    let ended = catch_unwind(AssertUnwindSafe(|| target.check(bytes)));
    assert!(ended.is_ok(), "{} on {name} ({} bytes): see above", target.name, bytes.len());
    let (took, most) = (processor_time() - before, target.time_bound(bytes.len()));
    assert!(
        took <= most,
        "FUZZ-F4: {} on {name} ({} bytes) took {took:?}; expected at most {most:?}",
        target.name,
        bytes.len()
    );
}

fn corpus(name: &str) {
    let target = target_named(name).expect("a target");
    let seeds = seeds(name);
    assert!(seeds.len() >= 3, "{name}: {} seeds", seeds.len());
    let kept = files(&kept(name));
    assert!(!kept.is_empty(), "{name}: nothing is kept");
    // What is opened once is opened before anything is measured.
    (target.run)(&seeds[0]);
    for (at, seed) in seeds.iter().enumerate() {
        run(target, &format!("seed {at}"), seed);
    }
    for (path, bytes) in kept {
        run(target, &path.display().to_string(), &bytes);
    }
}

#[test]
fn fuzz_f1_f2_f3_f4_scripts() {
    corpus("script");
}

#[test]
fn fuzz_f1_f2_f3_f4_documents_of_the_wire() {
    corpus("wire");
}

#[test]
fn fuzz_f1_f2_f3_f4_arrays() {
    corpus("npy");
}

#[test]
fn fuzz_f1_f2_f3_f4_manifests() {
    corpus("manifest");
}

#[test]
fn fuzz_f1_f2_f3_f4_targets() {
    corpus("targets");
}

#[test]
fn fuzz_f1_f2_f3_f4_artifacts() {
    corpus("artifact");
}

#[test]
fn fuzz_f1_f2_f3_f4_built_files() {
    corpus("library");
}

#[test]
fn fuzz_f5_programs_to_every_code_generator() {
    corpus("pipeline");
}

/// Structured: most inputs are valid, and all that are not edited.
#[test]
fn fuzz_f5_most_tapes_are_valid_programs() {
    let outcomes: Vec<_> = seeds("pipeline").iter().map(|tape| pipeline_outcome(tape)).collect();
    let count =
        |is: fn(&chipdock_fuzz::Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let (all, valid) = (outcomes.len(), count(|outcome| outcome.is_valid));
    // Of 48 tapes 21 to 32 were, over twelve seeds.
    assert!(valid * 2 >= all, "{valid} of {all} are valid");
    assert!(count(|outcome| outcome.is_edited) > all / 4, "programs are edited");
    let built = count(|outcome| outcome.n_built > 0);
    assert!(built * 10 >= valid * 5, "{built} of {valid} valid ones were built");
}

#[test]
fn kept_inputs_are_small_and_have_a_target() {
    let folder = kept("");
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    for entry in std::fs::read_dir(&folder).expect("the corpora").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(names.contains(&name.as_str()), "corpus/{name}: no target is called so; there are {names:?}");
    }
    for name in names {
        let kept = files(&kept(name));
        let size: usize = kept.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(kept.len() <= KEPT_FILES_MAX, "corpus/{name} has {} files: minimise it", kept.len());
        assert!(size <= KEPT_BYTES_MAX, "corpus/{name} has {size} bytes: minimise it");
    }
}
