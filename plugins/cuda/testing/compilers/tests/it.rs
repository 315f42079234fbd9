//! The tests of CUDA C, in one binary: a binary for each file would take minutes of linking.

mod compile;
mod nvcc;
mod run;
