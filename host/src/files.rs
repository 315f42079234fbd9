//! Reads files that another user may have put there: regular files only, up to a stated bound.
//!
//! * **FILES-I1** A path that leads to a FIFO, a socket, a device or a folder is refused, with what
//!   was found. Nothing here waits: a FIFO without a writer does not hang the caller.
//! * **FILES-I2** The file that was checked is the file that is read: the decision is taken on the
//!   open descriptor, not on the path.
//! * **FILES-I3** No more than the bound is read, whatever size the file claims to have, also while
//!   it grows.

use std::fs::{File, FileType, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

pub(crate) use chipdock_plugin_api::files::identity::FileIdentity;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind};

/// Greatest size of a library that is read. A vendor's, with its compiler and debug information
/// inside, has up to a few GiB.
pub const LIBRARY_BYTES_MAX: u64 = 8 << 30;

/// Opens a file for reading when it is a regular file, following links: rules FILES-I1 and
/// FILES-I2.
///
/// # Errors
///
/// `IoError`, with the system's reason, when it cannot be examined or opened; `ValueError`, saying
/// what was found, when it is no regular file. The path is the error's place; a caller says what it
/// was reading by [`Error::while_doing`].
pub fn open_regular(path: &Path) -> Result<File, Error> {
    let io = |error: &std::io::Error| io_error(path, error);
    // Before it is opened: opening some devices has effects, and a socket cannot be opened at all.
    check_regular(path)?;
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| io(&error))?;
    // Once more, on the open file: the path may lead elsewhere by now.
    let metadata = file.metadata().map_err(|error| io(&error))?;
    only_regular(path, metadata.file_type())?;
    Ok(file)
}

/// Reads a regular file of at most `size_bytes_max` bytes: rules FILES-I1 to FILES-I3.
///
/// # Errors
///
/// As [`open_regular`]; `ValueError` when it is larger, with both sizes.
pub fn read_regular(path: &Path, size_bytes_max: u64) -> Result<Vec<u8>, Error> {
    let io = |error: &std::io::Error| io_error(path, error);
    let too_large = |size: String| {
        let message = format!("it has {size}; at most {} is read", bytes_text(size_bytes_max));
        Err(Error::new(ErrorKind::Value, message).at(path.display().to_string()))
    };
    let file = open_regular(path)?;
    let size_bytes = file.metadata().map_err(|error| io(&error))?.len();
    if size_bytes > size_bytes_max {
        return too_large(bytes_text(size_bytes));
    }
    let mut bytes = Vec::new();
    // The size is the file's word: one with holes in it costs nothing there.
    let room = bytes.try_reserve_exact(usize::try_from(size_bytes).unwrap_or_default());
    room.map_err(|_| io(&std::io::ErrorKind::OutOfMemory.into()))?;
    file.take(size_bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| io(&error))?;
    if bytes.len() as u64 > size_bytes_max {
        return too_large("more than it claims".to_owned());
    }
    Ok(bytes)
}

/// Reads a regular file as UTF-8 text, as [`read_regular`] does.
///
/// # Errors
///
/// As [`read_regular`]; `ValueError`, with the offset, for what is no UTF-8.
pub fn read_regular_text(path: &Path, size_bytes_max: u64) -> Result<String, Error> {
    String::from_utf8(read_regular(path, size_bytes_max)?).map_err(|error| {
        let message = format!("it is not text: {}", error.utf8_error());
        Error::new(ErrorKind::Value, message).at(path.display().to_string())
    })
}

/// Returns the SHA-256 of a whole open file, in lower-case hexadecimal. Leaves the file at its end.
///
/// # Errors
///
/// Those of reading.
pub(crate) fn sha256(mut file: &File) -> std::io::Result<String> {
    /// Large enough that the digest, not the system call, takes the time.
    const CHUNK_BYTES: usize = 1 << 18;
    file.seek(SeekFrom::Start(0))?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            count => digest.update(&chunk[..count]),
        }
    }
}

/// Returns the SHA-256 of bytes, in lower-case hexadecimal.
pub(crate) fn sha256_of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Checks, without opening it, that a path leads to a regular file, and reports why it does not.
///
/// # Errors
///
/// As [`open_regular`].
pub fn check_regular(path: &Path) -> Result<(), Error> {
    let metadata = std::fs::metadata(path).map_err(|error| io_error(path, &error))?;
    only_regular(path, metadata.file_type())
}

