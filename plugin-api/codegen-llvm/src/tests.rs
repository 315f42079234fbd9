//! Tests that need no LLVM.

mod expressions;
mod golden;
mod modules;
mod robust;
mod support;
mod tiles;
