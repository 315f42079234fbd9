//! Kernels as C, compiled by hand.

mod alone;
mod cases;

use chipdock_test_packed::{Kernels, Surroundings};

fn make(script: &str, surroundings: Surroundings) -> Kernels {
    Kernels::compiled(script, surroundings)
}
