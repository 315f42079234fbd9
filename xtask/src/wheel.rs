//! Builds the wheel of the Python package: the library, the command and the plugins in it.

use std::path::PathBuf;
use std::process::Command;

use crate::commands::{Result, root, step, target_folder};
use crate::{plugins, releases};

/// Builds the wheel and returns its path; with `--debug` of what the tests run, which is quick to build and slow.
pub(crate) fn build(arguments: &[String]) -> Result<PathBuf> {
    let built = plugins::build(!arguments.iter().any(|argument| argument == "--debug"))?;
    let folder = built.folder.parent().map(PathBuf::from).unwrap_or_default();
    let [(_, python), _] = releases::environment()?;
    let (staged, wheels) = (target_folder().join("wheel/package"), target_folder().join("wheel/built"));
    let mut stage = Command::new(&python);
    stage.arg(root().join("python/tools/stage.py")).arg(folder).arg(&staged);
    if let Some(cargo) = std::env::var_os("CARGO") {
        stage.arg(cargo);
    }
    step("put the package together", &mut stage)?;
    let _ = std::fs::remove_dir_all(&wheels);
    let mut wheel = Command::new(&python);
    wheel.args(["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir"]);
    step("build the wheel", wheel.arg(&wheels).arg(&staged))?;
    let files = std::fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let found = files.flatten().map(|entry| entry.path());
    found
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "whl"))
        .max()
        .ok_or_else(|| format!("{}: pip left no wheel", wheels.display()))
}
