//! The compile cache: results of code generators, kept as files for the next build and the next
//! process.
//!
//! Folder, files, permissions and the order of removal are rules KEPT-K1 to KEPT-K8 of
//! [`chipdock_plugin_api::files::cache`]. Beyond them:
//!
//! `lookup` decides by CACHE-V1 to CACHE-V5 whether a kept build is taken, `build` keeps CACHE-V7,
//! `plan` CACHE-V8; here are the folder, the digest of a key and the bytes of an entry.
//!
//! * **CACHE-V1 Key.** A build is found again when everything that its bytes depend on is
//!   unchanged: this host's version and ABI; the plugin's name, version, `build_id` and the SHA-256
//!   of its library as it was opened; the fingerprint (C.35); target and options; and the SHA-256
//!   of the module as the code generator receives it, with positions and the name of its file.
//! * **CACHE-V2 Not kept.** A build is not kept where the fingerprint is None, empty or unavailable
//!   (C.37), or differs before and after the build; where the library on the disk is not the one
//!   that runs; or where the build failed or was cancelled.
//! * **CACHE-V3 Whole.** Index, sections and all messages of the code generator short of a failure
//!   are kept, so that a hit reports what the build did. An entry that is read is checked as a
//!   delivery is (HOST-A8). One that does not pass is built anew and replaced.
//! * **CACHE-V4 Veto.** Where [`CompileOptions::device`] names the device that the code is for, its
//!   loader is asked (`check`) before the build is taken from the cache: for that device, or for
//!   host memory where it is code of the host. Any verdict but [`Ok`](crate::Verdict::Ok) means
//!   that it is built anew and replaced, once; without a loader there is no veto.
//! * **CACHE-V5 Nobody's error.** No failure of the cache fails a build. A cache that cannot keep
//!   builds is a warning, once for each [`CompileCache`]; each hit and miss is a debug line of the
//!   log, with the key.
//! * **CACHE-V6 Asked for.** A program's builds are kept when it asks for it
//!   ([`CompileOptions::cache`]); the command's are, unless `--no-cache` is given.
//!   `CHIPDOCK_CACHE_SIZE` sets how many bytes may be kept: a number, or one followed by `K`, `M`
//!   or `G`; the default is 1 GiB, and 0 keeps nothing.
//! * **CACHE-V7 Given up.** A build that is cancelled by the time that it is found returns
//!   `Cancelled`, as one that is built does.
//! * **CACHE-V8 Lowered once.** Where a build may be kept, a host remembers the modules that it
//!   lowered last, within bounds of number and bytes, so that a hit neither lowers nor writes the
//!   module. It takes a lowered module again where nothing distinguishes the modules (names, order,
//!   the place of every node: rule WIRE-W9 of the IR's wire format), target, schedule and the
//!   file's name are the same, and so is everything that lowering took from the host: each target's
//!   capabilities, the targets of host functions, the version of the wire format. This is memory of
//!   one host, which no other process sees; whether a build exists for a lowered module is decided
//!   by CACHE-V1 to CACHE-V4.
//!
//! [`CompileOptions::device`]: crate::CompileOptions::device
//! [`CompileOptions::cache`]: crate::CompileOptions::cache

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chipdock_ir::{Diagnostic, Span};
use chipdock_plugin_api::files::cache::{Cache, Key, Kind, folder_of_process};
use chipdock_plugin_api::files::kept::KeptCache;
use chipdock_plugin_api::process::variable;
use serde::{Deserialize, Serialize};

use crate::boundary::session::{BuildMessage, Severity};
use crate::compile::artifact::{Artifact, ArtifactIndex, Section, reserved};
use crate::error::{Error, ErrorKind, Subject};
use crate::host::Host;
use crate::log::LogLevel;

