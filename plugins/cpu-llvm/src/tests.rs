//! Tests of the parts that need no host.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
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
mod tiles;
mod wasm;
