//! Handling of missing requirements in a test.
//!
//! - **TS1** Where `cargo xtask test` has installed everything, which `CHIPDOCK_TEST_SETUP=done` states, a missing requirement
//!   is a failure.
//! - **TS2** Elsewhere it is a skip with its reason: printed, and added to the file that `CHIPDOCK_SKIP_LOG` names, which
//!   `cargo xtask test` shows at the end.

use std::fs;
use std::io::Write as _;

/// Returns true if everything that tests need was installed.
#[must_use]
pub fn is_done() -> bool {
    std::env::var_os("CHIPDOCK_TEST_SETUP").is_some_and(|value| value == "done")
}

/// Reports that something was not tested, and what was missing (TS2): for requirements that no set-up can install, such as a
/// GPU.
pub fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(path) = std::env::var_os("CHIPDOCK_SKIP_LOG") {
        let log = fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = log.and_then(|mut log| writeln!(log, "  {what}"));
    }
}

/// Reports that something is missing that the set-up installs (TS1, TS2).
///
/// # Panics
///
/// If everything was installed.
pub fn missing(what: &str) {
    assert!(!is_done(), "everything was installed, and still something is missing: {what}");
    skipped(what);
}
