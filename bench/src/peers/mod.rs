//! Implements `cargo xtask bench --peers`: runs the same kernels through Chipdock and its peers, in
//! one run.
//!
//! # Rules
//!
//! - **BENCH-B1 One source.** All contenders compile the same file of `examples/kernels` at the
//!   same sizes for the same processor; real TVM is given the processor's features, and told to use
//!   its widest vectors.
//! - **BENCH-B2 One input, one judge.** All contenders get the same bytes at the same offsets
//!   within memory pages. The result of each at the timed sizes is checked against the bounds of
//!   the reference interpreter ([`judge`]); a contender with a wrong result is not timed.
//! - **BENCH-B3 In turn.** A round visits each contender once, the next round begins one contender
//!   later. A visit is one call that is not timed, and then as many calls as take [`VISIT_NS`], in
//!   five parts of which the fastest counts: disturbances only add time, and for all contenders.
//!   The reported value is the median of the ratios of the same rounds.
//! - **BENCH-B4 As many threads.** A contender has the number of threads of the row, whatever it
//!   does with them. No contender is visited while threads of another still spin.
//! - **BENCH-B5 Native loops.** Chipdock's functions are called through their packed entry from a
//!   loop in Rust, TVM's from the C++ loop of its own `time_evaluator`: neither pays for Python.
//!   numpy, torch and onnxruntime are called from Python, as their users call them; for calls of a
//!   microsecond this cost is visible.
//! - **BENCH-B6 Not reached is said.** A row has a goal or none; a goal that is not reached needs a
//!   reason in the file of reasons before the table may be blessed ([`readme`]).
//!
//! The report is saved after each kernel ([`report::Store`]), so that an interrupted run can
//! continue.

pub mod child;
pub mod figures;
pub mod judge;
pub mod kernels;
pub mod options;
pub mod readme;
pub mod report;
pub mod show;

/// Minimum duration of one visit of a contender, in nanoseconds.
pub const VISIT_NS: f64 = 12e6;
