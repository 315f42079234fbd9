//! The index of an artifact: the document in which a code generator says what its code holds. Hosts
//! and loaders read it by the same structs (C.8, P3.9, X.12).

use serde::{Deserialize, Serialize};

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
/// let index: ArtifactIndex = serde_json::from_str(text)?;
/// assert_eq!(index.functions[0].symbol, "add_0");
/// assert_eq!(index.env, None);
/// # Ok::<(), serde_json::Error>(())
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