/// Name of the compile cache, and of its folder among those of other caches.
pub const COMPILE_CACHE: &str = "compile";
/// Kind and version of the cache's files: a change of their content, or of the parts of the key, is
/// another version.
const KIND: Kind = Kind { name: COMPILE_CACHE, version: 2 };
/// Default bound on the kept builds, in bytes.
const SIZE_BYTES_MAX: u64 = 1 << 30;
/// Variable that sets the bound (CACHE-V6).
const SIZE: &str = "CHIPDOCK_CACHE_SIZE";
/// Greatest size of a build's head: an index, and the diagnostics of one build.
const HEAD_BYTES_MAX: usize = 64 << 20;

/// The folder in which builds are kept: rules CACHE-V1 to CACHE-V8. Any number of threads and
/// processes may use one at once.
///
/// ```
/// use std::sync::Arc;
/// use chipdock_host::{CompileCache, CompileOptions};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("kernels");
/// // A folder of the program's own; `CompileCache::of_process()` is the one of the command.
/// let cache = CompileCache::at(&path, 64 << 20)?;
/// let options = CompileOptions { cache: Some(Arc::new(cache)), ..CompileOptions::default() };
/// # assert!(options.cache.is_some());
/// # Ok::<(), chipdock_host::Error>(())
/// ```
#[derive(Debug)]
pub struct CompileCache {
    cache: Cache,
    folder: PathBuf,
    was_told: AtomicBool,
}

