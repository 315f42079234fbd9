//! Reads a shared library without opening it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, FileHeader as _, ProgramHeader as _, Sym as _};

use super::document::LibraryDocument;
use super::{EMBEDDED_KIND, LIBRARY_KIND, blob, tvm::context};
use crate::bounds::{INDEX_BYTES_MAX, NAME_BYTES_MAX};
use crate::compile::artifact::{Artifact, FunctionInfo};
use crate::error::{Error, ErrorKind};
use crate::open::image;

/// Prefix of the symbols of functions.
pub(crate) const FUNCTION: &str = "__tvm_ffi_";
/// Symbol of the embedded modules.
pub(super) const BLOB: &str = "__tvm_ffi__library_bin";
/// Symbol of the pointer to the module that a library belongs to.
const CONTEXT: &str = "__tvm_ffi__library_ctx";
/// Symbol of the library's description.
const DOCUMENT: &str = "__chipdock_library";
/// Symbol of the pointer to the environment.
pub(crate) const ENVIRONMENT: &str = "__chipdock_env";
/// Prefixes of what libtvm_ffi and TVM's runtime provide.
const PROVIDED: &[&str] = &["TVMFFI", "TVMBackend", "TVMFuncCall"];
/// Prefix of variables that TVM-FFI fills in when it opens a library.
const FILLED_IN: &str = "__TVM";
/// Names that the library of TVM-FFI, and those of TVM, begin with.
const LIBRARIES: &[&str] = &["libtvm"];
/// Module kind and format of the description of a library of others.
const FOREIGN_KIND: &str = "library";
const FORMAT: &str = "so";
/// Greatest number of functions of one library, and of functions about them.
const SYMBOLS_MAX: usize = 1 << 20;
/// Greatest size of a library's description: an index, escaped.
const DOCUMENT_BYTES_MAX: usize = 2 * INDEX_BYTES_MAX;

/// A module that is embedded in a library (LIB-4).
#[derive(Debug)]
pub struct Embedded {
    /// Its kind: `_lib` is the library itself, `chipdock` an artifact.
    pub kind: String,
    /// Size of its bytes.
    pub size_bytes: usize,
    /// The artifact, where it is one.
    pub artifact: Option<Arc<Artifact>>,
    /// Its imports, as places in the list of embedded modules.
    pub imports: Vec<usize>,
    /// Where its bytes are in the file.
    payload: std::ops::Range<usize>,
}

impl Embedded {
    /// Returns true if it is neither the library itself nor an artifact.
    #[must_use]
    pub fn is_of_others(&self) -> bool {
        self.artifact.is_none() && self.kind != LIBRARY_KIND
    }
}

/// A shared library that was read and not opened (LIB-2).
#[derive(Debug)]
pub struct LibraryFile {
    bytes: Vec<u8>,
    machine: String,
    /// Symbols of functions, by name.
    functions: BTreeMap<String, String>,
    document: Option<LibraryDocument>,
    embedded: Vec<Embedded>,
    artifact: Arc<Artifact>,
    needed: Vec<String>,
    unmet: Vec<String>,
    filled_in: Vec<String>,
    of_tvm: Vec<String>,
    of_host: Vec<String>,
    has_environment: bool,
    has_context: bool,
    searches_beside: bool,
}

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

