//! The Python package over the library: its tests under the oldest and the newest release of TVM-FFI, and its types.

use std::process::Command;

use chipdock_test_embedding::run;
use chipdock_test_interop::environment::environment;
use chipdock_test_support::command::{Scratch, built};
use chipdock_test_support::workspace;

fn python(
    environment: &chipdock_test_interop::environment::Environment,
    release: &str,
    folder: &Scratch,
) -> Command {
    let mut command = Command::new(&environment.python);
    let package = workspace().join("python");
    let path = format!("{}:{}", environment.folder.join(release).display(), package.display());
    command.current_dir(&package).env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1").env("TVM_FFI_CACHE_DIR", folder.path("cache"));
    command.env("CHIPDOCK_LIBRARY", built().library());
    command
}

#[test]
fn the_tests_of_the_package_pass() {
    let Some(environment) = environment("the Python package") else { return };
    let ends = [environment.releases.first(), environment.releases.last()];
    for release in ends.into_iter().flatten() {
        let folder = Scratch::new();
        let mut command = python(&environment, release, &folder);
        command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "tests"]);
        let output = run(&mut command);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains(" passed"), "{release}:\n{out}\n{err}");
    }
}

#[test]
fn the_types_of_the_package_are_strict() {
    let Some(environment) = environment("the types of the Python package") else { return };
    let newest = environment.releases.last().expect("a release");
    let folder = Scratch::new();
    let mut command = python(&environment, newest, &folder);
    command.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(folder.path("mypy")).arg("chipdock");
    let output = run(&mut command);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}\n{}", String::from_utf8_lossy(&output.stderr));
}
