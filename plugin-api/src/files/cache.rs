//! Caches on disk: results that took long to make, kept as files for the next process.
//!
//! All caches use this module, so that each follows the same rules.
//!
//! - **KEPT-K1** *Folder.* `CHIPDOCK_CACHE_DIR`, else `$XDG_CACHE_HOME/chipdock`, else
//!   `$HOME/.cache/chipdock`; in it, a folder of the cache's own by its name. A plugin's setting
//!   may stand for the first. `CHIPDOCK_CACHE_DIR` set and empty switches all caches off. A
//!   relative path counts as not set, and so does another variable that is empty. With raised
//!   privileges there is no cache.
//! - **KEPT-K2** *Mark.* A folder that this module makes gets a `CACHEDIR.TAG`, by which backups
//!   leave it out, and whose text names the cache that it belongs to. An existing folder is used if
//!   it has the tag of that cache, or if it is empty: then it gets the tag, keeps its permissions,
//!   and is the cache's from then on. In any other folder nothing is read, written or removed.
//! - **KEPT-K3** *Permissions.* The folder is made with mode 0700 and files with 0600, whatever the
//!   umask. A folder is used only if it is the user's own, no link, and not writable for others,
//!   and if each folder above it belongs to root or the user and is not writable for others either,
//!   unless it is sticky. From then on it is reached by its descriptor.
//! - **KEPT-K4** *Files.* A file is named by its key, a digest of everything on which the content
//!   depends, and begins with a header: a magic number, the cache's name and version, a digest of
//!   the rest. It is written under a temporary name, forced to the disk and renamed. A file is read
//!   only if it is a regular file of the user's own, not reached by a link, with the header of this
//!   version and the right digest, and no larger than the folder may be; any other file counts as
//!   missing.
//! - **KEPT-K5** *Ours.* A file is the cache's if its name has the form of KEPT-K4 and it begins
//!   with the header of the cache, of any version. No other file is replaced or removed: neither
//!   one of another name, nor one of such a name without the header; nor a link, nor a folder. (A
//!   key whose file is not the cache's is not kept.)
//! - **KEPT-K6** *Size.* If the cache's files have more bytes than the bound after a file was
//!   written, the least recently used ones are removed until three quarters of the bound are left.
//!   The last use is the file's modification time, exact to ten minutes. A file that alone is
//!   larger than the bound is not kept.
//! - **KEPT-K7** *Left files.* A temporary file is named by key and process, and begins with the
//!   header as far as it was written. One that was last written an hour ago or longer was left by a
//!   process that ended, and is removed at the next write.
//! - **KEPT-K8** *Failures.* A failure of a cache is never an error of the caller: a missing result
//!   is made again, and one that cannot be kept is not kept. Any number of processes may use a
//!   folder at once.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::FileType;
use sha2::{Digest, Sha256};

use super::folder::{Folder, is_out_of_reach};
use crate::process::{effective_user, has_raised_privileges, variable};

/// The variable that names the folder for all caches.
pub const VARIABLE: &str = "CHIPDOCK_CACHE_DIR";
/// The magic bytes at the start of every file.
const MAGIC: &[u8; 16] = b"chipdock cache\n\x01";
pub(super) const DIGEST_BYTES: usize = 32;
/// Precision of the recorded time of the last use.
const USE_EXACT_TO: Duration = Duration::from_secs(600);
/// Age of a temporary file after which its process is assumed to have ended.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);
pub(super) const TAG: &str = "CACHEDIR.TAG";
const KEPT: &str = ".cached";
const TEMPORARY: &str = ".writing";

/// The kind of a cache: its name, and the version of its files' contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The cache's name, which names the folder: 1 to 64 lower-case letters, digits, `-` and `_`.
    pub name: &'static str,
    /// Version of the contents; files of another version are not read.
    pub version: u32,
}

/// The key of a file: a digest of everything on which its content depends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

/// A cache whose folder is open.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
    kind: Kind,
    size_bytes_max: u64,
}

impl Kind {
    /// Makes the key of a content that depends on these texts, in this order, and on nothing else.
    #[must_use]
    pub fn key(&self, parts: &[&str]) -> Key {
        let mut digest = Sha256::new();
        digest.update(self.start());
        digest.update(self.version.to_le_bytes());
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let hexadecimal = digest.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Key(hexadecimal)
    }

    fn start(&self) -> Vec<u8> {
        start_of(self.name)
    }

    fn header(&self, content: &[u8]) -> Vec<u8> {
        let mut header = self.start();
        header.extend_from_slice(&self.version.to_le_bytes());
        header.extend_from_slice(&Sha256::digest(content));
        header
    }

    /// Returns the content after the header, if the header is of this version and has the right
    /// digest.
    fn content(&self, file: &[u8]) -> Option<Vec<u8>> {
        let rest = file.strip_prefix(&self.start()[..])?.strip_prefix(&self.version.to_le_bytes())?;
        let (digest, content) = rest.split_at_checked(DIGEST_BYTES)?;
        (Sha256::digest(content).as_slice() == digest).then(|| content.to_vec())
    }

    fn tag(&self) -> String {
        tag_of(self.name)
    }
}

