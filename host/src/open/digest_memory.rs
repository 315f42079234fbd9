//! Digests of plugins' libraries, remembered from one process to the next, so that a command that
//! opens a plugin need not read megabytes to name it.
//!
//! * **DIGEST-M1 Same file.** A digest is remembered for a file as the file system identifies it:
//!   device, inode, size, and the times of its last modification and of its last change, in
//!   nanoseconds. The time of change cannot be set by a program.
//! * **DIGEST-M2 Settled.** A file that was changed less than two seconds before it is read is not
//!   remembered: a later change could bear the same time.
//! * **DIGEST-M3 No trust.** What a lock pins is read whole each time (LOCK-K3): a memory that its
//!   user can write proves nothing. Elsewhere a digest tells builds of a plugin apart (CACHE-V1,
//!   LOAD-L1), and whoever may write the user's caches may write the results of builds too.
//! * **DIGEST-M4 Nobody's error.** The memory is a cache of files (rules KEPT-K1 to KEPT-K8), used
//!   where the host's options ask for it ([`HostOptions::remember`](crate::HostOptions::remember)).
//!   Without it, or where it is spoilt, the file is read.

use std::fs::File;
use std::sync::OnceLock;

use chipdock_plugin_api::files::cache::{Cache, Kind};

use crate::files::{self, FileIdentity};

/// Name of the memory's folder among those of other caches, and the version of its files.
const KIND: Kind = Kind { name: "digests", version: 1 };
/// Bound of the memory: some thousand libraries.
const SIZE_BYTES_MAX: u64 = 1 << 20;

/// The memory of digests of this user, opened when it is first used; or none.
#[derive(Debug)]
pub(crate) struct Digests {
    is_asked_for: bool,
    cache: OnceLock<Option<Cache>>,
}

impl Digests {
    /// Makes the memory of this user, or none if it is not asked for.
    pub(crate) fn of_process(is_asked_for: bool) -> Self {
        Self { is_asked_for, cache: OnceLock::new() }
    }

    fn cache(&self) -> Option<&Cache> {
        let open = || self.is_asked_for.then(|| Cache::of_process(KIND, SIZE_BYTES_MAX)).flatten();
        self.cache.get_or_init(open).as_ref()
    }

    /// Returns the SHA-256 of an open file, in hexadecimal, remembered or read.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(crate) fn of(&self, file: &File) -> std::io::Result<String> {
        let Some(cache) = self.cache() else { return files::sha256(file) };
        let before = FileIdentity::of(&file.metadata()?);
        let key = KIND.key(&[&before.to_string()]);
        let is_digest = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let known = cache.read(&key).and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(digest) = known.filter(is_digest) {
            return Ok(digest);
        }
        let is_settled = before.is_settled();
        let digest = files::sha256(file)?;
        if is_settled && FileIdentity::of(&file.metadata()?) == before {
            cache.write(&key, digest.as_bytes());
        }
        Ok(digest)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{FileTimes, OpenOptions};
    use std::io::Write as _;
    use std::time::Duration;

    use chipdock_plugin_api::files::identity::SETTLED_AFTER;

    use super::*;

    fn memory(folder: &std::path::Path) -> Digests {
        let cache = Cache::at(&folder.join("digests"), KIND, SIZE_BYTES_MAX).expect("a cache");
        Digests { is_asked_for: true, cache: OnceLock::from(Some(cache)) }
    }

    /// The files of the memory.
    fn kept(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder.join("digests")).unwrap().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|it| it == "cached")).count()
    }

    #[test]
    fn digest_m2_a_fresh_file_is_read_and_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        std::fs::write(&path, "one").unwrap();
        let digests = memory(folder.path());
        let file = File::open(&path).unwrap();
        assert_eq!(digests.of(&file).unwrap(), files::sha256_of_bytes(b"one"));
        assert_eq!(kept(folder.path()), 0);
    }

    /// DIGEST-M1, DIGEST-M2: the digest of a settled file is taken from the memory, until the file
    /// is changed, although its size and its time of modification are as they were.
    #[test]
    fn digest_m1_a_changed_file_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        std::fs::write(&path, "one").unwrap();
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(SETTLED_AFTER + Duration::from_millis(100));
        let digests = memory(folder.path());
        let digest = || digests.of(&File::open(&path).unwrap()).unwrap();
        assert_eq!((digest(), kept(folder.path())), (files::sha256_of_bytes(b"one"), 1));
        // Remembered: the file is not read.
        let identity = FileIdentity::of(&std::fs::metadata(&path).unwrap());
        let other = files::sha256_of_bytes(b"another");
        let cache = digests.cache().unwrap();
        cache.write(&KIND.key(&[&identity.to_string()]), other.as_bytes());
        assert_eq!(digest(), other);
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(b"two").unwrap();
        file.set_times(FileTimes::new().set_modified(modified)).unwrap();
        assert_eq!(digest(), files::sha256_of_bytes(b"two"));
    }

    /// DIGEST-M4: a spoilt entry is none.
    #[test]
    fn digest_m4_a_spoilt_memory_is_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        std::fs::write(&path, "one").unwrap();
        let digests = memory(folder.path());
        let identity = FileIdentity::of(&std::fs::metadata(&path).unwrap());
        digests.cache().unwrap().write(&KIND.key(&[&identity.to_string()]), b"no digest");
        assert_eq!(digests.of(&File::open(&path).unwrap()).unwrap(), files::sha256_of_bytes(b"one"));
        assert_eq!(
            Digests::of_process(false).of(&File::open(&path).unwrap()).unwrap(),
            files::sha256_of_bytes(b"one")
        );
    }
}
