//! A folder that is reached by its descriptor, so that nobody can put another one in its place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::process::effective_user;

/// The permissions of others than the owner to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
/// The greatest depth of nested folders that are removed.
const DEPTH_MAX: usize = 16;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

fn mode(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

/// Returns true if two statuses are of the same file.
fn are_same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

/// Returns true if no stranger can put another folder at a path that contains no links: each folder
/// above it belongs to root or the user, and nobody else may write there, unless it is sticky.
pub(super) fn is_out_of_reach(path: &Path) -> bool {
    path.is_absolute()
        && path.ancestors().skip(1).all(|folder| {
            std::fs::symlink_metadata(folder).is_ok_and(|metadata| {
                let is_trusted = [0, effective_user()].contains(&metadata.uid());
                let is_open = metadata.mode() & WRITABLE_BY_OTHERS != 0 && metadata.mode() & STICKY == 0;
                metadata.is_dir() && is_trusted && !is_open
            })
        })
}

impl Folder {
    const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// Opens the folder at a path, following links.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, Self::FLAGS, Mode::empty())?))
    }

    /// Opens a folder in this one; a link is refused.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(&self.0, name, Self::FLAGS | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Makes a folder in this one, with no permissions for others.
    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?)
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Refuses a folder that belongs to another user, or that others may write.
    pub(super) fn examine(&self) -> io::Result<()> {
        let stat = rustix::fs::fstat(&self.0)?;
        if stat.st_uid != effective_user() {
            return Err(refused("the folder belongs to another user"));
        }
        if mode(&stat) & WRITABLE_BY_OTHERS != 0 {
            return Err(refused("others may write in the folder"));
        }
        Ok(())
    }

    /// Returns true if the folder is the user's, and others have no permission.
    pub(super) fn is_private(&self) -> bool {
        rustix::fs::fstat(&self.0)
            .is_ok_and(|stat| stat.st_uid == effective_user() && mode(&stat) & 0o077 == 0)
    }

    /// Takes every permission from others and gives all to the user, whatever the umask was.
    pub(super) fn make_private(&self) -> io::Result<()> {
        self.examine()?;
        rustix::fs::fchmod(&self.0, Mode::RWXU)?;
        if self.is_private() { Ok(()) } else { Err(refused("the permissions of the folder cannot be set")) }
    }

    /// Locks the folder for this process; returns false if another process holds the lock.
    pub(super) fn try_lock(&self) -> io::Result<bool> {
        match rustix::fs::flock(&self.0, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the identity of the folder: device and inode number.
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(&self.0)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Returns the status of an entry of this folder; a link is not followed.
    pub(super) fn status(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Returns true if the entry of that name in this folder is `folder`.
    pub(super) fn has(&self, name: &OsStr, folder: &Self) -> bool {
        let (named, held) = (self.status(name), rustix::fs::fstat(&folder.0));
        matches!((named, held), (Ok(named), Ok(held)) if are_same(&named, &held))
    }

    /// Creates a new file for writing, without permissions for others; an existing one is refused.
    pub(super) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&self.0, name, flags, mode)?;
        // The umask may have removed the user's own permissions.
        rustix::fs::fchmod(&file, mode)?;
        Ok(file.into())
    }

    /// Opens a file for reading: a regular file of the user's own that nobody else may write.
    pub(super) fn open(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(refused("expected a regular file"));
        }
        if stat.st_uid != effective_user() || mode(&stat) & WRITABLE_BY_OTHERS != 0 {
            return Err(refused("the file belongs to another user, or others may write it"));
        }
        Ok(file.into())
    }

    /// Returns the first bytes of a file, fewer if it is shorter; errors are as for [`Self::open`].
    pub(super) fn start_of(&self, name: &OsStr, size_bytes: usize) -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        self.open(name)?.take(size_bytes as u64).read_to_end(&mut start)?;
        Ok(start)
    }

    pub(super) fn begins_with(&self, name: &OsStr, start: &[u8]) -> bool {
        self.start_of(name, start.len()).is_ok_and(|found| found == start)
    }

    /// Returns true if a file begins with `start` or, if it is shorter, is a prefix of `start`.
    pub(super) fn is_start_of(&self, start: &[u8], name: &OsStr) -> bool {
        self.start_of(name, start.len()).is_ok_and(|found| start.starts_with(&found))
    }

    /// Returns true if the path leads to that file now.
    pub(super) fn leads_to(path: &Path, file: &File) -> bool {
        let (named, held) = (rustix::fs::stat(path), rustix::fs::fstat(file));
        matches!((named, held), (Ok(named), Ok(held)) if are_same(&named, &held))
    }

    /// Renames a file, replacing any file of the new name.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty folder in this one.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Lists the names in the folder, in no order.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    /// Removes everything in the folder; links are removed, not followed.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.clear_to(DEPTH_MAX)
    }

    fn clear_to(&self, depth: usize) -> io::Result<()> {
        for name in self.names()? {
            let is_folder = FileType::from_raw_mode(self.status(&name)?.st_mode) == FileType::Directory;
            if is_folder && depth > 0 {
                self.folder(&name)?.clear_to(depth - 1)?;
                self.remove_folder(&name)?;
            } else {
                self.remove_file(&name)?;
            }
        }
        Ok(())
    }
}
