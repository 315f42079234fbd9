//! The tests of the boundary, in one binary: a binary for each file would take minutes of linking.

use chipdock_test_support::leaks;

mod allocators;
mod bad_plugins;
mod believed;
mod build_id;
mod capabilities;
mod conversions;
mod digests;
mod exchange;
mod header;
mod header_beside;
mod memory;
mod needs;
mod plugin_of_2030;
mod plugins;
mod process_state;
mod settings;
mod tensors;
mod third_party;
mod values;
mod views;

#[global_allocator]
static ALLOCATOR: leaks::Counting = leaks::Counting;