fn only_regular(path: &Path, found: FileType) -> Result<(), Error> {
    if found.is_file() {
        return Ok(());
    }
    let message = format!("it is {}; expected a regular file", type_text(found));
    Err(Error::new(ErrorKind::Value, message).at(path.display().to_string()))
}

fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string()).at(path.display().to_string())
}

fn type_text(found: FileType) -> &'static str {
    match found {
        _ if found.is_dir() => "a folder",
        _ if found.is_fifo() => "a FIFO",
        _ if found.is_socket() => "a socket",
        _ if found.is_char_device() => "a character device",
        _ if found.is_block_device() => "a block device",
        _ if found.is_symlink() => "a link",
        _ => "something else",
    }
}

/// Returns a number of bytes for a person: whole units, rounded up, so that a size over a bound
/// never reads as the bound.
fn bytes_text(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes.div_ceil(1 << 20)),
        _ => format!("{} GiB", bytes.div_ceil(1 << 30)),
    }
}

/// Returns what a user can do about a file that cannot be written.
#[must_use]
pub fn advice_of_writing(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind as Kind;
    match error.kind() {
        Kind::StorageFull => "free space on its file system, or name a file on another one",
        Kind::QuotaExceeded => "free space within your quota, or name a file on another file system",
        Kind::FileTooLarge => {
            "raise the greatest size of a file (ulimit -f), or name a file on another file system"
        }
        Kind::ReadOnlyFilesystem => "name a file on a file system that is not read-only",
        Kind::NotFound | Kind::NotADirectory | Kind::IsADirectory | Kind::PermissionDenied => {
            "name a file in a folder that exists and that you may write"
        }
        _ => "the system refused it; name another file",
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    const MAX: u64 = 1 << 10;

    fn fifo(path: &Path) {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a NUL-terminated path.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }

    #[test]
    fn files_i1_only_regular_files_are_read_others_are_named_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fifo(&at("fifo"));
        let _listener = UnixListener::bind(at("socket")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        symlink(at("fifo"), at("link-to-fifo")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        for (name, says) in [
            ("fifo", "it is a FIFO; expected a regular file"),
            ("link-to-fifo", "it is a FIFO; expected a regular file"),
            ("socket", "it is a socket; expected a regular file"),
            ("endless", "it is a character device; expected a regular file"),
            (".", "it is a folder; expected a regular file"),
            ("missing", "No such file"),
            ("loop", "symbolic links"),
        ] {
            let error = read_regular(&at(name), MAX).unwrap_err();
            assert!(error.message().contains(says), "{name}: {error}");
            assert_eq!(error.place(), at(name).display().to_string());
        }
    }

    #[test]
    fn files_i3_no_more_than_the_bound_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (size, good) in [(0, true), (MAX, true), (MAX + 1, false)] {
            std::fs::write(&path, vec![b'x'; usize::try_from(size).unwrap()]).unwrap();
            assert_eq!(read_regular(&path, MAX).is_ok(), good, "{size} bytes");
        }
        // Sparse: reading it whole would take minutes and all of the memory.
        File::create(&path).unwrap().set_len(3 << 40).unwrap();
        let error = read_regular(&path, MAX).unwrap_err();
        assert_eq!(error.message(), "it has 3072 GiB; at most 1 KiB is read");
        assert_eq!(*error.kind(), ErrorKind::Value);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_i3_a_file_that_claims_to_be_empty_is_bounded_too() {
        let error = read_regular(Path::new("/proc/self/maps"), 100).unwrap_err();
        assert_eq!(error.message(), "it has more than it claims; at most 100 bytes is read");
    }

    #[test]
    fn a_file_is_told_from_its_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let identity = || FileIdentity::of(&std::fs::metadata(&path).unwrap());
        std::fs::write(&path, "one").unwrap();
        let first = identity();
        assert!(first.has_content_of(&identity()));
        std::fs::hard_link(&path, folder.path().join("other")).unwrap();
        assert!(first.has_content_of(&identity()), "another name changes no content");
        std::fs::write(folder.path().join("new"), "two").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert!(!first.has_content_of(&identity()));
    }

    #[test]
    fn a_digest_is_that_of_the_whole_file() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, b"abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&file).unwrap(), expected);
        assert_eq!(sha256_of_bytes(b"abc"), expected);
    }
}
