//! Tests that need no host. What is written is held against naga by `tests/shaders`.

mod robust;
mod target;
