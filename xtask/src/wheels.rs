//! Fetches vendors' tools that are available only on PyPI: each plugin with a `requirements.txt` in
//! its folder gets its own folder in cargo's target folder, which its tests find by a variable.
//! They are not part of the repository: their licences forbid it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::commands::{Result, root, step, target_folder};
use crate::{plugins, python, releases};

/// The PyPI packages that the tests of one plugin need.
pub(crate) struct Wheels {
    /// The plugin's folder name.
    pub(crate) plugin: String,
    /// Variable that holds their folder for the tests: `CHIPDOCK_<PLUGIN>_WHEELS`. If the user has
    /// set it, its value is used unchecked.
    pub(crate) variable: String,
    requirements: PathBuf,
}

/// Returns the wheels of each plugin that needs some.
pub(crate) fn all() -> Result<Vec<Wheels>> {
    let wheels = plugins::all()?.into_iter().map(|(plugin, _)| {
        let requirements = root().join("plugins").join(&plugin).join("requirements.txt");
        let variable = format!("CHIPDOCK_{}_WHEELS", plugin.to_uppercase().replace('-', "_"));
        Wheels { plugin, variable, requirements }
    });
    Ok(wheels.filter(|wheels| wheels.requirements.is_file()).collect())
}

/// Returns the folder of the unpacked wheels, filled if it does not exist or if the file of
/// requirements has changed.
pub(crate) fn install(wheels: &Wheels) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(&wheels.variable) {
        return Ok(folder.into());
    }
    let read = |file: &PathBuf| fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()));
    let wanted = read(&wheels.requirements)?;
    let folder = target_folder().join(format!("{}-wheels", wheels.plugin));
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    let _ = fs::remove_dir_all(&folder);
    let mut install = Command::new(python::environment()?);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    install.args(["--only-binary", ":all:", "--target"]).arg(&folder);
    install.arg("--requirement").arg(&wheels.requirements);
    step(&format!("pip install {}", python::packages(&wanted).join(" ")), &mut install)?;
    fs::write(&installed, &wanted).map_err(|error| format!("{}: {error}", installed.display()))?;
    Ok(folder)
}

/// Fetches all wheels and the releases of apache-tvm-ffi, and prints their folders as shell
/// assignments.
pub(crate) fn run() -> Result<()> {
    for wheels in all()? {
        println!("{}={}", wheels.variable, install(&wheels)?.display());
    }
    for (variable, path) in releases::environment()? {
        println!("{variable}={}", path.display());
    }
    Ok(())
}
