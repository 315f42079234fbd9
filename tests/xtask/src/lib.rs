//! What `demo` and `bench` share: example kernels with sizes and work, the machine's limits, the run itself.

#[cfg(feature = "runner")]
pub mod runner;
