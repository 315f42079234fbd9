//! Tests that need no host. What is written is compiled and run by `tests/shaders`.

mod robust;
