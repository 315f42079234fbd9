//! Measurements as ratios: against a bare call, the driver's own calls, a peer, or the machine's measured limit; and the demo.
//!
//! `chipdock-test-backends` finds backends and runs kernels on them; the programs are in `src/bin`.

pub mod cached;
pub mod contest;
pub mod device;
pub mod fork;
pub mod limits;
pub mod options;
pub mod peers;

/// A failed step, for a person.
pub type Result<T> = std::result::Result<T, String>;
