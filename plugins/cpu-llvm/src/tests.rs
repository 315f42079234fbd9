//! Tests of the parts that need no host.

mod errors;
mod goldens;
mod kinds;
