//! Runs other programs: each is printed before it runs, and an error names the program that failed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// Result of a step; the error is a message for the user.
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

/// Returns a command of the cargo that runs this program, in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// When the first step began.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Prints the name of a step, with the time that those before it took, and runs it.
pub(crate) fn step(what: &str, command: &mut Command) -> Result<()> {
    let seconds = BEGAN.get_or_init(Instant::now).elapsed().as_secs();
    eprintln!("==> {what} ({} min {:02} s)", seconds / 60, seconds % 60);
    let status = command
        .status()
        .map_err(|error| format!("{what}: cannot start {:?}: {error}", command.get_program()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what}: {:?} ended with {status}", command.get_program()))
    }
}

/// Runs `run` for each, some at once: for work that is mostly waiting. The error has what failed of
/// all.
pub(crate) fn at_once<T: Send>(all: Vec<T>, run: impl Fn(T) -> Result<()> + Sync) -> Result<()> {
    const AT_ONCE: usize = 4;
    let (waiting, failures) = (Mutex::new(all), Mutex::new(Vec::new()));
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(one) = next() {
                    if let (Err(why), Ok(mut failures)) = (run(one), failures.lock()) {
                        failures.push(why);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

/// Returns the standard output of a program, or `None` if it cannot be started or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
