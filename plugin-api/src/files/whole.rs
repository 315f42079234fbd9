//! A file that comes into its place whole, or not at all.
//!
//! - **WHOLE-W1** *Nothing is left.* Until it is placed, the file has no name where the file system
//!   has such files, so that whatever ends the process, the kernel removes it. Elsewhere it has a
//!   name of the form of WHOLE-W3, and a program that a signal ends removes it by
//!   [`remove_unplaced`].
//! - **WHOLE-W2** *Whole.* A path leads to the file that was there before or to the new one, whole,
//!   at each moment. What is replaced is the entry of the folder: a link is replaced, not followed.
//! - **WHOLE-W3** *Names for a moment.* A file that replaces another has the name `.chipdock-` and
//!   16 digits between two calls of the system. The digits are those of the name that it is to
//!   have: of a process that was killed in between, the next that writes a file of that name
//!   removes what is left. A file that a living process writes is locked, and is not removed.

use std::collections::hash_map::{DefaultHasher, RandomState};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::io::{self, Write};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::process::effective_user;

const PREFIX: &[u8; 10] = b".chipdock-";
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
/// Number of names that are tried.
const NAMES_MAX: u32 = 100;

/// Flags by which a folder is held: nothing of it is read.
#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HELD: OFlags = OFlags::RDONLY;

/// A file that is written, and not yet in its place. Dropped, it is gone.
#[derive(Debug)]
pub struct Whole {
    folder: OwnedFd,
    name: OsString,
    file: File,
    /// Its name until it is in its place, where it has one.
    temporary: Option<Temporary>,
}

/// A name that a file has for a moment. Dropped, the file is gone, unless it was renamed.
#[derive(Debug)]
struct Temporary {
    name: OsString,
    folder: OwnedFd,
    /// Its place in [`UNPLACED`].
    slot: Option<&'static Slot>,
    is_there: bool,
}

/// A name that [`remove_unplaced`] removes.
#[derive(Debug)]
struct Slot {
    state: AtomicU8,
    folder: AtomicI32,
    digits: AtomicU64,
}

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const SET: u8 = 2;

/// Files with a name that are not in their places yet. More than these are not known to
/// [`remove_unplaced`].
static UNPLACED: [Slot; 16] =
    [const { Slot { state: AtomicU8::new(FREE), folder: AtomicI32::new(-1), digits: AtomicU64::new(0) } };
        16];

