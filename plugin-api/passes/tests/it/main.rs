//! The passes on whole modules.

mod kernels;
mod packed;
