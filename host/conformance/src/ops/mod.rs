//! Every operation on every type: the cases, their tables of operands, and how a result is held to the interpreter's.
//!
//! The group `op` runs them on a plugin; the project's own tests hold the interpreter itself against other peers by the
//! same tables.

pub mod cases;
pub mod judge;
pub mod table;
mod values;

pub use cases::{Case, cases, not_computed};
