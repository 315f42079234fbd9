//! Identifies a plugin's code: its version, its build and the digest of its library, as that was
//! opened.
//!
//! The digest is of the file that was examined and opened (rules LOAD-L1 and LOAD-L2 of the
//! loader), or absent: a file that was changed or replaced since is not the code that runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use chipdock_plugin_api::kit::{PerProcess, carried, lock};

use crate::files::{self, FileIdentity};
use crate::open::digest_memory::Digests;

/// Digests of libraries that this process has opened: each is read once, however many hosts there
/// are.
static DIGESTS: PerProcess<Mutex<BTreeMap<PathBuf, (FileIdentity, String)>>> = PerProcess::new(carried);

/// Location of a plugin's code.
enum Code {
    /// In a library of its own.
    Library { path: PathBuf, identity: FileIdentity, digests: Arc<Digests> },
    /// In this program.
    Program,
}

/// Identity of a plugin's build, different for every other build.
pub(crate) struct Origin {
    /// Its version.
    pub(crate) version: String,
    /// Build id of the descriptor, which may be empty.
    pub(crate) build_id: String,
    code: Code,
    digest: OnceLock<Option<String>>,
}

impl Origin {
    /// Makes the origin of an opened library; `digest` where it is known already.
    pub(crate) fn of_library(
        version: &semver::Version,
        build_id: &str,
        (path, identity): (&Path, FileIdentity),
        digests: &Arc<Digests>,
        digest: Option<String>,
    ) -> Self {
        let known = OnceLock::new();
        if let Some(digest) = digest {
            let _ = known.set(Some(digest));
        }
        let code = Code::Library { path: path.to_owned(), identity, digests: Arc::clone(digests) };
        Self { version: version.to_string(), build_id: build_id.to_owned(), code, digest: known }
    }

    /// Makes the origin of the plugin that is linked into this program.
    pub(crate) fn of_program() -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { version, build_id: String::new(), code: Code::Program, digest: OnceLock::new() }
    }

    /// Returns the SHA-256 of the code that runs, in hexadecimal; `None` where it is unknown. The
    /// file is read at the first call.
    pub(crate) fn digest(&self) -> Option<&str> {
        let find = || match &self.code {
            Code::Library { path, identity, digests } => of_file(path, *identity, digests),
            Code::Program => of_program(),
        };
        self.digest.get_or_init(find).as_deref()
    }
}

fn of_file(path: &Path, opened: FileIdentity, digests: &Digests) -> Option<String> {
    let known = || lock(DIGESTS.of_this());
    if let Some((identity, digest)) = known().get(path)
        && *identity == opened
    {
        return Some(digest.clone());
    }
    let file = files::open_regular(path).ok()?;
    let is_opened = || file.metadata().is_ok_and(|now| FileIdentity::of(&now) == opened);
    // Also not changed while it is read.
    let digest = is_opened().then(|| digests.of(&file).ok())?.filter(|_| is_opened())?;
    known().insert(path.to_owned(), (opened, digest.clone()));
    Some(digest)
}

fn of_program() -> Option<String> {
    static PROGRAM: PerProcess<OnceLock<Option<String>>> = PerProcess::new(|_| OnceLock::new());
    let find = || {
        // The file of the running program, even if another file has its name by now.
        let running = Path::new("/proc/self/exe");
        let path = if running.exists() { running.to_owned() } else { std::env::current_exe().ok()? };
        files::sha256(&File::open(path).ok()?).ok()
    };
    PROGRAM.of_this().get_or_init(find).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CACHE-V1: the digest is that of the file as it was opened, once it was read, and none of
    /// what took its place before.
    #[test]
    fn a_digest_is_of_what_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        let origin = || {
            let identity = FileIdentity::of(&std::fs::metadata(&path).unwrap());
            let digests = Arc::new(Digests::of_process(false));
            Origin::of_library(&semver::Version::new(1, 0, 0), "", (&path, identity), &digests, None)
        };
        std::fs::write(&path, "one").unwrap();
        let (first, unread) = (origin(), origin());
        assert_eq!(first.digest(), Some(&*files::sha256_of_bytes(b"one")));
        std::fs::write(folder.path().join("new"), "two").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(first.digest(), unread.digest(), "read by this process before it was replaced");
        let second = origin();
        assert_eq!(second.digest(), Some(&*files::sha256_of_bytes(b"two")));
        std::fs::write(&path, "three").unwrap();
        let unread = origin();
        std::fs::write(&path, "eleven").unwrap();
        assert_eq!(unread.digest(), None, "changed in place before it was read");
        assert!(Origin::of_program().digest().is_some());
    }
}
