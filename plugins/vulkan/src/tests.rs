//! Tests that need a Vulkan device but no host, and tests of its absence.

mod absent;
mod attributes;
mod robust;
mod streams;
mod support;