impl LibraryFile {
    /// Reads a library from the bytes of its file.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, Error> {
        let parts = Parts::read(&bytes)?;
        let document = parts.document()?;
        let embedded = parts.embedded()?;
        let artifact = parts.described(document.as_ref(), &embedded)?;
        let Parts {
            machine,
            functions,
            needed,
            unmet,
            filled_in,
            of_tvm,
            of_host,
            searches_beside,
            data,
            ..
        } = parts;
        let [has_environment, has_context] = [ENVIRONMENT, CONTEXT].map(|name| data.contains_key(name));
        Ok(Self {
            machine,
            functions,
            document,
            embedded,
            artifact: Arc::new(artifact),
            needed,
            unmet,
            filled_in,
            of_tvm,
            of_host,
            has_environment,
            has_context,
            searches_beside,
            bytes,
        })
    }

    /// Returns the machine that it was built for, by Rust's name of the architecture.
    #[must_use]
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns what it says about itself, where Chipdock made it.
    #[must_use]
    pub fn document(&self) -> Option<&LibraryDocument> {
        self.document.as_ref()
    }

    /// Returns its description as an artifact without sections.
    #[must_use]
    pub fn artifact(&self) -> &Arc<Artifact> {
        &self.artifact
    }

    /// Returns the names of all functions that it exports, with their symbols.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.functions.iter().map(|(name, symbol)| (name.as_str(), symbol.as_str()))
    }

    /// Returns the embedded modules, the root first; the library alone where nothing is embedded.
    #[must_use]
    pub fn embedded(&self) -> &[Embedded] {
        &self.embedded
    }

    /// Returns the names of the libraries that it is linked to.
    #[must_use]
    pub fn needed(&self) -> &[String] {
        &self.needed
    }

    /// Returns what it needs of TVM-FFI and TVM (LIB-9): libraries, undefined symbols and variables
    /// to be filled in, but not those of TVM's run time that a host has.
    #[must_use]
    pub fn needs_of_tvm_ffi(&self) -> &[String] {
        &self.unmet
    }

    /// Returns the variables that whoever opens a library fills in.
    pub(super) fn filled_in(&self) -> &[String] {
        &self.filled_in
    }

    /// Returns what it needs of TVM's run time, which TVM-FFI does not have.
    pub(super) fn needs_of_tvm(&self) -> &[String] {
        &self.of_tvm
    }

    /// Returns its undefined symbols that are functions of TVM's run time that a host has (LIB-12).
    pub(super) fn needs_of_host(&self) -> &[String] {
        &self.of_host
    }

    /// Returns the bytes of an embedded module.
    pub(super) fn payload(&self, module: &Embedded) -> &[u8] {
        self.bytes.get(module.payload.clone()).unwrap_or_default()
    }

    /// Returns true if it may ask libtvm_ffi for modules: for its own, or for those of other kinds
    /// that are embedded in it (LIB-11).
    pub(super) fn may_have_modules(&self) -> bool {
        let asks_for_its_own = self.has_context && self.document.is_none();
        asks_for_its_own || self.embedded.iter().any(Embedded::is_of_others)
    }

    /// Returns true if its code asks for an environment (`__chipdock_env`).
    #[must_use]
    pub fn has_environment(&self) -> bool {
        self.has_environment
    }

    /// Returns true if it has a pointer to its module (`__tvm_ffi__library_ctx`).
    #[must_use]
    pub fn has_context(&self) -> bool {
        self.has_context
    }

    /// Returns true if it is opened where it lies (LIB-6).
    pub(super) fn stays_in_place(&self) -> bool {
        self.searches_beside && self.document.is_none() && !self.has_environment
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What the tables of a library say.
struct Parts<'a> {
    elf: Elf<'a>,
    machine: String,
    functions: BTreeMap<String, String>,
    /// All symbols of functions, special ones included.
    symbols: BTreeSet<String>,
    /// Addresses of exported variables that are read or set.
    data: BTreeMap<&'static str, (u64, u64)>,
    needed: Vec<String>,
    unmet: Vec<String>,
    filled_in: Vec<String>,
    of_tvm: Vec<String>,
    of_host: Vec<String>,
    searches_beside: bool,
}

fn damaged(error: impl std::fmt::Display) -> Error {
    value_error(format!("it is damaged: {error}"))
}

fn value_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Value, message)
}

