//! Tests that need no LLVM.

mod golden;
mod modules;
mod robust;
mod support;
