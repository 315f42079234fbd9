//! Tests of the parts that need no host.

mod cross;
mod errors;
mod goldens;
mod kinds;
mod wasm;
