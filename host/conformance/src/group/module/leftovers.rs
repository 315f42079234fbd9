//! Files and descriptors that a load leaves in the temporary folder, the current folder and the
//! process.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Context, Stop, Verdict};

/// A temporary folder of its own for as long as it lives, with the state before.
pub(super) struct Watched {
    folder: tempfile::TempDir,
    before: Option<OsString>,
    current: PathBuf,
    in_current: BTreeSet<OsString>,
    n_descriptors: usize,
}

fn entries(folder: &Path) -> BTreeSet<OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

fn descriptors() -> usize {
    entries(Path::new("/proc/self/fd")).len()
}

impl Watched {
    /// Starts watching.
    pub(super) fn new(c: &Context<'_>) -> Verdict<Self> {
        let folder = tempfile::tempdir_in(c.scratch()).map_err(Stop::suite)?;
        let before = std::env::var_os("TMPDIR");
        // SAFETY: the suite runs cases on one thread, and no code of the plugin is running.
        unsafe { std::env::set_var("TMPDIR", folder.path()) };
        let current = std::env::current_dir().map_err(Stop::suite)?;
        let in_current = entries(&current);
        Ok(Self { folder, before, current, in_current, n_descriptors: descriptors() })
    }

    /// Checks that there are no new files and, with `descriptors_too`, no new open descriptors.
    pub(super) fn nothing_left(&self, after: &str, descriptors_too: bool) -> Verdict {
        let temporary = entries(self.folder.path());
        let current = entries(&self.current);
        let new: Vec<_> = temporary.iter().chain(current.difference(&self.in_current)).collect();
        if !new.is_empty() {
            return Err(Stop::failed(format!("no file left by {after}"), format!("{new:?}")).clause("M.8"));
        }
        let n = descriptors();
        if descriptors_too && n > self.n_descriptors {
            let expected = format!("{} open files after {after}, as before", self.n_descriptors);
            return Err(Stop::failed(expected, n).clause("M.8"));
        }
        Ok(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: the suite runs cases on one thread, and no code of the plugin is running.
        unsafe {
            match &self.before {
                Some(before) => std::env::set_var("TMPDIR", before),
                None => std::env::remove_var("TMPDIR"),
            }
        }
    }
}
