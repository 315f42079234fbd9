//! What the tests of the boundary share: a leak counter, valgrind, a host that records, and building of plugins.
//!
//! The recording host speaks to plugins through the bare tables, so that what it finds is what the boundary carries.

#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails by panicking")]

pub mod leaks;
pub mod memcheck;
pub mod plugins;
pub mod recording_host;
