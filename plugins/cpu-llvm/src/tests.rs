//! Tests of the parts that need no host.

mod artifact;
mod cross;
mod dots;
mod errors;
mod goldens;
mod kinds;
mod math;
mod readme;
mod seen;
mod support;
mod wasm;
