//! Tests without a host: of the device, of artifacts and launches, and of a device's absence.

mod absent;
mod artifacts;
mod attributes;
mod bench;
mod by_hand;
mod launches;
mod robust;
mod streams;
mod support;
