//! The wire format: a module as canonical JSON, versioned by itself.
//!
//! W1. **Document**: `{"chipdock_ir": version, "nodes": […], "functions": […], "attrs": […]}`, in this key order, one
//! node a line, UTF-8, no byte order mark. Every field is always there; what is absent is `null`.
//!
//! W2. **Nodes** are a flat table. A node's id is its index; it refers only to nodes before it, so that there are no
//! cycles and nothing nests. Expressions and statements that are equal stand once; variables and buffers have an
//! identity, and stand once each.
//!
//! W3. **Numbers**: integers of the IR are decimal strings (JSON readers lose digits past 2^53); floats are the bits of
//! a float64, `"0x…"` with 16 hexadecimal digits (JSON has no NaN); ids, lanes and alignments are JSON numbers.
//!
//! W4. **Canonical**: one module gives the same bytes always, so that a hash of them means something. Positions in a
//! text are not written.
//!
//! W5. **Versions**: semver of its own ([`VERSION`]). A minor adds nodes or fields; a reader takes its own major and
//! minors up to its own, and rejects unknown nodes and fields. [`write_at`] rewrites a document minor by minor down
//! to what an older reader takes, or names the node that the older minor cannot express.
//!
//! W6. **Limits**: [`limits`](crate::limits), and [`DOCUMENT_BYTES_MAX`]. A reader never recurses deeper than those,
//! whatever the document, and its errors name the node.
//!
//! W7. [`read`] checks the structure of the document, [`crate::validate`] the module. What [`write()`] writes of any
//! valid module, [`read`] takes, and gives an equal one ([`crate::equal::modules`]).
//!
//! Constants of tensors are to be sections beside the document; no node refers to one yet.
//!
//! # Nodes
//!
//! `id` is a node's id, `id?` an id or `null`, `dtype` a type's name; `annotations`, `attrs` and `items` of a map are
//! `[[name, id], …]`, sorted by name; a `region` is `[[min, extent], …]`.
//!
//! | node | fields |
//! |---|---|
//! | `Var` (an expression too) | name, dtype, pointer: null or {element: dtype, scope} |
//! | `Buffer` | name, dtype, shape \[id\], strides \[id\], elem_offset id?, data id, scope, data_alignment_bytes, offset_factor |
//! | `Int`, `Float`, `Str` | dtype, value · dtype, bits · value |
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

mod json;
mod read;
mod write;

use std::fmt;

use crate::IrModule;
use json::Json;

/// The version that [`write()`] writes and the newest that [`read`] takes.
pub const VERSION: &str = "1.0.0";

/// Bytes of a document at most.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 20;

/// Levels of nodes within each other, those of a buffer's shape below its use counted too: what is valid nests less.
const LEVELS_MAX: usize = 2 * crate::limits::DEPTH_MAX + 2;

/// A document or a module that cannot be read or written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The id of the node, when it is about one.
    pub node: Option<usize>,
    /// What was expected, what was found.
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
/// A module that exceeds the [`limits`](crate::limits), or holds what is no IR (a type that does not exist, a
/// use of a variable at another type than its own): what [`crate::validate`] rejects.
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

/// Writes a module at a version that an older reader takes.
///
/// # Errors
///
/// As [`write()`]; a version that this library does not know; a node that the version cannot express, by its id and
/// name.
pub fn write_at(module: &IrModule, version: &str) -> Result<String, WireError> {
    write_among(module, version, MINORS)
}

/// Reads a document.
///
/// # Errors
///
/// The first thing that is not as the format has it: JSON, version, an unknown node or field, an id that does not
/// refer backwards to a node of the wanted sort, a limit.
pub fn read(text: &str) -> Result<IrModule, WireError> {
    if text.len() > DOCUMENT_BYTES_MAX {
        return Err(WireError::new(format!(
            "expected at most {DOCUMENT_BYTES_MAX} bytes, found {}",
            text.len()
        )));
    }
    read::document(&json::parse(text)?)
}

/// A minor of the format.
struct Minor {
    version: &'static str,
    /// Rewrites a document of this minor to the one before it; `None` for the first.
    down: Option<Down>,
}

type Down = fn(&mut Document) -> Result<(), WireError>;

/// Every minor, oldest first.
const MINORS: &[Minor] = &[Minor { version: VERSION, down: None }];

/// A document in the making.
struct Document {
    nodes: Vec<Json>,
    functions: Json,
    attrs: Json,
}

fn write_among(module: &IrModule, version: &str, minors: &[Minor]) -> Result<String, WireError> {
    let numbers = parse_version(version)?;
    let known =
        |minor: &Minor| parse_version(minor.version).is_ok_and(|n| (n.0, n.1) == (numbers.0, numbers.1));
    let Some(position) = minors.iter().position(known) else {
        let known: Vec<&str> = minors.iter().map(|minor| minor.version).collect();
        return Err(WireError::new(format!(
            "cannot write version {version}; this library writes {}",
            known.join(", ")
        )));
    };
    let mut document = write::document(module)?;
    for minor in minors[position + 1..].iter().rev() {
        if let Some(down) = minor.down {
            down(&mut document)?;
        }
    }
    Ok(write::text(&document, minors[position].version))
}

/// `major.minor.patch`.
fn parse_version(text: &str) -> Result<(u32, u32, u32), WireError> {
    let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
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