impl CompileCache {
    /// Opens the compile cache of this user: `compile` in `CHIPDOCK_CACHE_DIR`, else in
    /// `$XDG_CACHE_HOME/chipdock`, else in `$HOME/.cache/chipdock`. None where it is switched off
    /// (by `CHIPDOCK_CACHE_DIR` or `CHIPDOCK_CACHE_SIZE`), where there is no such folder, and with
    /// raised privileges.
    ///
    /// # Errors
    ///
    /// `ValueError` for a malformed `CHIPDOCK_CACHE_SIZE`; otherwise as [`Self::at`].
    pub fn of_process() -> Result<Option<Self>, Error> {
        let size_bytes_max = Self::size_bytes_max_of_process()?;
        match folder_of_process() {
            Some(folder) if size_bytes_max > 0 => Self::at(&folder.join(KIND.name), size_bytes_max).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the greatest size of this user's kept builds, in bytes (CACHE-V6).
    ///
    /// # Errors
    ///
    /// `ValueError` for a malformed `CHIPDOCK_CACHE_SIZE`.
    pub fn size_bytes_max_of_process() -> Result<u64, Error> {
        let Some(text) = variable(SIZE) else { return Ok(SIZE_BYTES_MAX) };
        parsed_size(&text).ok_or_else(|| {
            let message =
                format!("{SIZE} is {text:?}; expected a number of bytes, optionally followed by K, M or G");
            Error::new(ErrorKind::Value, message).hint(format!("as in {SIZE}=512M; 0 keeps nothing"))
        })
    }

    /// Opens a cache of at most `size_bytes_max` bytes in a folder, which is created if it does not
    /// exist.
    ///
    /// # Errors
    ///
    /// `IoError`: the folder cannot be created, is not the user's alone, or holds other files
    /// (rules KEPT-K2 and KEPT-K3).
    pub fn at(folder: &Path, size_bytes_max: u64) -> Result<Self, Error> {
        let folder = std::path::absolute(folder)
            .map_err(|error| Error::io("cannot keep what is compiled", folder, &error))?;
        let cache = Cache::try_at(&folder, KIND, size_bytes_max).map_err(|error| {
            Error::io("cannot keep what is compiled", &folder, &error)
                .about(Subject::NamedFile)
                .hint("name another folder in CHIPDOCK_CACHE_DIR, or none: CHIPDOCK_CACHE_DIR= (empty)")
        })?;
        Ok(Self { cache, folder, was_told: AtomicBool::new(false) })
    }

    /// Returns the folder of the cache.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the cache key of these texts and of this host (CACHE-V1).
    pub(crate) fn key(parts: &[&str]) -> Key {
        let abi = (
            chipdock_abi::CHIPDOCK_ABI_MAJOR,
            chipdock_abi::CHIPDOCK_ABI_MINOR,
            chipdock_abi::CHIPDOCK_LAYOUT_HASH,
        );
        let abi = format!("{}.{} {:#018x}", abi.0, abi.1, abi.2);
        let mut all = vec![env!("CARGO_PKG_VERSION"), &abi];
        all.extend_from_slice(parts);
        KIND.key(&all)
    }

    /// Returns the build under a key, where it is whole.
    pub(crate) fn read(&self, key: &Key) -> Option<Kept> {
        Kept::from_bytes(&self.cache.read(key)?)
    }

    /// Keeps a build.
    pub(crate) fn write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        self.cache.try_write(key, bytes)
    }

    /// Returns level and text of the message that a build could not be kept: the first time as a
    /// warning (CACHE-V5).
    pub(crate) fn telling(&self, error: &io::Error) -> (LogLevel, String) {
        let was_told = self.was_told.swap(true, Ordering::Relaxed);
        let level = if was_told { LogLevel::Debug } else { LogLevel::Warning };
        (level, format!("what was compiled cannot be kept in {}: {error}", self.folder.display()))
    }
}

impl Host {
    /// Opens the compile cache of this user, as [`CompileCache::of_process`] does. A folder that
    /// cannot be used prevents no compilation: the first time it is a warning in the log, and
    /// nothing is kept (CACHE-V5).
    ///
    /// # Errors
    ///
    /// `ValueError` for a malformed `CHIPDOCK_CACHE_SIZE`.
    pub fn compile_cache(&self) -> Result<Option<CompileCache>, Error> {
        match CompileCache::of_process() {
            Err(error) if *error.kind() == ErrorKind::Io => {
                let was_told = self.0.told_of_cache.swap(true, Ordering::Relaxed);
                let level = if was_told { LogLevel::Debug } else { LogLevel::Warning };
                self.0.services.log(level, &error.to_string());
                Ok(None)
            }
            opened => opened,
        }
    }
}

fn parsed_size(text: &OsStr) -> Option<u64> {
    let text = text.to_str()?.trim();
    let (digits, unit) = match text.char_indices().next_back()? {
        (at, 'K' | 'k') => (&text[..at], 1 << 10),
        (at, 'M' | 'm') => (&text[..at], 1 << 20),
        (at, 'G' | 'g') => (&text[..at], 1 << 30),
        _ => (text, 1_u64),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(unit)
}

/// A build in the cache: the result of one code generator for one module.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) head: Head,
    pub(crate) sections: Vec<Section>,
}

/// Description of a kept build, as JSON before the bytes of its sections. The cache's own digest
/// covers all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Plugin and target kind of the build, for lists: the key contains both too.
    plugin: String,
    plugin_version: String,
    target_kind: String,
    /// The index as the code generator wrote it.
    pub(crate) index: String,
    sections: Vec<SectionHead>,
    messages: Vec<Message>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SectionHead {
    name: String,
    kind: String,
    alignment_bytes: u64,
    size_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    severity: Severity,
    function: String,
    line: u32,
    column: u32,
    node: String,
    message: String,
}

impl SectionHead {
    fn of(section: &Section) -> Self {
        Self {
            name: section.name().to_owned(),
            kind: section.kind().to_owned(),
            alignment_bytes: section.alignment_bytes(),
            size_bytes: section.data().len() as u64,
        }
    }
}

impl Message {
    fn of(said: &BuildMessage) -> Self {
        let Diagnostic { function, span, node, message } = &said.diagnostic;
        Self {
            severity: said.severity,
            function: function.to_string(),
            line: span.line,
            column: span.column,
            node: node.clone(),
            message: message.clone(),
        }
    }

