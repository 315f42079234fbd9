//! Destinations of files: resolved and held before any plugin is opened, so that none can move them
//! (CLI-C5, CLI-C8).

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chipdock_host::files::advice_of_writing;
use chipdock_plugin_api::files::whole::Whole;
use rustix::fs::{Mode, OFlags, fchmod, fstat, open};

use crate::report::{Failure, Result};
use crate::{isolate, streams};

/// Greatest number of links of a path that are followed, the system's own limit.
const LINKS_MAX: usize = 40;

/// Flags by which a folder or a stream is held, without reading or writing it.
#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HELD: OFlags = OFlags::NONBLOCK;

/// A destination for a file. The folder is held open: a change of the current folder or a rename of
/// others does not move it.
#[derive(Debug)]
pub(crate) struct Destination {
    /// The path as the user wrote it.
    named: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A file of a folder, which may exist already.
    File { folder: OwnedFd, folder_identity: Identity, name: OsString, there: Option<There> },
    /// A pipe or a device, which must not be replaced by a rename.
    Stream { held: OwnedFd, path: PathBuf, identity: Identity },
    /// Standard output as it was when the command began.
    StandardOutput { identity: Option<Identity> },
}

/// The existing file at the destination.
#[derive(Clone, Copy, Debug)]
struct There {
    identity: Identity,
    mode: u32,
}

/// Identity of a file, whatever path leads to it; a device is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    File { device: u64, number: u64 },
    Device(u64),
}

impl Identity {
    fn from_metadata(metadata: &fs::Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            return Self::Device(metadata.rdev());
        }
        Self::File { device: metadata.dev(), number: metadata.ino() }
    }

    /// Returns true for `/dev/null`: writing there twice loses nothing.
    fn is_null(self) -> bool {
        fs::metadata("/dev/null").is_ok_and(|metadata| Self::from_metadata(&metadata) == self)
    }
}

impl Destination {
    /// Resolves a path now. A destination that passes may still fail later.
    ///
    /// # Errors
    ///
    /// Exit code 1 with the reason why no file could be written there, naming it.
    pub(crate) fn resolve(path: &Path) -> Result<Self> {
        let failed = |why: String| cannot_write(path, &why);
        if path.file_name().is_none() && path.is_dir() {
            return Err(failed("it is a folder".to_owned()));
        }
        let Some((folder, name)) = followed(path).map_err(failed)? else {
            let identity = streams::results().and_then(|file| file.metadata().ok());
            let kind = Kind::StandardOutput { identity: identity.as_ref().map(Identity::from_metadata) };
            return Ok(Self { named: path.to_owned(), kind });
        };
        let place = folder.join(&name);
        let mut there = None;
        if let Ok(metadata) = fs::metadata(&place) {
            let kind = metadata.file_type();
            if kind.is_dir() {
                return Err(failed("it is a folder".to_owned()));
            }
            if !kind.is_file() {
                return Self::stream(path, place, &metadata);
            }
            if metadata.permissions().readonly() {
                return Err(failed("it is read-only".to_owned()));
            }
            there =
                Some(There { identity: Identity::from_metadata(&metadata), mode: metadata.mode() & 0o777 });
        }
        let held = open(&folder, HELD | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let held = held.map_err(|error| match error {
            rustix::io::Errno::NOTDIR => failed(format!("{} is not a folder", folder.display())),
            error => {
                let error = io::Error::from(error);
                failed(format!("{}: {error}", folder.display())).help(advice_of_writing(&error))
            }
        })?;
        let stat = fstat(&held).map_err(|error| failed(io::Error::from(error).to_string()))?;
        let folder_identity = Identity::File { device: stat.st_dev, number: stat.st_ino };
        let kind = Kind::File { folder: held, folder_identity, name, there };
        Ok(Self { named: path.to_owned(), kind })
    }

    fn stream(named: &Path, path: PathBuf, metadata: &fs::Metadata) -> Result<Self> {
        let held = open(&path, HELD | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty());
        let held = held.map_err(|error| not_written(named, &error.into()))?;
        let kind = Kind::Stream { held, path, identity: Identity::from_metadata(metadata) };
        Ok(Self { named: named.to_owned(), kind })
    }

    /// Resolves several paths; each comes with a description of its content, for a person.
    ///
    /// # Errors
    ///
    /// As of [`Destination::resolve`]; exit code 2 when two lead to one file or stream, whatever
    /// names and links lead there.
    pub(crate) fn of_all<'a>(wanted: impl IntoIterator<Item = (String, &'a Path)>) -> Result<Vec<Self>> {
        let mut all: Vec<(String, Self)> = Vec::new();
        for (what, path) in wanted {
            let destination = Self::resolve(path)?;
            if let Some((other, twin)) = all.iter().find(|(_, twin)| twin.is_one_with(&destination)) {
                let what = format!(
                    "{other} and {what} go to one file: {} and {}",
                    twin.named.display(),
                    path.display()
                );
                return Err(Failure::input(what).help("give each a file of its own"));
            }
            all.push((what, destination));
        }
        Ok(all.into_iter().map(|(_, destination)| destination).collect())
    }

    /// Returns true if one of the two outputs would overwrite the other.
    fn is_one_with(&self, other: &Self) -> bool {
        if let (
            Kind::File { folder_identity: folder, name, .. },
            Kind::File { folder_identity: other_folder, name: other_name, .. },
        ) = (&self.kind, &other.kind)
            && (folder, name) == (other_folder, other_name)
        {
            return true;
        }
        match (self.identity(), other.identity()) {
            (Some(one), Some(other)) => one == other && !one.is_null(),
            _ => self.is_standard_output() && other.is_standard_output(),
        }
    }

    fn identity(&self) -> Option<Identity> {
        match &self.kind {
            Kind::File { there, .. } => there.map(|there| there.identity),
            Kind::Stream { identity, .. } => Some(*identity),
            Kind::StandardOutput { identity } => *identity,
        }
    }

    /// Returns true if it is the stream of results.
    pub(crate) fn is_standard_output(&self) -> bool {
        matches!(self.kind, Kind::StandardOutput { .. })
    }

    /// Writes a file without a name. [`commit`] puts it into its place.
    ///
    /// # Errors
    ///
    /// Exit code 1, naming the file; nothing is left behind.
    pub(crate) fn prepare(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Pending> {
        let failed = |error: io::Error| not_written(&self.named, &error);
        let mut write = Some(write);
        let mut once = |out: &mut dyn Write| write.take().map_or(Ok(()), |write| write(out));
        if let Some(handed_over) = isolate::hand_over(Some(&self.named), &mut once) {
            handed_over.map_err(failed)?;
            return Ok(Pending { named: self.named, content: Content::HandedOver });
        }
        let _now = Now::writing(&self.named);
        let mut write = once;
        let content = match self.kind {
            Kind::StandardOutput { .. } | Kind::Stream { .. } => {
                let mut bytes = Vec::new();
                write(&mut bytes).map_err(failed)?;
                match self.kind {
                    Kind::Stream { held, path, .. } => Content::Stream { held, path, bytes },
                    _ => Content::StandardOutput(bytes),
                }
            }
            Kind::File { folder, name, there, .. } => {
                let file = Whole::create(folder.as_fd(), &name, 0o666).map_err(failed)?;
                if let Some(there) = there {
                    let mode = Mode::from_raw_mode(there.mode);
                    fchmod(file.file(), mode).map_err(|error| failed(error.into()))?;
                }
                let mut buffered = io::BufWriter::with_capacity(1 << 16, file);
                write(&mut buffered).map_err(failed)?;
                Content::File(buffered.into_inner().map_err(|error| failed(error.into_error()))?)
            }
        };
        Ok(Pending { named: self.named, content })
    }
}

