//! The tests of SPIR-V, in one binary: a binary for each file would take minutes of linking.

mod absent;
mod corpus;
mod meaning;
mod validation;
mod validator;
