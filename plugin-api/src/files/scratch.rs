//! A private folder for temporary files, and compilers that run in it.
//!
//! Others on the machine may write in the folder for temporary files, and the owner of that folder
//! may rename its contents. Neither may ever choose a file that is compiled, read or opened as a
//! library here.
//!
//! - **SCRATCH-S1** It lies in `TMPDIR` where that is an absolute path, else in `/tmp`; with raised
//!   privileges always in `/tmp`.
//! - **SCRATCH-S2** It is made with mode 0700 whatever the umask, under a name that cannot be
//!   guessed, and opened without following links. It is used only if it was then found empty, the
//!   user's own, with mode 0700, and locked by this process; else another is made. From then on it
//!   is reached by its descriptor alone: renaming it, or putting something else at its path,
//!   changes nothing. So a `TMPDIR` that strangers may write is as good as another, sticky or not.
//! - **SCRATCH-S3** Files in it are created with mode 0600, and never opened where something
//!   existed. A compiler's output is opened without following links, and used only as a regular
//!   file of the user's own that nobody else may write.
//! - **SCRATCH-S4** A library is opened by a path below the folder's descriptor
//!   (`/proc/self/fd/N/…`), with a name that no other library of any process has: the loader
//!   identifies a library by a path that it has seen. Where `/proc` is not mounted the folder's own
//!   path is used, if no stranger can put another folder there; otherwise it is an error.
//! - **SCRATCH-S5** It is removed when it is dropped. A folder that a killed process left is
//!   removed by the next process that makes such a folder in the same place: folders of these names
//!   that are the user's own, private, and locked by nobody. The lock ends with the process, so
//!   that neither a reused process number nor a folder in use is mistaken.
//! - **SCRATCH-S6** A compiler runs in the folder, with umask 077, `TMPDIR` set to the folder, no
//!   input, and messages in English; with raised privileges in an environment of
//!   [`crate::process::believe_nothing`]. A path of the program is taken from the current folder;
//!   paths among its arguments are taken from this one.
//! - **SCRATCH-S7** The compiler, and each process that it started and that stayed in its process
//!   group, is ended when this process ends, for whatever reason. A child that was forked from this
//!   process in the meantime and did not run another program has to end too before the compiler's
//!   own children are ended; the compiler itself is ended at once.
//! - **SCRATCH-S8** Processes that the compiler left running in its process group are ended when it
//!   has ended.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use super::folder::{Folder, is_out_of_reach};
use super::tool;
use crate::kit::{PerProcess, carried, lock};
use crate::process::{effective_user, temporary_folder};

/// The prefix of the folders' names.
const PREFIX: &str = "chipdock-scratch-";
/// The greatest number of names that are tried.
const TRIES_MAX: usize = 100;
/// The greatest number of left folders that one process removes.
const LEFTOVERS_MAX: usize = 1000;

/// A temporary folder of this process alone; it and its contents are removed when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    parent: Folder,
    path: PathBuf,
    name: String,
    folder: Folder,
}

/// Returns sixteen hexadecimal digits that nobody can guess.
fn random() -> String {
    // Each state has its own keys, and the first keys of a thread are the system's random numbers.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Returns true for the form of the names of folders that this module makes: prefix, purpose,
/// process, random number.
fn is_name(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { return false };
    let parts: Vec<&str> = rest.rsplitn(3, '-').collect();
    let [random, process, what] = parts[..] else { return false };
    let is_hexadecimal = random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    !what.is_empty() && random.len() == 16 && is_hexadecimal && process.parse::<u32>().is_ok()
}

impl Scratch {
    /// Makes a folder in the folder for temporary files (rule SCRATCH-S1); `what` states its
    /// purpose in its name.
    ///
    /// # Errors
    ///
    /// The system's error if a folder cannot be made there; nothing is left behind.
    pub fn new(what: &str) -> io::Result<Self> {
        Self::within(&temporary_folder(), what)
    }

    /// Makes a folder in a given folder.
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
            // A user who may rename in the parent could have put another folder there.
            if let Ok(Some(folder)) = taken(&parent, &name) {
                return Ok(Self { path: path.join(&name), parent, name, folder });
            }
            // If it is still ours it is empty; anything else at that name is not ours to remove.
            let _ = parent.remove_folder(name.as_ref());
        }
        let why = format!("{TRIES_MAX} folders were made there, and none could be kept to this process");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    /// Returns the path at which the folder was made; for messages only, not for opening.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a name for a file that no other scratch folder of any process returns.
    #[must_use]
    pub fn file_name(&self, ending: &str) -> String {
        let stem = self.name.strip_prefix(PREFIX).unwrap_or(&self.name);
        format!("{stem}.{ending}")
    }

    /// Creates a file with these bytes.
    ///
    /// # Errors
    ///
    /// The name is taken, or the system's error.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder.create(name.as_ref())?.write_all(bytes)
    }

    /// Reads a compiler's output file (rule SCRATCH-S3), of at most so many bytes.
    ///
    /// # Errors
    ///
    /// The file does not exist, is no regular file of the user's own, may be written by others, or
    /// is larger.
    pub fn read(&self, name: &str, size_bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.folder.open(name.as_ref())?.take(size_bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > size_bytes_max {
            let why = format!("expected at most {size_bytes_max} bytes, found more");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(bytes)
    }

    /// Returns the path for opening a library that a compiler wrote, valid while this lives (rules
    /// SCRATCH-S3 and SCRATCH-S4).
    ///
    /// # Errors
    ///
    /// As [`Self::read`]; also if there is no path to it that a stranger could not change.
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
        // Contents that cannot be removed now are left over.
        let _ = self.folder.clear();
        if self.parent.has(self.name.as_ref(), &self.folder) {
            let _ = self.parent.remove_folder(self.name.as_ref());
        }
    }
}

/// Opens a folder that was made just now and locks it for this process; `None` if it is not that
/// folder any more (SCRATCH-S2).
fn taken(parent: &Folder, name: &str) -> io::Result<Option<Folder>> {
    let folder = parent.folder(name.as_ref())?;
    folder.examine()?;
    if !folder.try_lock()? || !folder.names()?.is_empty() {
        return Ok(None);
    }
    folder.make_private()?;
    // Another process may have removed it as a left folder before it was locked.
    Ok(parent.has(name.as_ref(), &folder).then_some(folder))
}

/// Removes the folders that killed processes left in a folder, unless that folder was the last one
/// that was cleared.
fn clear_once(parent: &Folder) {
    static CLEARED: PerProcess<Mutex<Option<(u64, u64)>>> = PerProcess::new(carried);
    let Ok(identity) = parent.identity() else { return };
    let mut cleared = lock(CLEARED.of_this());
    if cleared.replace(identity) == Some(identity) {
        return;
    }
    drop(cleared);
    let names = parent.names().unwrap_or_default();
    let user = effective_user();
    let is_own = |name: &&std::ffi::OsString| parent.status(name).is_ok_and(|stat| stat.st_uid == user);
    for name in names.iter().filter(|name| is_name(name)).filter(is_own).take(LEFTOVERS_MAX) {
        // A folder that is in use or cannot be removed stays.
        let _ = remove_leftover(parent, name);
    }
}

/// Removes a left folder: one of these names that is the user's own, private, and locked by nobody
/// (SCRATCH-S5).
fn remove_leftover(parent: &Folder, name: &OsStr) -> io::Result<()> {
    let folder = parent.folder(name)?;
    if folder.is_private() && folder.try_lock()? && parent.has(name, &folder) {
        folder.clear()?;
        parent.remove_folder(name)?;
    }
    Ok(())
}
