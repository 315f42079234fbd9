//! The tests of the package in each environment, and its types.

use std::process::Command;

use chipdock_test_interop::environment::{environment, listed};
use chipdock_test_python::{MATRIX, PACKAGE, matrix, place, pytest, variable};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::sample;
use chipdock_test_support::{skipped, workspace};

/// A run takes one environment in so many.
const SHARE: usize = 8;

/// Runs the tests of the package in the environments of one version of Python that this run has
/// drawn (PYTHON-J2).
fn passes_on(version: &str) {
    let what = format!("the Python package on Python {version}");
    let (Some(folder), Some(package)) = (variable(MATRIX, &what), variable(PACKAGE, &what)) else { return };
    let name = |(of, release): &(String, String)| format!("{of} {release}");
    let drawn = sample::draw("environments of the Python package", SHARE, matrix(), name);
    let environments: Vec<(String, String)> = drawn.into_iter().filter(|(of, _)| of == version).collect();
    for (of, release) in &environments {
        let place = place(&folder, of, release);
        let Ok(python) = std::fs::read_to_string(place.join("interpreter.txt")) else {
            skipped(&format!("{what} with {release}: no Python {version} on PATH or among pyenv's"));
            continue;
        };
        let scratch = Scratch::new();
        pytest(python.as_ref(), &package, Some(&place), &scratch.path("cache"), &["--ignore-glob=with_*"]);
    }
}

#[test]
fn it_passes_on_python_3_10() {
    passes_on("3.10");
}

#[test]
fn it_passes_on_python_3_11() {
    passes_on("3.11");
}

#[test]
fn it_passes_on_python_3_12() {
    passes_on("3.12");
}

#[test]
fn it_passes_on_python_3_13() {
    passes_on("3.13");
}

/// Each Python has the oldest and the newest release of apache-tvm-ffi that exported libraries are
/// tested with.
#[test]
fn the_matrix_has_both_ends_of_the_releases() {
    let releases = listed();
    let ends: Vec<String> = [releases.first(), releases.last()]
        .into_iter()
        .flatten()
        .map(|end| format!("apache-tvm-ffi=={end}"))
        .collect();
    for version in ["3.10", "3.11", "3.12", "3.13"] {
        let found: Vec<String> =
            matrix().into_iter().filter(|(of, _)| of == version).map(|(_, release)| release).collect();
        assert_eq!(found, ends, "Python {version} in tests/python/matrix.txt");
    }
}

#[test]
fn the_types_of_the_package_are_strict() {
    let Some(environment) = environment("the types of the Python package") else { return };
    let newest = environment.releases.last().expect("a release");
    let folder = Scratch::new();
    let mut command = Command::new(&environment.python);
    command.current_dir(workspace().join("python")).env("PYTHONPATH", environment.folder.join(newest));
    command.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(folder.path("mypy")).arg("chipdock");
    let output = command.output().expect("a Python");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}\n{}", String::from_utf8_lossy(&output.stderr));
}
