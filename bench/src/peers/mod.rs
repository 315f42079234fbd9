//! `cargo xtask bench --peers`: the same kernels through Chipdock and its peers, in one run.
//!
//! # Rules
//!
//! - **BENCH-B1 One source.** Everybody compiles the same file of `examples/kernels` at the same sizes for the same processor;
//!   real TVM is told the processor's features and to use vectors as wide as it has.
//! - **BENCH-B2 One input, one judge.** Everybody gets the same bytes at the same places in their pages, and everybody's result at the sizes that are timed is held
//!   to the bounds of the reference interpreter ([`judge`]); who is wrong is not timed.
//! - **BENCH-B3 In turn.** A round visits each contender once, the next round begins one later; a visit is one call that is not
//!   timed and then as many as take [`VISIT_NS`], in five parts of which the fastest counts: what disturbs only adds, and
//!   for everybody. Reported is the median of the ratios of the same rounds.
//! - **BENCH-B4 As many threads.** A contender has the threads of the row, whatever it does with them. Nobody is visited while
//!   threads of another still spin.
//! - **BENCH-B5 Native loops.** Chipdock's functions are called through their packed entry from a loop in Rust, TVM's from the loop
//!   in C++ of its own `time_evaluator`: neither pays for Python. numpy, torch and onnxruntime are called from Python,
//!   as their users call them; at a microsecond a call that shows.
//! - **BENCH-B6 Not reached is said.** A row has a goal or none; one that is not reached needs a reason in the file of reasons
//!   before the table may be blessed ([`readme`]).
//!
//! What is measured is kept after each kernel ([`report::Store`]), so that a run that was cut off goes on where it was.

pub mod child;
pub mod figures;
pub mod judge;
pub mod kernels;
pub mod options;
pub mod readme;
pub mod report;
pub mod show;

/// How long one visit of a contender takes, at least, in nanoseconds.
pub const VISIT_NS: f64 = 12e6;
