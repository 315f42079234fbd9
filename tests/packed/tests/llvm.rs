//! Tests of kernels compiled to LLVM objects and loaded by the plugin's loader.

mod alone;
mod cases;

use chipdock_test_packed::{Kernels, Surroundings};

fn make(script: &str, surroundings: Surroundings) -> Kernels {
    Kernels::loaded(script, "llvm", surroundings)
}
