//! Manifests: descriptions of plugins in files beside them, read without opening the plugin.
//!
//! A plugin is `NAME.so` with `NAME.chipdock.json` beside it. The manifest is generated from the
//! plugin's registrations, plus a block of needs that its author declares ([`Needs`]); when the
//! plugin is opened, it must register what its manifest lists. Unknown fields are ignored (P3.9).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chipdock_abi::{CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR};
use chipdock_ir::json::check_unique;
use chipdock_ir::{DeclaredKind, check_option};
use chipdock_plugin_api::names::is_own_field;
use serde::{Deserialize, Serialize};

use crate::documents::{read_with_ignored, refuse_unknown, unknown_fields_at};
use crate::error::{Error, ErrorKind};
use crate::files;
use crate::names::{check_key, check_plugin_name, wrong_key};
use crate::open::settings::{DeclaredSetting, check_all};
use crate::process::glibc_version;

/// The suffix of a manifest's file name, after the plugin's name.
pub const MANIFEST_SUFFIX: &str = ".chipdock.json";
/// The version of the manifest's schema.
pub const MANIFEST_SCHEMA: u32 = 1;
/// Greatest size of a manifest in bytes. Those of this repository have up to 7 KiB; the bound
/// limits how much is read of a folder of plugins.
pub(crate) const SIZE_BYTES_MAX: u64 = 1 << 20;
/// Greatest size of a manifest's text that is shown in a line: a path has at most 4096 bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// A library that a plugin opens at run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededLibrary {
    /// File names under which it is tried, in order.
    pub names: Vec<String>,
    /// Package that contains it, for the message when it is missing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
}

/// A driver that a plugin needs, by version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededDriver {
    /// Name of the driver, for a person.
    pub name: String,
    /// Versions that are accepted.
    pub version: semver::VersionReq,
}

/// The needs of a plugin: declared by its author in `needs.json` beside its sources, carried in its
/// manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Libraries that it opens at run time. The plugin looks for them on first use, not the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<NeededLibrary>,
    /// The driver that it needs. The plugin looks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<NeededDriver>,
    /// CPU features without which it must not be opened, by Rust's names (`avx2`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_features: Vec<String>,
    /// Programs that it runs, for instance a compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// The oldest glibc that it runs on; determined from the library when not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glibc: Option<String>,
    /// Interfaces of the host, as `name/version`, without which it cannot work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Interfaces of the host that it uses where they are available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// Keys of other plugins without which it cannot work, as `target.build.x`: their provider is
    /// opened before it (P5.15).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

