//! Tests without a host and a device: texts against goldens, with NVIDIA's compiler and assembler
//! on them, and the target kind.

mod compilers;
mod driver;
mod golden;
mod kernels;
mod refused;
mod support;
mod target;
