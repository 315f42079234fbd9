//! Settings of plugins: values that a user sets by key (contract, section S).
//!
//! * **SET-O1 Order.** The host's options ([`HostOptions::settings`]), the variable
//!   `CHIPDOCK_<PLUGIN>_<NAME>`, the variables that the plugin declares, the user's file, the
//!   default: the first that has a value counts, right or wrong (S.4).
//! * **SET-O2 Permanent.** Variables and the file are read when the host is made, and once; each
//!   host has its own (S.8).
//! * **SET-O3 Wrong values.** A value of the wrong type is an error for that setting alone, with
//!   the value's source (S.7). The host's options are checked when it is made, as far as the
//!   settings are known from manifests.
//! * **SET-O4 The file.** `chipdock/config.toml` in the user's configuration folder, a table for
//!   each plugin. It is checked by FIND-D3 as plugins are, before it is read. A file that is
//!   refused or cannot be read is passed over, as is a name in it that no plugin declares; the log
//!   says so.
//! * **SET-O5 Raised privileges.** Neither variables nor the file are read (S.9).
//! * **SET-O6 One variable, one setting.** Where settings of two plugins have the same
//!   `CHIPDOCK_<PLUGIN>_<NAME>`, as far as their manifests tell, the variable is read for neither
//!   (S.13): both get the error of S.7.
//! * **SET-O7 Remembering (S.14).** The host's options say whether anything is remembered
//!   ([`HostOptions::remember`]). Where they ask for nothing, a setting `remember` of type bool is
//!   false, whatever else says; where they ask for it and nothing else has a value, it is true.

mod declared;
mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chipdock_plugin_api::setting::{REMEMBER, SettingType, SettingValue};
use serde::Serialize;
use serde_json::Value;

pub use declared::DeclaredSetting;
#[cfg(test)]
pub(crate) use declared::{DOC_BYTES_MAX, SETTINGS_MAX};
pub(crate) use declared::{check_all, parse_info, unknown_info_fields};

use crate::environment::Variables;
use crate::error::{Error, ErrorKind, nearest};
use crate::log::LogLevel;
use crate::open::discovery::{Candidate, Discovery};
use crate::options::HostOptions;

use file::{File, Written};

/// The source of a setting's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "source", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The host's options: `--config`, or that the host is to remember nothing (SET-O7).
    Option,
    /// A variable of the environment.
    Variable {
        /// Name of the variable.
        variable: String,
    },
    /// The user's file.
    File {
        /// The file.
        #[serde(serialize_with = "as_text")]
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The plugin's own default, which may be none.
    Default,
}

fn as_text<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Option => f.write_str("--config"),
            Self::Variable { variable } => write!(f, "variable {variable}"),
            Self::File { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Report on a setting, for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingReport {
    /// The plugin's declaration.
    #[serde(flatten)]
    pub declared: DeclaredSetting,
    /// The value in force; None where there is none, or where it is wrong.
    pub value: Option<Value>,
    /// The source of the value.
    pub from: Origin,
    /// The error that the plugin gets instead of a value, if there is one.
    pub problem: Option<String>,
}

/// Result of a look-up: a value, none, or an error.
pub(crate) type Found = Result<Option<SettingValue>, Error>;

/// The settings of one host's plugins.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    options: Vec<(String, String, String)>,
    variables: Variables,
    file: File,
    /// Settings of each variable of rule SET-O6, by the manifests.
    owners: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Whether rule SET-O7 applies.
    is_forgetful: bool,
}

impl Settings {
    /// Reads the settings in these options, the environment and the user's file; ignored parts are
    /// logged.
    ///
    /// # Errors
    ///
    /// `ValueError`: an option names a plugin or a setting that does not exist, with the nearest
    /// name, or a value that is not of its type.
    pub fn new(options: &HostOptions, discovery: &Discovery) -> Result<Self, Error> {
        let is_raised = options.environment.raised_privileges;
        let file = if is_raised { File::default() } else { File::read(options) };
        let variables = if is_raised { Variables::none() } else { options.environment.variables.clone() };
        let owners = owners(&discovery.candidates);
        let is_forgetful = !options.remember;
        let settings = Self { options: options.settings.clone(), variables, file, owners, is_forgetful };
        settings.check_options(&discovery.candidates)?;
        for line in settings.passed_over(&discovery.candidates) {
            (options.log)(LogLevel::Warning, &line);
        }
        Ok(settings)
    }

    /// Makes the settings of a plugin that is opened by itself: its caller's options, and nothing
    /// else.
    pub(crate) fn said(options: &[(String, String, String)]) -> Self {
        Self { options: options.to_vec(), is_forgetful: true, ..Self::default() }
    }

