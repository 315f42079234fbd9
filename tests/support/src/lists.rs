//! Tests as lists: a test for each file of a corpus, so that the name of a test says which check
//! failed.
//!
//! - **TL1** A test is called `check::file`. A check without files is a failure of its own, not a
//!   check that passes.
//! - **TL2** Only tests with a fast set-up are listed by files, because the runner starts a process
//!   for each test. A test that opens a host, builds plugins or starts Python stays one test, which
//!   names every file that failed.
//!
//! The binary has `harness = false`; its `main` ends with [`List::run`].

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::CorpusFile;

/// List of the tests of a binary.
#[derive(Debug, Default)]
pub struct List {
    tests: Vec<Trial>,
}

impl List {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one test.
    #[must_use]
    pub fn one(mut self, name: &str, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Self {
        self.tests.push(Trial::test(name, move || test().map_err(Into::into)));
        self
    }

    /// Adds a test for each file (TL1).
    ///
    /// # Panics
    ///
    /// If there is no file.
    #[must_use]
    pub fn each(
        self,
        check: &str,
        files: &[CorpusFile],
        test: fn(&CorpusFile) -> Result<(), String>,
    ) -> Self {
        assert!(!files.is_empty(), "{check}: no file");
        files
            .iter()
            .cloned()
            .fold(self, |list, file| list.one(&format!("{check}::{}", file.name), move || test(&file)))
    }

    /// Returns the names of the tests added so far.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.tests.iter().map(|test| test.name().to_owned()).collect()
    }

    /// Runs the tests that the arguments of the process select.
    #[must_use]
    pub fn run(self) -> ExitCode {
        libtest_mimic::run(&Arguments::from_args(), self.tests).exit_code()
    }
}
