//! The index of an artifact: the document in which a code generator says what its code holds. Hosts
//! and loaders read it by the same structs (C.8, P3.9, X.12).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, ErrorKind};

/// The version of the index that this crate reads (P3.19).
pub const INDEX_SCHEMA: u32 = 1;

/// Checks the version of an index, the first thing to read of it (P3.19): without `schema`, it is
/// 1.
///
/// # Errors
///
/// * `Unavailable`: the version is a later one than [`INDEX_SCHEMA`]; the message has both.
/// * `ValueError`: it is not a whole number from 1 up.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::index::check_schema;
/// use serde_json::json;
///
/// assert!(check_schema(&json!({ "module_kind": "npu" })).is_ok());
/// assert_eq!(check_schema(&json!({ "schema": 2 })).unwrap_err().kind(), chipdock_plugin_api::ErrorKind::UNAVAILABLE);
/// ```
pub fn check_schema(index: &Value) -> Result<(), Error> {
    let Some(schema) = index.get("schema") else { return Ok(()) };
    let version = schema.as_u64().filter(|version| *version > 0);
    let version = version.ok_or_else(|| {
        let message = format!("expected a whole number from 1 up as `schema` of an index, found {schema}");
        Error::new(ErrorKind::VALUE_ERROR, message)
    })?;
    crate::ensure!(
        version <= INDEX_SCHEMA.into(),
        ErrorKind::UNAVAILABLE,
        "the artifact has an index of version {version}; expected one up to {INDEX_SCHEMA}. Use a newer Chipdock, or build \
         it again"
    );
    Ok(())
}

/// The index of an artifact: its kind, format and functions.
///
/// Fields that are not here are ignored (P3.9); the document itself is kept as it was written.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::index::ArtifactIndex;
///
/// let text = r#"{"module_kind": "npu", "format": "npu-1", "functions": [{"name": "add", "symbol": "add_0"}]}"#;
/// let index = ArtifactIndex::parse(text)?;
/// assert_eq!(index.functions[0].symbol, "add_0");
/// assert_eq!(index.env, None);
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactIndex {
    /// The kind of its loader: `module.load.<module_kind>`.
    pub module_kind: String,
    /// The format of its code.
    pub format: String,
    /// Its functions.
    pub functions: Vec<FunctionInfo>,
    /// The version of the environment that its code relies on; none is 1 (X.12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<u32>,
}

impl ArtifactIndex {
    /// Parses an index, its version first: of a later one nothing else is read (P3.19).
    ///
    /// # Errors
    ///
    /// * `Unavailable`: the version is a later one than [`INDEX_SCHEMA`].
    /// * `ValueError`: it is not JSON, or not an index.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |error: serde_json::Error| Error::new(ErrorKind::VALUE_ERROR, error.to_string());
        // A whole reading of each: a key that stands twice is seen by the second alone.
        check_schema(&serde_json::from_str(text).map_err(wrong)?)?;
        serde_json::from_str(text).map_err(wrong)
    }
}

/// A function of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionInfo {
    /// Name of the function in the module that it was compiled from.
    pub name: String,
    /// Name of the function in the code.
    pub symbol: String,
    /// Types of its arguments, `handle` for a buffer.
    #[serde(default)]
    pub args: Vec<String>,
    /// Thread axes and further launch parameters, in order.
    #[serde(default)]
    pub launch_params: Vec<String>,
    /// Its signature for a person.
    #[serde(default)]
    pub doc: String,
}

impl FunctionInfo {
    /// Makes the description of a function of which nothing else is known.
    #[must_use]
    pub fn new(name: &str, symbol: &str) -> Self {
        Self {
            name: name.to_owned(),
            symbol: symbol.to_owned(),
            args: Vec::new(),
            launch_params: Vec::new(),
            doc: String::new(),
        }
    }
}
