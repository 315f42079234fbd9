//! Export: what was compiled, as a library that other programs load without Chipdock.
//!
//! # The library
//!
//! * **EXPORT-X1 Functions.** Each function of the artifact is a symbol `__tvm_ffi_<name>`, as
//!   TVM-FFI calls it. An artifact of one function also has `__tvm_ffi_main`, the same function.
//!   `__tvm_ffi__metadata_<name>` answers its type schema, and `__tvm_ffi__doc_<name>` its
//!   signature for a person.
//! * **EXPORT-X2 Nothing else.** Every other symbol is local, but for `__chipdock_env` (X.3),
//!   `__chipdock_library` and those of TVM-FFI's loader. The library needs the C library alone,
//!   names no path of this machine, and has no symbol of TVM-FFI's. The same artifact and the same
//!   tools give the same bytes.
//! * **EXPORT-X3 Description.** `__chipdock_library` is a size (eight bytes, little-endian) and a
//!   JSON document of that size ([`LibraryDocument`](crate::library::LibraryDocument)): the index
//!   and the target of the artifact, the signatures of its functions, and where its device code is.
//! * **EXPORT-X4 Device code.** [`DeviceCode::Embedded`]: `__tvm_ffi__library_bin` is TVM-FFI's
//!   import tree, whose root is the library; each imported artifact is a child of kind
//!   [`EMBEDDED_KIND`](crate::library::EMBEDDED_KIND). Where one of them imports others, one child
//!   has all of them, each once. TVM-FFI refuses a library with a kind that nobody loads, so
//!   [`DeviceCode::Aside`] writes no tree, and the whole artifact to a file beside the library.
//! * **EXPORT-X5 Whole.** Each file is written whole or not at all, under its name only when it is
//!   whole: a library that is in use keeps its old file.
//! * **EXPORT-X6 Another machine.** A library is linked for the machine of its object, by a
//!   compiler for that machine; where there is none the error names those that were tried. An
//!   archive has everything that the linking takes, and a `Makefile`. The run time is compiled from
//!   its text, but for this machine, where this host has it compiled: where that links, and the
//!   compiler was named without arguments, it is taken.
//! * **EXPORT-X7 Linker.** For this machine if it is x86-64, where nobody names a compiler, the
//!   linker `ld` links without one: the object that joins kernels and run time is written here. It
//!   is taken if it is in the folder of the compiler that would be taken, and no variable has
//!   compilers choose others. Where it does not link, the compiler does, and its error is the one
//!   that is said. The library is the same, but for a compiler's own start files, which it does not
//!   need.
//!
//! # Its run time
//!
//! * **EXPORT-R1 Environment.** When it is loaded, `__chipdock_env` points to an environment of its
//!   own. A Chipdock host sets the variable of its private copy (X.5) before anything is called.
//! * **EXPORT-R2 TVM-FFI.** Errors, streams and imported functions go through TVM-FFI's functions,
//!   which are looked up in the process by name, at each use until they are there. Nothing is
//!   linked to it.
//! * **EXPORT-R3 Errors.** An error has its kind, message and place, the place as a frame of a
//!   traceback; `OutOfMemory` is `MemoryError` there.
//! * **EXPORT-R4 Threads.** A parallel loop runs on as many threads as the process may use
//!   processors (affinity and quota of the control group), or as the variable `CHIPDOCK_THREADS`
//!   says if it is a number from 1. They start at the first parallel loop, block all signals, and
//!   pin the library in memory: without them it can be unloaded.
//! * **EXPORT-R5 Tasks.** Each task runs once, with the caller's floating-point mode; the caller
//!   runs tasks itself and waits for no thread to wake up. A region within a task, one that finds
//!   the threads taken, and one in a forked child is one task.
//! * **EXPORT-R6 Failures.** The failure of the lowest task is the caller's, moved to its thread;
//!   tasks above it that have not begun do not begin.
//! * **EXPORT-R7 Workspace** is memory of the C library, of 64-byte alignment. Workspace and
//!   functions of devices need a host: `Unavailable` says so.
//! * **EXPORT-R8 Processor.** Where the object names extensions that it may use (M.20), its
//!   functions are behind entries, and one that this processor lacks makes every call
//!   `Unsupported`, with its name, in whatever program. Nothing of the object runs.

