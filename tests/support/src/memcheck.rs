//! Memory errors and leaks, checked by valgrind: a test binary runs itself under it.

use std::process::Command;

/// Runs this binary's tests but `memcheck` and `skipped` under valgrind; reports that it is missing and does nothing otherwise.
///
/// Code for processors with AVX-512 is left out: valgrind fails on it, so nothing here is built for this processor.
///
/// # Panics
///
/// When valgrind finds an error or a leak, with its report.
pub fn run(skipped: &[&str]) {
    const WITHIN: &str = "CHIPDOCK_UNDER_MEMCHECK";
    if std::env::var_os(WITHIN).is_some() {
        return;
    }
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    command.arg("--errors-for-leak-kinds=definite,indirect");
    command.arg(std::env::current_exe().expect("this test's path")).arg("--test-threads=1");
    for name in skipped.iter().chain(&["memcheck"]) {
        command.args(["--skip", name]);
    }
    match command.env(WITHIN, "1").env("PROPTEST_CASES", "8").output() {
        Err(error) => {
            crate::setup::missing(&format!("memory: valgrind is not there ({error}); install it"));
        }
        Ok(output) => assert!(
            output.status.success(),
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}