/// The manifest of a plugin: its identity, the keys that it provides, and its needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this schema, [`MANIFEST_SCHEMA`].
    pub schema: u32,
    /// The plugin's name: lower-case letters, digits, `-` and `_`; the same as in its descriptor.
    pub name: String,
    /// The plugin's version.
    pub version: semver::Version,
    /// Its maker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The licence under which it may be used, in SPDX's form (`MIT OR Apache-2.0`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The address of its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The address to which its users turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<String>,
    /// Plugin ABIs of a host that are accepted, as a semver requirement on `major.minor.0`.
    pub abi: semver::VersionReq,
    /// The operating system it was built for, by Rust's name (`linux`).
    pub os: String,
    /// The processor it was built for, by Rust's name (`x86_64`).
    pub arch: String,
    /// Keys that it registers, sorted: `device_api.x`, `target.kind.x`, `target.build.x`,
    /// `module.load.x`, `function.x`, and of interfaces, as `device_api.x/reset/1`.
    pub provides: Vec<String>,
    /// The schemas of the target kinds among them, so that listing targets opens nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_kinds: Vec<DeclaredKind>,
    /// The settings that it declares (S.3).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<DeclaredSetting>,
    /// Its needs.
    #[serde(default)]
    pub needs: Needs,
    /// SHA-256 of the library, in hexadecimal; checked before it is opened. Absent in a manifest
    /// that was written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// `IoError` when the file cannot be read; `ValueError` for a file that is not regular or too
    /// large, and, with line and column, for one that is not a manifest.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_whole(path).map(|(manifest, _)| manifest)
    }

    /// Reads a manifest, with the SHA-256 of its file.
    pub(crate) fn read_whole(path: &Path) -> Result<(Self, String), Error> {
        let _span = tracing::debug_span!("manifest", path = %path.display()).entered();
        let text = files::read_regular_text(path, SIZE_BYTES_MAX)
            .map_err(|error| error.while_doing("cannot read the manifest"))?;
        let manifest = Self::parse(&text).map_err(|error| error.at(path.display().to_string()))?;
        Ok((manifest, files::sha256_of_bytes(text.as_bytes())))
    }

    /// Reads a manifest from text.
    ///
    /// # Errors
    ///
    /// `ValueError`, with line and column where there is one.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |error: serde_json::Error| {
            Error::new(ErrorKind::Value, format!("not a plugin manifest: {error}"))
        };
        // Of a list the elements would be taken for fields.
        if text.trim_ascii_start().starts_with('[') {
            return Err(Error::new(ErrorKind::Value, "not a plugin manifest: expected a JSON object"));
        }
        let manifest: Self = serde_json::from_str(text).map_err(wrong)?;
        // The schemas of target kinds contain free values; of a repeated key in them the last would
        // be taken.
        check_unique(text).map_err(wrong)?;
        manifest.check().map_err(|message| Error::new(ErrorKind::Value, message))?;
        Ok(manifest)
    }

    /// Returns the paths of the unknown fields in a manifest's text, as `needs.libraries.0.nams`. A
    /// host ignores such fields; the author may have misspelt one. Fields of the plugin's own are
    /// none (P5.17).
    ///
    /// # Errors
    ///
    /// As [`Manifest::parse`].
    pub fn unknown_fields(text: &str) -> Result<Vec<String>, Error> {
        let wrong = |error: serde_json::Error| {
            Error::new(ErrorKind::Value, format!("not a plugin manifest: {error}"))
        };
        Self::parse(text)?;
        let (_, mut unknown): (Self, _) = read_with_ignored(text).map_err(wrong)?;
        let whole: serde_json::Value = serde_json::from_str(text).map_err(wrong)?;
        let kinds = whole["target_kinds"].as_array().into_iter().flatten().enumerate();
        unknown.extend(kinds.flat_map(|(at, kind)| unknown_fields_at(&format!("target_kinds.{at}"), kind)));
        let plugin = whole["name"].as_str().unwrap_or_default();
        unknown.retain(|path| !is_own_field(path, plugin));
        Ok(unknown)
    }

    /// Writes the manifest as the text of its file.
    ///
    /// # Errors
    ///
    /// `InternalError` when it cannot be written as JSON.
    pub fn to_text(&self) -> Result<String, Error> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("manifest: {error}")))?;
        Ok(text + "\n")
    }

    /// Checks what makes a manifest unreadable (P5.6): its form, its names (P1.4, P5.9), its
    /// settings (S.2), its digest (P5.8).
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.schema != MANIFEST_SCHEMA {
            return Err(format!(
                "manifest schema {} is not known; expected {MANIFEST_SCHEMA}. Use a newer host or an older plugin",
                self.schema
            ));
        }
        check_plugin_name(&self.name)?;
        if self.abi.comparators.is_empty() {
            return Err(format!(
                "\"abi\" is \"{}\"; expected the majors that it was built for, as \"1\"",
                self.abi
            ));
        }
        for (field, text) in [("os", &self.os), ("arch", &self.arch)] {
            check_text(field, text)?;
        }
        for (field, text) in self.statements() {
            text.map_or(Ok(()), |text| check_text(field, text).map_err(|why| format!("{why} (P5.19)")))?;
        }
        let mut seen = BTreeSet::new();
        for key in &self.provides {
            check_key(key)?;
            if !seen.insert(key) {
                return Err(format!("\"provides\" names \"{key}\" twice"));
            }
        }
        let mut kinds = BTreeSet::new();
        for kind in &self.target_kinds {
            if !seen.contains(&format!("target.kind.{}", kind.name())) {
                return Err(format!(
                    "\"target_kinds\" has {:?}, which \"provides\" does not name",
                    shortened(kind.name())
                ));
            }
            if !kinds.insert(kind.name()) {
                return Err(format!("\"target_kinds\" has \"{}\" twice", kind.name()));
            }
            for option in kind.usable().iter().flat_map(|kind| &kind.options) {
                let default = option.default.as_ref().map_or(Ok(()), check_option);
                default.map_err(|what| {
                    let (name, kind) = (shortened(&option.name), shortened(kind.name()));
                    format!("\"target_kinds\": default of option {name:?} of {kind:?}: {what}")
                })?;
            }
        }
        check_all(&self.settings).map_err(|message| format!("\"settings\": {message}"))?;
        if let Some(digest) = &self.sha256 {
            check_digest("sha256", digest)?;
        }
        self.needs.check()
    }

    /// Returns what it states of its maker (P5.19), by field.
    #[must_use]
    pub fn statements(&self) -> [(&'static str, Option<&str>); 4] {
        [
            ("vendor", self.vendor.as_deref()),
            ("licence", self.licence.as_deref()),
            ("homepage", self.homepage.as_deref()),
            ("support", self.support.as_deref()),
        ]
    }

    /// Returns the keys of other plugins that it needs, in their order, each once. Its own keys are
    /// left out.
    pub(crate) fn needed_keys(&self) -> Vec<&str> {
        if self.needs.keys.is_empty() {
            return Vec::new();
        }
        let mut seen: BTreeSet<&str> = self.provides.iter().map(String::as_str).collect();
        self.needs.keys.iter().map(String::as_str).filter(|key| seen.insert(key)).collect()
    }

    /// Returns the reason why this host cannot use the plugin, if there is one: ABI, platform,
    /// libc, CPU features, interfaces (P5.6).
    #[must_use]
    pub fn unmet(&self, platform: &Platform) -> Option<String> {
        let abi = semver::Version::new(CHIPDOCK_ABI_MAJOR.into(), CHIPDOCK_ABI_MINOR.into(), 0);
        if !self.abi.matches(&abi) {
            return Some(format!(
                "built for plugin ABI {}, this host speaks {}.{}",
                self.abi, abi.major, abi.minor
            ));
        }
        if self.os != platform.os || self.arch != platform.arch {
            return Some(format!(
                "built for {} on {}, this machine is {} on {}",
                self.os, self.arch, platform.os, platform.arch
            ));
        }
        if let (Some(floor), Some(libc)) = (&self.needs.glibc, &platform.glibc)
            && version_parts(floor) > version_parts(libc)
        {
            return Some(format!("needs glibc {floor} or newer, this machine has {libc}"));
        }
        let missing: Vec<&str> = self
            .needs
            .cpu_features
            .iter()
            .map(String::as_str)
            .filter(|name| !has_cpu_feature(name))
            .collect();
        if !missing.is_empty() {
            return Some(format!("needs CPU features that this machine lacks: {}", missing.join(", ")));
        }
        let unknown: Vec<&str> = self
            .needs
            .requires
            .iter()
            .map(String::as_str)
            .filter(|name| !HOST_INTERFACES.contains(name))
            .collect();
        (!unknown.is_empty())
            .then(|| format!("requires host interfaces that this host does not have: {}", unknown.join(", ")))
    }
}

