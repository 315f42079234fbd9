//! The Python package `chipdock`, as its users have it.
//!
//! * **PYTHON-J1** What is tested is the wheel, installed: nothing is imported from the source
//!   folder. The library and the plugins in it are those that the other tests run.
//! * **PYTHON-J2** The tests of the package run in environments of `matrix.txt` that the run has
//!   drawn, or, in a whole run, in all whose Python is on the machine; the others are reported.
//!   Tests of what works with other packages (TVM, torch, JAX, Ray) each have an environment of
//!   their own.
//! * **PYTHON-J3** What pytest skips is reported as any skipped test is.

use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_test_support::{sample, setup, skipped, workspace};

/// Variable that holds the folder of the environments of `matrix.txt`.
pub const MATRIX: &str = "CHIPDOCK_PYTHON_MATRIX";
/// Variable that holds the wheel.
pub const WHEEL: &str = "CHIPDOCK_TEST_WHEEL";
/// Variable that holds the folder into which it was installed.
pub const PACKAGE: &str = "CHIPDOCK_TEST_PACKAGE";

/// Returns the path that a variable holds; without one, reports what is skipped.
///
/// # Panics
///
/// If everything was installed, and it is not set.
#[must_use]
pub fn variable(name: &str, what: &str) -> Option<PathBuf> {
    let found = std::env::var_os(name).map(PathBuf::from);
    if found.is_none() {
        setup::missing(&format!("{what}: {name} is not set; `cargo xtask test` sets it"));
    }
    found
}

/// Returns the folder of an environment of `matrix.txt`, within that of all.
#[must_use]
pub fn place(folder: &Path, version: &str, release: &str) -> PathBuf {
    folder.join(format!("{version}-{}", release.replace("apache-tvm-ffi==", "tvm-ffi-")))
}

/// Returns the lines of `matrix.txt` as (version of Python, its first package: the release of
/// apache-tvm-ffi).
///
/// # Panics
///
/// If the file cannot be read.
#[must_use]
pub fn matrix() -> Vec<(String, String)> {
    let path = workspace().join("tests/python/matrix.txt");
    let text = std::fs::read_to_string(path).expect("the matrix");
    let own = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("all"));
    let words = own.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.filter(|words| words.len() > 1).map(|words| (words[0].clone(), words[1].clone())).collect()
}

/// Removes the variables that the other tests set from a command: it finds the library as a user's
/// does.
pub fn as_a_user(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHIPDOCK_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs pytest on files of `python/tests` with the installed package, and checks that they passed.
///
/// # Panics
///
/// If a test fails, or none ran.
pub fn pytest(python: &Path, package: &Path, beside: Option<&Path>, cache: &Path, words: &[&str]) {
    let mut command = Command::new(python);
    let path = [Some(package), beside].into_iter().flatten().map(|path| path.display().to_string());
    command.env("PYTHONPATH", path.collect::<Vec<_>>().join(":")).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1").env("TVM_FFI_CACHE_DIR", cache);
    as_a_user(&mut command).env("CHIPDOCK_CACHE_DIR", cache).current_dir(workspace().join("python/tests"));
    if sample::is_whole_run() {
        command.env("CHIPDOCK_TEST_ALL", "1");
    }
    if let Some(log) = std::env::var_os(sample::LOG) {
        command.env(sample::LOG, log);
    }
    command.args(["-s", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--tb=short"]).args(words);
    let output = command.output().expect("a Python");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && out.contains(" passed"),
        "{} {words:?}:\n{out}\n{err}",
        python.display()
    );
    for line in out.lines().filter(|line| line.starts_with("SKIPPED")) {
        skipped(&format!("{words:?}: {line}"));
    }
}
