//! Reasons why a plugin is not used: one kind for each cause, so that no two of them read alike.

use std::fmt;

use serde::Serialize;

use crate::error::{Error, ErrorKind};

/// The cause for which a plugin is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// Another file with the same plugin name was found first.
    Shadowed,
    /// The user disabled it.
    Disabled,
    /// The user selected others.
    NotSelected,
    /// Wrong owner or permissions of the file or its folder.
    Untrusted,
    /// The lock does not pin it, or pins another version or digest.
    NotLocked,
    /// A manifest without a library beside it.
    NoLibrary,
    /// Its manifest cannot be read.
    BadManifest,
    /// Its manifest requires something that this host or machine does not provide.
    Unmet,
    /// A key of another plugin that it needs is unavailable (P5.15).
    MissingKey,
    /// The library's digest differs from the manifest's.
    WrongDigest,
    /// The system's loader refused the library.
    CannotOpen,
    /// The library has no entry symbol.
    NoSymbol,
    /// The entry symbol returned null.
    NullDescriptor,
    /// The entry symbol returned something that is no descriptor.
    BadDescriptor,
    /// Built for another ABI major.
    OtherMajor,
    /// Built with other layouts of the frozen tables.
    OtherLayout,
    /// Its descriptor names another plugin than its manifest.
    WrongName,
    /// Its `init` failed, with an error.
    InitFailed,
    /// It broke a rule of the boundary.
    BrokenPlugin,
    /// A name or a device number that it registers is taken.
    NameTaken,
    /// It registers something else than its manifest lists.
    ManifestDiffers,
}

/// Problem of a plugin that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The cause.
    #[serde(rename = "reason")]
    pub kind: ProblemKind,
    /// For a person: what was expected, what was found, what to do.
    pub message: String,
}

impl ProblemKind {
    /// Returns true if the user left the plugin out, or has another of its name: its keys are not
    /// missed.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        matches!(self, Self::Disabled | Self::NotSelected | Self::Shadowed)
    }

    /// Returns true if the plugin's manifest was not read: the keys that it would provide are
    /// unknown.
    #[must_use]
    pub fn is_unread(self) -> bool {
        matches!(self, Self::Untrusted | Self::BadManifest)
    }
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Returns the problem as an error about that plugin.
    #[must_use]
    pub fn to_error(&self, plugin: &str) -> Error {
        let kind = match self.kind {
            ProblemKind::NullDescriptor
            | ProblemKind::BadDescriptor
            | ProblemKind::BrokenPlugin
            | ProblemKind::ManifestDiffers
            | ProblemKind::WrongName => ErrorKind::BrokenPlugin,
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, format!("plugin \"{plugin}\" cannot be used: {}", self.message))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
