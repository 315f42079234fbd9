//! The tests of MSL, in one binary: a binary for each file would take minutes of linking.

mod corpus;
mod functions;
mod specials;
