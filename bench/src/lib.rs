//! Measurements as ratios: against a bare call, the driver's own calls, a peer, or the machine's
//! measured limit.
//!
//! The crate `chipdock-test-backends` finds backends and runs kernels on them; the programs are in
//! `src/bin`.

pub mod cached;
pub mod contest;
pub mod device;
pub mod export;
pub mod fork;
pub mod limits;
pub mod machine;
pub mod options;
pub mod packed;
pub mod speed;

/// Result of a step; the error is a message for the user.
pub type Result<T> = std::result::Result<T, String>;
