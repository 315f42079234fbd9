//! Tests of the wire format of [`chipdock_ir::wire`] from outside: its schemas, the documents that
//! are kept for ever, a reader in C++, and damaged documents.
//!
//! - [`folder`] returns the folder of the published files: a schema per minor version, and
//!   `corpus/<minor>/*.json`.
//! - [`documents`] returns the kept documents of a minor version. With `BLESS=1` it first adds
//!   those that are missing, so that every test of such a run has them.
//! - [`modules`] makes modules that together contain every node and every op of a minor version.

mod kept;
pub mod modules;

use std::path::PathBuf;
use std::{fs, io};

use chipdock_test_support::is_blessing;

pub use kept::{Missing, digest, missing};

/// Minor versions by the names of their folders, each with the version that is written, oldest
/// first.
pub const MINORS: &[(&str, &str)] = &[("1.0", "1.0.0")];

/// A kept document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name of the file.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
}

/// Returns the folder of the published files of the wire format.
#[must_use]
pub fn folder() -> PathBuf {
    chipdock_test_support::workspace().join("plugin-api/ir/wire")
}

/// Returns the kept documents of a minor version, by name; with `BLESS=1`, after adding those that
/// are missing.
///
/// # Errors
///
/// A folder or file that cannot be read, or with `BLESS=1` not written.
pub fn documents(minor: &str) -> io::Result<Vec<Document>> {
    if is_blessing() {
        kept::add_missing()?;
    }
    read_documents(minor)
}

fn read_documents(minor: &str) -> io::Result<Vec<Document>> {
    let mut documents = Vec::new();
    for entry in fs::read_dir(folder().join("corpus").join(minor))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            documents.push(Document { name, text: fs::read_to_string(&path)?, path });
        }
    }
    documents.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(documents)
}

/// Returns every kept document of every minor version, with the version before its name.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn all_documents() -> io::Result<Vec<Document>> {
    let mut all = Vec::new();
    for (minor, _) in MINORS {
        for document in documents(minor)? {
            all.push(Document { name: format!("{minor}/{}", document.name), ..document });
        }
    }
    Ok(all)
}
