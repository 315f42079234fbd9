//! What discovery finds: plugins, each with the reason where it is not used, and the places where
//! it looked.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::open::manifest::Manifest;
use crate::open::problem::Problem;

/// Reason why a place is searched, in the order of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Named by the caller: `--plugin`.
    Option,
    /// `CHIPDOCK_PLUGIN_PATH`.
    Variable,
    /// `chipdock/plugins` in the user's data folder.
    User,
    /// A folder of the system.
    System,
    /// `plugins` beside the executable.
    Executable,
}

impl Source {
    /// The order of places in which the default host target is sought: what came with the program,
    /// what the system's administrator installed, what else was found. So a plugin that a user adds
    /// replaces no default by what it declares.
    #[must_use]
    pub fn standing(self) -> u8 {
        match self {
            Self::Executable => 0,
            Self::System => 1,
            Self::Option | Self::Variable | Self::User => 2,
        }
    }
}

/// A place of the search, with the reason if it was not searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchedPlace {
    /// The folder or file.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// Reason why it is searched.
    pub source: Source,
    /// Reason why it was not searched; absent when it was. A folder that does not exist was not
    /// searched.
    pub ignored: Option<String>,
}

/// Serializes a path as text: a path may be invalid UTF-8, a string of JSON must not.
fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// A plugin that the search met.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Name of the plugin: from the manifest, else from the file name.
    pub name: String,
    /// The library.
    pub library: PathBuf,
    /// Path of the plugin's manifest, if it has one.
    pub manifest_path: Option<PathBuf>,
    /// The plugin's manifest, if it has a valid one.
    pub manifest: Option<Manifest>,
    /// SHA-256 of the manifest's file, when it was read.
    pub manifest_sha256: Option<String>,
    /// Place of the search through which the plugin was met.
    pub source: Source,
    /// Reason why the plugin is not used, if it is not.
    pub problem: Option<Problem>,
}

impl Candidate {
    /// Returns the reason why its manifest was not read, for a person; `None` where it was, and
    /// where it has none. The keys that it would provide are unknown then.
    #[must_use]
    pub fn unread(&self) -> Option<String> {
        let problem =
            self.problem.as_ref().filter(|problem| self.manifest.is_none() && problem.kind.is_unread())?;
        Some(format!("plugin \"{}\" was not read: {problem}", self.name))
    }
}

/// The result of discovery.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovery {
    /// Every plugin met, in the order of the search.
    pub candidates: Vec<Candidate>,
    /// Every place, in the order of the search.
    pub places: Vec<SearchedPlace>,
}
