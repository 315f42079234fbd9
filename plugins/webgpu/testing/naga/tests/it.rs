//! The tests of WGSL, in one binary: a binary for each file would take minutes of linking.

mod browser;
mod corpus;
