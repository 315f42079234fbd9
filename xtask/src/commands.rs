//! Runs other programs: each command is shown, and a failure names it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A failed step, for a person.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(1).map(Path::to_path_buf).unwrap_or_default()
}

/// Returns cargo's target folder.
pub(crate) fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => root().join("target"),
    }
}

/// Returns the cargo that runs this.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a step and shows it first.
pub(crate) fn step(what: &str, command: &mut Command) -> Result<()> {
    eprintln!("==> {what}");
    let status = command
        .status()
        .map_err(|error| format!("{what}: cannot start {:?}: {error}", command.get_program()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what}: {:?} ended with {status}", command.get_program()))
    }
}

/// Returns the output of a program, when it exists and succeeded.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
