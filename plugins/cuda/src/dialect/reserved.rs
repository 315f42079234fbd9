//! Reserved words.

use chipdock_codegen_source::c_family::{CPP_WORDS, contains_word};

/// Keywords, variables, types and functions of the language that the text uses, and macros.
pub(super) const WORDS: &[&str] = &[
    CPP_WORDS,
    "threadIdx blockIdx blockDim gridDim warpSize dim3 uint2 uint4 cudaError_t cudaStream_t",
    "NAN INFINITY atomicAdd atomicCAS abs min max",
];

/// Returns true for reserved words, and for names of functions that the text may call.
pub(super) fn is_reserved(name: &str) -> bool {
    contains_word(WORDS, name) || super::ops::function(name).is_some()
}