mod archive;
mod blob;
mod direct;
mod entries;
mod glue;
mod joint;
mod link;
mod object;
mod options;
mod parts;

use std::path::Path;

use crate::compile::artifact::{Artifact, write_whole};
use crate::error::Error;
use crate::host::Host;
use crate::runtime::Module;
pub use options::{DeviceCode, ExportOptions};
use parts::Parts;

/// A library that was made and not written yet.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The library, or the archive.
    pub library: Vec<u8>,
    /// The file beside it, with its name; only for [`DeviceCode::Aside`] and an artifact with
    /// device code.
    pub aside: Option<(String, Vec<u8>)>,
}

impl Exported {
    /// Writes the library to `path`, and the file beside it, if any, to the same folder
    /// (EXPORT-X5).
    ///
    /// # Errors
    ///
    /// `IoError`; files that were there are as they were, but for the one beside the library, which
    /// is written first.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        if let Some((name, bytes)) = &self.aside {
            write_whole(&path.with_file_name(name), bytes)?;
        }
        write_whole(path, &self.library)
    }
}

impl Host {
    /// Links an artifact of host code into a shared library; `name` is the file's name, for the
    /// file beside it.
    ///
    /// # Errors
    ///
    /// * `Unavailable`: no plugin for its module kind, no C compiler for its machine, or a tool of
    ///   the plugin is missing.
    /// * `Unsupported`: the plugin makes no objects of that kind ([`Host::object`]), or the object
    ///   is not for Linux.
    /// * `ValueError`: the code calls a C function that the C library does not have.
    ///
    /// Nothing is left behind.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use chipdock_host::{CompileOptions, ExportOptions, Host, HostOptions};
    ///
    /// let text = std::fs::read_to_string("examples/kernels/vector_add.py")?;
    /// let module = chipdock_script::parse(&text, "vector_add.py")?;
    /// let host = Host::new(HostOptions::default())?;
    /// let compiled = host.compile(&module, &host.default_host()?, &CompileOptions::default())?;
    /// let library = host.export_library(&compiled.artifact, "add.so", &ExportOptions::default())?;
    /// library.save("add.so".as_ref())?; // in Python: tvm_ffi.load_module("add.so").vector_add(a, b, c)
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export_library(
        &self,
        artifact: &Artifact,
        name: &str,
        options: &ExportOptions,
    ) -> Result<Exported, Error> {
        self.export(artifact, name, options, |parts| link::library(self, parts, options))
    }

    /// Packs an artifact of host code with everything that linking it takes, for another machine: a
    /// tar archive with the object, the text of the run time, and a `Makefile` (EXPORT-X6).
    ///
    /// # Errors
    ///
    /// As [`Self::export_library`], but for those of the linking.
    pub fn export_archive(
        &self,
        artifact: &Artifact,
        name: &str,
        options: &ExportOptions,
    ) -> Result<Exported, Error> {
        self.export(artifact, name, options, |parts| archive::pack(artifact, parts))
    }

    fn export(
        &self,
        artifact: &Artifact,
        name: &str,
        options: &ExportOptions,
        made: impl FnOnce(&Parts) -> Result<Vec<u8>, Error>,
    ) -> Result<Exported, Error> {
        self.0.services.check_process()?;
        let _span = tracing::info_span!("export").entered();
        let (parts, aside) = Parts::of(self, artifact, name, options)?;
        Ok(Exported { library: made(&parts)?, aside })
    }
}

impl Module {
    /// Links the module into a shared library at `path`, which other programs load without
    /// Chipdock.
    ///
    /// # Errors
    ///
    /// As [`Host::export_library`], and `IoError` where the file cannot be written.
    pub fn export_library(&self, path: &Path, options: &ExportOptions) -> Result<(), Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.host().export_library(self.artifact(), &name, options)?.save(path)
    }
}
