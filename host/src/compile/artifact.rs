//! Artifacts: what a code generator delivers, in memory and in a file.
//!
//! An artifact is an index (module kind, format, functions) and named sections of bytes. It holds
//! the artifacts that it imports; several may import one. `container.rs` has the file format.

mod container;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use chipdock_plugin_api::files::whole::Whole;
pub use chipdock_plugin_api::index::{ArtifactIndex, FunctionInfo};
use sha2::{Digest, Sha256};

use crate::boundary::slots::from_api;
use crate::bounds::{ARTIFACT_BYTES_MAX, MODULES_MAX, NAME_BYTES_MAX, SECTIONS_MAX};
use crate::compile::resolve::TargetId;
use crate::error::{Error, ErrorKind};
use crate::files::{advice_of_writing, read_regular};

pub(crate) const MAGIC: &[u8; 8] = b"CHIPDOCK";
/// Greatest alignment that a section may have, in bytes.
const ALIGNMENT_BYTES_MAX: u64 = 1 << 16;
/// Greatest size of an artifact's file: its sections, those of its imports, and the header.
pub(crate) const FILE_BYTES_MAX: u64 = ARTIFACT_BYTES_MAX * 2;

/// Greatest nesting depth of imported artifacts.
const NESTING_MAX: usize = 16;

/// Module kind of an artifact that only holds others.
const BUNDLE_KIND: &str = "chipdock.modules";

/// Signatures of functions, by name; `signature.rs` writes and reads them.
pub(crate) type Signatures = BTreeMap<String, serde_json::Value>;

/// Returns the names of an index, each with what it is.
fn names<'a>(index: &'a ArtifactIndex) -> impl Iterator<Item = (&'static str, &'a str)> {
    let of_function = |function: &'a FunctionInfo| {
        let symbol = Some(function.symbol.as_str()).filter(|symbol| !symbol.is_empty());
        let symbol = symbol.map(|symbol| ("function's symbol", symbol));
        std::iter::once(("function's name", function.name.as_str())).chain(symbol)
    };
    let own = [("module_kind", index.module_kind.as_str()), ("format", index.format.as_str())];
    own.into_iter().chain(index.functions.iter().flat_map(of_function))
}

/// Bytes that start at a multiple of an alignment.
#[derive(Debug)]
struct AlignedBytes {
    storage: Arc<Vec<u8>>,
    start: usize,
    size_bytes: usize,
}

/// Memory of all sections without bytes: such a section costs only its header, whatever alignment
/// it asks for.
static NO_BYTES: OnceLock<Arc<Vec<u8>>> = OnceLock::new();

impl AlignedBytes {
    /// Copies the bytes; `None` where there is no memory for that: their number is a plugin's word.
    fn copy_of(bytes: &[u8], alignment_bytes: usize) -> Option<Self> {
        if bytes.is_empty() {
            let most = usize::try_from(ALIGNMENT_BYTES_MAX).unwrap_or(alignment_bytes);
            let storage = Arc::clone(NO_BYTES.get_or_init(|| Arc::new(vec![0; most])));
            let start = storage.as_ptr().addr().wrapping_neg() % most;
            return Some(Self { storage, start, size_bytes: 0 });
        }
        // The heap block of a vector never moves while it is not resized.
        let mut storage = reserved(bytes.len().checked_add(alignment_bytes)?)?;
        let start = storage.as_ptr().addr().wrapping_neg() % alignment_bytes;
        storage.resize(start, 0);
        storage.extend_from_slice(bytes);
        Some(Self { storage: Arc::new(storage), start, size_bytes: bytes.len() })
    }

    fn as_slice(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.size_bytes]
    }
}

/// Returns an empty vector with room for that many bytes; `None` where there is no memory for them.
pub(crate) fn reserved(size_bytes: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size_bytes).ok()?;
    Some(bytes)
}

/// A section of an artifact.
#[derive(Debug)]
pub struct Section {
    name: String,
    kind: String,
    alignment_bytes: u64,
    data: AlignedBytes,
}

