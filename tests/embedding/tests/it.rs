//! The tests of `libchipdock.so`, in one binary: a binary for each file would take minutes of
//! linking.

mod accessors;
mod guide;
mod programs;
mod python;
