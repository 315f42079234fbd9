//! The lock: pins the plugins that may be used, by name, version and digest.
//!
//! * **LOCK-K1 Named.** A lock is read from the file that is named, never searched for. The file is
//!   checked as a plugin is (rule FIND-D3 of discovery), because a user who may write it decides
//!   what it pins; a process with raised privileges takes none.
//! * **LOCK-K2 Pinned.** A plugin is used when the lock has its name, the version of its manifest,
//!   and the SHA-256 of the manifest and of the library. A plugin without a manifest is pinned by
//!   the name of its file, without a version.
//! * **LOCK-K3 The opened file.** A library's digest is computed of the file that is then opened,
//!   when it is about to be opened (`loader`). Discovery compares names, versions and manifests,
//!   and reads no library, unless a listing asks for it (`check_against_lock`).
//! * **LOCK-K4 Form.** A JSON object of `schema` and `plugins`, one plugin per line, sorted by
//!   name. Unknown fields are ignored; a name that occurs twice is refused.
//!
//! ```json
//! {
//!   "schema": "chipdock.plugins-lock/1",
//!   "plugins": [
//!     {"name": "my-npu", "version": "1.2.0", "sha256": "9f86…", "manifest_sha256": "60303ae2…"}
//!   ]
//! }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Subject};
use crate::files;
use crate::names::check_plugin_name;
use crate::open::discovery::trust::Trust;
use crate::open::discovery::{Candidate, Discovery};
use crate::open::manifest::{check_digest, sha256_of};
use crate::open::problem::{Problem, ProblemKind};
use crate::options::HostOptions;

/// Name of the lock's schema, the value of its field `schema`.
pub const LOCK_SCHEMA: &str = "chipdock.plugins-lock/1";
/// Greatest size of a lock in bytes: room for some thousands of plugins.
const SIZE_BYTES_MAX: u64 = 1 << 20;

/// The entry of a plugin in a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedPlugin {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin; absent for one without a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<semver::Version>,
    /// SHA-256 of the library, in hexadecimal.
    pub sha256: String,
    /// SHA-256 of the manifest, in hexadecimal; absent for a plugin without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_sha256: Option<String>,
}

/// Content of a lock file.
#[derive(Deserialize)]
struct Document {
    schema: String,
    plugins: Vec<LockedPlugin>,
}

/// The plugins that may be used, pinned by digest: rules LOCK-K1 to LOCK-K4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginLock {
    path: PathBuf,
    plugins: BTreeMap<String, LockedPlugin>,
}

