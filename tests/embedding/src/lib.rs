//! `libchipdock.so` in programs: the rules FFI-1 to FFI-8 of `chipdock-ffi`, tested from Python, C
//! and C++.
//!
//! * **EMBED-J1** Every case runs in the real TVM-FFI, in each release of it, as a program of a
//!   user does: the library is loaded by its path, and nothing of Rust is linked.
//! * **EMBED-J2** A case that a release cannot run says so, and the test lists which do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chipdock_test_support::command::{Scratch, built};
use chipdock_test_support::workspace;

/// Returns the folders of headers that a program includes.
#[must_use]
pub fn headers() -> [PathBuf; 2] {
    ["host/ffi/include", "plugin-api/abi/include"].map(|folder| workspace().join(folder))
}

/// Runs a C or C++ compiler with the headers.
///
/// # Panics
///
/// If it fails.
pub fn compile(compiler: &str, words: &[&str], source: &Path, output: &Path) {
    let mut command = Command::new(compiler);
    command.args(words).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    for folder in headers() {
        command.arg("-I").arg(folder);
    }
    let done = command.arg(source).arg("-o").arg(output).output().expect(compiler);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{compiler} {words:?} {}:\n{said}", source.display());
}

/// Builds a program that links libchipdock.so.
///
/// # Panics
///
/// If the compiler fails.
#[must_use]
pub fn program(folder: &Scratch, compiler: &str, standard: &str, source: &Path) -> PathBuf {
    let library = built().library();
    let place = library.parent().expect("a folder").display().to_string();
    let output = folder.path(&format!("{}-{standard}", compiler.replace('+', "p")));
    let object = output.with_extension("o");
    compile(compiler, &[&format!("-std={standard}"), "-g", "-c"], source, &object);
    let done = Command::new(compiler)
        .arg(&object)
        .args([&format!("-L{place}"), "-lchipdock", &format!("-Wl,-rpath,{place}"), "-pthread", "-o"])
        .arg(&output)
        .output()
        .expect(compiler);
    assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr));
    output
}

/// Builds the plugin of the tests' own into a folder, which it returns: its function calls what it
/// is given.
///
/// # Panics
///
/// If the compiler fails.
#[must_use]
pub fn callbacks(folder: &Scratch) -> PathBuf {
    let output = folder.path("libcallbacks.so");
    let source = workspace().join("tests/embedding/callbacks.c");
    compile("cc", &["-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-O1"], &source, &output);
    output
}

/// Returns what a program wrote. It gets no variable of Chipdock's but those that the command sets.
///
/// # Panics
///
/// If it cannot be started.
pub fn run(command: &mut Command) -> Output {
    let own: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHIPDOCK_") && !own.contains(&name) {
            command.env_remove(name);
        }
    }
    command.output().expect("the program")
}
