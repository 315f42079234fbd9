//! Tests that need no host but an OpenCL device, and those of its absence.

mod absent;
mod cache;
mod kernels;
mod refused;
mod several;
mod speed;
mod streams;
mod support;
