//! The tests of the generated programs, in one binary: a binary for each file would take minutes of
//! linking.

mod border;
mod coverage;
mod malformed;
mod passes;
mod promises;
mod reduce;
mod schedule;
mod texts;
mod threads;
