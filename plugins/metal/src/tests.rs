//! Tests that need no host. What is written is compiled and run by `testing/msl-on-cpu`.

mod robust;
