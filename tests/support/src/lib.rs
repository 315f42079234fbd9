//! What tests share, whatever they test. No rule of the product is here, and nothing of the host: what runs kernels on the
//! backends present is `chipdock-test-backends`.
//!
//! - [`files`]: the folders of the repository, the corpus, goldens ([`bless`]).
//! - [`setup`]: what a test does where something is missing: it fails where everything was installed, and says so elsewhere.
//! - [`command`]: the built command in a scratch folder; what `cargo xtask plugins` builds, built once.
//! - [`plugins`]: cdylibs and C files as plugins; [`recording_host`] speaks to plugins through the bare tables, so that what it
//!   finds is what the boundary carries.
//! - [`leaks`], [`memcheck`]: allocations of a thread, counted; a test binary under valgrind.

pub mod command;
pub mod files;
pub mod leaks;
pub mod memcheck;
pub mod plugins;
pub mod recording_host;
pub mod setup;

pub use files::{CorpusFile, bless, corpus, filetests, is_blessing, printed_by_tvm, scripts, workspace};
pub use setup::skipped;
