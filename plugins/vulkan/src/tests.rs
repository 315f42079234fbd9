//! Tests that need no host.

mod artifacts;
mod by_hand;
