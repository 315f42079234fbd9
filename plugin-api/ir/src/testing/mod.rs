//! Random modules for tests of what reads any module: writers, printers and code generators. No
//! part of the interface; other crates of this workspace use it by the feature `testing`.
//!
//! | Generator | Its modules | For |
//! |---|---|---|
//! | [`well_formed`] | valid before any pass, of any node at any depth; they need not compute anything | `print`, `wire` |
//! | [`unvalidated`] | types, names and calls that no validator accepts; very deep, and much shared | code generators |
//! | crate `chipdock-programs` | valid and defined for their inputs: they run, and the interpreter judges the results | passes and backends |
//!
//! Programs have nearly every kind of node too, and are no replacement of the first: they have no
//! constants of any bits, no ops that read packed arguments or test for null, no scopes of no
//! memory, no targets, no strings that need an escape, and four attribute values; and what they
//! compute is defined, which bounds how nodes nest. Unit tests of this crate cannot depend on them.

pub mod unvalidated;
pub mod well_formed;
