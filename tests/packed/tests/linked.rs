//! Tests of kernels compiled to LLVM object files and linked by the system's linker.

mod alone;
mod cases;

use chipdock_test_packed::{Kernels, Surroundings};

fn make(script: &str, surroundings: Surroundings) -> Kernels {
    Kernels::linked(script, "llvm", surroundings)
}
