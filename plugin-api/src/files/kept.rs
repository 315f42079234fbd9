//! Lists and clears caches, of any kind, by the rules of [`cache`](super::cache), KEPT-K2, KEPT-K3
//! and KEPT-K5.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cache::{DIGEST_BYTES, FileKind, TAG, form, is_cache_name, kept, start_of, tag_of};
use super::folder::{Folder, is_out_of_reach};

/// An existing cache: a folder that is the user's alone, with the mark of a cache of Chipdock's.
#[derive(Debug)]
pub struct KeptCache {
    name: String,
    path: PathBuf,
    folder: Folder,
}

/// A file of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// The file's name in the cache's folder.
    pub name: OsString,
    /// The file's size.
    pub size_bytes: u64,
    /// Time of the last use, exact to ten minutes (KEPT-K6).
    pub used: SystemTime,
}

/// The number and size of removed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Number of removed files.
    pub files: u64,
    /// Total size of the removed files.
    pub size_bytes: u64,
    /// Number of files of the cache that could not be removed.
    pub left: u64,
}

/// Lists every cache in a folder of caches, by name.
#[must_use]
pub fn all_in(root: &Path) -> Vec<KeptCache> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let names = Folder::at(&root).and_then(|folder| folder.names()).unwrap_or_default();
    let mut caches: Vec<KeptCache> = names.iter().filter_map(|name| one(&root, name)).collect();
    caches.sort_by(|a, b| a.name.cmp(&b.name));
    caches
}

fn one(root: &Path, name: &OsStr) -> Option<KeptCache> {
    let path = root.join(name);
    let name = name.to_str().filter(|name| is_cache_name(name))?;
    let folder = Folder::at(root).and_then(|parent| parent.folder(name.as_ref())).ok()?;
    let is_used = is_out_of_reach(&path) && folder.examine().is_ok();
    let is_marked = is_used && folder.begins_with(TAG.as_ref(), tag_of(name).as_bytes());
    is_marked.then(|| KeptCache { name: name.to_owned(), path, folder })
}

impl KeptCache {
    /// Returns the cache's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the cache's folder; for messages, not for opening files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the cache's files, the most recently used first. Whether a file is intact is checked
    /// only when it is read.
    #[must_use]
    pub fn files(&self) -> Vec<KeptFile> {
        let names = self.folder.names().unwrap_or_default().into_iter();
        let named = names.filter(|name| matches!(form(name), FileKind::Kept));
        let mut files: Vec<_> = named.filter_map(|name| kept(&self.folder, name)).collect();
        files.retain(|file| self.folder.begins_with(&file.name, &start_of(&self.name)));
        files.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        let file = |kept: super::cache::Kept| KeptFile {
            name: kept.name,
            size_bytes: kept.size_bytes,
            used: kept.used,
        };
        files.into_iter().map(file).collect()
    }

    /// Returns the version of a file of the cache, and at most so many of the first bytes of its
    /// content, for lists. The digest is not checked.
    #[must_use]
    pub fn head(&self, name: &OsStr, size_bytes_max: usize) -> Option<(u32, Vec<u8>)> {
        let start = start_of(&self.name);
        let before = start.len() + size_of::<u32>() + DIGEST_BYTES;
        let found = self.folder.start_of(name, before.saturating_add(size_bytes_max)).ok()?;
        let (version, rest) = found.strip_prefix(&start[..])?.split_first_chunk()?;
        Some((u32::from_le_bytes(*version), rest.get(DIGEST_BYTES..)?.to_vec()))
    }

    /// Removes every file of the cache, including those that are being written, and no other
    /// (KEPT-K5).
    #[must_use]
    pub fn clear(&self) -> Cleared {
        let start = start_of(&self.name);
        let mut cleared = Cleared::default();
        for name in self.folder.names().unwrap_or_default() {
            let is_ours = match form(&name) {
                FileKind::Kept => self.folder.begins_with(&name, &start),
                FileKind::Temporary => self.folder.is_start_of(&start, &name),
                FileKind::TemporaryTag | FileKind::Foreign => false,
            };
            let Some(file) = kept(&self.folder, name).filter(|_| is_ours) else { continue };
            if self.folder.remove_file(&file.name).is_ok() {
                cleared.files += 1;
                cleared.size_bytes += file.size_bytes;
            } else if self.folder.status(&file.name).is_ok() {
                cleared.left += 1;
            }
        }
        cleared
    }
}
