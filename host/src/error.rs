//! The error type of the host: kind, fault, place and advice.

use std::fmt;

use chipdock_ir::Diagnostic;
use chipdock_plugin_api as api;
pub use chipdock_plugin_api::{ErrorKind, Fault};

use crate::shown::harmless;

/// What is wrong, where the kind and whose fault it is do not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A device that is not there.
    Device,
    /// A plugin, or something that it needs: missing, refused, disputed, too new, or broken.
    Plugin,
    /// A file or a folder that the caller named.
    NamedFile,
}

/// Returns what errors of a kind are about, where all are about the same.
fn subject(kind: &ErrorKind) -> Option<Subject> {
    // A panic is caught at the boundary: it is the plugin's.
    let is_of_plugin = matches!(kind, ErrorKind::Unavailable | ErrorKind::BrokenPlugin | ErrorKind::Panic);
    is_of_plugin.then_some(Subject::Plugin)
}

/// An error: what, where, what to do.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    fault: Fault,
    subject: Option<Subject>,
    message: String,
    place: String,
    hint: String,
    diagnostics: Vec<Diagnostic>,
    speaker: Option<Box<str>>,
}

impl Error {
    /// Makes an error of that kind. The message says what was expected and what was found.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::with_status(kind, message, api::abi::CHIPDOCK_ERROR)
    }

    /// Makes an error that came with a status, which decides whose fault it is where the kind is
    /// not known here (P7.11).
    pub(crate) fn with_status(kind: ErrorKind, message: impl Into<String>, status: i32) -> Self {
        let fault = kind.class_with(status);
        let subject = subject(&kind);
        Self(Box::new(Inner {
            kind,
            fault,
            subject,
            message: message.into(),
            place: String::new(),
            hint: String::new(),
            diagnostics: Vec::new(),
            speaker: None,
        }))
    }

    /// Sets what is wrong, where the kind does not say it.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        self.0.subject = Some(subject);
        self
    }

    /// Sets the place of the error: a file, a plugin, a function. An inner place stands before an
    /// outer one.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        let place = place.into();
        if self.0.place.is_empty() {
            self.0.place = place;
        } else {
            self.0.place = format!("{}, {place}", self.0.place);
        }
        self
    }

    /// Puts the failed action before the message: `cannot read the manifest: it is a FIFO`.
    #[must_use]
    pub fn while_doing(mut self, what: &str) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Sets the advice on what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// Adds the diagnostics of a module, each with its position.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: Vec<Diagnostic>) -> Self {
        self.0.diagnostics = diagnostics;
        self
    }

    /// Puts before the message who says it: `plugin "toy" says: there is no toy` (HOST-A10).
    pub(crate) fn said_by(mut self, who: &str, plugin: &str) -> Self {
        self.0.message = format!("{who} says: {}", self.0.message);
        self.diagnosed_by(plugin)
    }

    /// Sets the plugin whose words the diagnostics are.
    pub(crate) fn diagnosed_by(mut self, plugin: &str) -> Self {
        self.0.speaker = Some(plugin.into());
        self
    }

    /// Returns the plugin whose words message and diagnostics are; `None` where they are the host's
    /// own. The message then begins with who says it, except where it is the host's and only the
    /// diagnostics are the plugin's.
    #[must_use]
    pub fn speaker(&self) -> Option<&str> {
        self.0.speaker.as_deref()
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns whose fault the error is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.0.fault
    }

    /// Returns what is wrong, where that is a device, a plugin or a file of the caller's; else kind
    /// and fault say it.
    #[must_use]
    pub fn subject(&self) -> Option<Subject> {
        self.0.subject
    }

    /// Returns the message (expected and found), without place and advice.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the place, or an empty text.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Returns the advice, or an empty text.
    #[must_use]
    pub fn advice(&self) -> &str {
        &self.0.hint
    }

    /// Returns the diagnostics of a module, when the error is about one.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// Makes the error that crosses the boundary: the kind, and the whole text. What a plugin says
    /// begins with its name, and neither steers a terminal nor has lines that could pass for
    /// others.
    #[must_use]
    pub fn to_api(&self) -> api::Error {
        let text = self.to_string();
        let text = if self.speaker().is_some() { harmless(&text) } else { text };
        api::Error::new(self.kind().clone(), text)
    }

    pub(crate) fn io(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{what}: {error}")).at(path.display().to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        for diagnostic in &self.0.diagnostics {
            write!(f, "\n  {diagnostic}")?;
        }
        if !self.0.place.is_empty() {
            write!(f, " [{}]", self.0.place)?;
        }
        if !self.0.hint.is_empty() {
            write!(f, "; {}", self.0.hint)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.kind.as_str())
    }
}

impl std::error::Error for Error {}

/// Returns the known name that is nearest to `found`, or `None` when no name is near.
pub(crate) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().max(found.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns names in quotes, with commas; `none` when there are none.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_says_what_is_wrong_unless_the_error_does() {
        for (kind, fault, subject) in [
            (ErrorKind::Value, Fault::Caller, None),
            (ErrorKind::Unavailable, Fault::Environment, Some(Subject::Plugin)),
            (ErrorKind::BrokenPlugin, Fault::Bug, Some(Subject::Plugin)),
            (ErrorKind::Panic, Fault::Bug, Some(Subject::Plugin)),
            (ErrorKind::OutOfMemory, Fault::Environment, None),
            (ErrorKind::Cancelled, Fault::Environment, None),
        ] {
            let error = Error::new(kind.clone(), "");
            assert_eq!((error.fault(), error.subject()), (fault, subject), "{kind:?}");
            for subject in [Subject::Device, Subject::Plugin, Subject::NamedFile] {
                let error = error.clone().about(subject);
                assert_eq!((error.fault(), error.subject()), (fault, Some(subject)), "{kind:?}");
            }
        }
    }

    #[test]
    fn p7_11_the_status_classes_a_kind_that_is_not_known() {
        let unknown = |status| Error::with_status(ErrorKind::new("Timeout"), "", status);
        for (status, fault) in [
            (15, Fault::Caller),
            (16, Fault::Environment),
            (31, Fault::Environment),
            (32, Fault::Bug),
            (48, Fault::Environment),
            (-1, Fault::Environment),
        ] {
            let error = unknown(status);
            assert_eq!((error.fault(), error.subject()), (fault, None), "{status}");
        }
        let known = Error::with_status(ErrorKind::Value, "", 32);
        assert_eq!(known.fault(), Fault::Caller);
    }

    #[test]
    fn an_error_shows_what_where_and_what_to_do() {
        let error = Error::new(ErrorKind::Value, "expected 1, found 2").at("a.json").hint("write 1");
        assert_eq!(error.to_string(), "expected 1, found 2 [a.json]; write 1");
    }

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("mcpuu", ["mcpu", "mtriple"]), Some("mcpu"));
        assert_eq!(nearest("zebra", ["mcpu", "mtriple"]), None);
    }
}
