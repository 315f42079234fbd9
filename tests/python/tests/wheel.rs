//! The wheel of the Python package, of what the tests run: built, installed into an empty
//! environment, and used there.

use std::path::Path;
use std::process::Command;

use chipdock_test_interop::environment::environment;
use chipdock_test_python::{PACKAGE, WHEEL, as_a_user, variable};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::workspace;

/// What a user does first. The name of the kernel's file is its argument.
const USE: &str = r#"
import sys
import numpy as np
import chipdock

a = np.arange(4, dtype=np.float32)
module = chipdock.compile(sys.argv[1], "c")
assert chipdock.numpy(module.vector_add(a, a)).tolist() == (a * 2).tolist()
assert {"c", "cpu-llvm", "opencl"} <= {plugin["name"] for plugin in chipdock.plugins()}
assert all(plugin["state"] != "unused" for plugin in chipdock.plugins()), chipdock.plugins()
assert "cpu:0" in chipdock.devices()
print(chipdock.__version__)
"#;

/// Returns what a command wrote.
fn done(command: &mut Command) -> String {
    let output = as_a_user(command).output().expect("a program");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{out}\n{err}");
    out.into_owned()
}

fn pip(python: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", words[0], "--quiet", "--disable-pip-version-check"]).args(&words[1..]);
    command
}

#[test]
fn the_wheel_is_all_the_set_up() {
    let Some(environment) = environment("the wheel of the Python package") else { return };
    let Some(wheel) = variable(WHEEL, "the wheel of the Python package") else { return };
    let folder = Scratch::new();
    let name = wheel.file_name().expect("a name").to_string_lossy();
    assert!(name.contains("-py3-none-manylinux_2_"), "{name}");

    let own = folder.path("environment");
    done(Command::new(&environment.python).args(["-m", "venv"]).arg(&own));
    let python = own.join("bin/python");
    done(pip(&python, &["install"]).arg(&wheel));
    let kernel = workspace().join("examples/kernels/vector_add.py");
    let said = done(Command::new(&python).args(["-c", USE]).arg(&kernel).current_dir(folder.path(".")));
    assert_eq!(said.trim(), env!("CARGO_PKG_VERSION"));
    let said = done(Command::new(own.join("bin/chipdock")).arg("--version"));
    assert!(said.contains(env!("CARGO_PKG_VERSION")), "{said}");
    let said = done(Command::new(own.join("bin/chipdock")).args(["plugins", "--json"]));
    assert!(said.contains("chipdock_plugin_c.so") && said.contains("_native/plugins"), "{said}");

    let package = variable(PACKAGE, "the licences").expect("the installed package");
    let licences = std::fs::read_to_string(package.join("chipdock/_native/THIRD-PARTY-LICENSES.txt"));
    let licences = licences.expect("the licences");
    for package in ["libloading ", "serde_json ", "clap ", "ash "] {
        assert!(licences.contains(package), "no licence of {package}");
    }
    assert!(!licences.contains("chipdock-test-"), "what only tests use is not in the wheel");
}
