//! Every operation on every type: the cases, their tables of operands, and the comparison with the
//! interpreter.
//!
//! The group `op` runs the cases on a plugin; the project's own tests compare the interpreter with
//! other implementations on the same tables.

pub mod cases;
pub mod judge;
pub mod table;
mod values;

pub use cases::{Case, cases, not_computed};
