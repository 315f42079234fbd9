//! Kernels as object files of LLVM, linked by hand.

mod alone;
mod cases;

use chipdock_test_packed::{Kernels, Surroundings};

fn make(script: &str, surroundings: Surroundings) -> Kernels {
    Kernels::linked(script, "llvm", surroundings)
}
