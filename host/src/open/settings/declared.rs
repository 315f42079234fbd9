//! Declarations of settings, in a plugin's descriptor and manifest (S.1 to S.3).

use std::collections::BTreeSet;

use chipdock_plugin_api::setting::{SettingType, SettingValue, is_setting_name, is_variable_name};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::documents::read_with_ignored;

/// Greatest number of settings of a plugin: a page of them is more than a person reads.
pub(crate) const SETTINGS_MAX: usize = 256;
/// Greatest size of a setting's description in bytes: a sentence or two.
pub(crate) const DOC_BYTES_MAX: usize = 4096;

/// A setting as its plugin declares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclaredSetting {
    /// Name of the setting. One of another form than S.2 states makes the setting unusable, and
    /// nothing else (S.12).
    pub name: String,
    /// Name of its type. An unknown one makes the setting unusable, and nothing else (S.12).
    #[serde(rename = "type")]
    pub type_name: String,
    /// Value of the setting where the user sets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Its meaning.
    pub doc: String,
    /// Variables of the environment that it is read from, besides `CHIPDOCK_<PLUGIN>_<NAME>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}

impl DeclaredSetting {
    /// Returns its type, where that is known here.
    #[must_use]
    pub fn value_type(&self) -> Option<SettingType> {
        SettingType::from_name(&self.type_name)
    }

    /// Returns the reason why this host cannot use the setting, if there is one (S.12).
    pub(crate) fn why_unusable(&self) -> Option<String> {
        if !is_setting_name(&self.name) {
            return Some(
                "has a name of a form that this host does not know, which is 1 to 64 lower-case letters, digits and \
                 \"-\", the first a letter; use a newer host"
                    .to_owned(),
            );
        }
        let unknown = self.value_type().is_none();
        unknown.then(|| {
            format!("is of type {:?}, which this host does not know; use a newer host", self.type_name)
        })
    }

    /// Returns its default, where it has one that is of its type.
    pub(crate) fn default_value(&self) -> Option<SettingValue> {
        let default = self.default.as_ref()?;
        match self.value_type()? {
            SettingType::Bool => default.as_bool().map(SettingValue::Bool),
            SettingType::Int => default.as_i64().map(SettingValue::Int),
            SettingType::Float => default.as_f64().map(SettingValue::Float),
            _ => default.as_str().map(|text| SettingValue::Text(text.to_owned())),
        }
    }

    /// Checks a declaration by rule S.2.
    fn check(&self) -> Result<(), String> {
        let name: String = self.name.chars().take(80).collect();
        if self.doc.is_empty() || self.doc.len() > DOC_BYTES_MAX || self.doc.chars().any(char::is_control) {
            return Err(format!(
                "setting {name:?}: expected a doc of 1 to {DOC_BYTES_MAX} bytes without control characters"
            ));
        }
        if let Some(variable) = self.variables.iter().find(|variable| !is_variable_name(variable)) {
            let variable: String = variable.chars().take(80).collect();
            return Err(format!(
                "setting {name:?}: {variable:?} is no variable of the environment; expected letters, digits and \"_\""
            ));
        }
        let is_wrong = self.default.is_some() && self.default_value().is_none();
        match self.value_type() {
            Some(known) if is_wrong => {
                Err(format!("setting {name:?}: its default is not {}", known.expected()))
            }
            _ => Ok(()),
        }
    }
}

/// Checks all settings of one plugin (S.2, P13.1).
pub(crate) fn check_all(settings: &[DeclaredSetting]) -> Result<(), String> {
    if settings.len() > SETTINGS_MAX {
        return Err(format!("it declares {} settings; expected at most {SETTINGS_MAX}", settings.len()));
    }
    let mut seen = BTreeSet::new();
    for setting in settings {
        setting.check()?;
        if !seen.insert(&setting.name) {
            return Err(format!("setting {:?} is declared twice", setting.name));
        }
    }
    Ok(())
}

/// The parts of a descriptor's info that are read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    settings: Vec<DeclaredSetting>,
}

/// Returns the settings that a descriptor's `info_json` declares.
pub(crate) fn parse_info(text: &str) -> Result<Vec<DeclaredSetting>, String> {
    read_info(text).map(|(settings, _)| settings)
}

/// Returns the paths of the unknown fields in a descriptor's `info_json`.
pub(crate) fn unknown_info_fields(text: &str) -> Result<Vec<String>, String> {
    read_info(text).map(|(_, unknown)| unknown)
}

/// Reads the settings that a descriptor's `info_json` declares, and the paths of its unknown fields
/// (S.1).
fn read_info(text: &str) -> Result<(Vec<DeclaredSetting>, Vec<String>), String> {
    if text.is_empty() {
        return Ok(Default::default());
    }
    if !text.trim_ascii_start().starts_with('{') {
        return Err("its info: expected a JSON object, or no text for none".to_owned());
    }
    let (info, unknown): (Info, _) = read_with_ignored(text)
        .map_err(|error| format!("its info: expected a JSON object, or no text for none: {error}"))?;
    check_all(&info.settings).map_err(|message| format!("its info: {message}"))?;
    Ok((info.settings, unknown))
}
