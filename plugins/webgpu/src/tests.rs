//! Tests that need no host. What is written is checked by naga in `testing/naga`.

mod robust;
mod target;
