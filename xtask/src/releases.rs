//! Installs every release of apache-tvm-ffi that `tests/interop/releases.txt` lists, each into a
//! folder of its own in cargo's target folder. One Python serves them all: the tests choose a
//! release by `PYTHONPATH`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::commands::{Result, at_once, root, target_folder};
use crate::python;

/// Variable that holds the folder of the releases for the tests. If the user has set it, its value
/// is used unchecked.
pub(crate) const RELEASES: &str = "CHIPDOCK_TVM_FFI_RELEASES";

/// Variable that holds the Python that runs them. If the user has set it, its value is used
/// unchecked.
pub(crate) const PYTHON: &str = "CHIPDOCK_TVM_FFI_PYTHON";

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
            let mut missing = python::packages(&text);
            missing.retain(|release| !folder.join(release).exists());
            at_once(missing, |release| install(&python, &folder, &release))?;
            folder
        }
    };
    Ok([(PYTHON, python), (RELEASES, folder)])
}

/// Installs one release.
fn install(python: &Path, folder: &Path, release: &str) -> Result<()> {
    let package = format!("apache-tvm-ffi=={release}");
    python::install_into(&folder.join(release), python, &format!("pip install {package}"), &[&package], None)
}
