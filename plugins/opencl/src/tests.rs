//! Tests that need an OpenCL device but no host, and tests of its absence.

mod absent;
mod attributes;
mod by_hand;
mod cache;
mod golden;
mod kernels;
mod refused;
mod robust;
mod several;
mod speed;
mod streams;
mod support;
