//! Installs the environments in which the Python package is tested, those of `tests/python/matrix.txt`: folders in cargo's target
//! folder that `PYTHONPATH` names, each with the path of its Python in `interpreter.txt`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::commands::{Result, output, root, step, target_folder};

/// Variable that holds the folder of the environments for the tests. If the user has set it, its value is used unchecked.
pub(crate) const VARIABLE: &str = "CHIPDOCK_PYTHON_MATRIX";

/// Number of environments that are installed at once: most of the time is waiting.
const AT_ONCE: usize = 4;

/// An environment: a version of Python with packages.
struct Line {
    version: String,
    packages: Vec<String>,
}

/// Returns the folder; installs what is not there yet with the pip of `python`.
pub(crate) fn environment(python: &Path) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        return Ok(folder.into());
    }
    let folder = target_folder().join("python-matrix");
    let path = root().join("tests/python/matrix.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let waiting = Mutex::new(lines(&text));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(line) = waiting.lock().ok().and_then(|mut waiting| waiting.pop()) {
                    if let (Err(why), Ok(mut failures)) = (install(python, &folder, &line), failures.lock()) {
                        failures.push(why);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    if failures.is_empty() { Ok(folder) } else { Err(failures.join("; ")) }
}

fn lines(text: &str) -> Vec<Line> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(words)
        .filter(|line| !line.is_empty())
        .collect();
    let is_common = |line: &&Vec<String>| line[0] == "all";
    let common: Vec<String> = lines.iter().filter(is_common).flat_map(|line| line[1..].to_vec()).collect();
    let own = lines.iter().filter(|line| !is_common(line));
    own.map(|line| Line { version: line[0].clone(), packages: [&line[1..], &common].concat() }).collect()
}

/// Returns a Python of that version: on PATH, or among pyenv's.
fn interpreter(version: &str) -> Option<PathBuf> {
    let trial = format!("import sys; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')");
    let name = format!("python{version}");
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv")));
    let versions = home.and_then(|home| fs::read_dir(home.join("versions")).ok());
    let of_pyenv = versions.into_iter().flatten().flatten().map(|entry| entry.path().join("bin").join(&name));
    let mut all: Vec<PathBuf> = of_pyenv.filter(|path| path.is_file()).collect();
    all.push(name.into());
    all.into_iter().find(|python| output(&python.to_string_lossy(), &["-c", &trial]).is_some())
}

/// Installs one environment; its folder is there only if it is whole.
fn install(pip: &Path, folder: &Path, line: &Line) -> Result<()> {
    let Some(interpreter) = interpreter(&line.version) else { return Ok(()) };
    let tvm_ffi = line.packages.first().map(|package| package.replace("apache-tvm-ffi==", "tvm-ffi-"));
    let place = folder.join(format!("{}-{}", line.version, tvm_ffi.unwrap_or_default()));
    let wanted = line.packages.join(" ");
    let is_there = fs::read_to_string(place.join("packages.txt")).is_ok_and(|found| found == wanted);
    if !is_there {
        let partial = place.with_extension("partial");
        let _ = fs::remove_dir_all(&partial);
        let _ = fs::remove_dir_all(&place);
        let mut command = Command::new(pip);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        command.args([
            "--no-compile",
            "--only-binary",
            ":all:",
            "--ignore-requires-python",
            "--python-version",
            &line.version,
        ]);
        step(
            &format!("pip install for Python {}: {wanted}", line.version),
            command.arg("--target").arg(&partial).args(&line.packages),
        )?;
        fs::write(partial.join("packages.txt"), &wanted)
            .map_err(|error| format!("{}: {error}", partial.display()))?;
        fs::rename(&partial, &place).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    let path = interpreter.display().to_string();
    fs::write(place.join("interpreter.txt"), path).map_err(|error| format!("{}: {error}", place.display()))
}
