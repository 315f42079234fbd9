//! Installs the environments in which the Python package is tested, those of
//! `tests/python/matrix.txt`: folders in cargo's target folder that `PYTHONPATH` names, each with
//! the path of its Python in `interpreter.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::commands::{Result, at_once, output, root, target_folder};
use crate::python;

/// Variable that holds the folder of the environments for the tests. If the user has set it, its
/// value is used unchecked.
pub(crate) const VARIABLE: &str = "CHIPDOCK_PYTHON_MATRIX";

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
    at_once(lines(&text), |line| install(python, &folder, &line))?;
    Ok(folder)
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

/// Installs one environment, unless it is there with these packages.
fn install(pip: &Path, folder: &Path, line: &Line) -> Result<()> {
    let Some(interpreter) = interpreter(&line.version) else { return Ok(()) };
    let tvm_ffi = line.packages.first().map(|package| package.replace("apache-tvm-ffi==", "tvm-ffi-"));
    let place = folder.join(format!("{}-{}", line.version, tvm_ffi.unwrap_or_default()));
    let wanted = line.packages.join(" ");
    let write = |name: &str, text: &str| {
        let file = place.join(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
    };
    let is_there = fs::read_to_string(place.join("packages.txt")).is_ok_and(|found| found == wanted);
    if !is_there {
        let _ = fs::remove_dir_all(&place);
        let what = format!("pip install for Python {}: {wanted}", line.version);
        let packages: Vec<&str> = line.packages.iter().map(String::as_str).collect();
        python::install_into(&place, pip, &what, &packages, Some(&line.version))?;
        write("packages.txt", &wanted)?;
    }
    write("interpreter.txt", &interpreter.display().to_string())
}
