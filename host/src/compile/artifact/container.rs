//! The file format of artifacts (version 2, little-endian):
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `CHIPDOCK` |
//! | 4, 4 | container version 2, zero |
//! | 8 | size of the header |
//! | 32 | SHA-256 of the header |
//! | … | the header, JSON |
//! | … | the sections, each at a multiple of its alignment, zeros between |
//!
//! * **CONTAINER-1 Once.** The header lists each module once, under its digest: its index, target
//!   and signatures, its imports by their digests, and offset, size, alignment and SHA-256 of each
//!   section. A module comes after those that it imports; the last one is the artifact. So a file
//!   is as large as its modules, however many import one.
//! * **CONTAINER-2 Digest.** A module's digest covers all of that, but for offsets: equal modules
//!   have equal digests. It is the SHA-256 of these texts, each after its length as 8 bytes: index,
//!   target, signatures as JSON, number of imports, digest of each import; and of each section
//!   name, kind, alignment in decimal digits, and digest.
//! * **CONTAINER-3 Place.** The offsets count from the first byte after the header that is a
//!   multiple of the greatest alignment of all sections.
//! * **CONTAINER-4 Whole.** A file that is truncated or changed is refused as a whole; nothing is
//!   read partly.
//! * **CONTAINER-5 Versions.** Version 1, a tree of headers in which a module lies as often as it
//!   is imported, is read too: its offsets count from a multiple of 64 KiB. Another version is
//!   refused with its number.
//! * **CONTAINER-6 Bounds.** Modules nest at most 16 deep, and at most 4,096 paths lead down from
//!   the artifact, so that whoever walks its imports ends. An artifact beyond that is not made, nor
//!   read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{ALIGNMENT_BYTES_MAX, Artifact, MAGIC, Section, Signatures, hex, reserved, value_error};
use crate::bounds::{MODULES_MAX, SECTIONS_MAX};
use crate::error::{Error, ErrorKind};

const VERSION: u32 = 2;
/// The version whose header is a tree.
const TREE: u32 = 1;
const PREFIX_BYTES: usize = 8 + 4 + 4 + 8 + 32;

#[derive(Serialize, Deserialize)]
struct Header {
    modules: Vec<ModuleHeader>,
}

#[derive(Serialize, Deserialize)]
struct ModuleHeader {
    sha256: String,
    /// As text: what a loader is given is what the code generator wrote, byte for byte.
    index: String,
    target: String,
    sections: Vec<SectionHeader>,
    imports: Vec<String>,
    #[serde(default, skip_serializing_if = "Signatures::is_empty")]
    signatures: Signatures,
}

/// The header of version 1.
#[derive(Deserialize)]
struct TreeHeader {
    index: String,
    target: String,
    sections: Vec<SectionHeader>,
    imports: Vec<TreeHeader>,
    #[serde(default)]
    signatures: Signatures,
}

#[derive(Serialize, Deserialize)]
struct SectionHeader {
    name: String,
    kind: String,
    alignment_bytes: u64,
    offset_bytes: u64,
    size_bytes: u64,
    sha256: String,
}

/// The digest of a module (CONTAINER-2).
fn digest(
    index: &str,
    target: &str,
    signatures: &Signatures,
    imports: &[String],
    sections: &[SectionHeader],
) -> String {
    let mut hash = Sha256::new();
    let mut put = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    [index, target].into_iter().for_each(&mut put);
    put(&serde_json::to_string(signatures).unwrap_or_default());
    put(&imports.len().to_string());
    imports.iter().for_each(|import| put(import));
    for section in sections {
        [&section.name, &section.kind, &section.alignment_bytes.to_string(), &section.sha256]
            .into_iter()
            .for_each(|part| put(part));
    }
    hex(&hash.finalize())
}

/// The modules of an artifact on their way to a file.
#[derive(Default)]
struct Writer<'a> {
    headers: Vec<ModuleHeader>,
    artifacts: Vec<&'a Artifact>,
    /// Digests of modules, by their place in memory, and of all that are listed.
    known: BTreeMap<usize, String>,
    listed: BTreeSet<String>,
    end: u64,
}

impl<'a> Writer<'a> {
    /// Lists a module after what it imports, unless it is listed; returns its digest.
    fn list(&mut self, artifact: &'a Artifact) -> String {
        let place = std::ptr::from_ref(artifact).addr();
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let imports: Vec<String> = artifact.imports.iter().map(|import| self.list(import)).collect();
        let of = |section: &Section| SectionHeader {
            name: section.name.clone(),
            kind: section.kind.clone(),
            alignment_bytes: section.alignment_bytes,
            offset_bytes: 0,
            size_bytes: section.data().len() as u64,
            sha256: section.sha256(),
        };
        let mut sections: Vec<SectionHeader> = artifact.sections.iter().map(of).collect();
        let signatures = artifact.signatures().clone();
        let (index, target) = (artifact.index_json.clone(), artifact.target_json.clone());
        let sha256 = digest(&index, &target, &signatures, &imports, &sections);
        self.known.insert(place, sha256.clone());
        if self.listed.insert(sha256.clone()) {
            for section in &mut sections {
                section.offset_bytes = self.end.next_multiple_of(section.alignment_bytes);
                self.end = section.offset_bytes + section.size_bytes;
            }
            let header =
                ModuleHeader { sha256: sha256.clone(), index, target, sections, imports, signatures };
            self.headers.push(header);
            self.artifacts.push(artifact);
        }
        sha256
    }
}

