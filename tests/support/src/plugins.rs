//! Builds the plugins of this repository that the tests open.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::workspace;

/// Returns the paths of cdylibs of this workspace: those of the folder `CHIPDOCK_TEST_LIBRARIES`,
/// or built with cargo, because `cargo test` does not build them.
///
/// # Panics
///
/// If the folder lacks one, or cargo fails; its messages are in the test's output.
#[must_use]
pub fn build(packages: &[&str]) -> Vec<PathBuf> {
    let libraries_in = |folder: &Path| {
        let library = |package: &&str| folder.join(format!("lib{}.so", package.replace('-', "_")));
        packages.iter().map(library).collect::<Vec<PathBuf>>()
    };
    if let Some(folder) = std::env::var_os("CHIPDOCK_TEST_LIBRARIES") {
        let libraries = libraries_in(Path::new(&folder));
        if let Some(missing) = libraries.iter().find(|library| !library.is_file()) {
            panic!(
                "{} is not there: `cargo xtask test` builds it, and without CHIPDOCK_TEST_LIBRARIES this test does",
                missing.display()
            );
        }
        return libraries;
    }
    let binary = std::env::current_exe().expect("this test's path");
    // target/<profile>/deps/<test>
    let profile_folder = binary.ancestors().nth(2).expect("the profile's folder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(workspace())
        .args(["build", "--quiet", "--target-dir"])
        .arg(profile_folder.join(".."));
    if profile_folder.ends_with("release") {
        command.arg("--release");
    }
    for package in packages {
        command.args(["--package", package]);
    }
    let status = command.status().expect("cargo runs");
    assert!(status.success(), "cargo build of {packages:?} failed");
    libraries_in(profile_folder)
}

/// Returns the folders of the plugins of this repository, in order of their names.
///
/// # Errors
///
/// If the folder `plugins` cannot be read.
pub fn folders() -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(workspace().join("plugins"))? {
        folders.push(entry?.path());
    }
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    folders.sort();
    Ok(folders)
}

/// Compiles a C file into a plugin with the given command line (`gcc -std=c99`,
/// `g++ -x c++ -std=c++11`, …) and only the header.
///
/// # Panics
///
/// If the compiler is missing or reports an error.
pub fn compile(command_line: &[&str], source: &Path, library: &Path) {
    let output = Command::new(command_line[0])
        .args(&command_line[1..])
        .args([
            "-O2",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-I",
        ])
        .arg(workspace().join("plugin-api/abi/include"))
        .arg(source)
        .arg("-o")
        .arg(library)
        .output()
        .unwrap_or_else(|error| panic!("{} is needed for this test: {error}", command_line[0]));
    assert!(output.status.success(), "{command_line:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