impl<'a> Parts<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        check_format(bytes)?;
        let elf = Elf::parse(bytes).map_err(damaged)?;
        let endian = elf.endian();
        match elf.elf_header().e_type(endian) {
            elf::ET_DYN => {}
            elf::ET_REL => {
                return Err(value_error(
                    "it is an object file; expected a shared library: link it with -shared",
                ));
            }
            other => {
                return Err(value_error(format!(
                    "it is an ELF file of type {other}; expected a shared library"
                )));
            }
        }
        let machine = image::machine(elf.elf_header().e_machine(endian));
        let mut parts = Self {
            elf,
            machine,
            functions: BTreeMap::new(),
            symbols: BTreeSet::new(),
            data: BTreeMap::new(),
            needed: Vec::new(),
            unmet: Vec::new(),
            filled_in: Vec::new(),
            of_tvm: Vec::new(),
            of_host: Vec::new(),
            searches_beside: false,
        };
        parts.read_symbols()?;
        parts.read_dynamic()?;
        Ok(parts)
    }

    fn read_symbols(&mut self) -> Result<(), Error> {
        let endian = self.elf.endian();
        let symbols = *self.elf.elf_dynamic_symbol_table();
        if symbols.is_empty() {
            return Err(value_error(
                "it has no table of exported symbols; it was stripped of what its loader needs",
            ));
        }
        for symbol in symbols.iter() {
            let Ok(name) = symbols.symbol_name(endian, symbol) else {
                return Err(damaged("the name of a symbol lies outside of its strings"));
            };
            // Only names that matter here; those are text.
            let Some(name) = std::str::from_utf8(name).ok().filter(|name| name.len() <= NAME_BYTES_MAX)
            else {
                continue;
            };
            if symbol.is_undefined(endian) {
                self.add_need(name, symbol.st_bind() != elf::STB_WEAK);
                continue;
            }
            let (address, size) = (symbol.st_value(endian), symbol.st_size(endian));
            if name.starts_with(FILLED_IN) && symbol.st_type() == elf::STT_OBJECT {
                if context::function(context::of_variable(name)).is_none() {
                    self.unmet.push(format!("the variable {name} filled in"));
                }
                self.filled_in.push(name.to_owned());
            }
            if let Some(known) =
                [BLOB, CONTEXT, DOCUMENT, ENVIRONMENT].into_iter().find(|known| *known == name)
            {
                self.data.insert(known, (address, size));
            }
            self.add_function(name, symbol.st_type(), address)?;
        }
        Ok(())
    }

    fn add_need(&mut self, name: &str, is_strong: bool) {
        if context::function(name).is_some() {
            self.of_host.push(name.to_owned());
        } else if is_strong && PROVIDED.iter().any(|prefix| name.starts_with(prefix)) {
            self.unmet.push(format!("the symbol {name}"));
            if !name.starts_with(PROVIDED[0]) {
                self.of_tvm.push(name.to_owned());
            }
        }
    }

    fn add_function(&mut self, symbol: &str, kind: u8, address: u64) -> Result<(), Error> {
        let Some(name) = symbol.strip_prefix(FUNCTION) else { return Ok(()) };
        let is_code = matches!(kind, elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_NOTYPE);
        if !is_code || !self.is_executable(address) || name.contains(char::is_control) {
            return Ok(());
        }
        if self.symbols.len() >= SYMBOLS_MAX {
            return Err(value_error(format!("it has more than {SYMBOLS_MAX} functions")));
        }
        self.symbols.insert(symbol.to_owned());
        if name.is_empty() || name.starts_with('_') {
            return Ok(());
        }
        self.functions.insert(name.to_owned(), symbol.to_owned());
        Ok(())
    }

    fn is_executable(&self, address: u64) -> bool {
        let endian = self.elf.endian();
        self.elf.elf_program_headers().iter().any(|segment| {
            segment.p_type(endian) == elf::PT_LOAD
                && segment.p_flags(endian) & elf::PF_X != 0
                && address.checked_sub(segment.p_vaddr(endian)).is_some_and(|at| at < segment.p_memsz(endian))
        })
    }

    fn read_dynamic(&mut self) -> Result<(), Error> {
        let table = self.elf.elf_dynamic_table().map_err(damaged)?;
        for entry in &table {
            let is_needed = entry.tag == elf::DT_NEEDED;
            if !is_needed && ![elf::DT_RPATH, elf::DT_RUNPATH].contains(&entry.tag) {
                continue;
            }
            let text = table.string(entry).map_err(damaged)?;
            let text = String::from_utf8_lossy(text).into_owned();
            if !is_needed {
                self.searches_beside |= text.contains("ORIGIN");
                continue;
            }
            if LIBRARIES.iter().any(|prefix| text.starts_with(prefix)) {
                self.unmet.insert(0, format!("the library {text}"));
            }
            self.needed.push(text);
        }
        Ok(())
    }

    /// Returns the bytes of the file from an address to the end of its segment.
    fn at(&self, address: u64) -> Option<&'a [u8]> {
        let endian = self.elf.endian();
        let bytes = self.elf.data();
        self.elf.elf_program_headers().iter().find_map(|segment| {
            let at = address.checked_sub(segment.p_vaddr(endian))?;
            let left = segment.p_filesz(endian).checked_sub(at).filter(|left| *left > 0)?;
            if segment.p_type(endian) != elf::PT_LOAD {
                return None;
            }
            let start = usize::try_from(segment.p_offset(endian).checked_add(at)?).ok()?;
            bytes.get(start..start.checked_add(usize::try_from(left).ok()?)?)
        })
    }

    /// Returns the bytes of a variable that begins with its own size, that included.
    fn sized(&self, symbol: &'static str) -> Result<Option<&'a [u8]>, Error> {
        let Some((address, size)) = self.data.get(symbol) else { return Ok(None) };
        let bytes = self.at(*address).ok_or_else(|| damaged(format!("{symbol} lies outside of the file")))?;
        // A linker writes how large a variable is; where it does not, the segment is the bound.
        match usize::try_from(*size) {
            Ok(size @ 1..) if size <= bytes.len() => Ok(Some(&bytes[..size])),
            Ok(0) => Ok(Some(bytes)),
            _ => Err(damaged(format!("{symbol} claims {size} bytes, the file has {} there", bytes.len()))),
        }
    }

    fn document(&self) -> Result<Option<LibraryDocument>, Error> {
        let Some(bytes) = self.sized(DOCUMENT)? else { return Ok(None) };
        let (size, rest) =
            bytes.split_first_chunk().ok_or_else(|| damaged("its description is cut short"))?;
        let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(usize::MAX);
        if size > DOCUMENT_BYTES_MAX {
            return Err(damaged(format!(
                "its description has {size} bytes; expected at most {DOCUMENT_BYTES_MAX}"
            )));
        }
        let text = rest.get(..size).ok_or_else(|| {
            damaged(format!("its description claims {size} bytes, the file has {} there", rest.len()))
        })?;
        LibraryDocument::parse(text).map(Some)
    }

    fn embedded(&self) -> Result<Vec<Embedded>, Error> {
        let Some(bytes) = self.sized(BLOB)? else {
            let alone = Embedded {
                kind: LIBRARY_KIND.to_owned(),
                size_bytes: 0,
                artifact: None,
                imports: Vec::new(),
                payload: 0..0,
            };
            return Ok(vec![alone]);
        };
        let modules = blob::read(bytes).map_err(|what| damaged(format!("its embedded modules: {what}")))?;
        // The blob is a part of the file.
        let start = bytes.as_ptr().addr() - self.elf.data().as_ptr().addr();
        let modules: Result<Vec<Embedded>, Error> =
            modules.into_iter().map(|module| embedded(module, bytes, start)).collect();
        Ok(unbundled(modules?))
    }

    /// Describes the library as an artifact without sections: one of Chipdock by its own index,
    /// another by its symbols.
    fn described(
        &self,
        document: Option<&LibraryDocument>,
        embedded: &[Embedded],
    ) -> Result<Artifact, Error> {
        let imports = embedded.iter().filter_map(|module| module.artifact.clone()).collect();
        let Some(LibraryDocument { artifact: linked, .. }) = document else {
            let functions = self.functions.iter().map(|(name, symbol)| FunctionInfo::new(name, symbol));
            return Artifact::described(FOREIGN_KIND, FORMAT, functions.collect(), imports);
        };
        let artifact = Artifact::new(linked.index.clone(), linked.target.clone(), Vec::new(), imports)?;
        let artifact = artifact.signed(linked.signatures.clone());
        let is_missing = |function: &&FunctionInfo| !self.symbols.contains(&function.symbol);
        if let Some(FunctionInfo { name, symbol, .. }) = artifact.index().functions.iter().find(is_missing) {
            let what = format!("its index has function \"{name}\" as {symbol}, which it does not export");
            return Err(damaged(what));
        }
        Ok(artifact)
    }
}