    /// Checks that all options are of that plugin, declared and of their type.
    ///
    /// # Errors
    ///
    /// `ValueError` for the first option that is not.
    pub(crate) fn check_said(&self, plugin: &str, declared: &[DeclaredSetting]) -> Result<(), Error> {
        for (name, key, _) in &self.options {
            let place =
                |message: String| Error::new(ErrorKind::Value, format!("--config {name}.{key}: {message}"));
            if name != plugin {
                return Err(place(format!("the plugin is \"{plugin}\"")));
            }
            let Some(declared) = declared.iter().find(|declared| declared.name == *key) else {
                let error = place(format!("plugin \"{plugin}\" has no such setting"));
                return Err(error.hint(hint_of(key, declared)));
            };
            self.find(plugin, declared).0?;
        }
        Ok(())
    }

    fn check_options(&self, candidates: &[Candidate]) -> Result<(), Error> {
        for (plugin, key, _) in &self.options {
            let place =
                |message: String| Error::new(ErrorKind::Value, format!("--config {plugin}.{key}: {message}"));
            let Some(candidate) = candidate(candidates, plugin) else {
                let error = place(format!("there is no plugin \"{plugin}\""));
                let near = nearest(plugin, candidates.iter().map(|candidate| candidate.name.as_str()));
                return Err(match near {
                    Some(near) => error.hint(format!("did you mean \"{near}\"?")),
                    None => error.hint("see `chipdock plugins`"),
                });
            };
            let Some(manifest) = &candidate.manifest else { continue };
            let Some(declared) = manifest.settings.iter().find(|declared| declared.name == *key) else {
                let hint = hint_of(key, &manifest.settings);
                return Err(place(format!("plugin \"{plugin}\" has no such setting")).hint(hint));
            };
            self.find(plugin, declared).0?;
        }
        Ok(())
    }

    /// Returns the entries of the file that belong to no plugin or setting, one line each.
    fn passed_over(&self, candidates: &[Candidate]) -> Vec<String> {
        let mut lines = self.file.refused().to_vec();
        for (plugin, keys) in self.file.tables() {
            let Some(candidate) = candidate(candidates, plugin) else {
                let known = candidates.iter().map(|candidate| candidate.name.as_str());
                let near = nearest(plugin, known)
                    .map(|near| format!("; did you mean \"{near}\"?"))
                    .unwrap_or_default();
                let line = keys.values().map(|written| written.line).min().unwrap_or_default();
                let place = self.file.origin(line);
                lines.push(format!(
                    "{place}: the settings of \"{plugin}\" are ignored: there is no such plugin{near}"
                ));
                continue;
            };
            let Some(manifest) = &candidate.manifest else { continue };
            lines.extend(self.unknown_keys(plugin, &manifest.settings));
        }
        lines
    }

    /// Returns the names in the file, and in the options of a plugin that has no manifest, that the
    /// plugin does not declare.
    fn unknown_keys(&self, plugin: &str, declared: &[DeclaredSetting]) -> Vec<String> {
        let is_unknown = |key: &str| !declared.iter().any(|declared| declared.name == key);
        let of_file = self.file.tables().filter(|(name, _)| *name == plugin).flat_map(|(_, keys)| keys);
        let of_file = of_file.map(|(key, written)| (key, self.file.origin(written.line)));
        let of_options = self.options.iter().filter(|(name, _, _)| name == plugin);
        let all = of_file.chain(of_options.map(|(_, key, _)| (key, Origin::Option)));
        all.filter(|(key, _)| is_unknown(key))
            .map(|(key, place)| {
                format!("{place}: plugin \"{plugin}\" has no setting \"{key}\"; {}", hint_of(key, declared))
            })
            .collect()
    }

    /// Returns the unknown names to be logged when a plugin without a manifest is opened.
    pub(crate) fn unknown_when_opened(&self, plugin: &str, declared: &[DeclaredSetting]) -> Vec<String> {
        self.unknown_keys(plugin, declared)
    }

    /// Returns each setting of a plugin with its value and the value's source.
    #[must_use]
    pub fn reports(&self, plugin: &str, declared: &[DeclaredSetting]) -> Vec<SettingReport> {
        let report = |declared: &DeclaredSetting| {
            let (found, from) = self.find(plugin, declared);
            let problem = found.as_ref().err().map(ToString::to_string);
            let value = found.ok().flatten().map(|value| to_json(&value));
            SettingReport { declared: declared.clone(), value, from, problem }
        };
        declared.iter().map(report).collect()
    }

    /// Looks up a setting's value and its source by rule SET-O1.
    pub(crate) fn find(&self, plugin: &str, declared: &DeclaredSetting) -> (Found, Origin) {
        let usable = match declared.why_unusable() {
            Some(why) => Err(format!("setting {:?} of plugin \"{plugin}\" {why}", declared.name)),
            None => declared.value_type().ok_or_else(|| "its type is not known".to_owned()),
        };
        let value_type = match usable {
            Ok(value_type) => value_type,
            Err(message) => return (Err(Error::new(ErrorKind::Unsupported, message)), Origin::Default),
        };
        let is_remembering = declared.name == REMEMBER && value_type == SettingType::Bool;
        if self.is_forgetful && is_remembering {
            return (Ok(Some(SettingValue::Bool(false))), Origin::Option);
        }
        let (written, origin) = self.first(plugin, declared, value_type);
        let found = match written {
            Err(error) => Err(error),
            Ok(None) if is_remembering => Ok(Some(SettingValue::Bool(true))),
            Ok(None) => Ok(declared.default_value()),
            Ok(Some(written)) => match written.of_type(value_type) {
                Some(value) => Ok(Some(value)),
                None => Err(wrong(plugin, declared, &written, &origin)),
            },
        };
        (found, origin)
    }

