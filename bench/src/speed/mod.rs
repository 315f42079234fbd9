//! Implements `cargo xtask bench --peers`: compares kernels through Chipdock with the fastest
//! libraries of the processor and the limits of the machine (set `speed`), the example kernels and
//! a few figures with TVM (`examples`), and kernels of TVM's library TOPI with TVM (`topi`).
//!
//! # Rules
//!
//! - **SPEED-1 One source.** All contenders compile the same file at the same sizes for the same
//!   processor; real TVM is given the processor's features, and told to use its widest vectors.
//! - **SPEED-2 One input.** All contenders get the same bytes at the same offsets within memory
//!   pages.
//! - **SPEED-3 One judge.** Results at the timed sizes are checked against the interpreter's
//!   bounds, on the first and last rows of a kernel whose rows are independent, or against float64
//!   numpy with a derived bound; the table of rows ([`rows`]) says which. A contender with a wrong
//!   result is not timed.
//! - **SPEED-4 One contest a row.** Every target, every peer and the machine's limit, each with
//!   each number of threads, are contenders of one contest. A round visits each once, the next
//!   round begins one contender later. A visit is one call that is not timed, and then as many
//!   calls as take [`VISIT_NS`], in five parts of which the fastest counts: disturbances only add
//!   time, and for all contenders. Two threads over one, a target over another and shares of the
//!   limit are medians of the ratios of the same rounds too.
//! - **SPEED-5 A bounded share.** A contender that has taken [`measure::SHARE_MAX`] takes part in
//!   no further round; the ratios are those of the rounds that both have.
//! - **SPEED-6 As many threads.** A contender has the number of threads of the row, whatever it
//!   does with them. No contender is visited while threads of another still spin.
//! - **SPEED-7 Native loops.** Chipdock's functions are called through their packed entry from a
//!   loop in Rust, TVM's from the C++ loop of its own `time_evaluator`: neither pays for Python.
//!   numpy, torch and onnxruntime are called from Python, as their users call them; for calls of a
//!   microsecond this cost is visible.
//! - **SPEED-8 The best way of each peer.** A peer writes into memory that it is given where it
//!   can, and where it has several ways to a result, the fastest on this machine is taken
//!   (`bench/speed_peers.py`). The best peer of a row is that with the smallest median.
//! - **SPEED-9 The limit is measured as the row is.** A row that moves memory is compared with
//!   loops that stream as many bytes from and to as many buffers, by ordinary or by non-temporal
//!   stores, whichever is faster; one that computes, with the rate of fused multiply-adds in
//!   registers.
//! - **SPEED-10 A goal is within the machine.** Where a multiple of the best peer's speed, or of
//!   that of one thread, is more than 0.95 of the limit, 0.95 of the limit is the goal: one thread
//!   may use all that the memory gives. A limit that a peer exceeds by a tenth does not count.
//! - **SPEED-11 Not reached is said.** A goal that is not reached needs a reason in the file of
//!   reasons before the results may be blessed ([`results::check`]).
//!
//! Results are saved after each row, so that an interrupted run can continue.

pub mod child;
pub mod contender;
pub mod figures;
pub mod judge;
pub mod measure;
pub mod page;
pub mod peaks;
pub mod plot;
pub mod readme;
pub mod report;
pub mod results;
pub mod rows;
pub mod run;
pub mod session;
pub mod show;
pub mod streams;
pub mod topi;

/// Minimum duration of one visit of a contender, in nanoseconds.
pub const VISIT_NS: f64 = 12e6;
