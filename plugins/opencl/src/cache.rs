//! Programs that a driver has built once, as files.
//!
//! A file is named by a digest of all that the program depends on, so that nothing in it has to be believed but that it is
//! whole: it begins with a digest of the rest. It is written under another name and renamed. The folder has to be the
//! user's own, and nobody else may write there; where it is not, and in a process with raised privileges, nothing is read
//! or written. No failure of the cache is anybody's error: the program is built instead.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::driver::{is_privileged, user};

/// Names the folder; empty, it switches the cache off.
const VARIABLE: &str = "CHIPDOCK_CACHE_DIR";
/// What a file begins with; a change of what stands behind it is another number.
const MAGIC: &[u8; 8] = b"cdkclb01";
const DIGEST_BYTES: usize = 32;
/// When the folder is larger, the files that were used longest ago go, until it is three quarters of this.
const FOLDER_BYTES_MAX: u64 = 256 << 20;
/// How exact the time of the last use is kept.
const USE_EXACT_TO: Duration = Duration::from_secs(600);
/// A file that was being written for so long was left by a process that ended.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);
const ENDING: &str = "clbin";

/// The folder of a process.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    bytes_max: u64,
}

/// What a program depends on.
pub(crate) fn key(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    digest.update(MAGIC);
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// The one that the environment names, if there is to be one.
    pub(crate) fn of_process() -> Option<Self> {
        if is_privileged() {
            return None;
        }
        let folder = match std::env::var_os(VARIABLE) {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => {
                let given =
                    |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
                let folder = given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")))?;
                folder.join("chipdock")
            }
        };
        Self::at(&folder.join(crate::hardware::NAME), FOLDER_BYTES_MAX)
    }

    /// One in that folder, which is made where it is not there.
    pub(crate) fn at(folder: &Path, bytes_max: u64) -> Option<Self> {
        if !folder.is_dir() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        }
        let metadata = fs::metadata(folder).ok()?;
        let is_own = metadata.is_dir() && metadata.uid() == user() && metadata.mode() & 0o022 == 0;
        is_own.then(|| Self { folder: folder.to_owned(), bytes_max })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.{ENDING}"))
    }

    /// The program of that key, when it is there and whole.
    pub(crate) fn read(&self, key: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.path(key)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (digest, binary) = rest.split_at_checked(DIGEST_BYTES)?;
        if Sha256::digest(binary).as_slice() != digest {
            return None;
        }
        let age = file.metadata().and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age > USE_EXACT_TO) {
            // Opened for reading; who may not change the time loses an older file, no more.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(binary.to_vec())
    }

    /// Keeps a program.
    pub(crate) fn write(&self, key: &str, binary: &[u8]) {
        if self.try_write(key, binary).is_ok() {
            self.evict();
        }
    }

    fn try_write(&self, key: &str, binary: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".writing-").tempfile_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(binary))?;
        file.write_all(binary)?;
        file.flush()?;
        file.persist(self.path(key)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Makes room, and clears away what processes left that ended while they wrote.
    fn evict(&self) {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let (path, used) = (entry.path(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
            if path.extension().is_some_and(|ending| ending == ENDING) {
                files.push((used, metadata.len(), path));
            } else if used.elapsed().is_ok_and(|age| age > ABANDONED_AFTER) {
                let _ = fs::remove_file(path);
            }
        }
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        if total <= self.bytes_max {
            return;
        }
        files.sort();
        for (_, size, path) in files {
            if total <= self.bytes_max / 4 * 3 {
                return;
            }
            // Another process may have been first.
            let _ = fs::remove_file(path);
            total -= size;
        }
    }
}
