//! Tests that need a Vulkan device but no host, and tests of its absence.

mod absent;
mod artifacts;
mod attributes;
mod by_hand;
mod copy_speed;
mod crowd;
mod drivers;
mod fake;
mod graphs;
mod kept;
mod launches;
mod modules;
mod ordered;
mod recorded;
mod robust;
mod speed;
mod streams;
mod support;
mod written;
