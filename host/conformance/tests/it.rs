//! The tests of the suite, in one binary: a binary for each file would take minutes of linking.

mod browser;
mod cards;
mod coverage;
mod documents;
mod isolation;
mod mutants;
mod packages;
mod reports;
#[path = "reports/sample.rs"]
mod sample;
mod services;
