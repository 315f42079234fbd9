//! Tests of the passes on modules built in Rust, or written as short scripts. The results for
//! modules in text form are in the golden files of `tests/filetests`; random programs go through
//! all passes in `host/conformance/programs`.

#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails there fails the test")]

mod asks;
mod bounds;
mod capabilities;
mod compact;
mod constants;
mod contractions;
mod far;
mod flat_lanes;
mod forms;
mod halves;
mod int64;
mod math;
mod offsets;
mod ops;
mod parallel;
mod processor;
mod refusals;
mod rounds;
mod schedule;
mod simplify;
mod storage;
mod subnormals;
mod warp_memory;
