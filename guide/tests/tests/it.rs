//! The tests of the guide, in one binary: a binary for each file would take minutes of linking.

mod commands;
mod links;