/// Returns the folder and the name to which a path leads, links of the last name included; `None`
/// for standard output.
fn followed(path: &Path) -> std::result::Result<Option<(PathBuf, OsString)>, String> {
    let no_name = || "it is not the name of a file".to_owned();
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") && !path.is_dir() {
        return Err(no_name());
    }
    let own = fs::canonicalize("/proc/self/fd").ok();
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let name = path.file_name().ok_or_else(no_name)?.to_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let folder = fs::canonicalize(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        let is_own = own.as_ref() == Some(&folder);
        if (is_own && name == "1") || (folder == Path::new("/dev") && name == "stdout") {
            return Ok(None);
        }
        let place = folder.join(&name);
        // The target of an open descriptor need not have a name.
        let is_open_stream = is_own && fs::metadata(&place).is_ok_and(|metadata| !metadata.is_file());
        match fs::read_link(&place) {
            Ok(target) if !is_open_stream => path = folder.join(target),
            _ => return Ok(Some((folder, name))),
        }
    }
    Err(format!("its links go on and on: more than {LINKS_MAX}"))
}

/// A written file that is not yet in its place. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Pending {
    named: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    File(Whole),
    Stream {
        held: OwnedFd,
        path: PathBuf,
        bytes: Vec<u8>,
    },
    StandardOutput(Vec<u8>),
    /// Handed over to the supervisor, which writes it.
    HandedOver,
}

/// Moves files into their places, once all of them are written.
///
/// # Errors
///
/// Exit code 1 with the first file that could not be moved; those before it are in place, those
/// after it are not.
pub(crate) fn commit(files: Vec<Pending>) -> Result<()> {
    streams::leave_if_forked();
    for Pending { named, content } in files {
        let _now = Now::writing(&named);
        match content {
            Content::HandedOver => {}
            Content::File(file) => file.place().map_err(|error| not_written(&named, &error))?,
            Content::Stream { held, path, bytes } => {
                match reopened(&held, &path).and_then(|mut stream| stream.write_all(&bytes)) {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        return Err(not_written(&named, &error));
                    }
                    _ => {}
                }
            }
            Content::StandardOutput(bytes) => streams::write_results(&bytes)?,
        }
    }
    Ok(())
}

/// The destination that [`commit`] writes at the moment.
static NOW: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Returns the destination that is written at the moment, on any thread.
pub(crate) fn now_writing() -> Option<PathBuf> {
    NOW.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Says that a destination is written, until it is dropped.
struct Now;

impl Now {
    fn writing(named: &Path) -> Self {
        *NOW.lock().unwrap_or_else(PoisonError::into_inner) = Some(named.to_owned());
        Self
    }
}

impl Drop for Now {
    fn drop(&mut self) {
        *NOW.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Opens a held pipe or device for writing. A pipe waits for its reader, as it does for every
/// program.
fn reopened(held: &OwnedFd, path: &Path) -> io::Result<File> {
    let by_descriptor = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    let path = if by_descriptor.exists() { &by_descriptor } else { path };
    Ok(File::from(open(path, OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?))
}

/// Writes one file, whole or not at all.
///
/// # Errors
///
/// As of [`Destination::prepare`] and [`commit`].
pub(crate) fn write_file(destination: Destination, bytes: &[u8]) -> Result<()> {
    commit(vec![destination.prepare(|out| out.write_all(bytes))?])
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::work(format!("cannot write: {why}"))
        .in_file(path)
        .help("name a file in a folder that exists and that you may write")
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    cannot_write(path, &error.to_string()).help(advice_of_writing(error))
}

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