/// Interfaces that this host answers to `query`, as `name/version`.
pub const HOST_INTERFACES: &[&str] = &["config/1", "memory/1", "needs/1"];

/// The platform that a manifest is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Operating system, by Rust's name.
    pub os: String,
    /// Processor, by Rust's name.
    pub arch: String,
    /// glibc's version, where it is the libc.
    pub glibc: Option<String>,
}

impl Platform {
    /// Returns the platform of this machine.
    #[must_use]
    pub fn current() -> Self {
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            glibc: glibc_version(),
        }
    }
}

/// Returns true for two or three numbers with dots between them. Another text would compare as 0,
/// which every machine satisfies.
fn is_libc_version(text: &str) -> bool {
    let is_number =
        |part: &str| (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    (2..=3).contains(&text.split('.').count()) && text.split('.').all(is_number)
}

fn version_parts(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

macro_rules! detected {
    ($detect:ident, $name:expr, $($feature:tt)*) => {
        match $name { $($feature => std::arch::$detect!($feature),)* _ => false }
    };
}

/// Returns true if the CPU has a feature; an unknown name counts as missing.
#[cfg(target_arch = "x86_64")]
fn has_cpu_feature(name: &str) -> bool {
    detected!(is_x86_feature_detected, name,
        "sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "avx2" "fma" "bmi1" "bmi2" "f16c" "lzcnt" "movbe" "aes" "sha"
        "vaes" "gfni" "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512vnni" "avx512bf16" "avx512fp16"
        "avxvnni")
}

/// Returns true if the CPU has a feature; an unknown name counts as missing.
#[cfg(target_arch = "aarch64")]
fn has_cpu_feature(name: &str) -> bool {
    detected!(is_aarch64_feature_detected, name,
        "neon" "fp16" "dotprod" "bf16" "i8mm" "sve" "sve2" "lse" "aes" "sha2" "sha3" "rdm")
}

/// Returns true if the CPU has a feature; an unknown name counts as missing.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_cpu_feature(_name: &str) -> bool {
    false
}

/// Checks that a text is a digest in hexadecimal (P5.8).
pub(crate) fn check_digest(field: &str, digest: &str) -> Result<(), String> {
    if digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(());
    }
    Err(format!("\"{field}\" is {:?}; expected 64 hexadecimal digits", shortened(digest)))
}

