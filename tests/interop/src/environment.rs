//! The releases of apache-tvm-ffi, and the Pythons that run them (INTEROP-J4).

use std::path::PathBuf;
use std::process::Command;

use chipdock_test_support::{sample, setup, skipped, workspace};

/// Variable that holds the folder of the releases.
pub const RELEASES: &str = "CHIPDOCK_TVM_FFI_RELEASES";
/// Variable that holds the Python that runs them.
pub const PYTHON: &str = "CHIPDOCK_TVM_FFI_PYTHON";
/// Variable that holds a Python that has torch.
pub const TORCH: &str = "CHIPDOCK_TORCH_PYTHON";

/// A run takes one release in so many of those between the oldest and the newest.
const SHARE: usize = 5;

/// The releases, and who runs them.
#[derive(Clone, Debug)]
pub struct Environment {
    /// A Python with numpy.
    pub python: PathBuf,
    /// The folder with a folder for each release.
    pub folder: PathBuf,
    /// The releases, oldest first.
    pub releases: Vec<String>,
}

/// Returns the releases that `releases.txt` lists, oldest first.
///
/// # Panics
///
/// If the file cannot be read.
#[must_use]
pub fn listed() -> Vec<String> {
    let path = workspace().join("tests/interop/releases.txt");
    let text = std::fs::read_to_string(path).expect("the list of releases");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Returns the environment; without one, reports what is skipped.
///
/// # Panics
///
/// If it is there and lacks a release of the list: a test of fewer would say too much.
#[must_use]
pub fn environment(what: &str) -> Option<Environment> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(python), Some(folder)) = (variable(PYTHON), variable(RELEASES)) else {
        skipped(&format!("{what}: {PYTHON} and {RELEASES} are not set; `cargo xtask wheels` prints them"));
        return None;
    };
    let releases = listed();
    let missing: Vec<&String> = releases.iter().filter(|release| !folder.join(release).is_dir()).collect();
    assert!(missing.is_empty(), "{} lacks {missing:?}; `cargo xtask wheels` installs them", folder.display());
    Some(Environment { python, folder, releases })
}

impl Environment {
    /// Returns the same with the oldest and the newest release, and a sample of the others
    /// ([`sample`]).
    #[must_use]
    pub fn drawn(mut self) -> Self {
        let n_all = self.releases.len();
        if n_all > 2 {
            let middle = self.releases[1..n_all - 1].to_vec();
            let what = "releases of apache-tvm-ffi between the oldest and the newest";
            let drawn = sample::draw(what, SHARE, middle, String::clone);
            self.releases.splice(1..n_all - 1, drawn);
        }
        self
    }

    /// Returns the Python that has torch and can run the releases; without one, reports what is
    /// skipped.
    #[must_use]
    pub fn torch(&self, what: &str) -> Option<PathBuf> {
        let Some(python) = std::env::var_os(TORCH).map(PathBuf::from) else {
            skipped(&format!(
                "{what} with tensors of torch: {TORCH} is not set (torch is 4 GB with all that it needs; `cargo xtask bench \
                 --peers --with torch` installs its build without CUDA)"
            ));
            return None;
        };
        let trial = "import numpy, typing_extensions, torch, sys; print('%d.%d' % sys.version_info[:2])";
        let version = |python: &PathBuf, code: &str| {
            let output = Command::new(python).args(["-c", code]).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let own = version(&self.python, "import sys; print('%d.%d' % sys.version_info[:2])");
        match version(&python, trial) {
            Some(found) if Some(&found) == own.as_ref() => Some(python),
            found => {
                setup::missing(&format!(
                    "{what} with tensors of torch: {} is to be Python {own:?} with numpy, typing_extensions and torch, found \
                     {found:?}",
                    python.display()
                ));
                None
            }
        }
    }
}
