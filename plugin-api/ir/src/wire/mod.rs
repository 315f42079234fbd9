//! The wire format: a module as canonical JSON, with its own version.
//!
//! WIRE-W1. **Document**: `{"chipdock_ir": version, "nodes": […], "functions": […], "attrs": […]}`,
//! in this key order, one node a line, UTF-8, no byte order mark. Every field is always there; what
//! is absent is `null`.
//!
//! WIRE-W2. **Nodes** are a flat table. A node's id is its index; it refers only to nodes before
//! it, so that there are no cycles and nothing nests. Expressions and statements that are equal
//! stand once; variables and buffers have an identity, and stand once each.
//!
//! WIRE-W3. **Numbers**: integers of the IR are decimal strings (JSON readers lose digits past
//! 2^53); floats are the bits of a float64, `"0x…"` with 16 hexadecimal digits (JSON has no NaN);
//! ids, lanes and alignments are JSON numbers.
//!
//! WIRE-W4. **Canonical**: one module gives the same bytes always, so that a hash of them means
//! something. Positions in a text are written only when asked for (WIRE-W8).
//!
//! WIRE-W5. **Versions**: semver of its own ([`VERSION`]). A minor adds nodes, fields, ops or
//! types; a reader takes its own major and minors up to its own, and rejects what the document's
//! minor does not have: an unknown node, field or op, those of a newer minor too. Older documents
//! are rewritten up, minor by minor, and then read by the one reader. [`write_at`] rewrites a
//! document minor by minor down to what an older reader takes: a new node becomes its equal in
//! older ones, where the minor states one; an optional field of the document that the older minor
//! lacks is left out; whatever else it lacks is refused, by the node, its op, type or field, the
//! function, and the version that takes it. What each minor has is a table, printed as JSON Schema
//! ([`schema`]). Published minors never change; documents of each are kept beside this crate, in
//! `wire/corpus`, and are read for ever.
//!
//! WIRE-W6. **Limits**: [`limits`](crate::limits), and [`DOCUMENT_BYTES_MAX`]. A reader never
//! recurses deeper than those, whatever the document, and its errors name the node.
//!
//! WIRE-W7. [`read`] checks the structure of the document, [`crate::validate`] the module. What
//! [`write()`] writes of any valid module, [`read`] takes, and gives an equal one
//! ([`crate::equal::modules`]).
//!
//! WIRE-W8. **Positions** are a section of the document, left out when there are none:
//! `"positions": {"file": name or null, "nodes": [[id, line, column], …]}`, in the order of ids,
//! lines and columns from 1. A document with positions tells equal statements of different places
//! apart, so that each has its own; equal expressions still stand once, and have a position only if
//! they stand in one place.
//!
//! WIRE-W9. **Identity**: [`identity`] writes a text that is the same for two modules if nothing
//! distinguishes them, not even the position of one use of a variable. It is a key for remembering
//! modules; no reader takes it.
//!
//! WIRE-W10. **Sections**: the bytes of constants (IR-B8) are not in the document. They are
//! sections beside it ([`sections`]): a `ConstantData` names its section by the SHA-256 of its
//! bytes, 64 lower-case hexadecimal digits, so that a key that covers the document covers them too,
//! and equal constants are one section. The bytes are the buffer's elements in order,
//! little-endian, those of fewer than 8 bits packed (IR-T6). A reader refuses a document of which a
//! section is missing, has another size than the node's `size_bytes`, or another digest; it ignores
//! a section to which no node refers. [`read`] and [`read_document`] are given none.
//!
//! # Minors
//!
//! 1.0 is the only minor that was published; `wire/README.md` beside this crate says how to make
//! the next one. The conversions of WIRE-W5 are tested with minors that exist in tests alone
//! (`wire::imagined`, by the feature `testing`).
//!
//! # Robustness
//!
//! A module takes time and memory in proportion to its nodes. Measured once
//! (`examples/wire_speed.rs`, release, one of two cores), in microseconds per node of modules of
//! 10,000, 100,000 and 1,000,000 nodes: written 0.56, 0.63, 1.13; read 0.63, 0.69, 1.22; rewritten
//! for an older minor and written 1.08, 1.23, 2.26. The sizes differ because of caches; the number
//! of allocations per node is the same. `tests/wire` counts them, and limits reading to 128 bytes
//! of memory for each byte of any document, besides the copies of attributes: at most 64 bytes for
//! each of [`NODES_MAX`](crate::limits::NODES_MAX).
//!
//! # Nodes
//!
//! `id` is a node's id, `id?` an id or `null`, `dtype` a type's name; `annotations`, `attrs` and
//! `items` of a map are `[[name, id], …]`, sorted by name; a `region` is `[[min, extent], …]`.
//!
//! | node | fields |
//! |---|---|
//! | `Var` (an expression too) | name, dtype, pointer: null or {element: dtype, scope} |
//! | `Buffer` | name, dtype, shape \[id\], strides \[id\], elem_offset id?, data id, scope, data_alignment_bytes, offset_factor |
//! | `Int`, `Float`, `Str` | dtype, value · dtype, bits · value |
//! | `ConstantData` | section, size_bytes: the name and the size of a section (WIRE-W10) |
//! | `Cast`, `Not` | dtype, value id |
//! | `Add` `Sub` `Mul` `Div` `Mod` `FloorDiv` `FloorMod` `Min` `Max` `EQ` `NE` `LT` `LE` `GT` `GE` `And` `Or` | dtype, a id, b id |
//! | `Select` | dtype, condition id, then id, otherwise id |
//! | `Load` | dtype, buffer id, indices \[id\], predicate id? |
//! | `Ramp`, `Broadcast` | dtype, base id, stride id, lanes · dtype, value id, lanes |
//! | `Shuffle` | dtype, vectors \[id\], indices \[number\] |
//! | `Let` | dtype, var id, value id, body id |
//! | `CallOp`, `CallGlobal` | dtype, op, args \[id\] · dtype, function, args \[id\] |
//! | `CallExtern` | dtype, name, pure, args \[id\] |
//! | `Seq` | stmts \[id\] |
//! | `Bind` | var id, value id |
//! | `Store` | buffer id, indices \[id\], value id, predicate id? |
//! | `AllocBuffer`, `DeclBuffer` | buffer id, annotations · buffer id, data id? |
//! | `For` | var id, min id, extent id, kind, thread axis or null, step id?, annotations, body id |
//! | `While` | condition id, body id |
//! | `If` | condition id, then id, otherwise id? |
//! | `BlockRealize` | iter_values \[id\], predicate id, name, iter_vars \[{var, min, extent, kind}\], reads and writes: null or \[{buffer, region}\], init id?, alloc_buffers \[id\], match_buffers \[{buffer, source}\], annotations, body id |
//! | `Evaluate`, `Return` | value id · value id? |
//! | `Assert` | condition id, kind, message \[id\] |
//! | `Attr` | about: id? of a buffer, variable or `Reducer`, key, value id, body id |
//! | `Reducer` | lhs \[id\], rhs \[id\], result \[id\], identity \[id\] |
//! | `LaunchThread` | var id, axis, extent id, body id |
//! | `Break`, `Continue` | |
//! | `AttrNone` `AttrBool` `AttrInt` `AttrFloat` `AttrStr` `AttrList` `AttrMap` `AttrTarget` `AttrExpr` | value; AttrFloat: bits; AttrList: items \[id\]; AttrMap: items; AttrTarget: target |