    fn said(&self) -> BuildMessage {
        let diagnostic = Diagnostic {
            function: self.function.as_str().into(),
            span: Span { line: self.line, column: self.column },
            node: self.node.clone(),
            message: self.message.clone(),
        };
        BuildMessage { plugin: "".into(), severity: self.severity, diagnostic }
    }
}

impl Kept {
    /// Writes a build and the messages of its code generator as bytes: the size of the head, the
    /// head, the sections one after the other. The container of artifacts is not used: it has
    /// digests and an alignment of its own, of 64 KiB at least.
    pub(crate) fn bytes(
        plugin: (&str, &str),
        target_kind: &str,
        artifact: &Artifact,
        said: &[BuildMessage],
    ) -> io::Result<Vec<u8>> {
        let head = Head {
            plugin: plugin.0.to_owned(),
            plugin_version: plugin.1.to_owned(),
            target_kind: target_kind.to_owned(),
            index: artifact.index_json().to_owned(),
            sections: artifact.sections().iter().map(SectionHead::of).collect(),
            messages: said.iter().map(Message::of).collect(),
        };
        let head = serde_json::to_vec(&head)?;
        if head.len() > HEAD_BYTES_MAX {
            let why = format!("its description has {} bytes; expected at most {HEAD_BYTES_MAX}", head.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        let sections = artifact.sections().iter().map(|section| section.data().len());
        let size_bytes = sections.fold(size_of::<u64>() + head.len(), usize::saturating_add);
        let mut bytes = reserved(size_bytes).ok_or(io::ErrorKind::OutOfMemory)?;
        bytes.extend_from_slice(&(head.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&head);
        artifact.sections().iter().for_each(|section| bytes.extend_from_slice(section.data()));
        Ok(bytes)
    }

    /// Returns the messages of the code generator (CACHE-V3).
    pub(crate) fn messages(&self) -> Vec<BuildMessage> {
        self.head.messages.iter().map(Message::said).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (size, rest) = bytes.split_first_chunk()?;
        let size = usize::try_from(u64::from_le_bytes(*size)).ok().filter(|size| *size <= HEAD_BYTES_MAX)?;
        let (head, mut rest) = rest.split_at_checked(size)?;
        let head: Head = serde_json::from_slice(head).ok()?;
        let mut sections = Vec::with_capacity(head.sections.len());
        for section in &head.sections {
            let (data, behind) = rest.split_at_checked(usize::try_from(section.size_bytes).ok()?)?;
            sections.push(Section::new(&section.name, &section.kind, section.alignment_bytes, data).ok()?);
            rest = behind;
        }
        rest.is_empty().then_some(Self { head, sections })
    }
}

/// A kept build, for lists. Whether its file is whole is found out only when it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBuild {
    /// The plugin whose code generator built it.
    pub plugin: String,
    /// Version of that plugin.
    pub plugin_version: String,
    /// Target kind that the build is for.
    pub target_kind: String,
    /// Names of its functions.
    pub functions: Vec<String>,
}

impl KeptBuild {
    /// Returns the description of a file of the compile cache; `None` if this version cannot read
    /// it.
    #[must_use]
    pub fn of(cache: &KeptCache, name: &OsStr) -> Option<Self> {
        const SIZE_BYTES: usize = size_of::<u64>();
        let head = |size| cache.head(name, size).filter(|(version, _)| *version == KIND.version);
        let (_, size) = head(SIZE_BYTES)?;
        let size = usize::try_from(u64::from_le_bytes(*size.first_chunk()?)).ok()?;
        let (_, bytes) = head(SIZE_BYTES + size.min(HEAD_BYTES_MAX))?;
        let head: Head = serde_json::from_slice(bytes.get(SIZE_BYTES..)?).ok()?;
        let index = ArtifactIndex::parse(&head.index).ok()?;
        Some(Self {
            plugin: head.plugin,
            plugin_version: head.plugin_version,
            target_kind: head.target_kind,
            functions: index.functions.into_iter().map(|function| function.name).collect(),
        })
    }
}

#[cfg(test)]
mod tests;
