//! Tests without a host. The texts are checked by naga in `testing/naga`.

mod robust;
mod target;