/// Returns the first bytes of the header of each file of the cache of that name, which do not
/// depend on its version.
pub(super) fn start_of(name: &str) -> Vec<u8> {
    let mut start = MAGIC.to_vec();
    // At most 64 bytes long, as `is_cache_name` checks.
    start.push(name.len() as u8);
    start.extend_from_slice(name.as_bytes());
    start
}

/// Returns the text of the tag in the folder of the cache of that name (KEPT-K2).
pub(super) fn tag_of(name: &str) -> String {
    format!(
        "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is chipdock's cache `{name}`, which may be removed at \
         any time.\n# What such a file says is at https://bford.info/cachedir/\n"
    )
}

/// Returns true if `name` is a valid name of a cache.
pub(super) fn is_cache_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Key {
    /// Returns the name of the key's file.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        format!("{self}{KEPT}").into()
    }
}

/// The kind of a file, according to its name.
pub(super) enum FileKind {
    Kept,
    Temporary,
    TemporaryTag,
    Foreign,
}

pub(super) fn form(name: &OsStr) -> FileKind {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let Some(name) = name.to_str() else { return FileKind::Foreign };
    let is_temporary = |ending: &str| {
        let process = ending.strip_prefix('.').and_then(|rest| rest.strip_suffix(TEMPORARY));
        process.is_some_and(|process| process.bytes().all(|byte| is_digit(byte) || byte == b'-'))
    };
    if name.strip_prefix(TAG).is_some_and(is_temporary) {
        return FileKind::TemporaryTag;
    }
    match name.split_at_checked(2 * DIGEST_BYTES) {
        Some((key, _)) if !key.bytes().all(is_digit) => FileKind::Foreign,
        Some((_, KEPT)) => FileKind::Kept,
        Some((_, ending)) if is_temporary(ending) => FileKind::Temporary,
        _ => FileKind::Foreign,
    }
}

/// Returns a part of a file's name that no other writer of any process uses now.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{count:x}-{:x}", std::process::id(), now.as_nanos())
}

/// Returns the folder that the environment names for all caches (KEPT-K1); `None` if they are
/// switched off or the process has no such folder.
#[must_use]
pub fn folder_of_process() -> Option<PathBuf> {
    folder_for_all(variable(VARIABLE).map(PathBuf::from))
}

/// Returns the folder for all caches (KEPT-K1), with `named` in place of `CHIPDOCK_CACHE_DIR`.
fn folder_for_all(named: Option<PathBuf>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match named {
        Some(folder) if folder.as_os_str().is_empty() => return None,
        Some(folder) if folder.is_absolute() => return Some(folder),
        _ => {}
    }
    let of_user = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    Some(of_user?.join("chipdock"))
}

/// A file of a cache, for eviction and lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kept {
    pub(super) used: SystemTime,
    pub(super) name: OsString,
    pub(super) size_bytes: u64,
}

/// Returns size and last use of a regular file of the user's own.
pub(super) fn kept(folder: &Folder, name: OsString) -> Option<Kept> {
    let stat = folder.status(&name).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_uid != effective_user() {
        return None;
    }
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let used = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))?;
    Some(Kept { used, name, size_bytes: u64::try_from(stat.st_size).unwrap_or(0) })
}

impl Cache {
    /// Opens the cache of that kind in the folder that the environment names (KEPT-K1), with at
    /// most so many bytes; `None` if the rules allow no cache.
    #[must_use]
    pub fn of_process(kind: Kind, size_bytes_max: u64) -> Option<Self> {
        Self::of_setting(variable(VARIABLE).map(PathBuf::from), kind, size_bytes_max)
    }

    /// As [`Self::of_process`], where `named`, the value of a plugin's setting, takes the place of
    /// the variable `CHIPDOCK_CACHE_DIR`.
    #[must_use]
    pub fn of_setting(named: Option<PathBuf>, kind: Kind, size_bytes_max: u64) -> Option<Self> {
        if has_raised_privileges() {
            return None;
        }
        Self::at(&folder_for_all(named)?.join(kind.name), kind, size_bytes_max)
    }

    /// Opens the cache of that kind in a given folder, which is made if it does not exist; `None`
    /// if the rules allow no cache.
    #[must_use]
    pub fn at(folder: &Path, kind: Kind, size_bytes_max: u64) -> Option<Self> {
        Self::try_at(folder, kind, size_bytes_max).ok()
    }

