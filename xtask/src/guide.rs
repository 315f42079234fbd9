//! Builds the guide as pages: MkDocs in a Python environment of its own, in cargo's target folder. The output of its commands,
//! and its links, are checked by the tests of `guide/tests`.

use std::path::PathBuf;
use std::process::Command;

use crate::commands::{Result, root, step, target_folder};
use crate::{python, setup};

/// Import that shows that MkDocs is installed.
const TRIAL: &str = "import mkdocs, pygments";

/// Builds the pages, and returns the path of the first.
pub(crate) fn build() -> Result<PathBuf> {
    let python = python::made("python-guide", &[root().join("guide/requirements.txt")], TRIAL)?;
    let pages = target_folder().join("guide");
    let mut command = Command::new(&python);
    command.args(["-m", "mkdocs", "--quiet", "build", "--strict", "--clean", "--config-file"]);
    command.arg(root().join("guide/mkdocs.yml")).arg("--site-dir").arg(&pages);
    step("build the guide", &mut command)?;
    Ok(pages.join("index.html"))
}

/// Builds the guide among the checks: where nothing can be installed, the missing package is reported and is no failure.
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
