//! The tests of exported libraries in stock TVM-FFI, in one binary: a binary for each file would
//! take minutes of linking.

mod beside;
mod callbacks;
mod damaged;
mod exchange;
mod loaded_back;
mod modules;
mod own;
mod releases;
mod scenarios;
mod tensors;
mod tvm_env;
