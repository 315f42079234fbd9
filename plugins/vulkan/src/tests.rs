//! Tests that need no host.

mod artifacts;
mod bench;
mod by_hand;
mod launches;