/// Reads an embedded module of a blob, which begins there in the file.
fn embedded(module: blob::Module, bytes: &[u8], start: usize) -> Result<Embedded, Error> {
    let range = module.payload.unwrap_or_default();
    let payload = bytes.get(range.clone()).unwrap_or_default();
    let artifact = if module.kind == EMBEDDED_KIND {
        let artifact =
            Artifact::from_bytes(payload).map_err(|error| error.while_doing("an embedded artifact"))?;
        if !module.imports.is_empty() {
            return Err(damaged("an embedded artifact imports other modules; expected them inside of it"));
        }
        Some(Arc::new(artifact))
    } else {
        None
    };
    let payload = start + range.start..start + range.end;
    Ok(Embedded { kind: module.kind, size_bytes: payload.len(), artifact, imports: module.imports, payload })
}

/// Puts the modules of a bundle in its place: the first one there, the others at the end, all as
/// imports of what imports it.
fn unbundled(mut all: Vec<Embedded>) -> Vec<Embedded> {
    for at in 0..all.len() {
        let bundle = all[at].artifact.clone();
        let Some([first, others @ ..]) = bundle.as_ref().and_then(|bundle| bundle.bundled()) else {
            continue;
        };
        let places = all.len()..all.len() + others.len();
        let payload = all[at].payload.clone();
        let of = |module: &Arc<Artifact>| Embedded {
            kind: EMBEDDED_KIND.to_owned(),
            size_bytes: payload.len(),
            artifact: Some(Arc::clone(module)),
            imports: Vec::new(),
            payload: payload.clone(),
        };
        all.extend(others.iter().map(of));
        all[at].artifact = Some(Arc::clone(first));
        for module in &mut all {
            if let Some(place) = module.imports.iter().position(|import| *import == at) {
                module.imports.splice(place + 1..place + 1, places.clone());
            }
        }
    }
    all
}

fn check_format(bytes: &[u8]) -> Result<(), Error> {
    let unsupported = |what: &str| {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("{what}; expected a little-endian library of 64 bits"),
        ))
    };
    match (bytes.get(4), bytes.get(5)) {
        (Some(&1), _) => unsupported("it is built for a machine of 32 bits"),
        (_, Some(&2)) => unsupported("it is built for a machine of the other byte order"),
        (None, _) | (_, None) => {
            Err(value_error(format!("it is cut short: the file has {} bytes", bytes.len())))
        }
        _ => Ok(()),
    }
}