    /// As [`Self::at`], for callers that report why there is no cache.
    ///
    /// # Errors
    ///
    /// The rule of KEPT-K2 and KEPT-K3 that allows none, or the system's error for the folder.
    pub fn try_at(folder: &Path, kind: Kind, size_bytes_max: u64) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected the path of a folder"));
        };
        if !is_cache_name(kind.name) || !folder.is_absolute() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected an absolute path"));
        }
        if !parent.is_dir() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let parent = parent.canonicalize()?;
        if !is_out_of_reach(&parent.join(name)) {
            let why = "others may write in a folder above it, or one belongs to another user";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let parent = Folder::at(&parent)?;
        let is_made = parent.make_folder(name).is_ok();
        let folder = parent.folder(name)?;
        if is_made {
            folder.make_private()?;
        }
        folder.examine()?;
        let cache = Self { folder, kind, size_bytes_max };
        // Another process may have marked it just now, so that the folder is not empty any more.
        if cache.is_marked() || cache.mark().is_ok() || cache.is_marked() {
            return Ok(cache);
        }
        let why = format!("it was there before and holds other files: it has no {TAG} of this cache");
        Err(io::Error::new(io::ErrorKind::AlreadyExists, why))
    }

    fn is_marked(&self) -> bool {
        self.folder.begins_with(TAG.as_ref(), self.kind.tag().as_bytes())
    }

    /// Marks a folder that is empty, except for files that other processes write to mark it.
    fn mark(&self) -> io::Result<()> {
        let tag = self.kind.tag();
        let is_other_mark = |name: &OsString| {
            matches!(form(name), FileKind::TemporaryTag) && self.folder.is_start_of(tag.as_bytes(), name)
        };
        if !self.folder.names()?.iter().all(is_other_mark) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.put(TAG.as_ref(), format!("{TAG}.{}{TEMPORARY}", unique()).as_ref(), &[tag.as_bytes()])
    }

    /// Returns the content under that key, if it is there and intact.
    #[must_use]
    pub fn read(&self, key: &Key) -> Option<Vec<u8>> {
        let file = self.folder.open(&key.file_name()).ok()?;
        let metadata = file.metadata().ok()?;
        if metadata.len() > self.size_bytes_max {
            return None;
        }
        let mut bytes = Vec::new();
        (&file).take(self.size_bytes_max).read_to_end(&mut bytes).ok()?;
        let content = self.kind.content(&bytes)?;
        let is_old = metadata.modified().ok()?.elapsed().is_ok_and(|age| age > USE_EXACT_TO);
        if is_old {
            // Without the right to change the time, the file only counts as older.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(content)
    }

    /// Stores a content under that key, and makes room for it.
    pub fn write(&self, key: &Key, content: &[u8]) {
        let _ = self.try_write(key, content);
    }

    /// As [`Self::write`], for callers that report why nothing is kept.
    ///
    /// # Errors
    ///
    /// The content is larger than the bound, a file of that name is not the cache's (KEPT-K5), or
    /// the system's error.
    pub fn try_write(&self, key: &Key, content: &[u8]) -> io::Result<()> {
        let (name, header) = (key.file_name(), self.kind.header(content));
        if (header.len() + content.len()) as u64 > self.size_bytes_max {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it is larger than all that may be kept",
            ));
        }
        if self.folder.status(&name).is_ok() && !self.is_ours(&name) {
            let why = format!("{} is not a file of the cache; remove it", name.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        self.put(&name, format!("{key}.{}{TEMPORARY}", unique()).as_ref(), &[&header, content])?;
        self.evict();
        Ok(())
    }

    /// Writes a complete file, under another name first.
    fn put(&self, name: &OsStr, temporary: &OsStr, parts: &[&[u8]]) -> io::Result<()> {
        let mut file = self.folder.create(temporary)?;
        let write = |file: &mut File| {
            parts.iter().try_for_each(|part| file.write_all(part))?;
            // Without this, a power failure leaves an empty file under the name, which KEPT-K5 then
            // never replaces.
            file.sync_data()?;
            self.folder.rename(temporary, name)
        };
        let written = write(&mut file);
        if written.is_err() {
            let _ = self.folder.remove_file(temporary);
        }
        written
    }

    /// Returns true if the cache wrote the file (KEPT-K5); the caller has checked its name.
    fn is_ours(&self, name: &OsStr) -> bool {
        self.folder.begins_with(name, &self.kind.start())
    }

    /// Makes room (KEPT-K6), and removes temporary files of processes that ended while they wrote
    /// (KEPT-K7).
    fn evict(&self) {
        let mut files = Vec::new();
        for name in self.folder.names().unwrap_or_default() {
            match form(&name) {
                FileKind::Kept => files.extend(kept(&self.folder, name)),
                FileKind::Temporary => self.remove_abandoned(&name, &self.kind.start()),
                FileKind::TemporaryTag => self.remove_abandoned(&name, self.kind.tag().as_bytes()),
                FileKind::Foreign => {}
            }
        }
        let total = |files: &[Kept]| files.iter().map(|file| file.size_bytes).sum::<u64>();
        if total(&files) <= self.size_bytes_max {
            return;
        }
        files.retain(|file| self.is_ours(&file.name));
        files.sort();
        let mut left = total(&files);
        if left <= self.size_bytes_max {
            return;
        }
        for file in files {
            if left <= self.size_bytes_max / 4 * 3 {
                return;
            }
            // Another process may have removed it first.
            let _ = self.folder.remove_file(&file.name);
            left -= file.size_bytes;
        }
    }

    fn remove_abandoned(&self, name: &OsStr, start: &[u8]) {
        let modified = self.folder.open(name).and_then(|file| file.metadata()?.modified());
        let is_old = modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED_AFTER));
        if is_old && self.folder.is_start_of(start, name) {
            let _ = self.folder.remove_file(name);
        }
    }
}
