//! Settings that the suite's hosts answer (interface `config` 1): those of the user, and those of a
//! case.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_host::settings::DeclaredSetting;
use chipdock_plugin_api::setting::{SettingType, SettingValue};
use chipdock_plugin_api::{Any, Error, ErrorKind};
use chipdock_raw_host::Answers;

/// User's settings as plugin, key and value (SUITE-S16); every host of this process answers those
/// of the plugin under test.
static GIVEN: OnceLock<Vec<(String, String, String)>> = OnceLock::new();

/// Sets the user's settings for all hosts that are created later; takes effect once per process.
pub fn give(settings: Vec<(String, String, String)>) {
    let _ = GIVEN.set(settings);
}

/// Returns the user's settings.
#[must_use]
pub fn given() -> &'static [(String, String, String)] {
    GIVEN.get().map(Vec::as_slice).unwrap_or_default()
}

/// Error message of a host that refuses every setting.
pub const REFUSES: &str = "the suite refuses this setting";

/// Settings that a host answers.
#[derive(Debug)]
pub struct Settings {
    declared: Vec<DeclaredSetting>,
    given: Vec<(String, String)>,
    refuses: bool,
    n_refused: AtomicUsize,
}

impl Settings {
    /// Creates settings that have the value of their environment variables, else their default.
    #[must_use]
    pub fn answered(declared: Vec<DeclaredSetting>) -> Self {
        Self { declared, given: Vec::new(), refuses: false, n_refused: AtomicUsize::new(0) }
    }

    /// Creates settings with the user's values for the named plugin, and the rest as
    /// [`Settings::answered`]; returns `None` if the user set nothing for that plugin. `info` is
    /// its `info_json`.
    pub(crate) fn given(plugin: &str, info: &str) -> Option<Self> {
        let own = given().iter().filter(|(name, _, _)| name == plugin);
        let given: Vec<_> = own.map(|(_, key, value)| (key.clone(), value.clone())).collect();
        let declared = (!given.is_empty()).then(|| declared_in(info).unwrap_or_default())?;
        Some(Self { given, ..Self::answered(declared) })
    }

    /// Creates settings that are each refused with an error.
    #[must_use]
    pub fn refused(declared: Vec<DeclaredSetting>) -> Self {
        Self { refuses: true, ..Self::answered(declared) }
    }

    /// Returns the number of settings that were requested and refused.
    #[must_use]
    pub fn n_refused(&self) -> usize {
        self.n_refused.load(Ordering::Relaxed)
    }
}

impl Answers for Settings {
    fn value(&self, key: &str) -> Result<Any, Error> {
        let Some(declared) = self.declared.iter().find(|declared| declared.name == key) else {
            return Err(Error::new(ErrorKind::KEY_ERROR, format!("no setting {key:?} is declared")));
        };
        if self.refuses {
            self.n_refused.fetch_add(1, Ordering::Relaxed);
            return Err(Error::new(ErrorKind::VALUE_ERROR, REFUSES));
        }
        let Some(value_type) = declared.value_type() else {
            return Err(Error::new(ErrorKind::UNSUPPORTED, "a type that the suite does not know"));
        };
        if let Some((_, text)) = self.given.iter().rev().find(|(name, _)| name == key) {
            let value = value_type.parse(text).map(any);
            return value.ok_or_else(|| Error::new(ErrorKind::VALUE_ERROR, "a wrong value of --config"));
        }
        let mut variables = declared.variables.iter().filter_map(std::env::var_os);
        let written = variables.find(|text| !text.is_empty() || value_type.may_be_empty());
        if let Some(text) = written {
            let value = text.to_str().and_then(|text| value_type.parse(text));
            return value.map(any).ok_or_else(|| Error::new(ErrorKind::VALUE_ERROR, "a wrong variable"));
        }
        let Some(default) = &declared.default else { return Ok(Any::NONE) };
        let text = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        Ok(value_type.parse(&text).map_or(Any::NONE, any))
    }
}

/// Parses the settings declared in an `info_json`; cases about settings report its errors.
fn declared_in(info: &str) -> Option<Vec<DeclaredSetting>> {
    let mut info: serde_json::Value = serde_json::from_str(info).ok()?;
    serde_json::from_value(info.get_mut("settings")?.take()).ok()
}

fn any(value: SettingValue) -> Any {
    match value {
        SettingValue::Bool(value) => value.into(),
        SettingValue::Int(value) => value.into(),
        SettingValue::Float(value) => value.into(),
        SettingValue::Text(value) => value.as_str().into(),
        _ => Any::NONE,
    }
}

/// Returns true if a default value is of the given type.
#[must_use]
pub fn is_of_type(default: &serde_json::Value, value_type: SettingType) -> bool {
    match value_type {
        SettingType::Bool => default.is_boolean(),
        SettingType::Int => default.is_i64(),
        SettingType::Float => default.as_f64().is_some_and(f64::is_finite),
        _ => default.is_string(),
    }
}
