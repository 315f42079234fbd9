//! Implements `cargo xtask bench --peers --set speed`: unscheduled kernels beside the fastest
//! libraries of the processor, and beside the limits of the machine.
//!
//! # Rules
//!
//! BENCH-B1 to BENCH-B6 of [`crate::peers`] hold, and:
//!
//! - **SPEED-1 One contest a row.** Both targets, every peer and the machine's limit, each with
//!   each number of threads, are contenders of one contest: two threads over one, a target over
//!   another and shares of the limit are medians of the ratios of the same rounds too.
//! - **SPEED-2 The best way of each peer.** A peer writes into memory that it is given where it
//!   can, and where it has several ways to a result, the fastest on this machine is taken
//!   (`bench/speed_peers.py`). The best peer of a row is that with the smallest median.
//! - **SPEED-3 The limit is measured as the row is.** A row that moves memory is compared with
//!   loops that stream as many bytes from and to as many buffers, by ordinary or by non-temporal
//!   stores, whichever is faster; one that computes, with the rate of fused multiply-adds in
//!   registers.
//! - **SPEED-4 A goal is within the machine.** Where a multiple of the best peer's speed, or of
//!   that of one thread, is more than 0.95 of the limit, 0.95 of the limit is the goal: one thread
//!   may use all that the memory gives. A limit that a peer exceeds by a tenth does not count.
//! - **SPEED-5 A bounded share.** A contender that has taken [`measure::SHARE_MAX`] takes part in
//!   no further round; the ratios are those of the rounds that both have.
//! - **SPEED-6 One judge.** Results are checked against the interpreter on the first and last rows
//!   of a kernel whose rows are independent, otherwise whole against float64 numpy with a derived
//!   bound; the table of rows ([`rows`]) says which.

pub mod contender;
pub mod figures;
pub mod judge;
pub mod measure;
pub mod page;
pub mod peaks;
pub mod plot;
pub mod report;
pub mod results;
pub mod rows;
pub mod run;
pub mod session;
pub mod show;
pub mod streams;
pub mod topi;