impl Temporary {
    fn new(folder: OwnedFd, digits: u64) -> Self {
        let take = |slot: &&Slot| {
            slot.state.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let slot = UNPLACED.iter().find(take);
        if let Some(slot) = slot {
            slot.folder.store(folder.as_raw_fd(), Ordering::Relaxed);
            slot.digits.store(digits, Ordering::Relaxed);
            slot.state.store(SET, Ordering::Release);
        }
        Self { name: OsStr::from_bytes(&spelt(digits)).to_owned(), folder, slot, is_there: true }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Renamed, it may be another process' already.
        if self.is_there {
            let _ = rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
        if let Some(slot) = self.slot {
            slot.state.store(FREE, Ordering::Release);
        }
    }
}

/// Removes the names of files that are not in their places yet; the files cannot be placed any
/// more. For a program that ends now, also in the handler of a signal: it neither allocates nor
/// locks.
pub fn remove_unplaced() {
    for slot in UNPLACED.iter().filter(|slot| slot.state.load(Ordering::Acquire) == SET) {
        // SAFETY: open as long as the slot is set; at worst, with a thread that goes on, it is
        // another one's and has no such name.
        let folder = unsafe { BorrowedFd::borrow_raw(slot.folder.load(Ordering::Relaxed)) };
        let name = spelt(slot.digits.load(Ordering::Relaxed));
        let _ = rustix::fs::unlinkat(folder, OsStr::from_bytes(&name), AtFlags::empty());
    }
}

impl Whole {
    /// Begins a file of that name in an open folder; the umask takes away from its mode.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn create(folder: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<Self> {
        let folder = folder.try_clone_to_owned()?;
        if let Some(file) = unnamed(&folder, mode)? {
            lock(&file);
            return Ok(Self { folder, name: name.to_owned(), file, temporary: None });
        }
        Self::create_named(folder, name, mode)
    }

    /// Begins a file at a path.
    ///
    /// # Errors
    ///
    /// As of [`Self::create`], and those of opening the folder.
    pub fn at(path: &Path, mode: u32) -> io::Result<Self> {
        let name = path.file_name().ok_or(Errno::ISDIR)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = rustix::fs::open(folder, HELD | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Self::create(folder.as_fd(), name, mode)
    }

    /// As [`Self::create`], where the system has no files without a name.
    fn create_named(folder: OwnedFd, name: &OsStr, mode: u32) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (digits, file) = with_name(&folder, name, |temporary| {
            let file = rustix::fs::openat(&folder, temporary, flags, Mode::from_raw_mode(mode))?;
            lock(&file);
            // Another process may have taken it for a left one before it was locked.
            let stat = rustix::fs::fstat(&file)?;
            if stat.st_nlink == 0 { Err(Errno::EXIST) } else { Ok(File::from(file)) }
        })?;
        let temporary = Temporary::new(folder.try_clone()?, digits);
        Ok(Self { folder, name: name.to_owned(), file, temporary: Some(temporary) })
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Puts the file into its place, in place of one that is there (WHOLE-W2).
    ///
    /// # Errors
    ///
    /// The system's error; what was there is there.
    pub fn place(mut self) -> io::Result<()> {
        if self.temporary.is_none() {
            match link(&self.file, &self.folder, &self.name) {
                Err(Errno::EXIST) => {}
                linked => return Ok(linked?),
            }
            let folder = self.folder.try_clone()?;
            let (digits, ()) =
                with_name(&self.folder, &self.name, |temporary| link(&self.file, &self.folder, temporary))?;
            self.temporary = Some(Temporary::new(folder, digits));
        }
        if let Some(temporary) = &mut self.temporary {
            rustix::fs::renameat(&self.folder, &temporary.name, &self.folder, &self.name)?;
            temporary.is_there = false;
        }
        Ok(())
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Makes a file without a name; `None` where the system, or that of the folder, has none, or could
/// not name it later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &OwnedFd, mode: u32) -> io::Result<Option<File>> {
    if !Path::new("/proc/self/fd").exists() {
        return Ok(None);
    }
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, ".", flags, Mode::from_raw_mode(mode)) {
        Ok(file) => Ok(Some(file.into())),
        // The last three: systems that do not know the flag take it for a folder to be opened.
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &OwnedFd, _mode: u32) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a file without a name one that is free.
fn link(file: &File, folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(rustix::fs::CWD, by_descriptor, folder, name, AtFlags::SYMLINK_FOLLOW)
}

/// Marks a file as one that a living process writes.
fn lock(file: impl std::os::fd::AsFd) {
    // A file system without locks has no left files removed, either.
    let _ = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Calls `take` with names until one is free: first that of WHOLE-W3, then random ones. Returns its
/// digits.
fn with_name<T>(
    folder: &OwnedFd,
    name: &OsStr,
    mut take: impl FnMut(&OsStr) -> rustix::io::Result<T>,
) -> io::Result<(u64, T)> {
    let own = own_digits(name);
    let mut is_cleared = false;
    for attempt in 0..NAMES_MAX {
        let is_own = attempt == 0 || is_cleared;
        let digits = if is_own { own } else { RandomState::new().hash_one(attempt) };
        let bytes = spelt(digits);
        let temporary = OsStr::from_bytes(&bytes);
        match take(temporary) {
            Ok(taken) => return Ok((digits, taken)),
            Err(Errno::EXIST) => is_cleared = attempt == 0 && remove_left(folder, temporary),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no name is free beside it"))
}

/// Returns the digits of WHOLE-W3, the same in every process of this version.
fn own_digits(name: &OsStr) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Returns the name with these digits.
fn spelt(digits: u64) -> [u8; PREFIX.len() + 16] {
    let mut name = [b'0'; PREFIX.len() + 16];
    let (prefix, rest) = name.split_at_mut(PREFIX.len());
    prefix.copy_from_slice(PREFIX);
    for (at, digit) in rest.iter_mut().enumerate() {
        let nibble = (digits >> (60 - 4 * at)) & 15;
        *digit = HEXADECIMAL.get(usize::try_from(nibble).unwrap_or_default()).copied().unwrap_or(b'0');
    }
    name
}

/// Removes a file of this user's that no living process writes; returns whether the name is free
/// now.
fn remove_left(folder: &OwnedFd, name: &OsStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return false };
    let is_own = rustix::fs::fstat(&file).is_ok_and(|stat| {
        stat.st_uid == effective_user() && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
    });
    is_own
        && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        && rustix::fs::unlinkat(folder, name, AtFlags::empty()).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// One test removes the names of all.
    static ALONE: Mutex<()> = Mutex::new(());

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn begin(path: &Path, is_named: bool) -> Whole {
        let mut whole = Whole::at(path, 0o640).unwrap();
        if is_named {
            whole = Whole::create_named(whole.folder.try_clone().unwrap(), &whole.name, 0o640).unwrap();
        }
        whole
    }

    /// WHOLE-W1, WHOLE-W2: new and in place of a file or a link, with files that have no name and
    /// with those that have.
    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        for is_named in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            let mut whole = begin(&path, is_named);
            whole.write_all(b"half").unwrap();
            assert_eq!(names(folder.path()).len(), usize::from(whole.temporary.is_some()));
            assert_eq!(whole.temporary.is_some(), is_named, "this system has files without a name");
            drop(whole);
            assert!(names(folder.path()).is_empty());
            for content in ["one", "two"] {
                let mut whole = begin(&path, is_named);
                whole.write_all(content.as_bytes()).unwrap();
                whole.place().unwrap();
                assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
                assert_eq!(names(folder.path()), ["out"]);
                assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
            }
            let other = folder.path().join("link");
            symlink("out", &other).unwrap();
            begin(&other, is_named).place().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
            assert_eq!(names(folder.path()), ["link", "out"]);
        }
    }

    /// WHOLE-W3: a killed process' file is removed, a living one's and a stranger's are not.
    #[test]
    fn a_left_file_is_removed() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        for is_named in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            std::fs::write(&path, "before").unwrap();
            let left = OsStr::from_bytes(&spelt(own_digits(OsStr::new("out")))).to_owned();
            std::fs::write(folder.path().join(&left), "half").unwrap();
            begin(&path, is_named).place().unwrap();
            assert_eq!(names(folder.path()), ["out"]);

            let living = begin(&path, true);
            assert_eq!(living.temporary.as_ref().map(|temporary| &temporary.name), Some(&left));
            begin(&path, is_named).place().unwrap();
            assert_eq!(names(folder.path()), [left.as_os_str(), OsStr::new("out")]);
            living.place().unwrap();
            assert_eq!(names(folder.path()), ["out"]);

            symlink("out", folder.path().join(&left)).unwrap();
            begin(&path, is_named).place().unwrap();
            assert_eq!(names(folder.path()), [left.as_os_str(), OsStr::new("out")]);
        }
    }

    /// WHOLE-W1.
    #[test]
    fn a_program_that_ends_removes_names() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (begin(&folder.path().join("one"), true), begin(&folder.path().join("two"), true));
        let kept: Vec<_> = [&one, &two].iter().map(|whole| whole.temporary.as_ref().unwrap().slot).collect();
        assert!(kept.iter().all(Option::is_some));
        assert_eq!(names(folder.path()).len(), 2);
        drop(two);
        assert_eq!(names(folder.path()).len(), 1);
        remove_unplaced();
        assert!(names(folder.path()).is_empty());
        assert_eq!(one.place().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(spelt(0x0123_4567_89ab_cdef), *b".chipdock-0123456789abcdef");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Whole::at(&folder.path().join("none/out"), 0o666).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(Whole::at(Path::new("/"), 0o666).is_err());
    }
}
