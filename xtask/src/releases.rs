//! Installs every release of apache-tvm-ffi that `tests/interop/releases.txt` lists, each into a folder of its own in cargo's
//! target folder. One Python serves them all: the tests choose a release by `PYTHONPATH`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::commands::{Result, root, step, target_folder};
use crate::python;

/// Variable that holds the folder of the releases for the tests. If the user has set it, its value is used unchecked.
pub(crate) const RELEASES: &str = "CHIPDOCK_TVM_FFI_RELEASES";

/// Variable that holds the Python that runs them. If the user has set it, its value is used unchecked.
pub(crate) const PYTHON: &str = "CHIPDOCK_TVM_FFI_PYTHON";

/// Number of releases that are fetched at once: most of the time is waiting.
const AT_ONCE: usize = 4;

/// Returns the variables with their values; installs what is not there yet.
pub(crate) fn environment() -> Result<[(&'static str, PathBuf); 2]> {
    let interop = root().join("tests/interop");
    let python = match std::env::var_os(PYTHON) {
        Some(python) => python.into(),
        None => {
            let needs = [interop.join("requirements.txt")];
            python::made("python-interop", &needs, "import numpy, typing_extensions, pytest, mypy.main")?
        }
    };
    let folder = match std::env::var_os(RELEASES) {
        Some(folder) => folder.into(),
        None => {
            let list = interop.join("releases.txt");
            let text = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
            let folder = target_folder().join("tvm-ffi-releases");
            install_all(&python, &folder, python::packages(&text))?;
            folder
        }
    };
    Ok([(PYTHON, python), (RELEASES, folder)])
}

/// Installs those releases that have no folder yet.
fn install_all(python: &Path, folder: &Path, mut releases: Vec<String>) -> Result<()> {
    releases.retain(|release| !folder.join(release).exists());
    let (missing, failures) = (Mutex::new(releases), Mutex::new(Vec::new()));
    let next = || missing.lock().ok().and_then(|mut missing| missing.pop());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(release) = next() {
                    if let (Err(why), Ok(mut failures)) = (install(python, folder, &release), failures.lock())
                    {
                        failures.push(why);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

/// Installs one release; its folder is there only if it is whole.
fn install(python: &Path, folder: &Path, release: &str) -> Result<()> {
    let (place, partial) = (folder.join(release), folder.join(format!("{release}.partial")));
    let _ = fs::remove_dir_all(&partial);
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    install.args(["--no-compile", "--only-binary", ":all:", "--target"]).arg(&partial);
    let package = format!("apache-tvm-ffi=={release}");
    step(&format!("pip install {package}"), install.arg(&package))?;
    fs::rename(&partial, &place).map_err(|error| format!("{}: {error}", place.display()))
}
