//! The tests of the Python package, in one binary: a binary for each file would take minutes of
//! linking.

mod beside;
mod package;
mod wheel;
