//! The tests of the plugin on a driver of our own, in one binary: a binary for each file would take
//! minutes of linking.

mod common;
mod conformance;
mod graphs;
mod interfaces;
mod launches;
mod lost;
mod memory;
mod reset;
