//! Compares the interpreter and the backends with numpy, arithmetic of higher precision, and real
//! TVM.
//!
//! # Rules
//!
//! - **PEERS-P1 Complete.** Every [`Op`](chipdock_ir::Op), [`BinaryOp`](chipdock_ir::BinaryOp),
//!   [`CompareOp`](chipdock_ir::CompareOp) and cast has a [`Case`] for every type on which it is
//!   defined, or stands in [`not_computed`] with a reason.
//! - **PEERS-P2 Tables.** A unary operation on 8 or 16 bits sees every value, a binary one on 8
//!   bits every pair. All others see both zeros, infinities, a NaN, subnormals, extremes, halves
//!   between integers, values near each overflow, and random bits ([`table`]).
//! - **PEERS-P3 Tolerance.** No tolerance is chosen here. Where [`Case::ulps`], which is
//!   [`accuracy::ulps`], is at most 0.5, the interpreter must have exactly the peer's bits, the
//!   sign of zero included; elsewhere it must be within that number of units of the exact value,
//!   and its bound must cover every value that a conforming backend may compute ([`judge`]).
//! - **PEERS-P4 Rules.** Where numpy's definition differs from the rules IR-N2 to IR-N9 of
//!   `chipdock-ir`, or is missing, the rule is written out in `peer.py`; the summary says `rule`.
//! - **PEERS-P5 Environment.** `CHIPDOCK_TVM_PYTHON` names a Python with the packages of
//!   `requirements.txt`; `cargo xtask test` makes one. Without it, tests that need it report that
//!   they are skipped.
//!
//! [`accuracy::ulps`]: chipdock_ir::accuracy::ulps

pub mod judge;
pub mod programs;
pub mod python;

pub use chipdock_conformance::ops::{Case, cases, not_computed, table};