mod fields;
mod format;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod imagined;
mod json;
mod minors;
mod read;
mod rewrite;
mod write;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::{Child, ConstantData, IrModule};
use json::Json;
use minors::{MINORS, Minor, convert, find};
use rewrite::Document;

/// The version that [`write()`] writes and the newest that [`read`] takes.
pub const VERSION: &str = "1.0.0";

/// Every version that is written and read, oldest first.
pub const VERSIONS: &[&str] = &[VERSION];

/// The greatest size of a document in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 20;

/// The greatest number of nesting levels of nodes, including those of a buffer's shape below its
/// use: valid modules nest less.
const LEVELS_MAX: usize = 2 * crate::limits::DEPTH_MAX + 2;

/// The error for a document or a module that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Id of the node that the error is about, if any.
    pub node: Option<usize>,
    /// Message: what was expected, what was found.
    pub message: String,
}

impl WireError {
    fn new(message: impl Into<String>) -> Self {
        Self { node: None, message: message.into() }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(node) = self.node {
            write!(f, "IR document, node {node}: ")?;
        } else {
            f.write_str("IR document: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}

/// Writes a module at [`VERSION`].
///
/// # Errors
///
/// A module that exceeds the [`limits`](crate::limits), or is no IR (a type that does not exist, a
/// use of a variable at another type than its own): one that [`crate::validate`] rejects.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{DType, Expr, build, equal, wire};
///
/// let mut f = build::function("f");
/// let a = f.buffer("A", [4], DType::FLOAT32);
/// f.store(&a, [0], Expr::float(1.0, DType::FLOAT32));
/// let module = build::module([f.finish()]);
/// let text = wire::write(&module).unwrap();
/// assert_eq!(equal::modules(&wire::read(&text).unwrap(), &module), Ok(()));
/// ```
pub fn write(module: &IrModule) -> Result<String, WireError> {
    write_at(module, VERSION)
}

/// Writes a module at a version that an older reader reads.
///
/// # Errors
///
/// As [`write()`]; a version that this library does not know; a node that the version cannot
/// express, by its id and name.
pub fn write_at(module: &IrModule, version: &str) -> Result<String, WireError> {
    write_with(module, &WriteOptions { version, ..WriteOptions::default() })
}

/// Options for writing a module.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions<'a> {
    /// The version, [`VERSION`] by default.
    pub version: &'a str,
    /// Whether positions are written (WIRE-W8), if the version has them; not by default.
    pub positions: bool,
    /// The file that the module was read from, written with the positions.
    pub file: Option<&'a str>,
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        Self { version: VERSION, positions: false, file: None }
    }
}

/// Writes a module with the given options.
///
/// # Errors
///
/// As [`write_at`]; a file name of more than [`STRING_BYTES_MAX`](crate::limits::STRING_BYTES_MAX)
/// bytes.
///
/// # Examples
///
/// ```
/// use chipdock_ir::wire::{self, WriteOptions};
/// use chipdock_ir::{Expr, Span, Stmt, StmtKind, build};
///
/// let mut f = build::function("f");
/// f.push(Stmt::new(StmtKind::Return(None)).with_span(Span { line: 3, column: 5 }));
/// let module = build::module([f.finish()]);
/// let options = WriteOptions { positions: true, file: Some("f.py"), ..WriteOptions::default() };
/// let document = wire::read_document(&wire::write_with(&module, &options).unwrap()).unwrap();
/// assert_eq!(document.file.as_deref(), Some("f.py"));
/// assert_eq!(document.module.functions[0].body.span.line, 3);
/// ```
pub fn write_with(module: &IrModule, options: &WriteOptions<'_>) -> Result<String, WireError> {
    write_among(module, options, MINORS, MINORS.len() - 1)
}

/// Writes a text that is the same for two modules if nothing distinguishes them (WIRE-W9): unlike a
/// document with positions, it has the position of each of several equal expressions. It is not a
/// document: its form changes with this library.
///
/// # Errors
///
/// As [`write()`].
pub fn identity(module: &IrModule) -> Result<String, WireError> {
    write::identity(module)
}

/// The contents of a document.
#[derive(Clone, Debug)]
pub struct WireDocument {
    /// The module; its nodes have the positions that were written.
    pub module: IrModule,
    /// The version of the document.
    pub version: Arc<str>,
    /// The file that the module was first read from, if that was written.
    pub file: Option<Arc<str>>,
}

/// Returns the sections beside a module's document (WIRE-W10), each once, in the order of the
/// module. Its name is [`ConstantData::digest`].
///
/// # Examples
///
/// ```
/// use chipdock_ir::{ConstantData, DType, build, wire};
///
/// let mut f = build::function("f");
/// f.constant("K", [2], DType::INT16, ConstantData::pack(DType::INT16, [1, 0xffff]));
/// let module = build::module([f.finish()]);
/// let sections = wire::sections(&module);
/// assert_eq!(sections[0].bytes(), [1, 0, 0xff, 0xff]);
/// let text = wire::write(&module).unwrap();
/// assert!(text.contains(&**sections[0].digest()) && wire::read(&text).is_err());
/// assert!(wire::read_beside(&text, &sections).is_ok());
/// ```
#[must_use]
pub fn sections(module: &IrModule) -> Vec<ConstantData> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for function in &module.functions {
        function.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child
                && let Some((_, data)) = stmt.as_constant()
                && seen.insert(Arc::clone(data.digest()))
            {
                found.push(data.clone());
            }
        });
    }
    found
}