impl PluginLock {
    /// Reads the lock that is named; `options` names the trusted paths.
    ///
    /// # Errors
    ///
    /// `IoError` when it cannot be read; `ValueError` when it is not trusted, or, with line and
    /// column, when it is malformed; `WrongState` in a process with raised privileges.
    pub fn read(path: &Path, options: &HostOptions) -> Result<Self, Error> {
        let refused = |kind, message| Error::new(kind, message).at(path.display().to_string());
        if options.environment.raised_privileges {
            let message = "a process with raised privileges reads no lock that its caller names";
            return Err(refused(ErrorKind::WrongState, message.to_owned()));
        }
        // A missing file is not a matter of trust.
        if let Err(error) = std::fs::metadata(path) {
            return Err(Error::io("cannot read the lock", path, &error).about(Subject::NamedFile));
        }
        if let Some(problem) = Trust::new(&options.environment, &options.trust).problem(path) {
            let message = format!("the lock is not trusted: {}", problem.message);
            return Err(refused(ErrorKind::Value, message));
        }
        let text = files::read_regular_text(path, SIZE_BYTES_MAX)
            .map_err(|error| error.while_doing("cannot read the lock").about(Subject::NamedFile))?;
        let lock = Self::parse(&text).map_err(|error| error.at(path.display().to_string()))?;
        // A child process may start in another folder.
        Ok(Self { path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()), ..lock })
    }

    /// Reads a lock from text. Its path is empty.
    ///
    /// # Errors
    ///
    /// `ValueError`, with line and column where there is one.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |message: String| Error::new(ErrorKind::Value, message);
        if !text.trim_ascii_start().starts_with('{') {
            return Err(wrong("not a lock of plugins: expected a JSON object".to_owned()));
        }
        let document: Document =
            serde_json::from_str(text).map_err(|error| wrong(format!("not a lock of plugins: {error}")))?;
        if document.schema != LOCK_SCHEMA {
            let found: String = document.schema.chars().take(80).collect();
            return Err(wrong(format!("the lock's schema is {found:?}; expected \"{LOCK_SCHEMA}\""))
                .hint("write it again with `chipdock plugins --lock FILE`"));
        }
        let mut plugins = BTreeMap::new();
        for plugin in document.plugins {
            check_plugin_name(&plugin.name).map_err(wrong)?;
            let named = |message: String| wrong(format!("plugin \"{}\": {message}", plugin.name));
            check_digest("sha256", &plugin.sha256).map_err(named)?;
            if let Some(digest) = &plugin.manifest_sha256 {
                check_digest("manifest_sha256", digest).map_err(named)?;
            }
            if plugins.contains_key(&plugin.name) {
                return Err(wrong(format!("the lock pins plugin \"{}\" twice", plugin.name)));
            }
            plugins.insert(plugin.name.clone(), plugin);
        }
        Ok(Self { path: PathBuf::new(), plugins })
    }

    /// Makes a lock of every usable plugin that was found. Reads their libraries whole, opens none.
    ///
    /// # Errors
    ///
    /// `IoError` when a library cannot be read.
    pub fn of(discovery: &Discovery) -> Result<Self, Error> {
        let usable = discovery.candidates.iter().filter(|candidate| candidate.problem.is_none());
        let pin = |candidate: &Candidate| {
            let plugin = LockedPlugin {
                name: candidate.name.clone(),
                version: candidate.manifest.as_ref().map(|manifest| manifest.version.clone()),
                sha256: sha256_of(&candidate.library)?,
                manifest_sha256: candidate.manifest_sha256.clone(),
            };
            Ok((plugin.name.clone(), plugin))
        };
        Ok(Self { path: PathBuf::new(), plugins: usable.map(pin).collect::<Result<_, Error>>()? })
    }

    /// Writes the lock as the text of its file: rule LOCK-K4.
    ///
    /// # Errors
    ///
    /// `InternalError` when it cannot be written as JSON.
    pub fn to_text(&self) -> Result<String, Error> {
        let line = |plugin: &LockedPlugin| serde_json::to_string(plugin).map(|line| format!("    {line}"));
        let lines = self.plugins.values().map(line).collect::<Result<Vec<_>, _>>();
        let lines =
            lines.map_err(|error| Error::new(ErrorKind::Internal, format!("lock of plugins: {error}")))?;
        let list = if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", lines.join(",\n")) };
        Ok(format!("{{\n  \"schema\": \"{LOCK_SCHEMA}\",\n  \"plugins\": {list}\n}}\n"))
    }

    /// Returns the absolute path of the file that it was read from; empty when it was not read from
    /// a file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the entries, by name.
    pub fn plugins(&self) -> impl Iterator<Item = &LockedPlugin> {
        self.plugins.values()
    }

    /// Returns the reason why a candidate is refused, as far as it is known without reading the
    /// library: rule LOCK-K2.
    pub(crate) fn refusal(&self, candidate: &Candidate) -> Option<Problem> {
        let Some(pinned) = self.plugins.get(&candidate.name) else {
            let message = format!("{} pins no plugin \"{}\"", self.shown(), candidate.name);
            return Some(self.refused(message));
        };
        let found = candidate.manifest.as_ref().map(|manifest| &manifest.version);
        if found != pinned.version.as_ref() {
            let text = |version: Option<&semver::Version>| {
                version.map_or_else(|| "a library without a manifest".to_owned(), ToString::to_string)
            };
            let (found, pinned) = (text(found), text(pinned.version.as_ref()));
            return Some(self.refused(format!("it is {found}, {} pins {pinned}", self.shown())));
        }
        let (found, pinned) = (candidate.manifest_sha256.as_deref(), pinned.manifest_sha256.as_deref());
        let is_same = match (found, pinned) {
            (Some(found), Some(pinned)) => found.eq_ignore_ascii_case(pinned),
            (found, pinned) => found == pinned,
        };
        let (found, pinned) = (found.unwrap_or("none"), pinned.unwrap_or("none"));
        (!is_same).then(|| self.other_digest("manifest's", found, pinned))
    }

    /// Returns the reason why a library with that digest is refused under that name (LOCK-K2).
    pub(crate) fn refusal_by_digest(&self, name: &str, found: &str) -> Option<Problem> {
        let Some(pinned) = self.plugins.get(name) else {
            return Some(self.refused(format!("{} pins no plugin \"{name}\"", self.shown())));
        };
        let is_same = found.eq_ignore_ascii_case(&pinned.sha256);
        (!is_same).then(|| self.other_digest("library's", found, &pinned.sha256))
    }

    fn other_digest(&self, whose: &str, found: &str, pinned: &str) -> Problem {
        self.refused(format!("its {whose} digest (SHA-256) is {found}, {} pins {pinned}", self.shown()))
    }

    fn refused(&self, message: String) -> Problem {
        let advice = "install what it pins, or write it again with `chipdock plugins --lock FILE`";
        Problem::new(ProblemKind::NotLocked, format!("{message}; {advice}"))
    }

    fn shown(&self) -> String {
        match self.path.as_os_str().is_empty() {
            true => "the lock".to_owned(),
            false => self.path.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fault;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF";

    fn text() -> String {
        format!(
            "{{\"schema\": \"{LOCK_SCHEMA}\", \"note\": 1, \"plugins\": [\
             {{\"name\": \"b\", \"sha256\": \"{DIGEST}\", \"later\": {{}}}},\
             {{\"name\": \"a\", \"version\": \"1.0.0\", \"sha256\": \"{DIGEST}\", \"manifest_sha256\": \"{DIGEST}\"}}]}}"
        )
    }

    #[test]
    fn lock_k4_a_lock_reads_back_as_written_sorted_a_plugin_a_line() {
        let lock = PluginLock::parse(&text()).unwrap();
        let written = lock.to_text().unwrap();
        assert_eq!(PluginLock::parse(&written).unwrap(), lock);
        let names: Vec<&str> = lock.plugins().map(|plugin| plugin.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(written.lines().count(), 7, "{written}");
        let empty = PluginLock { path: PathBuf::new(), plugins: BTreeMap::new() };
        assert_eq!(PluginLock::parse(&empty.to_text().unwrap()).unwrap(), empty);
    }

    #[test]
    fn lock_k4_a_malformed_lock_says_why() {
        for (from, to, says) in [
            ("-lock/1", "-lock/2", "expected \"chipdock.plugins-lock/1\""),
            ("\"name\": \"b\"", "\"name\": \"a\"", "pins plugin \"a\" twice"),
            ("\"name\": \"b\"", "\"name\": \"B\\u001b\"", "plugin name"),
            ("\"name\": \"b\"", "\"name\": \"b\", \"name\": \"c\"", "duplicate field"),
            (DIGEST, "abc", "64 hexadecimal digits"),
            ("1.0.0", "new", "not a lock of plugins"),
            ("{", "[", "not a lock of plugins"),
        ] {
            let error = PluginLock::parse(&text().replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains(says), "{error} should say {says}");
        }
    }

    #[test]
    fn lock_k1_a_lock_that_others_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plugins.lock");
        std::fs::write(&path, text()).unwrap();
        let permit = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        permit(0o644);
        let mut options = HostOptions::isolated();
        assert_eq!(PluginLock::read(&path, &options).unwrap().path(), path);
        permit(0o666);
        let error = PluginLock::read(&path, &options).unwrap_err();
        assert!(error.to_string().contains("the lock is not trusted"), "{error}");
        assert_eq!((error.subject(), error.fault()), (None, Fault::Caller));
        options.trust = vec![path.clone()];
        assert!(PluginLock::read(&path, &options).is_ok(), "trusted by name");
        options.environment.raised_privileges = true;
        assert_eq!(*PluginLock::read(&path, &options).unwrap_err().kind(), ErrorKind::WrongState);
    }
}