impl Section {
    /// Copies `data` into a section. `kind` is `code`, `constants`, `debug`, `source` or another
    /// word (C.26).
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name, or an alignment that is no power of two up to 65536;
    /// `OutOfMemory` where there is no memory for a copy.
    pub fn new(name: &str, kind: &str, alignment_bytes: u64, data: &[u8]) -> Result<Self, Error> {
        if name.is_empty() || kind.is_empty() {
            return Err(value_error("a section has no name or no kind"));
        }
        if !alignment_bytes.is_power_of_two() || alignment_bytes > ALIGNMENT_BYTES_MAX {
            return Err(value_error(format!(
                "section \"{name}\": alignment {alignment_bytes}; expected a power of two up to {ALIGNMENT_BYTES_MAX}"
            )));
        }
        let size_bytes = data.len();
        let data = AlignedBytes::copy_of(data, usize::try_from(alignment_bytes).unwrap_or(1));
        let data = data.ok_or_else(|| {
            let message = format!("section \"{name}\": no memory for a copy of its {size_bytes} bytes");
            Error::new(ErrorKind::OutOfMemory, message)
        })?;
        Ok(Self { name: name.to_owned(), kind: kind.to_owned(), alignment_bytes, data })
    }

    /// Its name, unique within the artifact.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `code`, `constants`, `debug`, `source`, or a word that loaders may ignore (C.26).
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The alignment of its bytes.
    #[must_use]
    pub fn alignment_bytes(&self) -> u64 {
        self.alignment_bytes
    }

    /// Its bytes.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        self.data.as_slice()
    }

    /// SHA-256 of its bytes, in hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(self.data()))
    }
}

/// The result of a code generator, with the artifacts that it imports.
#[derive(Debug)]
pub struct Artifact {
    index_json: String,
    index: ArtifactIndex,
    target_json: String,
    target_id: TargetId,
    sections: Vec<Section>,
    imports: Vec<Arc<Artifact>>,
    /// Greatest number of imports on a path down from here.
    nesting: usize,
    /// Number of paths down from here, the empty one included.
    paths: usize,
    signatures: Signatures,
}

impl Artifact {
    /// An artifact of an index, as JSON, and sections. `target_json` is the target it was compiled
    /// for.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the index is of a later version than this host reads (P3.19);
    /// `ValueError` when it is no index, has a name that is empty, too long or no printable text, a
    /// function is there twice, two sections have one name, or the imports nest too deep or in too
    /// many ways (CONTAINER-6).
    pub fn new(
        index_json: String,
        target_json: String,
        sections: Vec<Section>,
        imports: Vec<Arc<Artifact>>,
    ) -> Result<Self, Error> {
        let index = read_index(&index_json)?;
        for (what, name) in names(&index) {
            check_index_name(what, name)?;
        }
        if let Some(name) = twice(index.functions.iter().map(|function| function.name.as_str())) {
            return Err(value_error(format!("the index has function \"{name}\" twice")));
        }
        if sections.len() > SECTIONS_MAX {
            return Err(value_error(format!("{} sections; expected at most {SECTIONS_MAX}", sections.len())));
        }
        if let Some(name) = twice(sections.iter().map(Section::name)) {
            return Err(value_error(format!("there are two sections \"{name}\"")));
        }
        let nesting = imports.iter().map(|import| import.nesting + 1).max().unwrap_or(0);
        let paths = imports.iter().fold(1_usize, |all, import| all.saturating_add(import.paths));
        if nesting > NESTING_MAX {
            return Err(value_error(format!("artifacts are nested more than {NESTING_MAX} deep")));
        }
        if paths > MODULES_MAX {
            return Err(value_error(format!("artifacts import one another in more than {MODULES_MAX} ways")));
        }
        let target_id = TargetId::of_json(&target_json);
        let signatures = Signatures::new();
        Ok(Self { index_json, index, target_json, target_id, sections, imports, nesting, paths, signatures })
    }

