//! Built files: what a build left on the disk, read without running any of it, and opened as a
//! [`Module`](crate::Module).
//!
//! * **LIB-1 By its contents.** The first bytes of a file say what it is: `CHIPDOCK` is an
//!   artifact, `\x7fELF` a shared library, and a tar archive says so in its first header. Its name
//!   says nothing.
//! * **LIB-2 Read first.** Reading a file opens no plugin and runs no code of the file. Every
//!   offset, size, count and index in it is checked before it is used, and bounded; a file that is
//!   cut short or changed is a typed error, whatever its bytes.
//! * **LIB-3 Functions.** A function of a library is an exported symbol `__tvm_ffi_<name>` in
//!   executable memory; a name does not begin with `_`. A library of Chipdock also has
//!   `__chipdock_library`, whose index lists its functions with their types; one that the index
//!   lists and the library does not have makes the file damaged. Of other libraries the names are
//!   known, and nothing else.
//! * **LIB-4 Embedded modules.** `__tvm_ffi__library_bin` has a tree of modules, of which `_lib` is
//!   the library itself. It is acyclic, module 0 is its root, and every module hangs on it. Modules
//!   of kind `chipdock` are artifacts, and are loaded as [`Host::load`](crate::Host::load) loads
//!   imports; one of kind `chipdock.modules` stands for those that it imports. One of another kind
//!   is loaded by what others have registered for that kind with the libtvm_ffi of the process,
//!   `ffi.Module.load_from_bytes.<kind>`; that module finds its functions. Without such a loader,
//!   or when it fails, the module stays what it is, the functions of the library can be called, and
//!   asking for a function that nothing else has says which kind has no loader, or the loader's
//!   error.
//! * **LIB-5 Beside.** A library may name one artifact that lies in its folder, by file name and
//!   SHA-256; its imports are the library's. One that is missing or another file leaves the
//!   functions of the library usable; asking for what it has says why it was not taken.
//! * **LIB-6 A copy of its own.** A library is opened from a private copy, so that hosts, and
//!   whoever opened the file itself, each have variables of their own (X.5), and a file may be
//!   replaced while its code runs. Only a library of others that searches what it needs beside
//!   itself (`$ORIGIN`) is opened where it lies.
//! * **LIB-7 Environment.** `__chipdock_env` points to the module's environment before any function
//!   can be called. The library is closed when the last of its module and its functions is gone,
//!   then the environment is released (M.4). A library of others that has returned an object stays
//!   open: the object's code may be in it.
//! * **LIB-8 Called as by TVM-FFI.** Functions of libraries of others get null as their `self`.
//!   Those of Chipdock's do not read it (X.2), and are called without a step between.
//! * **LIB-9 TVM-FFI.** A library that needs libtvm_ffi (by name, by an undefined symbol, or by a
//!   variable that is to be filled in with a function of it) is opened with that of the process,
//!   else with the one that `CHIPDOCK_TVM_FFI` names, else with the one that the dynamic linker
//!   finds: never with a second one. Without one it is `Unavailable`, with what it needs. An error
//!   in libtvm_ffi's slot is moved to the host's. Functions among arguments and results are carried
//!   between host and libtvm_ffi (VALUE-F1 to VALUE-F3).
//! * **LIB-10 Archives.** An archive of what a library is linked from also has the artifact,
//!   `module.chipdock`, which is what is read and loaded. If that imports nothing, `modules.bin`
//!   has its imports, as a library embeds them (LIB-4). Other files are for a linker.
//! * **LIB-11 Its module.** A library of others that has `__tvm_ffi__library_ctx`, or embedded
//!   modules of other kinds, is also a module of libtvm_ffi's, where it needs libtvm_ffi or the
//!   process has one: libtvm_ffi opens the same copy, writes that variable, and gets as its imports
//!   the embedded modules of other kinds that were loaded (LIB-4). So
//!   `TVMFFIEnvModLookupFromImports` finds their functions, then the process's global ones, and
//!   raises for others. Its own functions are called as those of any library: LIB-6, LIB-7 and
//!   LIB-8 hold for it. In the copy the blob is hidden from libtvm_ffi, which would refuse the
//!   whole library for one kind without a loader. Two things do not work: an embedded artifact of
//!   Chipdock is found from outside, but not by that lookup; and a library that is opened where it
//!   lies (LIB-6), has modules of other kinds and asks for its module is refused.
//! * **LIB-12 TVM's run time.** `TVMBackendAllocWorkspace`, `…FreeWorkspace`, `…ParallelLaunch` and
//!   `…ParallelBarrier` lead to the host that calls: the variables `__TVMBackend…` are filled in,
//!   and undefined symbols of these names lead there, for this copy alone. No library and no scope
//!   of the process has the names. A library that asks for nothing else needs no libtvm_ffi. One
//!   that calls another function of TVM's run time by a symbol is `Unavailable`, and so is each
//!   that calls one of these where it is opened where it lies, or where the dynamic linker is not
//!   glibc of version 2.28 or later.
//! * **LIB-13 Streams.** Where the process has a libtvm_ffi, its environment says on which native
//!   stream a framework such as torch works on this thread:
//!   [`Device::tvm_stream`](crate::Device::tvm_stream) is that stream, and
//!   [`Stream::enter_tvm`](crate::Stream::enter_tvm) tells it ours. None is opened for that.

mod archive;
mod blob;
mod document;
mod file;
mod load;
mod own_copy;
#[cfg(test)]
mod tests;
mod tvm;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use object::elf;

