//! The guide as pages: MkDocs in a Python environment of its own, in cargo's target folder. What its commands print, and where
//! its links lead, are tests of `guide/tests`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::commands::{Result, output, root, step, target_folder};
use crate::{python, setup};

/// What shows that MkDocs is there.
const TRIAL: &str = "import mkdocs, pygments";

/// Builds the pages, and answers the first.
pub(crate) fn build() -> Result<PathBuf> {
    let requirements = root().join("guide/requirements.txt");
    let wanted =
        fs::read_to_string(&requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
    let folder = target_folder().join("python-guide");
    let (python, installed) = (folder.join("bin/python"), folder.join("installed.txt"));
    let is_good = fs::read_to_string(&installed).is_ok_and(|text| text == wanted)
        && output(&python.to_string_lossy(), &["-c", TRIAL]).is_some();
    if !is_good {
        python::make(&folder, &python, &[requirements], &wanted, TRIAL)?;
        fs::write(&installed, &wanted).map_err(|error| format!("{}: {error}", installed.display()))?;
    }
    let pages = target_folder().join("guide");
    let mut command = Command::new(&python);
    command.args(["-m", "mkdocs", "--quiet", "build", "--strict", "--clean", "--config-file"]);
    command.arg(root().join("guide/mkdocs.yml")).arg("--site-dir").arg(&pages);
    step("build the guide", &mut command)?;
    Ok(pages.join("index.html"))
}

/// Builds it among the checks: where nothing can be installed, what is missing is named and is no failure.
pub(crate) fn check() -> Result<()> {
    match build() {
        Ok(_) => Ok(()),
        Err(why) if setup::is_debian() => Err(why),
        Err(why) => {
            eprintln!("the guide is not built: {why}");
            Ok(())
        }
    }
}