/// Checks a name or a sentence that is shown: not empty, of bounded length, without control
/// characters (P5.6, P5.19).
fn check_text(field: &str, text: &str) -> Result<(), String> {
    if !text.is_empty() && text.len() <= TEXT_BYTES_MAX && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(format!(
        "\"{field}\" has {:?}; expected 1 to {TEXT_BYTES_MAX} bytes of text without control characters",
        shortened(text)
    ))
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

impl Needs {
    /// Checks the declared needs (P5.6).
    ///
    /// # Errors
    ///
    /// The field whose value is not allowed.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(floor) = &self.glibc
            && !is_libc_version(floor)
        {
            return Err(format!(
                "\"needs.glibc\" is {:?}; expected a version of glibc, as \"2.34\"",
                shortened(floor)
            ));
        }
        for library in &self.libraries {
            library.names.iter().try_for_each(|name| check_text("needs.libraries.names", name))?;
            if !library.package.is_empty() {
                check_text("needs.libraries.package", &library.package)?;
            }
        }
        self.driver.iter().try_for_each(|driver| check_text("needs.driver.name", &driver.name))?;
        let lists = [
            ("needs.cpu_features", &self.cpu_features),
            ("needs.programs", &self.programs),
            ("needs.requires", &self.requires),
            ("needs.uses", &self.uses),
            ("needs.keys", &self.keys),
        ];
        for (field, texts) in lists {
            texts.iter().try_for_each(|text| check_text(field, text))?;
        }
        Ok(())
    }

    /// Reads the needs that a plugin's author declared.
    ///
    /// # Errors
    ///
    /// `IoError` when the file cannot be read; `ValueError`, with line and column, when it is
    /// malformed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = files::read_regular_text(path, SIZE_BYTES_MAX)
            .map_err(|error| error.while_doing("cannot read the needs"))?;
        Self::parse(&text).map_err(|error| error.at(path.display().to_string()))
    }

    /// Reads declared needs from text. An unknown field is an error here: it may be misspelt.
    ///
    /// # Errors
    ///
    /// `ValueError`, whose place is line and column where there are any.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (needs, unknown): (Self, _) = read_with_ignored(text).map_err(|error| {
            Error::new(ErrorKind::Value, format!("not a plugin's needs: {error}")).at(format!(
                "{}:{}",
                error.line(),
                error.column()
            ))
        })?;
        refuse_unknown("not a plugin's needs", &unknown, None)?;
        needs.check().map_err(|message| Error::new(ErrorKind::Value, message))?;
        needs.check_keys(&[]).map_err(|message| Error::new(ErrorKind::Value, message))?;
        Ok(needs)
    }

    /// Checks the needed keys for a new manifest (rule P5.16); a host that reads one skips the
    /// entries that are no keys.
    ///
    /// # Errors
    ///
    /// The entry of `keys` that is no key, occurs twice, or is provided by the plugin itself.
    pub fn check_keys(&self, provides: &[String]) -> Result<(), String> {
        let provides: BTreeSet<&String> = provides.iter().collect();
        let mut seen = BTreeSet::new();
        for key in &self.keys {
            let shown = shortened(key);
            if let Some(wrong) = wrong_key(key) {
                return Err(format!("\"needs.keys\" has {shown:?}; {wrong}"));
            }
            if !seen.insert(key) {
                return Err(format!("\"needs.keys\" names {shown:?} twice"));
            }
            if provides.contains(key) {
                let message = "the plugin provides it itself; it names keys of other plugins";
                return Err(format!("\"needs.keys\" has {shown:?}: {message}"));
            }
        }
        Ok(())
    }
}

