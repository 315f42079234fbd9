//! A private folder for temporary files, and compilers that run in it.
//!
//! Others of the machine may write in the folder for temporary files, and the owner of that folder may rename what is in it.
//! Neither may ever choose a file that is compiled, read or opened as a library here.
//!
//! - **SCRATCH-S1** It lies in `TMPDIR` where that is an absolute path, else in `/tmp`; with raised privileges always in `/tmp`.
//! - **SCRATCH-S2** It is made with mode 0700 whatever the umask, under a name that cannot be guessed, and opened without following
//!   links. Used is only what was then found empty, the user's own, with mode 0700, and locked by this process; else another
//!   is made. From then on it is reached by its descriptor alone: who renames it, or puts something else at its path, changes
//!   nothing. So a `TMPDIR` that strangers may write is as good as another, sticky or not.
//! - **SCRATCH-S3** Files in it are created with mode 0600, never opened where something was. What a compiler wrote is opened without
//!   following links, and used only as a regular file of the user's own that nobody else may write.
//! - **SCRATCH-S4** A library is opened by a path below the folder's descriptor (`/proc/self/fd/N/…`), with a name that no other
//!   library of any process has: the loader takes a path that it has seen for the library that it has. Where `/proc` is not
//!   mounted the folder's own path serves, if no stranger can put another folder there, and is an error otherwise.
//! - **SCRATCH-S5** It is removed when it is dropped. What a killed process left is removed by the next process that makes such a
//!   folder in the same place: folders of these names that are the user's own, private, and locked by nobody. The lock ends
//!   with the process, so that neither a reused process number nor a folder in use is mistaken.
//! - **SCRATCH-S6** A compiler runs in the folder, with umask 077, `TMPDIR` set to the folder, no input, and messages in English; with
//!   raised privileges in an environment of [`crate::process::believe_nothing`]. A path of the program is taken from the
//!   current folder; paths among its arguments are taken from this one.
//! - **SCRATCH-S7** The compiler, and each process that it started and that stayed in its process group, is ended when this process
//!   ends, however it does. A child that was forked from this process in the meantime and not replaced by a program has to end
//!   too before the compiler's own children are; the compiler itself is ended at once.
//! - **SCRATCH-S8** What the compiler left running in its process group is ended when it has ended.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use super::folder::{Folder, is_out_of_reach};
use super::tool;
use crate::process::{effective_user, temporary_folder};

/// What the names begin with.
const PREFIX: &str = "chipdock-scratch-";
/// How many names are tried.
const TRIES_MAX: usize = 100;
/// How many left folders one process removes.
const LEFTOVERS_MAX: usize = 1000;

/// A folder of this process alone; removed with all that is in it when dropped.
#[derive(Debug)]
pub struct Scratch {
    parent: Folder,
    path: PathBuf,
    name: String,
    folder: Folder,
}

