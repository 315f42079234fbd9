//! Checks of an artifact that every loader makes before it reads the contents.

use core::fmt;

use serde_json::Value;

use crate::index::check_schema;
use crate::{Artifact, Error, ErrorKind, Verdict};

/// The artifacts that a loader accepts (KIT-17).
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::kit::ArtifactKind;
/// use serde_json::json;
///
/// const KIND: ArtifactKind = ArtifactKind { kind: "npu", formats: &["npuasm"] };
///
/// assert_eq!(KIND.foreign(&json!({ "module_kind": "npu", "format": "npuasm" })), None);
/// let why = KIND.foreign(&json!({ "module_kind": "npu", "format": "elf" })).unwrap();
/// assert!(why.contains("expected an artifact of kind \"npu\" and format \"npuasm\""));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtifactKind {
    /// The module kind: the name under which the loader is registered.
    pub kind: &'static str,
    /// The formats that the loader accepts.
    pub formats: &'static [&'static str],
}

impl ArtifactKind {
    /// Makes a `ValueError` with this kind and the artifact's problem.
    pub fn error(&self, message: impl fmt::Display) -> Error {
        let message = format!("an artifact of kind {}: {message}; build it again", self.kind);
        Error::new(ErrorKind::VALUE_ERROR, message)
    }

    /// Returns the reason why the artifact of that index is not the loader's, or `None` if it is.
    #[must_use]
    pub fn foreign(&self, index: &Value) -> Option<String> {
        let (kind, format) = (&index["module_kind"], &index["format"]);
        let is_own = kind == self.kind && self.formats.iter().any(|known| format == known);
        (!is_own).then(|| {
            let formats: Vec<String> = self.formats.iter().map(|format| format!("\"{format}\"")).collect();
            format!(
                "expected an artifact of kind \"{}\" and format {}, found {kind} and {format}",
                self.kind,
                formats.join(" or ")
            )
        })
    }

    /// Makes the verdict of [`ModuleLoader::check`](crate::ModuleLoader::check): `own` examines an
    /// artifact of this kind.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the index is not a JSON object.
    /// * `Unavailable`: the index is of a later version (P3.19).
    /// * The error of `own`.
    pub fn check(
        &self,
        artifact: &Artifact<'_>,
        own: impl FnOnce(&Value) -> Result<Verdict, Error>,
    ) -> Result<Verdict, Error> {
        let index = self.any_index(artifact)?;
        self.foreign(&index).map_or_else(|| own(&index), |why| Ok(Verdict::Unsupported(why)))
    }

    /// Parses the index of an artifact that is to be loaded.
    ///
    /// # Errors
    ///
    /// * `Unavailable`: the index is of a later version (P3.19).
    /// * `ValueError`: it is not a JSON object, or the artifact is of another kind or format.
    pub fn index(&self, artifact: &Artifact<'_>) -> Result<Value, Error> {
        let index = self.any_index(artifact)?;
        self.foreign(&index).map_or(Ok(index), |why| Err(self.error(why)))
    }

    fn any_index(&self, artifact: &Artifact<'_>) -> Result<Value, Error> {
        let index: Value = serde_json::from_str(artifact.index_json())
            .map_err(|error| self.error(format_args!("the index is not JSON: {error}")))?;
        if !index.is_object() {
            return Err(self.error(format_args!("expected a JSON object for the index, found {index}")));
        }
        check_schema(&index)?;
        Ok(index)
    }

    /// Returns the bytes of a section.
    ///
    /// # Errors
    ///
    /// `ValueError`: there is no such section.
    pub fn section<'a>(&self, artifact: &Artifact<'a>, name: &str) -> Result<&'a [u8], Error> {
        let section = artifact.section(name).map_err(|error| self.error(error.message()))?;
        Ok(section.data)
    }

    /// Returns the text of a section.
    ///
    /// # Errors
    ///
    /// `ValueError`: there is no such section, or it is not UTF-8.
    pub fn text<'a>(&self, artifact: &Artifact<'a>, name: &str) -> Result<&'a str, Error> {
        core::str::from_utf8(self.section(artifact, name)?)
            .map_err(|error| self.error(format_args!("the section `{name}` is not UTF-8: {error}")))
    }

    /// Returns name and symbol of each function of the index, in its order.
    ///
    /// # Errors
    ///
    /// `ValueError`: there is no list of functions, or one has no name or no symbol.
    pub fn functions<'a>(&self, index: &'a Value) -> Result<Vec<(&'a str, &'a str)>, Error> {
        let functions = index["functions"].as_array();
        let functions =
            functions.ok_or_else(|| self.error("expected `functions` in the index, found none"))?;
        let read = |function: &'a Value| {
            let entry = function["name"].as_str().zip(function["symbol"].as_str());
            entry.ok_or_else(|| {
                self.error(format_args!("a function of the index has no name or no symbol: {function}"))
            })
        };
        functions.iter().map(read).collect()
    }
}
