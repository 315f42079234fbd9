//! Tests that need no host and no device: texts against goldens, NVIDIA's compiler and assembler on them, the target kind.

mod compilers;
mod golden;
mod kernels;
mod refused;
mod support;
mod target;
