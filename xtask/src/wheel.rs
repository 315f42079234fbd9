//! Builds the wheel of the Python package: the library, the command and the plugins in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::commands::{Result, root, step, target_folder};
use crate::{plugins, python, releases};

/// Variable that holds the path of the wheel that is tested.
pub(crate) const WHEEL: &str = "CHIPDOCK_TEST_WHEEL";

/// Variable that holds the folder into which that wheel was installed.
pub(crate) const PACKAGE: &str = "CHIPDOCK_TEST_PACKAGE";

/// The glibc that a wheel asks for, unless it is built with `--native`: that of apache-tvm-ffi's
/// own wheels.
const GLIBC: &str = "2.28";

/// Builds the wheel and returns its path. With `--native` it asks for the machine's own glibc; with
/// `--debug` it is of what the tests run, which is quick to build and slow.
pub(crate) fn build(arguments: &[String]) -> Result<PathBuf> {
    let asks = |name: &str| arguments.iter().any(|argument| argument == name);
    let built = match asks("--debug") || asks("--native") {
        true => plugins::build(!asks("--debug"))?,
        false => with_zig()?,
    };
    let folder = built.folder.parent().map(PathBuf::from).unwrap_or_default();
    let [(_, python), _] = releases::environment()?;
    of(&folder, &python, &target_folder().join("wheel"))
}

/// Builds the wheel of the tests from what lies in a folder, and installs it into a folder of its
/// own; returns the variables with their values. Nothing is done where both are newer than what
/// they are made of.
pub(crate) fn for_tests(built: &Path, python: &Path) -> Result<[(&'static str, PathBuf); 2]> {
    let out = target_folder().join("test-wheel");
    let (package, made) = (out.join("installed"), out.join("made.txt"));
    let sources =
        [built.join("chipdock"), built.join("libchipdock.so"), built.join("plugins"), root().join("python")];
    let newest = sources.iter().filter_map(|path| newest(path)).max();
    let is_current = modified(&made).is_some_and(|made| newest.is_none_or(|newest| newest < made));
    let kept =
        fs::read_to_string(&made).ok().map(PathBuf::from).filter(|wheel| is_current && wheel.is_file());
    let wheel = match kept {
        Some(wheel) => wheel,
        None => {
            let wheel = of(built, python, &out)?;
            let _ = fs::remove_dir_all(&package);
            let mut install = Command::new(python);
            install.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--target",
            ]);
            step("install the wheel", install.arg(&package).arg(&wheel))?;
            fs::write(&made, wheel.display().to_string())
                .map_err(|error| format!("{}: {error}", made.display()))?;
            wheel
        }
    };
    Ok([(WHEEL, wheel), (PACKAGE, package)])
}

/// Builds everything against the stubs of an older glibc.
fn with_zig() -> Result<plugins::Built> {
    let python =
        python::made("python-wheel", &[root().join("python/requirements-wheel.txt")], "import ziglang")?;
    let tools = python.parent().map(Path::to_owned).unwrap_or_default();
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(tools.join("cargo-zigbuild"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path)));
    command.env("PATH", path.map_err(|error| format!("PATH: {error}"))?).current_dir(root());
    command.args(["zigbuild", "--release", "--target", &format!("{triple}.{GLIBC}")]);
    plugins::build_with(command, &["chipdock-ffi"], &target_folder().join(triple).join("release"))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// Returns when the newest file at or below a path was written.
fn newest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return modified(path);
    }
    // What Python itself writes beside a module changes nothing.
    let entries = fs::read_dir(path).ok()?.flatten().filter(|entry| entry.file_name() != "__pycache__");
    entries.filter_map(|entry| newest(&entry.path())).max()
}

/// Builds a wheel below `out` from what lies in a folder.
fn of(built: &Path, python: &Path, out: &Path) -> Result<PathBuf> {
    let (staged, wheels) = (out.join("package"), out.join("built"));
    let mut stage = Command::new(python);
    stage.arg(root().join("python/tools/stage.py")).arg(built).arg(&staged);
    if let Some(cargo) = std::env::var_os("CARGO") {
        stage.arg(cargo);
    }
    step("put the package together", &mut stage)?;
    let _ = fs::remove_dir_all(&wheels);
    let mut wheel = Command::new(python);
    wheel.args(["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir"]);
    step("build the wheel", wheel.arg(&wheels).arg(&staged))?;
    let files = fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let found = files.flatten().map(|entry| entry.path());
    found
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "whl"))
        .max()
        .ok_or_else(|| format!("{}: pip left no wheel", wheels.display()))
}
