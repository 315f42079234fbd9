//! The tests of all hosts and devices against the interpreter, in one binary: a binary for each
//! file would take minutes of linking.

mod aliasing;
mod codegen_c;
mod constants;
mod far;
mod forks;
mod growth;
mod hooks;
mod interrupt;
mod kernels;
mod launches;
mod least;
mod masks;
mod math;
mod memory;
mod misuse;
mod mixed;
mod options;
mod parallel;
mod parallel_threads;
mod random;
mod refused;
mod specials;
mod threads;
