//! Common helpers of all tests. It contains no rule of the product and nothing of the host: `chipdock-test-backends` runs
//! kernels on the backends present.
//!
//! - [`files`]: the folders of the repository, the corpus, goldens ([`bless`]).
//! - [`lists`]: one test per file of a corpus; [`counts`]: the number of checks of each, as a golden.
//! - [`setup`]: missing requirements of a test: a failure where everything was installed, a reported skip elsewhere.
//! - [`command`]: the built command in a scratch folder; what `cargo xtask plugins` builds, built once.
//! - [`plugins`]: cdylibs and C files as plugins; [`recording_host`] calls plugins through the bare tables, so that it observes
//!   the boundary itself.
//! - [`spans`]: the spans and events of a piece of work.
//! - `schemas` (a feature): documents against the JSON Schemas of this repository.
//! - [`leaks`], [`memcheck`], [`memory`]: allocations of a thread, counted; a test binary under valgrind; memory of a process.
//! - [`random`]: numbers that are the same in every run.

pub mod command;
pub mod counts;
pub mod files;
pub mod leaks;
pub mod lists;
pub mod memcheck;
pub mod memory;
pub mod plugins;
pub mod random;
pub mod recording_host;
#[cfg(feature = "schemas")]
pub mod schemas;
pub mod setup;
pub mod spans;

pub use files::{CorpusFile, bless, corpus, filetests, is_blessing, printed_by_tvm, scripts, workspace};
pub use random::Random;
pub use setup::skipped;