/// Returns the offset of the sections in the file (CONTAINER-3).
fn data_start(header_bytes: usize, alignment_bytes: u64) -> usize {
    (PREFIX_BYTES + header_bytes).next_multiple_of(usize::try_from(alignment_bytes).unwrap_or(1).max(1))
}

fn alignment_of<'a>(sections: impl Iterator<Item = &'a SectionHeader>) -> u64 {
    sections.map(|section| section.alignment_bytes).max().unwrap_or(1).clamp(1, ALIGNMENT_BYTES_MAX)
}

impl Artifact {
    /// The artifact as the bytes of a file.
    ///
    /// # Errors
    ///
    /// `InternalError` when the header cannot be written as JSON; `OutOfMemory` when there is no
    /// memory for the bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::default();
        writer.list(self);
        let Writer { headers: modules, artifacts, end, .. } = writer;
        let header = Header { modules };
        let text = serde_json::to_vec(&header)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("artifact header: {error}")))?;
        let sections = || header.modules.iter().flat_map(|module| &module.sections);
        let start = data_start(text.len(), alignment_of(sections()));
        let size_bytes = usize::try_from(end).ok().and_then(|end| end.checked_add(start));
        let mut bytes = size_bytes.and_then(reserved).ok_or_else(|| {
            Error::new(ErrorKind::OutOfMemory, format!("no memory for an artifact of {end} bytes"))
        })?;
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&Sha256::digest(&text));
        bytes.extend_from_slice(&text);
        bytes.resize(start, 0);
        let data = artifacts.iter().flat_map(|artifact| &artifact.sections);
        for (section, data) in sections().zip(data) {
            bytes.resize(start + usize::try_from(section.offset_bytes).unwrap_or(0), 0);
            bytes.extend_from_slice(data.data());
        }
        Ok(bytes)
    }

    /// Reads an artifact from the bytes of a file.
    ///
    /// # Errors
    ///
    /// `ValueError` for anything that is not a whole and unchanged artifact.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (version, text, rest) = split(bytes)?;
        let wrong = |error| value_error(format!("not an artifact: its header: {error}"));
        let (artifact, reader) = if version == TREE {
            let header: TreeHeader = serde_json::from_slice(text).map_err(wrong)?;
            let mut reader = Reader::new(rest, text.len(), ALIGNMENT_BYTES_MAX)?;
            (reader.tree(&header)?, reader)
        } else {
            let header: Header = serde_json::from_slice(text).map_err(wrong)?;
            let alignment_bytes = alignment_of(header.modules.iter().flat_map(|module| &module.sections));
            let mut reader = Reader::new(rest, text.len(), alignment_bytes)?;
            (reader.list(header)?, reader)
        };
        match reader.data.len() - reader.end {
            0 => Ok(artifact),
            left => Err(value_error(format!("not an artifact: {left} bytes follow its sections"))),
        }
    }
}

fn cut(bytes: usize) -> Error {
    value_error(format!("not a whole artifact: it ends after {bytes} bytes"))
}

/// Splits a file into its version, its header, and what follows.
fn split(bytes: &[u8]) -> Result<(u32, &[u8], &[u8]), Error> {
    let cut = || cut(bytes.len());
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
        return Err(value_error("not an artifact: it does not begin with CHIPDOCK"));
    }
    let prefix = bytes.get(..PREFIX_BYTES).ok_or_else(cut)?;
    let number = |range: std::ops::Range<usize>| {
        prefix[range].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let version = u32::try_from(number(8..12)).unwrap_or_default();
    if ![TREE, VERSION].contains(&version) || number(12..16) != 0 {
        let message = format!("artifact container version {version}; expected {TREE} or {VERSION}");
        return Err(value_error(message));
    }
    let header_bytes = usize::try_from(number(16..24)).map_err(|_| cut())?;
    let header_end =
        PREFIX_BYTES.checked_add(header_bytes).filter(|end| *end <= bytes.len()).ok_or_else(cut)?;
    let (start, rest) = bytes.split_at(header_end);
    let header = &start[PREFIX_BYTES..];
    if Sha256::digest(header).as_slice() != &prefix[24..56] {
        return Err(value_error("not an unchanged artifact: the digest of its header differs"));
    }
    Ok((version, header, rest))
}

