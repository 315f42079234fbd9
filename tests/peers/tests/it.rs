//! The tests of results of peers, in one binary: a binary for each file would take minutes of
//! linking.

mod backends;
mod numpy;
mod tvm;
mod tvm_ops;
mod tvm_programs;
mod tvm_scheduled;
mod tvm_tags;