/// The sections beside a document: the bytes of the one that has that name, if it is there.
pub type Sections<'a> = &'a dyn Fn(&str) -> Option<&'a [u8]>;

/// Reads the module of a document without sections.
///
/// # Errors
///
/// The first violation of the format: JSON, version, a node, field or op that the version does not
/// have, an id that does not refer backwards to a node of the expected sort, a limit.
pub fn read(text: &str) -> Result<IrModule, WireError> {
    read_document(text).map(|document| document.module)
}

/// Reads the module of a document with the sections that [`sections`] gave.
///
/// # Errors
///
/// As [`read_document_with`].
pub fn read_beside(text: &str, sections: &[ConstantData]) -> Result<IrModule, WireError> {
    let named = |name: &str| sections.iter().find(|data| **data.digest() == *name).map(ConstantData::bytes);
    read_document_with(text, &named).map(|document| document.module)
}

/// Reads a document without sections.
///
/// # Errors
///
/// As [`read`].
pub fn read_document(text: &str) -> Result<WireDocument, WireError> {
    read_document_with(text, &|_| None)
}

/// Reads a document with the sections beside it. The bytes of each are copied once.
///
/// # Errors
///
/// As [`read`]; a section that is missing, or that has another size or digest (WIRE-W10).
pub fn read_document_with(text: &str, sections: Sections<'_>) -> Result<WireDocument, WireError> {
    read_among(text, sections, MINORS, MINORS.len() - 1)
}