    fn first(
        &self,
        plugin: &str,
        declared: &DeclaredSetting,
        value_type: SettingType,
    ) -> (Result<Option<Written>, Error>, Origin) {
        let mut given = self.options.iter().rev();
        if let Some((_, _, value)) = given.find(|(name, key, _)| name == plugin && *key == declared.name) {
            return (Ok(Some(Written::text(value.as_str().into()))), Origin::Option);
        }
        let generic = variable_of(plugin, &declared.name);
        for variable in std::iter::once(&generic).chain(&declared.variables) {
            let Some(value) = self.variables.get(variable) else { continue };
            if !value.is_empty() || value_type.may_be_empty() {
                let origin = Origin::Variable { variable: variable.clone() };
                let written = match self.other_owner(variable, plugin, &declared.name) {
                    Some((other, name)) if *variable == generic => {
                        Err(ambiguous(variable, (plugin, &declared.name), (other, name)))
                    }
                    _ => Ok(Some(Written::text(value.to_owned()))),
                };
                return (written, origin);
            }
        }
        match self.file.get(plugin, &declared.name) {
            Some(written) => (Ok(Some(written.clone())), self.file.origin(written.line)),
            None => (Ok(None), Origin::Default),
        }
    }

    /// Returns the setting of another plugin that has the same variable (rule SET-O6).
    fn other_owner(&self, variable: &str, plugin: &str, name: &str) -> Option<(&str, &str)> {
        let owners = self.owners.get(variable)?.iter().map(|(plugin, name)| (plugin.as_str(), name.as_str()));
        owners.into_iter().find(|owner| *owner != (plugin, name))
    }
}

/// Returns the settings by variable, of the plugins that are used and have manifests.
fn owners(candidates: &[Candidate]) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let mut owners: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|candidate| candidate.problem.is_none()) {
        for declared in candidate.manifest.iter().flat_map(|manifest| &manifest.settings) {
            let owner = (candidate.name.clone(), declared.name.clone());
            owners.entry(variable_of(&candidate.name, &declared.name)).or_default().insert(owner);
        }
    }
    owners
}

fn ambiguous(variable: &str, one: (&str, &str), other: (&str, &str)) -> Error {
    let message = format!(
        "the variable could be setting \"{}\" of plugin \"{}\" or \"{}\" of plugin \"{}\", and is read for neither",
        one.1, one.0, other.1, other.0
    );
    Error::new(ErrorKind::Value, message)
        .at(format!("environment variable {variable}"))
        .hint(format!("unset it; say --config {}.{}=VALUE, or write it in config.toml", one.0, one.1))
}

/// Returns the variable that a setting is read from whatever the plugin declares.
#[must_use]
pub fn variable_of(plugin: &str, name: &str) -> String {
    let whole = format!("CHIPDOCK_{plugin}_{name}").to_ascii_uppercase();
    whole.replace(['-', '.'], "_")
}

/// Returns the candidate of that name: the one that is used, else any.
fn candidate<'a>(candidates: &'a [Candidate], plugin: &str) -> Option<&'a Candidate> {
    let named = || candidates.iter().filter(|candidate| candidate.name == plugin);
    named().find(|candidate| candidate.problem.is_none()).or_else(|| named().next())
}

/// Returns the hint for an unknown setting: the nearest name that the plugin declares, or all of
/// them.
pub(crate) fn hint_of(key: &str, declared: &[DeclaredSetting]) -> String {
    let names = || declared.iter().map(|declared| declared.name.as_str());
    match nearest(key, names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if declared.is_empty() => "it has no settings".to_owned(),
        None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
    }
}

fn wrong(plugin: &str, declared: &DeclaredSetting, written: &Written, origin: &Origin) -> Error {
    let expected = declared.value_type().map_or("", SettingType::expected);
    let message = format!(
        "setting \"{}\" of plugin \"{plugin}\": expected {expected}, found {}",
        declared.name,
        written.shown()
    );
    let place = match origin {
        Origin::Variable { variable } => format!("environment variable {variable}"),
        other => other.to_string(),
    };
    Error::new(ErrorKind::Value, message).at(place)
}

fn to_json(value: &SettingValue) -> Value {
    match value {
        SettingValue::Bool(value) => (*value).into(),
        SettingValue::Int(value) => (*value).into(),
        SettingValue::Float(value) => (*value).into(),
        SettingValue::Text(value) => value.as_str().into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests;
