//! The promises of each reader for arbitrary bytes: one function for each target, called by the
//! fuzzer and by ordinary tests.
//!
//! The fuzzer is `cargo xtask fuzz`; `README.md` beside this crate describes how to run it and how
//! to keep an input. Inputs that it found are in `corpus/<target>` and are run by the tests of this
//! crate, with seeds that are taken from the repository as it is ([`seeds`]).
//!
//! Each function reports a failure by a panic. It checks:
//!
//! - **FUZZ-F1** No bytes make a reader panic, abort or overflow its stack.
//! - **FUZZ-F2** A refusal is the caller's or the environment's fault, never a bug of ours, and has
//!   a message.
//! - **FUZZ-F3** An accepted input is written, read back equal, and written again with equal bytes.
//!   A library is not written; it is read equal again, and what its reader promises of it (LIB-3 to
//!   LIB-5 of `host/src/library`) holds.
//! - **FUZZ-F4** Memory is at most a constant and a multiple of the input's size
//!   ([`Target::bound`]); time likewise, which the fuzzer checks by its timeout and the tests by
//!   [`Target::time_bound`].
//! - **FUZZ-F5** The whole way: a program that is valid is printed, read, validated and lowered;
//!   each code generator takes it or refuses it by name, never as a bug, and gives the same for the
//!   same.

mod artifact;
mod bounds;
mod edit;
mod library;
mod manifest;
mod npy;
mod pipeline;
mod script;
pub mod seeds;
mod target;
mod wire;

pub use artifact::artifact;
pub use bounds::Bound;
pub use library::library;
pub use manifest::manifest;
pub use npy::npy;
pub use pipeline::{Outcome, pipeline, pipeline_outcome};
pub use script::script;
pub use target::target;
pub use wire::wire;

use std::time::Duration;

/// A fuzz target: a function that takes any bytes, with its limits.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the function, of the fuzz target, and of the folder of its corpus.
    pub name: &'static str,
    /// The function.
    pub run: fn(&[u8]),
    /// Bound of its memory.
    pub bound: Bound,
    /// Length of the longest input that a fuzzer should make, in bytes.
    pub size_bytes_max: usize,
}

impl Target {
    /// Returns the limit of processor time for an input of a size, unoptimized and on a slow
    /// machine: a second, and another for each KiB.
    #[must_use]
    pub fn time_bound(&self, size_bytes: usize) -> Duration {
        Duration::from_millis(2000 + size_bytes as u64)
    }

    /// Runs the target within its bound of memory.
    ///
    /// # Panics
    ///
    /// If a promise is broken.
    pub fn check(&self, bytes: &[u8]) {
        self.bound.hold(bytes.len(), || (self.run)(bytes));
    }
}

/// All targets, in the order in which they are run.
pub const TARGETS: &[Target] = &[
    Target { name: "script", run: script, bound: Bound::new(64 << 20, 16 << 10), size_bytes_max: 4096 },
    Target { name: "wire", run: wire, bound: Bound::new(64 << 20, 16 << 10), size_bytes_max: 8192 },
    Target { name: "npy", run: npy, bound: Bound::new(1 << 20, 8), size_bytes_max: 4096 },
    Target { name: "manifest", run: manifest, bound: Bound::new(1 << 20, 256), size_bytes_max: 8192 },
    Target { name: "targets", run: target, bound: Bound::new(16 << 20, 1024), size_bytes_max: 4096 },
    Target { name: "artifact", run: artifact, bound: Bound::new(4 << 20, 256), size_bytes_max: 8192 },
    Target { name: "library", run: library, bound: Bound::new(4 << 20, 512), size_bytes_max: 8192 },
    Target { name: "pipeline", run: pipeline, bound: Bound::new(1 << 30, 0), size_bytes_max: 2048 },
];

/// Returns the target of that name.
#[must_use]
pub fn target_named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Runs a target, for `fuzz_target!`.
///
/// # Panics
///
/// If there is no target of that name, or a promise is broken.
pub fn fuzz(name: &str, bytes: &[u8]) {
    target_named(name).expect("a target").check(bytes);
}