/// Returns the SHA-256 of a file, in the form that a manifest has it.
///
/// # Errors
///
/// `IoError` when it cannot be read.
pub fn sha256_of(path: &Path) -> Result<String, Error> {
    let file = files::open_regular(path).map_err(|error| error.while_doing("cannot read the library"))?;
    files::sha256(&file).map_err(|error| Error::io("cannot read the library", path, &error))
}

/// Returns the path of a library's manifest.
#[must_use]
pub fn manifest_path(library: &Path) -> PathBuf {
    let stem = library.file_stem().unwrap_or_default().to_os_string();
    let mut name = stem;
    name.push(MANIFEST_SUFFIX);
    library.with_file_name(name)
}

/// Returns the newest `GLIBC_` version that a library names.
#[must_use]
pub fn glibc_floor(library: &[u8]) -> Option<String> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = library.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
    starts
        .map(|(start, _)| {
            let rest = &library[start + PREFIX.len()..];
            let length = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
            String::from_utf8_lossy(&rest[..length]).into_owned()
        })
        .filter(|version| version.contains('.'))
        .max_by_key(|version| version_parts(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        r#"{
            "schema": 1, "name": "toy", "version": "0.1.0", "abi": "1", "os": "linux", "arch": "x86_64",
            "provides": ["device_api.toy", "function.toy.answer"]
        }"#
        .to_owned()
    }

    fn platform() -> Platform {
        Platform { os: "linux".into(), arch: "x86_64".into(), glibc: Some("2.36".into()) }
    }

    #[test]
    fn a_manifest_reads_back_as_written() {
        let manifest = Manifest::parse(&text()).unwrap();
        assert_eq!(Manifest::parse(&manifest.to_text().unwrap()).unwrap(), manifest);
        assert_eq!(manifest.unmet(&platform()), None);
    }

    #[test]
    fn a_malformed_manifest_says_where_and_why() {
        let long_key = format!("device_api.{}", "t".repeat(129));
        let needs = |field: &str| format!("\"schema\": 1, \"needs\": {{{field}}},");
        for (from, to, says) in [
            ("\"schema\": 1", "\"schema\": 2", "schema 2 is not known; expected 1"),
            ("\"name\": \"toy\"", "\"name\": \"To y\"", "plugin name \"To y\""),
            ("\"name\": \"toy\"", "\"nom\": \"toy\"", "missing field `name`"),
            ("\"abi\": \"1\"", "\"abi\": \"one\"", "unexpected character"),
            ("device_api.toy", "device.toy", "\"provides\" has \"device.toy\""),
            ("device_api.toy", "function.toy.answer", "twice"),
            ("\"schema\": 1,", "\"schema\": 1, \"sha256\": \"zz\",", "64 hexadecimal digits"),
            ("{", "{,", "line 1 column 2"),
            ("\"schema\": 1,", "\"schema\": 1, \"schema\": 1,", "duplicate field `schema`"),
            ("\"abi\": \"1\"", "\"abi\": \"*\"", "expected the majors"),
            ("\"os\": \"linux\"", "\"os\": \"\"", "\"os\" has \"\""),
            ("\"arch\": \"x86_64\"", "\"arch\": \"x\\u001b[2J\"", "without control characters"),
            ("device_api.toy", "device_api.t\\u0000oy", "\"provides\" has \"device_api.t\\0oy\""),
            ("device_api.toy", "device_api.t oy", "expected 1 to 128 letters"),
            ("device_api.toy", "device_api.", "\"provides\" has \"device_api.\""),
            ("device_api.toy", &long_key, "expected 1 to 128 letters"),
            ("\"schema\": 1,", &needs("\"programs\": [\"a\\nb\"]"), "\"needs.programs\" has \"a\\nb\""),
            (
                "\"schema\": 1,",
                &needs("\"libraries\": [{\"names\": [\"\"]}]"),
                "\"needs.libraries.names\" has \"\"",
            ),
        ] {
            let error = Manifest::parse(&text().replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains(says), "{error} should say {says}");
            assert_eq!(*error.kind(), ErrorKind::Value);
        }
    }

    /// Found by fuzzing: such a float was read, written and read back as another.
    #[test]
    fn a_default_that_no_option_can_have_is_refused() {
        let with = |default: &str| {
            let options = format!(r#"[{{"name": "o", "type": "int", "default": {default}, "doc": ""}}]"#);
            let kind = format!(
                r#"{{"schema": 1, "name": "k", "doc": "", "device": "d", "stage": "host", "options": {options}}}"#
            );
            let provides = r#""target_kinds": [KIND], "provides": ["target.kind.k", "#.replace("KIND", &kind);
            Manifest::parse(&text().replacen("\"provides\": [", &provides, 1))
        };
        assert!(with("7").is_ok(), "{:?}", with("7"));
        for default in ["231.2452701914394386", "[1, 0.5]", "1092233720368547758074"] {
            let error = with(default).unwrap_err().to_string();
            assert!(error.contains("default of option \"o\" of \"k\""), "{error}");
        }
    }

    #[test]
    fn p5_19_what_a_manifest_states_of_its_maker_is_text() {
        let with = |fields: &str| Manifest::parse(&text().replacen("\"schema\": 1,", fields, 1));
        let stated = with(r#""schema": 1, "vendor": "Npu Ltd", "support": "help@npu.example","#).unwrap();
        assert_eq!((stated.vendor.as_deref(), stated.licence.as_deref()), (Some("Npu Ltd"), None));
        assert!(stated.to_text().unwrap().contains("\"support\": \"help@npu.example\""));
        assert_eq!(stated.unmet(&platform()), None);
        for (field, value) in [("vendor", "\"\""), ("homepage", "\"a\\nb\""), ("licence", "7")] {
            let error = with(&format!("\"schema\": 1, \"{field}\": {value},")).unwrap_err().to_string();
            assert!(error.contains(field) || value == "7", "{error}");
        }
    }

    #[test]
    fn a_libc_floor_that_is_no_version_is_refused() {
        for floor in ["", "new", "2", "2.", ".34", "2.x", "2.34 ", "-2.34", "2.34.1.1", "99999999999.1"] {
            let needs = format!("\"schema\": 1, \"needs\": {{\"glibc\": \"{floor}\"}},");
            let error = Manifest::parse(&text().replacen("\"schema\": 1,", &needs, 1)).unwrap_err();
            let says = format!("\"needs.glibc\" is \"{floor}\"; expected a version of glibc");
            assert!(error.to_string().contains(&says), "{error}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_refused_however_deep() {
        let kind = |default: &str| {
            format!(
                "\"provides\": [\"target.kind.toy\", \"device_api.toy\"], \"target_kinds\": [{{\"schema\": 1, \"name\": \"toy\", \
                 \"doc\": \"a toy\", \"device\": \"toy\", \"stage\": \"host\", \"options\": [{{\"name\": \"n\", \
                 \"doc\": \"n\", \"type\": \"str\", \"default\": {default}}}]}}]"
            )
        };
        let provides = "\"provides\": [\"device_api.toy\", \"function.toy.answer\"]";
        let with = |default: &str| Manifest::parse(&text().replacen(provides, &kind(default), 1));
        assert!(with("{\"a\": 1, \"b\": {\"a\": 1}}").is_ok(), "{:?}", with("{\"a\": 1, \"b\": {\"a\": 1}}"));
        let error = with("{\"b\": {\"a\": 1, \"a\": 2}}").unwrap_err();
        assert!(error.to_string().contains("key \"a\" stands twice"), "{error}");
        let error = with(&"[".repeat(100_000)).unwrap_err();
        assert!(error.to_string().contains("recursion limit exceeded"), "{error}");
        let error =
            Manifest::parse("[1, \"toy\", \"0.1.0\", \"1\", \"linux\", \"x86_64\", [\"device_api.toy\"]]")
                .unwrap_err();
        assert!(error.to_string().contains("expected a JSON object"), "{error}");
    }

    #[test]
    fn a_missing_feature_of_the_machine_is_named() {
        for (from, to, says) in [
            ("\"abi\": \"1\"", "\"abi\": \"2\"", "built for plugin ABI ^2, this host speaks 1.0"),
            ("\"arch\": \"x86_64\"", "\"arch\": \"riscv64\"", "built for linux on riscv64"),
            (
                "\"schema\": 1,",
                "\"schema\": 1, \"needs\": {\"glibc\": \"2.101\"},",
                "needs glibc 2.101 or newer",
            ),
            ("\"schema\": 1,", "\"schema\": 1, \"needs\": {\"cpu_features\": [\"warp9\"]},", "lacks: warp9"),
            (
                "\"schema\": 1,",
                "\"schema\": 1, \"needs\": {\"requires\": [\"cache/3\"]},",
                "does not have: cache/3",
            ),
        ] {
            let manifest = Manifest::parse(&text().replacen(from, to, 1)).unwrap();
            let why = manifest.unmet(&platform()).unwrap_or_default();
            assert!(why.contains(says), "{why} should say {says}");
        }
    }

    #[test]
    fn p5_16_needed_keys_are_keys_of_others_each_once() {
        let of_author = |keys: &str| Needs::parse(&format!("{{\"keys\": {keys}}}"));
        let good = of_author("[\"target.build.x\", \"device_api.x/reset/1\"]").unwrap();
        assert_eq!(good.check_keys(&["target.kind.x".to_owned()]), Ok(()));
        let own = good.check_keys(&["target.build.x".to_owned()]).unwrap_err();
        assert!(own.contains("\"target.build.x\": the plugin provides it itself"), "{own}");
        for (keys, says) in [
            ("[\"x\"]", "\"needs.keys\" has \"x\"; expected one of device_api.<name>"),
            ("[\"function.a\", \"function.a\"]", "names \"function.a\" twice"),
            ("[\"\"]", "\"needs.keys\" has \"\""),
        ] {
            let error = of_author(keys).unwrap_err().to_string();
            assert!(error.contains(says), "{error} should say {says}");
        }
        // A host goes by what of it makes sense.
        let needs = r#""schema": 1, "needs": {"keys": ["x", "function.b", "function.b", "device_api.toy"]},"#;
        let manifest = Manifest::parse(&text().replacen("\"schema\": 1,", needs, 1)).unwrap();
        assert_eq!(manifest.needed_keys(), ["x", "function.b"]);
    }

    #[test]
    fn the_manifest_lies_beside_the_library() {
        let path = manifest_path(Path::new("/plugins/libtoy.so"));
        assert_eq!(path, Path::new("/plugins/libtoy.chipdock.json"));
    }

    #[test]
    fn the_libc_floor_is_the_newest_version_named() {
        let library = b"..GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_PRIVATE\0GLIBC_2.9\0";
        assert_eq!(glibc_floor(library).as_deref(), Some("2.34"));
    }
}
