//! The tests of the wire, in one binary: a binary for each file would take minutes of linking.

mod corpus;
mod reader_cpp;
mod robust;
mod schema;