pub(crate) use archive::{ARTIFACT as ARCHIVED_ARTIFACT, MODULES as ARCHIVED_MODULES};
pub use document::{Aside, LibraryDocument};
pub(crate) use file::{ENVIRONMENT, FUNCTION};
pub use file::{Embedded, LibraryFile};
pub(crate) use load::LibraryCode;
pub use tvm::ffi::{TvmFfi, TvmMethodInfo};
pub(crate) use tvm::module::TvmModule;
pub use tvm::side::{WithoutTvmFfi, tvm_table};
pub use tvm::stream::{TvmStream, tvm_env};

use crate::compile::artifact::{self, Artifact};
use crate::error::{Error, ErrorKind, Subject};
use crate::files;

/// Module kind of an embedded module that is an artifact (LIB-4).
pub const EMBEDDED_KIND: &str = "chipdock";
/// Module kind that stands for the library itself in its blob.
pub const LIBRARY_KIND: &str = "_lib";
/// Greatest size of a shared library that is read: that of an artifact's file, which it may have
/// inside.
const FILE_BYTES_MAX: u64 = artifact::FILE_BYTES_MAX;

/// The kind of a built file (LIB-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An artifact: index, sections and imports.
    Artifact,
    /// A shared library.
    Library,
    /// An archive of what a library is linked from.
    Archive,
}

impl FileKind {
    /// Returns the kind of a file that begins with these bytes; `None` for a file that no build
    /// left.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(artifact::MAGIC) {
            Some(Self::Artifact)
        } else if start.starts_with(&elf::ELFMAG) {
            Some(Self::Library)
        } else if archive::is_archive(start) {
            Some(Self::Archive)
        } else {
            None
        }
    }

    /// Returns the kind of a file, by its first bytes; `None` for one that no build left, and for
    /// one that cannot be read.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        use std::io::Read as _;
        let mut start = Vec::new();
        let file = files::open_regular(path).ok()?;
        file.take(archive::start_bytes() as u64).read_to_end(&mut start).ok()?;
        Self::of(&start)
    }
}

/// Contents of a built file.
#[derive(Debug)]
pub enum Contents {
    /// An artifact.
    Artifact(Arc<Artifact>),
    /// A shared library.
    Library(Box<LibraryFile>),
    /// The artifact of an archive (LIB-10).
    Archive(Arc<Artifact>),
}

impl Contents {
    /// Reads the bytes of a built file.
    ///
    /// # Errors
    ///
    /// As of [`BuiltFile::read`], but for those of the file system.
    pub fn read(bytes: Vec<u8>) -> Result<Self, Error> {
        match FileKind::of(&bytes) {
            Some(FileKind::Artifact) => Ok(Self::Artifact(Arc::new(Artifact::from_bytes(&bytes)?))),
            Some(FileKind::Library) => Ok(Self::Library(Box::new(LibraryFile::read(bytes)?))),
            Some(FileKind::Archive) => Ok(Self::Archive(Arc::new(archive::read(&bytes)?))),
            None => {
                let message = "it is no built file; expected an artifact, a shared library or an archive";
                Err(Error::new(ErrorKind::Value, message)
                    .hint("chipdock build makes them from a kernel file"))
            }
        }
    }
}

/// A built file that was read and checked; no code of it has run (LIB-2).
///
/// ```no_run
/// use chipdock_host::library::BuiltFile;
///
/// let file = BuiltFile::read("add.so".as_ref())?;
/// for function in &file.artifact().index().functions {
///     println!("{}: {}", function.name, function.args.join(", "));
/// }
/// # Ok::<(), chipdock_host::Error>(())
/// ```
#[derive(Debug)]
pub struct BuiltFile {
    path: PathBuf,
    size_bytes: u64,
    sha256: String,
    contents: Contents,
    /// The artifact beside it, once it was read.
    aside: OnceLock<Result<Option<Arc<Artifact>>, Error>>,
}

impl BuiltFile {
    /// Reads a built file.
    ///
    /// # Errors
    ///
    /// `IoError` when it cannot be read; `ValueError` when it is no regular file, no built file,
    /// larger than any, or not whole and unchanged; `Unsupported` for a library of a format or
    /// version that this host does not read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let at = |error: Error| error.at(path.display().to_string());
        let bytes = files::read_regular(path, FILE_BYTES_MAX)
            .map_err(|error| error.while_doing("cannot read the built file").about(Subject::NamedFile))?;
        let (size_bytes, sha256) = (bytes.len() as u64, files::sha256_of_bytes(&bytes));
        let contents = Contents::read(bytes).map_err(at)?;
        Ok(Self { path: path.to_owned(), size_bytes, sha256, contents, aside: OnceLock::new() })
    }

    /// Returns the path that it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the file in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the SHA-256 of the file, in hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns its contents.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Returns the artifact; for a library a description of it: index, target and the artifacts
    /// embedded in it, without sections, since its code is linked.
    #[must_use]
    pub fn artifact(&self) -> &Arc<Artifact> {
        match &self.contents {
            Contents::Artifact(artifact) | Contents::Archive(artifact) => artifact,
            Contents::Library(library) => library.artifact(),
        }
    }

    /// Returns the artifact that lies beside a library, which the first call reads; `None` where
    /// the library names none (LIB-5).
    ///
    /// # Errors
    ///
    /// `Unavailable` when it is missing; `ValueError` when it is another file than the one that the
    /// library was built with, or damaged.
    pub fn aside(&self) -> Result<Option<Arc<Artifact>>, Error> {
        let named = || match &self.contents {
            Contents::Library(library) => library.document()?.aside.as_ref(),
            Contents::Artifact(_) | Contents::Archive(_) => None,
        };
        self.aside.get_or_init(|| named().map(|aside| aside.read(&self.path)).transpose()).clone()
    }
}
