//! Checks memory use with an independent tool: a test binary runs itself under valgrind.

use std::process::Command;

/// Runs the tests of a module of this binary (`module_path!()`), except `memcheck` and `skipped`,
/// under valgrind; if valgrind is missing, reports that.
///
/// Nothing is built for this machine's processor, because valgrind fails on code that uses AVX-512.
///
/// # Panics
///
/// If valgrind finds an error or a leak; the message is its report.
pub fn run(module: &str, skipped: &[&str]) {
    const WITHIN: &str = "CHIPDOCK_UNDER_MEMCHECK";
    if std::env::var_os(WITHIN).is_some() {
        return;
    }
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    command.arg("--errors-for-leak-kinds=definite,indirect");
    command.arg(std::env::current_exe().expect("this test's path")).arg("--test-threads=1");
    // Names of tests do not begin with the binary's.
    if let Some((_, within)) = module.split_once("::") {
        command.arg(format!("{within}::"));
    }
    for name in skipped.iter().chain(&["memcheck"]) {
        command.args(["--skip", name]);
    }
    match command.env(WITHIN, "1").env("PROPTEST_CASES", "8").output() {
        Err(error) => {
            crate::setup::missing(&format!("memory: valgrind is not there ({error}); install it"));
        }
        Ok(output) => {
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{out}\n{err}");
            assert!(!out.contains("running 0 tests"), "no test ran:\n{out}");
        }
    }
}
