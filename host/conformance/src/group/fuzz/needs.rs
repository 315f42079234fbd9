//! Profiles that a program needs, derived from its nodes.

use chipdock_ir::{DType, IrModule};
use chipdock_programs::features;

use crate::Profile;

/// Words in the names of features, with the profiles that they imply.
const WORDS: &[(&str, Profile)] = &[
    ("float16", Profile::Float16),
    ("bfloat16", Profile::Bfloat16),
    ("float64", Profile::Float64),
    ("int64", Profile::Int64),
    ("uint64", Profile::Int64),
    ("shared", Profile::SharedMemory),
    ("shared.dyn", Profile::DynamicSharedMemory),
    ("ThreadBinding", Profile::GpuThreads),
    ("LaunchThread", Profile::GpuThreads),
    ("atomic_add", Profile::Atomics),
];

/// Features that are explicit vector operations.
const VECTORS: &[&str] = &[
    "predicated load",
    "predicated store",
    "vector load",
    "vector store",
    "vector condition",
    "gathering load",
    "elements that are vectors",
];

/// Returns true if a type needs a profile.
pub(super) fn of_type(dtype: DType) -> bool {
    let name = dtype.to_string();
    WORDS.iter().any(|(word, _)| *word == name)
}

/// Returns the profiles that a program needs, each once.
pub(super) fn of_program(module: &IrModule) -> Vec<Profile> {
    let mut all = Vec::new();
    let mut add = |profile| {
        if !all.contains(&profile) {
            all.push(profile);
        }
    };
    for feature in features(module) {
        for word in feature.split(' ') {
            for (_, profile) in WORDS.iter().filter(|(known, _)| *known == word) {
                add(*profile);
            }
            if word.starts_with("tvm_warp_") {
                add(Profile::Warp);
            }
            if word == "tvm_thread_allreduce" {
                add(Profile::GpuThreads);
            }
        }
        let is_vector =
            ["Ramp ", "Broadcast ", "Shuffle ", "vector "].iter().any(|head| feature.starts_with(head));
        if is_vector || VECTORS.contains(&feature.as_str()) {
            add(Profile::Vectors);
        }
    }
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use chipdock_programs::{Options, possible};

    use super::super::Family;
    use super::*;
    use crate::case::Seeds;

    #[test]
    fn every_word_names_a_feature() {
        let possible = possible();
        for (word, _) in WORDS {
            assert!(possible.iter().any(|feature| feature.split(' ').any(|one| one == *word)), "{word}");
        }
        for name in VECTORS {
            assert!(possible.contains(*name), "{name}");
        }
        assert!(possible.iter().any(|feature| feature.contains("tvm_warp_")));
        assert!(possible.iter().any(|feature| feature.contains("tvm_thread_allreduce")));
    }

    /// The list of cases is made for warps of 32 threads: what a case needs is what its program of
    /// another size needs.
    #[test]
    fn the_size_of_warps_changes_no_needs() {
        let options = Family::Threads.options();
        let mut n_of_warps = 0;
        for seed in 0..Seeds::default().programs {
            let needs = |warp: u8| {
                let program = chipdock_programs::arbitrary(seed, &super::super::of_warps(&options, warp));
                of_program(&program.module)
            };
            let expected = needs(32);
            n_of_warps += usize::from(expected.contains(&Profile::Warp));
            for warp in [4, 8, 16] {
                assert_eq!(needs(warp), expected, "seed {seed}, warps of {warp}");
            }
        }
        assert!(n_of_warps > 1, "{n_of_warps} programs with warps");
    }

    #[test]
    fn plain_programs_need_little_and_families_differ() {
        let needs = |options: &Options, seed| of_program(&chipdock_programs::arbitrary(seed, options).module);
        let plain = Family::Plain.options();
        let few = [Profile::Int64, Profile::Vectors];
        let mut n_bare = 0;
        for seed in 0..Seeds::default().programs {
            let needs = needs(&plain, seed);
            assert!(needs.iter().all(|profile| few.contains(profile)), "seed {seed}: {needs:?}");
            n_bare += u64::from(needs.is_empty());
        }
        assert!(n_bare * 2 > Seeds::default().programs, "only {n_bare} need nothing");
        let mut all: Vec<Profile> = (0..64).flat_map(|seed| needs(&Family::Wide.options(), seed)).collect();
        all.extend((0..64).flat_map(|seed| needs(&Family::Threads.options(), seed)));
        for (_, profile) in WORDS {
            assert!(all.contains(profile), "no program of 64 needs {profile}");
        }
    }
}
