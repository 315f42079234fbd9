//! The tests of the corpus, in one binary: a binary for each file would take minutes of linking.

mod bad;
mod builder;
mod growth;
mod limits;
mod round_trip;
mod script;
mod tvm;