    /// Makes the description of code that is elsewhere: an index without sections and without a
    /// target.
    pub(crate) fn described(
        module_kind: &str,
        format: &str,
        functions: Vec<FunctionInfo>,
        imports: Vec<Arc<Artifact>>,
    ) -> Result<Self, Error> {
        let index = ArtifactIndex {
            module_kind: module_kind.to_owned(),
            format: format.to_owned(),
            functions,
            env: None,
        };
        let index = serde_json::to_string(&index)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("an index: {error}")))?;
        Self::new(index, "null".to_owned(), Vec::new(), imports)
    }

    /// Makes one artifact of several, which has no code of its own: what a library embeds whose
    /// modules share others.
    pub(crate) fn bundle(modules: Vec<Arc<Artifact>>) -> Result<Self, Error> {
        Self::described(BUNDLE_KIND, "none", Vec::new(), modules)
    }

    /// Returns the modules of a bundle; `None` where it is another artifact.
    #[must_use]
    pub fn bundled(&self) -> Option<&[Arc<Artifact>]> {
        (self.index.module_kind == BUNDLE_KIND && self.sections.is_empty()).then_some(&self.imports)
    }

    /// Returns the same artifact with other imports.
    pub(crate) fn with_imports(&self, imports: Vec<Arc<Artifact>>) -> Result<Self, Error> {
        let copy = |section: &Section| {
            Section::new(&section.name, &section.kind, section.alignment_bytes, section.data())
        };
        let sections = self.sections.iter().map(copy).collect::<Result<_, _>>()?;
        let artifact = Self::new(self.index_json.clone(), self.target_json.clone(), sections, imports)?;
        Ok(artifact.signed(self.signatures.clone()))
    }

    /// Adds what the host knows of the functions beyond their index, which stays what the code
    /// generator wrote.
    pub(crate) fn signed(mut self, mut signatures: Signatures) -> Self {
        let functions = &self.index.functions;
        signatures.retain(|name, _| functions.iter().any(|function| function.name == *name));
        self.signatures = signatures;
        self
    }

    /// Returns the signatures of its functions, by name.
    pub(crate) fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The index as the code generator wrote it.
    #[must_use]
    pub fn index_json(&self) -> &str {
        &self.index_json
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &ArtifactIndex {
        &self.index
    }

    /// The target that it was compiled for, canonical JSON.
    #[must_use]
    pub fn target_json(&self) -> &str {
        &self.target_json
    }

    /// The identity of that target.
    #[must_use]
    pub fn target_id(&self) -> TargetId {
        self.target_id
    }

    /// The sections, in the order of their delivery.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The section of that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The text that a person reads: the first section of kind `source`, else of kind `code` when
    /// it is UTF-8.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        let of_kind = |kind: &str| self.sections.iter().find(|section| section.kind == kind);
        std::str::from_utf8(of_kind("source").or_else(|| of_kind("code"))?.data()).ok()
    }

    /// The artifacts that it imports.
    #[must_use]
    pub fn imports(&self) -> &[Arc<Artifact>] {
        &self.imports
    }

    /// Writes the artifact to a file, whole or not at all: nothing half-written is left, whatever
    /// ends the process.
    ///
    /// # Errors
    ///
    /// `IoError`, with the file as it was.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        write_whole(path, &self.to_bytes()?)
    }

    /// Reads an artifact from a file.
    ///
    /// # Errors
    ///
    /// `IoError` when it cannot be read or is no regular file, `ValueError` when it is larger than
    /// any artifact, or not a whole and unchanged one.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let what = "cannot read the artifact";
        let bytes = read_regular(path, FILE_BYTES_MAX).map_err(|error| error.while_doing(what))?;
        Self::from_bytes(&bytes).map_err(|error| error.at(path.display().to_string()))
    }
}

/// Writes a file whole or not at all, by the rules of [`chipdock_plugin_api::files::whole`].
///
/// # Errors
///
/// `IoError`, with the file as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let io = |error: &std::io::Error| Error::io("cannot write", path, error).hint(advice_of_writing(error));
    // As a plain create would: the umask takes away from it.
    let mut file = Whole::at(path, 0o666).map_err(|error| io(&error))?;
    file.write_all(bytes).and_then(|()| file.place()).map_err(|error| io(&error))
}

/// Reads an index, its version first (P3.19).
pub(crate) fn read_index(text: &str) -> Result<ArtifactIndex, Error> {
    ArtifactIndex::parse(text).map_err(|error| match from_api(&error) {
        error if *error.kind() == ErrorKind::Unavailable => error,
        error => value_error(format!("the index is not an artifact's index: {}", error.message())),
    })
}

/// A name of the index: an identifier, a path or a mangled symbol, and nothing that steers a
/// terminal.
fn check_index_name(what: &str, name: &str) -> Result<(), Error> {
    let size = name.len();
    let wrong = match name.chars().find(|c| c.is_control()) {
        _ if name.is_empty() => format!("an empty {what}"),
        _ if size > NAME_BYTES_MAX => format!("a {what} of {size} bytes; expected at most {NAME_BYTES_MAX}"),
        Some(found) => format!("a {what} with {found:?}; expected printable text"),
        None => return Ok(()),
    };
    Err(value_error(format!("the index has {wrong}")))
}

fn value_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Value, message)
}

fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact() -> Artifact {
        let index =
            r#"{"module_kind": "k", "format": "f", "functions": [{"name": "add", "symbol": "s"}], "own": 1}"#;
        let section = |name: &str, kind: &str, alignment, data: &[u8]| {
            Section::new(name, kind, alignment, data).unwrap()
        };
        let inner = Artifact::new(
            index.replace("add", "kernel"),
            "{}".into(),
            vec![section("code", "code", 4096, &[7; 100])],
            Vec::new(),
        );
        let sections =
            vec![section("main", "code", 1, b"int x;"), section("data", "constants", 64, &[1; 65])];
        Artifact::new(index.to_owned(), "{\"kind\":\"k\"}".into(), sections, vec![Arc::new(inner.unwrap())])
            .unwrap()
    }

    fn same(a: &Artifact, b: &Artifact) {
        assert_eq!((a.index_json(), a.target_json()), (b.index_json(), b.target_json()));
        assert_eq!(a.sections.len(), b.sections.len());
        for (a, b) in a.sections.iter().zip(&b.sections) {
            assert_eq!((a.name(), a.kind(), a.data()), (b.name(), b.kind(), b.data()));
            assert_eq!(b.data().as_ptr() as u64 % b.alignment_bytes(), 0);
        }
        assert_eq!(a.imports.len(), b.imports.len());
        a.imports.iter().zip(&b.imports).for_each(|(a, b)| same(a, b));
    }

    #[test]
    fn an_artifact_reads_back_as_written() {
        let artifact = artifact();
        let bytes = artifact.to_bytes().unwrap();
        same(&artifact, &Artifact::from_bytes(&bytes).unwrap());
        assert_eq!(bytes, Artifact::from_bytes(&bytes).unwrap().to_bytes().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.chipdock");
        artifact.save(&path).unwrap();
        same(&artifact, &Artifact::open(&path).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        assert_eq!(*artifact.save(&folder.path().join("no/a")).unwrap_err().kind(), ErrorKind::Io);
    }

    #[test]
    fn truncated_and_altered_files_are_refused() {
        let bytes = artifact().to_bytes().unwrap();
        let lengths = (0..700).chain((700..bytes.len()).step_by(97));
        for length in lengths.chain([bytes.len() - 1]) {
            let error = Artifact::from_bytes(&bytes[..length]).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Value, "cut to {length}");
        }
        let mut changed = bytes.clone();
        for index in (0..700).chain(bytes.len() - 400..bytes.len()) {
            changed[index] ^= 0x20;
            assert!(Artifact::from_bytes(&changed).is_err(), "byte {index} changed");
            changed[index] ^= 0x20;
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(Artifact::from_bytes(&longer).unwrap_err().to_string().contains("1 bytes follow"));
    }

    #[test]
    fn a_fifo_or_a_folder_is_no_artifact() {
        for (path, says) in
            [("/dev/zero", "it is a character device"), ("/", "it is a folder"), ("/none", "No such")]
        {
            let error = Artifact::open(Path::new(path)).unwrap_err();
            let message = error.to_string();
            assert!(message.contains("cannot read the artifact") && message.contains(says), "{message}");
            assert_eq!(error.place(), path);
        }
    }

    #[test]
    fn an_index_that_is_none_is_refused() {
        let long = format!(
            r#"{{"module_kind": "k", "format": "f", "functions": [{{"name": "a", "symbol": "{}"}}]}}"#,
            "s".repeat(NAME_BYTES_MAX + 1)
        );
        for (index, says) in [
            ("{", "EOF"),
            ("{}", "missing field `module_kind`"),
            (r#"{"module_kind": "", "format": "f", "functions": []}"#, "an empty module_kind"),
            (r#"{"module_kind": "k", "format": "f\u001b[2J", "functions": []}"#, "a format with '\\u{1b}'"),
            (
                r#"{"module_kind": "k", "format": "f", "functions": [{"name": "a\nerror: b", "symbol": "a"}]}"#,
                "a function's name with '\\n'",
            ),
            (&long, "a function's symbol of 1025 bytes"),
            (
                r#"{"module_kind": "k", "format": "f", "functions": [{"name": "a", "symbol": "a"}, {"name": "a", "symbol": "b"}]}"#,
                "\"a\" twice",
            ),
        ] {
            let error = Artifact::new(index.into(), String::new(), Vec::new(), Vec::new()).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        assert!(Section::new("a", "code", 3, &[]).is_err());
    }
}
