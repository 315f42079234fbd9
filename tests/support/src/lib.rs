//! What tests share, whatever they test. No rule of the product is here, and nothing of the host: what runs kernels on the
//! backends present is `chipdock-test-backends`.
//!
//! - [`files`]: the folders of the repository, the corpus, goldens ([`bless`]).
//! - [`lists`]: one test a file of a corpus; [`counts`]: how much each of them checked, as a golden.
//! - [`setup`]: what a test does where something is missing: it fails where everything was installed, and says so elsewhere.
//! - [`command`]: the built command in a scratch folder; what `cargo xtask plugins` builds, built once.
//! - [`plugins`]: cdylibs and C files as plugins; [`recording_host`] speaks to plugins through the bare tables, so that what it
//!   finds is what the boundary carries.
//! - [`spans`]: what a piece of work lets others see.
//! - `schemas` (a feature): documents against the JSON Schemas of this repository.
//! - [`leaks`], [`memcheck`], [`memory`]: allocations of a thread, counted; a test binary under valgrind; what a process holds.
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
