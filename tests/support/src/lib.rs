//! Helpers shared by all tests. This crate contains no rule of the product and nothing of the host;
//! the crate that runs kernels on the backends present is `chipdock-test-backends`.
//!
//! - [`files`]: the folders of the repository, the corpus, goldens ([`bless`]).
//! - [`lists`]: a test for each file of a corpus; [`counts`]: the number of checks of each of them,
//!   as a golden.
//! - [`setup`]: handling of missing dependencies: a test fails where everything was installed, and
//!   is skipped elsewhere.
//! - [`command`]: the built command in a scratch folder; the output of `cargo xtask plugins`, built
//!   once.
//! - [`plugins`]: cdylibs and C files as plugins; `chipdock-raw-host` calls them through the bare
//!   tables.
//! - [`spans`]: the spans and events that a piece of work emits.
//! - `schemas` (a feature): checks of documents against the JSON Schemas of this repository.
//! - [`sample`]: what a run takes of long tests, and its report.
//! - [`leaks`], [`memcheck`], [`memory`]: allocations of a thread, counted; a test binary under
//!   valgrind; the memory of a process.

pub mod command;
pub mod counts;
pub mod files;
pub mod leaks;
pub mod lists;
pub mod memcheck;
pub mod memory;
pub mod plugins;
pub mod sample;
#[cfg(feature = "schemas")]
pub mod schemas;
pub mod setup;
pub mod spans;

pub use files::{CorpusFile, bless, corpus, filetests, is_blessing, printed_by_tvm, scripts, workspace};
pub use setup::skipped;