/// The sections of a file, as far as they were read.
struct Reader<'a> {
    data: &'a [u8],
    end: usize,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8], header_bytes: usize, alignment_bytes: u64) -> Result<Self, Error> {
        let padding = data_start(header_bytes, alignment_bytes) - PREFIX_BYTES - header_bytes;
        let whole = PREFIX_BYTES + header_bytes + rest.len();
        let (padding, data) = rest.split_at_checked(padding).ok_or_else(|| cut(whole))?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(value_error("not an unchanged artifact: its padding is not zero"));
        }
        Ok(Self { data, end: 0 })
    }

    fn list(&mut self, header: Header) -> Result<Artifact, Error> {
        let count = header.modules.len();
        if count > MODULES_MAX {
            return Err(value_error(format!("{count} modules; expected at most {MODULES_MAX}")));
        }
        let mut known: BTreeMap<String, Arc<Artifact>> = BTreeMap::new();
        let mut last = None;
        for module in header.modules {
            let ModuleHeader { sha256, index, target, sections, imports, signatures } = module;
            if digest(&index, &target, &signatures, &imports, &sections) != sha256 {
                return Err(value_error("not an unchanged artifact: the digest of a module differs"));
            }
            if known.contains_key(&sha256) {
                return Err(value_error(format!("not an artifact: module {sha256} is there twice")));
            }
            let of_digest = |import: &String| {
                known.get(import).cloned().ok_or_else(|| {
                    let import: String = import.escape_debug().take(64).collect();
                    value_error(format!(
                        "not an artifact: module {sha256} imports {import}, which is not before it"
                    ))
                })
            };
            let imports = imports.iter().map(of_digest).collect::<Result<_, _>>()?;
            let artifact =
                Artifact::new(index, target, self.sections(&sections)?, imports)?.signed(signatures);
            last = Some(sha256.clone());
            known.insert(sha256, Arc::new(artifact));
        }
        let root = last.and_then(|last| known.remove(&last));
        let root = root.ok_or_else(|| value_error("not an artifact: it has no module"))?;
        // Each module hangs on the last one: nothing is in the file that nobody reaches.
        let mut reached = BTreeSet::new();
        reach(&root, &mut reached);
        if reached.len() != count {
            return Err(value_error("not an artifact: it has a module that no other imports"));
        }
        drop(known);
        Arc::try_unwrap(root).map_err(|_| value_error("not an artifact: a module imports itself"))
    }

    /// Nesting is bounded by the reader of JSON before, and by [`Artifact::new`].
    fn tree(&mut self, header: &TreeHeader) -> Result<Artifact, Error> {
        let sections = self.sections(&header.sections)?;
        let imports: Result<Vec<Arc<Artifact>>, Error> =
            header.imports.iter().map(|import| self.tree(import).map(Arc::new)).collect();
        let artifact = Artifact::new(header.index.clone(), header.target.clone(), sections, imports?)?;
        Ok(artifact.signed(header.signatures.clone()))
    }

    fn sections(&mut self, headers: &[SectionHeader]) -> Result<Vec<Section>, Error> {
        if headers.len() > SECTIONS_MAX {
            let message = format!("{} sections; expected at most {SECTIONS_MAX}", headers.len());
            return Err(value_error(message));
        }
        headers.iter().map(|section| self.section(section)).collect()
    }

    fn section(&mut self, section: &SectionHeader) -> Result<Section, Error> {
        let name = &section.name;
        let cut = || value_error(format!("not a whole artifact: section \"{name}\" is cut off"));
        let start = usize::try_from(section.offset_bytes).map_err(|_| cut())?;
        let size = usize::try_from(section.size_bytes).map_err(|_| cut())?;
        let stop = start.checked_add(size).ok_or_else(cut)?;
        let bytes = self.data.get(start..stop).ok_or_else(cut)?;
        let gap = self.data.get(self.end..start);
        let is_aligned = section.offset_bytes.is_multiple_of(section.alignment_bytes.max(1));
        if !is_aligned || gap.is_none_or(|gap| gap.iter().any(|byte| *byte != 0)) {
            return Err(value_error(format!("not an artifact: section \"{name}\" is out of place")));
        }
        self.end = stop;
        if hex(&Sha256::digest(bytes)) != section.sha256 {
            let message = format!("not an unchanged artifact: the digest of section \"{name}\" differs");
            return Err(value_error(message));
        }
        Section::new(name, &section.kind, section.alignment_bytes, bytes)
    }
}

/// Adds a module and all that it imports, each once.
fn reach(artifact: &Artifact, reached: &mut BTreeSet<usize>) {
    if reached.insert(std::ptr::from_ref(artifact).addr()) {
        artifact.imports.iter().for_each(|import| reach(import, reached));
    }
}

#[cfg(test)]
mod tests;
