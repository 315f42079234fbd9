//! Rule FIND-D3: decides by their owners and permissions which files are read and opened.
//!
//! A path is resolved here component by component, as the system does it, so that everything that
//! decides where it leads is checked: each folder from the root on, each link of a chain and the
//! folders that it leads through, and the file at the end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::environment::Environment;
use crate::open::problem::{Problem, ProblemKind};
use crate::private_group::ROOT;

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;
/// Greatest number of links in one path, the system's own limit.
const LINKS_MAX: usize = 40;

/// Trust checks of one discovery, with the folders that it has already checked.
pub(crate) struct Trust {
    user: u32,
    private_group: Option<u32>,
    trusted: Vec<PathBuf>,
    /// Reason why a folder is refused, by its real path: plugins share their parent folders.
    judged: RefCell<BTreeMap<PathBuf, Option<String>>>,
}

impl Trust {
    /// Makes the checks of an environment; `named` are the paths that its user trusts beyond those
    /// of the environment.
    pub(crate) fn new(environment: &Environment, named: &[PathBuf]) -> Self {
        let variable = environment.trust.as_ref().filter(|_| !environment.raised_privileges);
        let added =
            variable.map(|paths| std::env::split_paths(paths).collect::<Vec<_>>()).unwrap_or_default();
        let named = named.iter().filter(|_| !environment.raised_privileges).cloned().chain(added);
        // An empty entry would be the current directory.
        let named = named.filter(|path| !path.as_os_str().is_empty());
        let trusted = named.filter_map(|path| path.canonicalize().ok()).collect();
        let (user, private_group) = (environment.user, environment.private_group);
        Self { user, private_group, trusted, judged: RefCell::default() }
    }

    /// Returns true if the path, or a folder that contains it, was named as trusted.
    pub(crate) fn is_trusted(&self, path: &Path) -> bool {
        !self.trusted.is_empty()
            && path.canonicalize().is_ok_and(|path| self.trusted.iter().any(|root| path.starts_with(root)))
    }

    /// Returns the reason why a file or folder is refused: because of itself, of a folder that
    /// contains it, or of a link that leads to it.
    pub(crate) fn problem(&self, path: &Path) -> Option<Problem> {
        if self.is_trusted(path) {
            return None;
        }
        let why = self.walk(path).err()?;
        let message = format!("{why}; make it yours alone (chown, chmod go-w) or trust it by name");
        Some(Problem::new(ProblemKind::Untrusted, message))
    }

    /// Checks everything on the way to a path.
    fn walk(&self, path: &Path) -> Result<(), String> {
        let unexamined =
            |at: &Path, error: std::io::Error| format!("{} cannot be examined ({error})", at.display());
        let whole = match path.is_absolute() {
            true => path.to_owned(),
            false => std::env::current_dir().map_err(|error| unexamined(path, error))?.join(path),
        };
        let through = |why: String, at: &Path| match at == whole {
            true => why,
            false => format!("{why}, and {} is reached through it", path.display()),
        };
        let mut waiting = names_reversed(&whole);
        let mut real = PathBuf::from("/");
        let mut links = 0;
        self.judge_folder(&real).map_err(|why| through(why, &real))?;
        while let Some(name) = waiting.pop() {
            if name == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&name);
            if let Some(known) = self.judged.borrow().get(&next) {
                known.clone().map_or(Ok(()), |why| Err(through(why, &next)))?;
                real = next;
                continue;
            }
            let metadata = next.symlink_metadata().map_err(|error| unexamined(&next, error))?;
            if !metadata.is_symlink() {
                let judged =
                    if metadata.is_dir() { self.judge_folder(&next) } else { self.judge(&next, &metadata) };
                judged.map_err(|why| through(why, &next))?;
                real = next;
                continue;
            }
            self.judge_owner(&next, &metadata).map_err(|why| through(why, &next))?;
            links += 1;
            if links > LINKS_MAX {
                return Err(format!("{} leads through more than {LINKS_MAX} links", path.display()));
            }
            let target = next.read_link().map_err(|error| unexamined(&next, error))?;
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            waiting.extend(names_reversed(&target));
        }
        Ok(())
    }

    fn judge_folder(&self, folder: &Path) -> Result<(), String> {
        if let Some(known) = self.judged.borrow().get(folder) {
            return known.clone().map_or(Ok(()), Err);
        }
        let examined = folder.symlink_metadata();
        let judged = examined
            .map_err(|error| format!("{} cannot be examined ({error})", folder.display()))
            .and_then(|metadata| self.judge(folder, &metadata));
        self.judged.borrow_mut().insert(folder.to_owned(), judged.clone().err());
        judged
    }

    fn judge(&self, path: &Path, metadata: &Metadata) -> Result<(), String> {
        self.judge_owner(path, metadata)?;
        let mode = metadata.mode();
        // In a sticky folder nobody replaces another user's files; the owner of an entry is checked
        // with the entry.
        let sticky_folder = metadata.is_dir() && mode & STICKY != 0;
        let is_users = self.private_group == Some(metadata.gid());
        let by_others = OTHERS_WRITE | if is_users { 0 } else { GROUP_WRITES };
        if mode & by_others != 0 && !sticky_folder {
            let mode = mode & 0o7777;
            return Err(format!("{} may be written by group or others (mode {mode:o})", path.display()));
        }
        Ok(())
    }

    fn judge_owner(&self, path: &Path, metadata: &Metadata) -> Result<(), String> {
        let owner = metadata.uid();
        if owner == ROOT || owner == self.user {
            return Ok(());
        }
        let what = if metadata.is_symlink() { "is a link that is owned" } else { "is owned" };
        Err(format!("{} {what} by user {owner}, neither root nor user {}", path.display(), self.user))
    }
}

/// Returns the names of a path from the last to the first; `..` is kept, as links decide where it
/// leads.
fn names_reversed(path: &Path) -> Vec<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}
