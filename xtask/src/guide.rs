//! Builds the guide as pages, with MkDocs in its own Python environment in cargo's target folder.
//! Tests in `guide/tests` check the output of its commands and the targets of its links.

use std::path::PathBuf;
use std::process::Command;

use crate::commands::{Result, root, step, target_folder};
use crate::{python, setup};

/// Imports that succeed only if MkDocs is installed.
const TRIAL: &str = "import mkdocs, pygments";

/// Builds the pages, and returns the path of the first one.
pub(crate) fn build() -> Result<PathBuf> {
    let python = python::made("python-guide", &[root().join("guide/requirements.txt")], TRIAL)?;
    let pages = target_folder().join("guide");
    let mut command = Command::new(&python);
    command.args(["-m", "mkdocs", "--quiet", "build", "--strict", "--clean", "--config-file"]);
    command.arg(root().join("guide/mkdocs.yml")).arg("--site-dir").arg(&pages);
    step("build the guide", &mut command)?;
    Ok(pages.join("index.html"))
}

/// Builds the guide as one of the checks: on systems other than Debian a failure is only reported.
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
