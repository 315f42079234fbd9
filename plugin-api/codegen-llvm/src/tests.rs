mod expressions;
mod golden;
mod modules;
mod robust;
mod support;
//! Tests that need no LLVM.
