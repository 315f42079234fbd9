//! Finding, checking and opening plugins: from folders of manifests to registered names.
//!
//! The table on the crate's front page says what each module does, with its rules.

pub(crate) mod digest_memory;
pub mod discovery;
pub mod generation;
pub(crate) mod handed_out;
pub(crate) mod image;
pub(crate) mod loader;
pub(crate) mod lock;
pub mod manifest;
pub(crate) mod origin;
pub(crate) mod problem;
pub(crate) mod program;
pub(crate) mod registry;
pub mod settings;