/// Sixteen hexadecimal digits that nobody guesses.
fn random() -> String {
    // Each state has keys of its own, and the first ones of a thread are the system's random numbers.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Whether folders that this module made are called so: prefix, what for, process, random number.
fn is_name(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { return false };
    let parts: Vec<&str> = rest.rsplitn(3, '-').collect();
    let [random, process, what] = parts[..] else { return false };
    let is_hexadecimal = random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    !what.is_empty() && random.len() == 16 && is_hexadecimal && process.parse::<u32>().is_ok()
}

impl Scratch {
    /// Makes one in the folder for temporary files (rule SCRATCH-S1); `what` says in its name what it is for.
    ///
    /// # Errors
    ///
    /// What the system says when a folder cannot be made there; nothing is left behind.
    pub fn new(what: &str) -> io::Result<Self> {
        Self::within(&temporary_folder(), what)
    }

    /// Makes one in a given folder.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn within(parent: &Path, what: &str) -> io::Result<Self> {
        let path = std::path::absolute(parent)?;
        let parent = Folder::at(&path)?;
        clear_once(&parent);
        for _ in 0..TRIES_MAX {
            let name = format!("{PREFIX}{what}-{}-{}", std::process::id(), random());
            match parent.make_folder(name.as_ref()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            // Whoever may rename in the parent could have put another folder there.
            if let Ok(Some(folder)) = taken(&parent, &name) {
                return Ok(Self { path: path.join(&name), parent, name, folder });
            }
            // Where it is still ours it is empty; whatever else it is by now is not.
            let _ = parent.remove_folder(name.as_ref());
        }
        let why = format!("{TRIES_MAX} folders were made there, and none could be kept to this process");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    /// The path at which it was made; for messages only, not for opening.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name for a file that no other scratch folder of any process gives.
    #[must_use]
    pub fn file_name(&self, ending: &str) -> String {
        let stem = self.name.strip_prefix(PREFIX).unwrap_or(&self.name);
        format!("{stem}.{ending}")
    }

    /// Creates a file with these bytes.
    ///
    /// # Errors
    ///
    /// The name is taken, or the system's.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder.create(name.as_ref())?.write_all(bytes)
    }

    /// Reads a file that a compiler wrote (rule SCRATCH-S3), of at most so many bytes.
    ///
    /// # Errors
    ///
    /// It is not there, no regular file of the user's own, others may write it, or it is larger.
    pub fn read(&self, name: &str, size_bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.folder.open(name.as_ref())?.take(size_bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > size_bytes_max {
            let why = format!("expected at most {size_bytes_max} bytes, found more");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(bytes)
    }

    /// The path by which a library that a compiler wrote is to be opened, while this lives (rules SCRATCH-S3 and SCRATCH-S4).
    ///
    /// # Errors
    ///
    /// As [`Self::read`], and no path leads there that a stranger could not change.
    pub fn library(&self, name: &str) -> io::Result<PathBuf> {
        let file = self.folder.open(name.as_ref())?;
        let held = format!("/proc/self/fd/{}", self.folder.descriptor().as_raw_fd());
        let by_descriptor = Path::new(&held).join(name);
        if Folder::leads_to(&by_descriptor, &file) {
            return Ok(by_descriptor);
        }
        let path = self.path.canonicalize()?;
        if is_out_of_reach(&path) && Folder::leads_to(&path.join(name), &file) {
            return Ok(path.join(name));
        }
        let why =
            "others can move the folder away, and /proc is not mounted; let TMPDIR name a folder of your own";
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    /// Runs a program in the folder and waits for it (rules SCRATCH-S6 to SCRATCH-S8).
    ///
    /// # Errors
    ///
    /// The program could not be started; `NotFound` when there is none of that name.
    pub fn run(&self, program: &OsStr, arguments: &[impl AsRef<OsStr>]) -> io::Result<Output> {
        let mut command = Command::new(tool::program(program));
        command.args(arguments);
        tool::run(&mut command, self.folder.descriptor())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is a leftover.
        let _ = self.folder.clear();
        if self.parent.has(self.name.as_ref(), &self.folder) {
            let _ = self.parent.remove_folder(self.name.as_ref());
        }
    }
}

/// Opens a folder that was made just now and takes it for this process; nothing when it is not that folder any more (SCRATCH-S2).
fn taken(parent: &Folder, name: &str) -> io::Result<Option<Folder>> {
    let folder = parent.folder(name.as_ref())?;
    folder.examine()?;
    if !folder.try_lock()? || !folder.names()?.is_empty() {
        return Ok(None);
    }
    folder.make_private()?;
    // Another process may have taken it for a leftover before it was locked.
    Ok(parent.has(name.as_ref(), &folder).then_some(folder))
}

/// Removes what killed processes left in a folder, once for each folder that is used in turn.
fn clear_once(parent: &Folder) {
    static CLEARED: Mutex<Option<(u64, u64)>> = Mutex::new(None);
    let Ok(identity) = parent.identity() else { return };
    let mut cleared = CLEARED.lock().unwrap_or_else(PoisonError::into_inner);
    if cleared.replace(identity) == Some(identity) {
        return;
    }
    drop(cleared);
    let names = parent.names().unwrap_or_default();
    let user = effective_user();
    let is_own = |name: &&std::ffi::OsString| parent.status(name).is_ok_and(|stat| stat.st_uid == user);
    for name in names.iter().filter(|name| is_name(name)).filter(is_own).take(LEFTOVERS_MAX) {
        // What is in use or cannot be removed stays.
        let _ = remove_leftover(parent, name);
    }
}

/// Removes a folder of these names that is the user's own, private, and locked by nobody (SCRATCH-S5).
fn remove_leftover(parent: &Folder, name: &OsStr) -> io::Result<()> {
    let folder = parent.folder(name)?;
    if folder.is_private() && folder.try_lock()? && parent.has(name, &folder) {
        folder.clear()?;
        parent.remove_folder(name)?;
    }
    Ok(())
}
