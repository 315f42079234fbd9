//! Tests of the parts that need no host.

mod artifact;
mod cross;
mod errors;
mod goldens;
mod kinds;
mod support;
mod readme;
mod wasm;
