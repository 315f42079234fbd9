//! Tests that need a Vulkan device but no host, and tests of its absence.

mod absent;
mod artifacts;
mod attributes;
mod bench;
mod by_hand;
mod fake;
mod launches;
mod recorded;
mod robust;
mod streams;
mod support;
