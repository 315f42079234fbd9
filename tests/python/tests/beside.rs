//! The package with others: TVM, JAX, Ray and torch, each in an environment of its own (PYTHON-J2).

use std::path::Path;
use std::process::Command;

use chipdock_test_python::{MATRIX, PACKAGE, matrix, place, pytest, variable};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::skipped;

/// Variable that holds a Python with TVM.
const TVM: &str = "CHIPDOCK_TVM_PYTHON";
/// Variable that holds a Python with JAX and jax-tvm-ffi.
const JAX: &str = "CHIPDOCK_JAX_PYTHON";
/// Variable that holds a Python with Ray.
const RAY: &str = "CHIPDOCK_RAY_PYTHON";
/// Variable that holds a Python with torch.
const TORCH: &str = "CHIPDOCK_TORCH_PYTHON";

fn works_with(name: &str, of: &str, words: &[&str]) {
    let what = format!("the Python package with {name}");
    let (Some(package), Some(python)) = (variable(PACKAGE, &what), variable(of, &what)) else { return };
    pytest(&python, &package, None, &Scratch::new().path("cache"), words);
}

/// Files of the tests with TVM that are tests of their own here, so that they run side by side.
const LONG: [&str; 2] = ["with_tvm/test_programs.py", "with_tvm/test_lowered.py"];

#[test]
fn it_works_with_tvm() {
    let ignored = LONG.map(|file| format!("--ignore={file}"));
    let words: Vec<&str> = ["with_tvm"].into_iter().chain(ignored.iter().map(String::as_str)).collect();
    works_with("tvm", TVM, &words);
}

#[test]
fn it_compiles_programs_of_tvm() {
    works_with("tvm", TVM, &[LONG[0]]);
}

#[test]
fn it_compiles_what_tvm_lowered() {
    works_with("tvm", TVM, &[LONG[1]]);
}

#[test]
fn it_works_with_jax() {
    works_with("jax", JAX, &["with_jax"]);
}

#[test]
fn it_works_with_ray() {
    works_with("ray", RAY, &["with_ray"]);
}

/// torch is too large to be installed for each run of the tests: `--all` does it, once.
#[test]
fn it_works_with_torch() {
    let what = "the Python package with torch";
    let Some(python) = std::env::var_os(TORCH) else {
        skipped(&format!(
            "{what}: {TORCH} is not set (torch is 4 GB with all that it needs: `cargo xtask test --all` fetches it once)"
        ));
        return;
    };
    let (Some(folder), Some(package)) = (variable(MATRIX, what), variable(PACKAGE, what)) else { return };
    let version = Command::new(&python)
        .args(["-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        .output()
        .expect("a Python with torch");
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let newest = matrix().into_iter().rfind(|(of, _)| *of == version);
    let (_, release) =
        newest.unwrap_or_else(|| panic!("{TORCH} is Python {version}, which matrix.txt lacks"));
    let beside = place(&folder, &version, &release);
    pytest(Path::new(&python), &package, Some(&beside), &Scratch::new().path("cache"), &["with_torch"]);
}
