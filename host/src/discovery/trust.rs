//! Rule D3: whose files are opened.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::options::HostOptions;
use crate::problem::{Problem, ProblemKind};

const ROOT: u32 = 0;
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

pub(super) struct Trust {
    user: u32,
    trusted: Vec<PathBuf>,
}

impl Trust {
    pub(super) fn new(options: &HostOptions) -> Self {
        let environment = &options.environment;
        let variable = environment.trust.as_ref().filter(|_| !environment.raised_privileges);
        let added =
            variable.map(|paths| std::env::split_paths(paths).collect::<Vec<_>>()).unwrap_or_default();
        let named = options.trust.iter().filter(|_| !environment.raised_privileges).cloned().chain(added);
        let trusted = named.filter_map(|path| path.canonicalize().ok()).collect();
        Self { user: environment.user, trusted }
    }

    /// Whether the path, or a folder that it lies in, was named as trusted.
    pub(super) fn is_trusted(&self, path: &Path) -> bool {
        !self.trusted.is_empty()
            && path.canonicalize().is_ok_and(|path| self.trusted.iter().any(|root| path.starts_with(root)))
    }

    /// Why a file or folder is refused.
    pub(super) fn problem(&self, path: &Path) -> Option<Problem> {
        if self.is_trusted(path) {
            return None;
        }
        let refuse = |what: &str| {
            let message = format!(
                "{} {what}; make it yours alone (chown, chmod go-w) or trust it by name",
                path.display()
            );
            Some(Problem::new(ProblemKind::Untrusted, message))
        };
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return refuse(&format!("cannot be examined ({error})")),
        };
        let (owner, mode) = (metadata.uid(), metadata.mode());
        if owner != ROOT && owner != self.user {
            return refuse(&format!("is owned by user {owner}, neither root nor user {}", self.user));
        }
        let sticky_folder = metadata.is_dir() && mode & STICKY != 0;
        if mode & GROUP_OR_OTHERS_WRITE != 0 && !sticky_folder {
            return refuse(&format!("may be written by group or others (mode {:o})", mode & 0o7777));
        }
        None
    }

    /// Why a library is refused; behind a link, the file that it leads to and that file's folder count too.
    pub(super) fn problem_of_library(&self, library: &Path) -> Option<Problem> {
        let direct = self.problem(library);
        let is_link = std::fs::symlink_metadata(library).is_ok_and(|metadata| metadata.is_symlink());
        if direct.is_some() || !is_link {
            return direct;
        }
        let real = library.canonicalize().ok()?;
        self.problem(real.parent()?)
    }
}
