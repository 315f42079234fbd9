//! `__chipdock_library`: what a library of Chipdock says about itself.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::FILE_BYTES_MAX;
use crate::bounds::NAME_BYTES_MAX;
use crate::compile::artifact::{Artifact, Signatures};
use crate::error::{Error, ErrorKind};
use crate::files;

/// The version of the document that this host writes and reads.
const SCHEMA: &str = "chipdock.library/1";

/// What a library of Chipdock says about itself; unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryDocument {
    schema: String,
    /// The program that made it, with its version.
    #[serde(default)]
    pub made_by: String,
    /// Name of the only function, which `__tvm_ffi_main` is too.
    #[serde(default)]
    pub main: Option<String>,
    /// The artifact that was linked.
    pub artifact: Linked,
    /// The artifact that lies beside the library.
    #[serde(default)]
    pub aside: Option<Aside>,
}

/// The description of a linked artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linked {
    /// Its index, JSON.
    pub index: String,
    /// Its target, canonical JSON.
    pub target: String,
    /// The signatures of its functions, by name.
    #[serde(default, skip_serializing_if = "Signatures::is_empty")]
    pub(crate) signatures: Signatures,
}

/// An artifact that lies beside a library (LIB-5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// Its file name, in the folder of the library.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

impl LibraryDocument {
    /// Describes a library that is linked from an artifact.
    pub(crate) fn of(artifact: &Artifact, aside: Option<Aside>) -> Self {
        let main = match artifact.index().functions.as_slice() {
            [function] => Some(function.name.clone()),
            _ => None,
        };
        let linked = Linked {
            index: artifact.index_json().to_owned(),
            target: artifact.target_json().to_owned(),
            signatures: artifact.signatures().clone(),
        };
        let made_by = format!("chipdock {}", env!("CARGO_PKG_VERSION"));
        Self { schema: SCHEMA.to_owned(), made_by, main, artifact: linked, aside }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let wrong = |error: serde_json::Error| value_error(format!("its description: {error}"));
        let Head { schema } = serde_json::from_slice(bytes).map_err(wrong)?;
        if schema != SCHEMA {
            let shown = schema.escape_debug().take(NAME_BYTES_MAX).collect::<String>();
            let message = format!("its description is a \"{shown}\"; this host reads {SCHEMA}");
            return Err(Error::new(ErrorKind::Unsupported, message).hint("use a newer Chipdock"));
        }
        let document: Self = serde_json::from_slice(bytes).map_err(wrong)?;
        if let Some(aside) = &document.aside {
            aside.check()?;
        }
        Ok(document)
    }
}

impl Aside {
    /// Checks that it is the name of a file, not a path, and a digest.
    fn check(&self) -> Result<(), Error> {
        let mut parts = Path::new(&self.file).components();
        let is_name = matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(part)), None)
            if part == self.file.as_str());
        if !is_name || self.file.len() > NAME_BYTES_MAX || self.file.chars().any(char::is_control) {
            let shown: String = self.file.escape_debug().take(NAME_BYTES_MAX).collect();
            return Err(value_error(format!("it names \"{shown}\" beside it; expected the name of a file")));
        }
        let is_digest = self.sha256.len() == 64 && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_digest {
            return Err(value_error("the digest of the file beside it is no SHA-256".to_owned()));
        }
        Ok(())
    }

    /// Reads the artifact beside a library.
    pub(super) fn read(&self, library: &Path) -> Result<Arc<Artifact>, Error> {
        let path = library.with_file_name(&self.file);
        let at = |error: Error| error.at(path.display().to_string());
        let bytes = files::read_regular(&path, FILE_BYTES_MAX).map_err(|error| {
            let message = format!(
                "the device code of the library is in a file beside it, {}: {}",
                self.file,
                error.message()
            );
            let hint = "put the file that was built with the library beside it";
            at(Error::new(ErrorKind::Unavailable, message).hint(hint))
        })?;
        let found = files::sha256_of_bytes(&bytes);
        if !found.eq_ignore_ascii_case(&self.sha256) {
            let message = format!(
                "it is not the file that was built with the library: its SHA-256 is {found}, expected {}",
                self.sha256
            );
            return Err(at(
                value_error(message).hint("put that file beside the library, or build both again")
            ));
        }
        Artifact::from_bytes(&bytes).map(Arc::new).map_err(at)
    }
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::Value, message)
}
