//! The description that an exported library holds (EXPORT-X3).

use serde::{Deserialize, Serialize};

/// The schema of the description.
pub const LIBRARY_SCHEMA: &str = "chipdock.library/1";

/// The description of an exported library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) schema: String,
    /// Name and version of the program that made it.
    pub(crate) made_by: String,
    /// The function that `__tvm_ffi_main` is.
    pub(crate) main: Option<String>,
    pub(crate) artifact: AboutArtifact,
    /// The file beside it that has its device code.
    pub(crate) aside: Option<AsideFile>,
}

/// Index and target of the artifact that was linked, as its code generator wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AboutArtifact {
    pub(crate) index: String,
    pub(crate) target: String,
}

/// A file in the folder of the library, with the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AsideFile {
    pub(crate) file: String,
    pub(crate) sha256: String,
}
