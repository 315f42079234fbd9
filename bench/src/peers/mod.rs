//! `cargo xtask bench --peers`: the same kernels through Chipdock and its peers, in one run.
//!
//! # Rules
//!
//! - **BENCH-B1 One source.** Every contender compiles the same file of `examples/kernels` at the same sizes for the same
//!   processor;
//!   real TVM is given the processor's features and uses vectors as wide as it supports.
//! - **BENCH-B2 One input, one judge.** Every contender gets the same bytes at the same offsets in their pages, and its result
//!   at the measured sizes is checked against the bounds of the reference interpreter ([`judge`]); a contender with a wrong
//!   result is not timed.
//! - **BENCH-B3 In turn.** A round visits each contender once, the next round begins one later; a visit is one call that is not
//!   timed and then as many as take [`VISIT_NS`], in five parts of which the fastest counts: disturbances only add time, for
//!   every contender. The reported value is the median of the ratios of the same rounds.
//! - **BENCH-B4 As many threads.** A contender has the threads of the row, however it uses them. No contender is visited while
//!   threads of another still spin.
//! - **BENCH-B5 Native loops.** Chipdock's functions are called through their packed entry from a loop in Rust, TVM's from the
//!   loop in C++ of its own `time_evaluator`: neither pays for Python. numpy, torch and onnxruntime are called from Python, as
//!   their users call them, which matters at a microsecond per call.
//! - **BENCH-B6 Missed goals have reasons.** A row has a goal or none; a goal that is not reached needs a reason in the file of
//!   reasons before the table may be blessed ([`readme`]).
//!
//! Results are kept after each kernel ([`report::Store`]), so that an interrupted run can be resumed.

pub mod child;
pub mod figures;
pub mod judge;
pub mod kernels;
pub mod options;
pub mod readme;
pub mod report;
pub mod show;

/// Least time of one visit of a contender, in nanoseconds.
pub const VISIT_NS: f64 = 12e6;
