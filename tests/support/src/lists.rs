//! Tests as lists: one test per file of a corpus, so that a test's name identifies the file that failed.
//!
//! - **TL1** A test is called `check::file`. A check without files is a failure of its own, not a check that passes.
//! - **TL2** Only checks with little set-up are listed by files: the runner starts a process for each test, so a check that
//!   opens a host, builds plugins or starts Python stays one test, which names every file that failed.
//!
//! The binary's target is `harness = false`; its `main` ends with [`List::run`].

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::CorpusFile;

/// The tests of a binary.
#[derive(Debug, Default)]
pub struct List {
    tests: Vec<Trial>,
}

impl List {
    /// Makes a list without a test.
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
    /// Without a file.
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

    /// Returns the names so far.
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
