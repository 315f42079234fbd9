//! Tests of kernels compiled to C and by the system's compiler.

mod alone;
mod cases;

use chipdock_test_packed::{Kernels, Surroundings};

fn make(script: &str, surroundings: Surroundings) -> Kernels {
    Kernels::compiled(script, surroundings)
}
