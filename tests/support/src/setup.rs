//! Handling of missing dependencies of tests.
//!
//! - **TS1** Where `cargo xtask test` has installed everything, stated by
//!   `CHIPDOCK_TEST_SETUP=done`, a missing dependency is a failure.
//! - **TS2** Elsewhere the test is skipped with the reason, which is printed and added to the file
//!   named by `CHIPDOCK_SKIP_LOG`; `cargo xtask test` shows that file at the end.

use std::fs;
use std::io::Write as _;

/// Returns true if everything that tests need was installed.
#[must_use]
pub fn is_done() -> bool {
    std::env::var_os("CHIPDOCK_TEST_SETUP").is_some_and(|value| value == "done")
}

/// Reports a skipped test and the missing dependency (TS2), for dependencies that no set-up can
/// install, such as a GPU.
pub fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(path) = std::env::var_os("CHIPDOCK_SKIP_LOG") {
        let log = fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = log.and_then(|mut log| writeln!(log, "  {what}"));
    }
}

/// Reports a missing dependency that the set-up installs (TS1, TS2).
///
/// # Panics
///
/// If everything was installed.
pub fn missing(what: &str) {
    assert!(!is_done(), "everything was installed, and still something is missing: {what}");
    skipped(what);
}