/// Returns the JSON Schema (draft 2020-12) of a version's documents. It describes each node and its
/// fields; it cannot check that ids refer backwards to nodes of the right sort. Numbers of a
/// document have no fraction and no exponent, which JSON Schema cannot distinguish from a fraction
/// or exponent of zero.
///
/// # Errors
///
/// A version that this library does not know.
pub fn schema(version: &str) -> Result<serde_json::Value, WireError> {
    schema_among(version, MINORS)
}

fn schema_among(version: &str, minors: &[Minor]) -> Result<serde_json::Value, WireError> {
    let minor =
        find(version, minors)?.ok_or_else(|| unknown_version("give the schema of", version, minors))?;
    Ok(format::schema((minors[minor].format)(), minors[minor].version))
}

fn unknown_version(what: &str, version: &str, minors: &[Minor]) -> WireError {
    let known: Vec<&str> = minors.iter().map(|minor| minor.version).collect();
    WireError::new(format!("cannot {what} version {version}; this library knows {}", known.join(", ")))
}

/// Writes a module at one of `minors`; `native` is the position of the minor that modules are
/// written from.
fn write_among(
    module: &IrModule,
    options: &WriteOptions<'_>,
    minors: &[Minor],
    native: usize,
) -> Result<String, WireError> {
    let to =
        find(options.version, minors)?.ok_or_else(|| unknown_version("write", options.version, minors))?;
    if options.file.is_some_and(|file| file.len() > crate::limits::STRING_BYTES_MAX) {
        return Err(WireError::new("the name of the file is too long"));
    }
    let document = write::document(module, options.positions, options.file)?;
    let document = convert(document, native, to, minors)?;
    Ok(write::text(&document, minors[to].version))
}

fn read_among(
    text: &str,
    sections: Sections<'_>,
    minors: &[Minor],
    native: usize,
) -> Result<WireDocument, WireError> {
    if text.len() > DOCUMENT_BYTES_MAX {
        let found = text.len();
        return Err(WireError::new(format!("expected at most {DOCUMENT_BYTES_MAX} bytes, found {found}")));
    }
    let Json::Object(mut rest) = json::parse(text)? else {
        return Err(WireError::new("the document: expected an object"));
    };
    let mut take = |name: &str| {
        let index = rest.iter().position(|(field, _)| field == name);
        let missing = || WireError::new(format!("the document: field \"{name}\" is missing"));
        index.map(|index| rest.remove(index).1).ok_or_else(missing)
    };
    let version = match take("chipdock_ir")? {
        Json::Text(version) => version,
        other => {
            let found = other.brief();
            return Err(WireError::new(format!(
                "the document: field \"chipdock_ir\": expected a string, found {found}"
            )));
        }
    };
    let Some(from) = find(&version, minors)? else {
        let (oldest, newest) = (minors[0].version, minors[minors.len() - 1].version);
        let takes = if oldest == newest { newest.to_owned() } else { format!("{oldest} to {newest}") };
        return Err(WireError::new(format!(
            "version {version} is not for this reader, which takes {takes}; have it written at {newest}"
        )));
    };
    let nodes = match take("nodes")? {
        Json::List(nodes) => nodes,
        other => {
            let found = other.brief();
            return Err(WireError::new(format!(
                "the document: field \"nodes\": expected a list, found {found}"
            )));
        }
    };
    let document = Document { nodes, rest };
    (minors[from].format)().check(&document)?;
    let (module, file) = read::document(convert(document, from, native, minors)?, sections)?;
    Ok(WireDocument { module, version, file })
}

/// Parses `major.minor.patch`.
fn parse_version(text: &str) -> Result<(u32, u32, u32), WireError> {
    let number = |part: &str| part.parse::<u32>().ok().filter(|number| number.to_string() == part);
    let mut parts = text.split('.').map(number);
    match (parts.next().flatten(), parts.next().flatten(), parts.next().flatten(), parts.next()) {
        (Some(major), Some(minor), Some(patch), None) => Ok((major, minor, patch)),
        _ => {
            let found: String = text.chars().take(40).collect();
            Err(WireError::new(format!("expected a version as \"{VERSION}\", found \"{found}\"")))
        }
    }
}

#[cfg(test)]
mod tests;
