//! Creates the Python environments of the tests, such as the one with numpy and real TVM: virtual
//! environments in cargo's target folder, each made once. If one cannot be made, the reason is
//! reported and its tests are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{Result, output, root, step, target_folder};

/// Variable that holds the path of the environment's Python for the tests. If the user has set it,
/// its value is used unchecked.
pub(crate) const VARIABLE: &str = "CHIPDOCK_TVM_PYTHON";

/// Variable that holds the path of a Python with torch for the tests. If the user has set it, its
/// value is used unchecked.
pub(crate) const TORCH: &str = "CHIPDOCK_TORCH_PYTHON";

/// Packages that are always installed: (file of requirements, imports that succeed only if they are
/// installed).
const ALWAYS: (&str, &str) = ("requirements.txt", "import numpy, ml_dtypes, mpmath, tvm, pytest");

/// Packages that are installed on request: (name, file of requirements, imports).
const EXTRAS: &[(&str, &str, &str)] =
    &[("onnxruntime", "requirements-onnxruntime.txt", "import onnx, onnxruntime")];

/// Environments of packages that the Python package works with: (variable, name, imports). Each has
/// the files of requirements `tests/python/requirements.txt` and `requirements-NAME.txt`.
const BESIDE: &[(&str, &str, &str)] = &[
    ("CHIPDOCK_RAY_PYTHON", "ray", "import pytest, numpy, tvm_ffi, ray, psutil"),
    ("CHIPDOCK_JAX_PYTHON", "jax", "import pytest, numpy, tvm_ffi, jax, jax_tvm_ffi"),
];

/// Returns those environments as (variable, name, Python), each made if it is not there.
pub(crate) fn beside() -> impl Iterator<Item = (&'static str, &'static str, Result<PathBuf>)> {
    let folder = root().join("tests/python");
    BESIDE.iter().map(move |(variable, name, trial)| {
        let files = ["requirements.txt".to_owned(), format!("requirements-{name}.txt")];
        let files = files.map(|file| folder.join(file));
        let set = std::env::var_os(variable).map(PathBuf::from);
        (*variable, *name, set.map_or_else(|| made(&format!("python-{name}"), &files, trial), Ok))
    })
}

/// Returns the environment's Python, created if there is none or if `tests/peers/requirements.txt`
/// has changed.
pub(crate) fn environment() -> Result<PathBuf> {
    with(&[])
}

/// Returns the Python of an environment that also has these extras. Each choice of extras has its
/// own folder, so the environment of the tests is unchanged.
pub(crate) fn with(extras: &[String]) -> Result<PathBuf> {
    if let Some(python) = std::env::var_os(VARIABLE) {
        return Ok(python.into());
    }
    let chosen: Vec<_> =
        EXTRAS.iter().filter(|(name, ..)| extras.iter().any(|extra| extra == name)).collect();
    let mut folder = "python-peers".to_owned();
    let (mut files, mut trial) = (vec![root().join("tests/peers").join(ALWAYS.0)], ALWAYS.1.to_owned());
    for (name, file, import) in chosen {
        folder = format!("{folder}-{name}");
        files.push(root().join("tests/peers").join(file));
        trial = format!("{trial}; {import}");
    }
    made(&folder, &files, &trial)
}

/// Returns the user's Python with torch, or one that was made here: by
/// `cargo xtask bench --peers --with torch`, or by [`fetch_torch`].
pub(crate) fn with_torch() -> Option<PathBuf> {
    let made = target_folder().join("python-torch/bin/python");
    std::env::var_os(TORCH).map(PathBuf::from).or_else(|| made.is_file().then_some(made))
}

/// Makes an environment with torch, unless there is one: 4 GB, which `cargo xtask test --all` and
/// `cargo xtask bench --peers --with torch` fetch, once.
pub(crate) fn fetch_torch() -> Result<()> {
    if with_torch().is_some() {
        return Ok(());
    }
    let files =
        ["requirements.txt", "requirements-torch.txt"].map(|file| root().join("tests/python").join(file));
    made("python-torch", &files, "import pytest, numpy, tvm_ffi, torch").map(drop)
}

/// Returns the Python of the environment `name` in cargo's target folder, created from these files
/// of requirements if it does not exist, if they have changed, or if it cannot run `trial`, the
/// imports that succeed only if all is installed.
pub(crate) fn made(name: &str, files: &[PathBuf], trial: &str) -> Result<PathBuf> {
    let read = |file: &PathBuf| fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()));
    let wanted = files.iter().map(read).collect::<Result<String>>()?;
    let folder = target_folder().join(name);
    let (python, installed) = (folder.join("bin/python"), folder.join("installed.txt"));
    let is_good = fs::read_to_string(&installed).is_ok_and(|text| text == wanted)
        && output(&python.to_string_lossy(), &["-c", trial]).is_some();
    if !is_good {
        make(&folder, &python, files, &wanted, trial)?;
        fs::write(&installed, &wanted).map_err(|error| format!("{}: {error}", installed.display()))?;
    }
    Ok(python)
}

/// Installs packages into a folder of their own by the pip of `python`, for that Python or for
/// another version of it; the folder is there only if it is whole.
pub(crate) fn install_into(
    place: &Path,
    python: &Path,
    what: &str,
    packages: &[&str],
    version: Option<&str>,
) -> Result<()> {
    let mut partial = place.as_os_str().to_owned();
    partial.push(".partial");
    let _ = fs::remove_dir_all(&partial);
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    install.args(["--no-compile", "--only-binary", ":all:"]);
    if let Some(version) = version {
        // pip compares what a package requires with the Python that it runs on itself.
        install.args(["--ignore-requires-python", "--python-version", version]);
    }
    step(what, install.arg("--target").arg(&partial).args(packages))?;
    fs::rename(&partial, place).map_err(|error| format!("{}: {error}", place.display()))
}

/// Returns the packages listed in the text of a file of requirements.
pub(crate) fn packages(requirements: &str) -> Vec<String> {
    let pinned = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    requirements.lines().map(pinned).filter(|line| !line.is_empty()).collect()
}

fn make(folder: &Path, python: &Path, requirements: &[PathBuf], wanted: &str, trial: &str) -> Result<()> {
    ensure_venv()?;
    let mut create = Command::new("python3");
    step("make a Python environment", create.args(["-m", "venv", "--clear"]).arg(folder))?;
    let packages = packages(wanted);
    let mut install = Command::new(python);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
    ]);
    install.arg("--no-deps");
    for file in requirements {
        install.arg("--requirement").arg(file);
    }
    step(&format!("pip install {}", packages.join(" ")), &mut install)?;
    match output(&python.to_string_lossy(), &["-c", trial]) {
        Some(_) => Ok(()),
        None => Err(format!("{} cannot import what was installed: {trial}", python.display())),
    }
}

/// Ensures that there is Python 3.11 with its modules `venv` and `ensurepip`, which Debian packages
/// separately.
fn ensure_venv() -> Result<()> {
    const NEEDS: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    let is_there = || output("python3", &["-c", NEEDS]).is_some();
    if !is_there() && output("apt-get", &["--version"]).is_some() {
        step("apt-get update", Command::new("apt-get").args(["update", "--quiet"]))?;
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends", "python3-venv"]);
        step("apt-get install python3-venv", install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    if is_there() {
        Ok(())
    } else {
        Err("needs Python 3.11 or later with its modules venv and ensurepip".to_owned())
    }
}
