//! Tests without a host. The texts are compiled and run by `testing/msl-on-cpu`.

mod robust;
