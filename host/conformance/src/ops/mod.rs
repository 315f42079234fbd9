//! Every operation on every type: the cases, their tables of operands, and the check of a result against the interpreter's.
//!
//! The group `op` runs them on a plugin; the project's own tests check the interpreter itself against other peers with the
//! same tables.

pub mod cases;
pub mod judge;
pub mod table;
mod values;

pub use cases::{Case, cases, not_computed};
