//! The user's file of settings (rule SET-O4).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use chipdock_plugin_api::setting::{SettingType, SettingValue};
use toml::de::{DeTable, DeValue};

use super::Origin;
use crate::discovery::trust::Trust;
use crate::files;
use crate::options::HostOptions;

/// Where it lies in the user's configuration folder.
const IN_CONFIG_HOME: &str = "chipdock/config.toml";
/// A page for each of a hundred plugins.
const SIZE_BYTES_MAX: u64 = 1 << 20;

/// A value as somebody wrote it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    what: What,
    /// In the file.
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
enum What {
    /// A variable or an option: text that has to be read.
    Text(OsString),
    /// Of the file, which has types.
    Value(SettingValue),
    /// Of the file: what no setting can be, by its name.
    Other(&'static str),
}

impl Written {
    pub(super) fn text(text: OsString) -> Self {
        Self { what: What::Text(text), line: 0 }
    }

    /// The value, where it is of that type.
    pub(super) fn of_type(&self, value_type: SettingType) -> Option<SettingValue> {
        use SettingType::{Bool, Float, Int, Path, Str};
        match (&self.what, value_type) {
            (What::Text(text), _) => value_type.parse(text.to_str()?),
            (What::Value(SettingValue::Int(value)), Float) => Some(SettingValue::Float(*value as f64)),
            (What::Value(value @ SettingValue::Float(number)), Float) => {
                number.is_finite().then(|| value.clone())
            }
            (What::Value(value @ SettingValue::Bool(_)), Bool)
            | (What::Value(value @ SettingValue::Int(_)), Int)
            | (What::Value(value @ SettingValue::Text(_)), Str | Path) => Some(value.clone()),
            _ => None,
        }
    }

    /// For a message.
    pub(super) fn shown(&self) -> String {
        let text = |text: &OsStr| {
            let note = if text.to_str().is_none() { ", which is not UTF-8" } else { "" };
            let text: String = text.to_string_lossy().chars().take(200).collect();
            format!("{text:?}{note}")
        };
        match &self.what {
            What::Text(value) => text(value),
            What::Value(SettingValue::Bool(value)) => value.to_string(),
            What::Value(SettingValue::Int(value)) => value.to_string(),
            What::Value(SettingValue::Float(value)) => value.to_string(),
            What::Value(SettingValue::Text(value)) => text(value.as_ref()),
            What::Value(_) => "another value".to_owned(),
            What::Other(what) => (*what).to_owned(),
        }
    }
}

/// Keys of one plugin.
type Table = BTreeMap<String, Written>;

/// What the file says, by plugin, and what of it was refused.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    path: PathBuf,
    tables: BTreeMap<String, Table>,
    refused: Vec<String>,
}

impl File {
    /// Reads the file of these options' user, where there is one.
    pub(super) fn read(options: &HostOptions) -> Self {
        let Some(folder) = &options.environment.config_home else { return Self::default() };
        let path = folder.join(IN_CONFIG_HOME);
        // What is not there is no matter; what is there and cannot be read is.
        if matches!(path.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound) {
            return Self::default();
        }
        let refused = |why: String| {
            let refused = vec![format!("the settings in {} are ignored: {why}", path.display())];
            Self { path: path.clone(), tables: BTreeMap::new(), refused }
        };
        if let Some(problem) = Trust::new(options).problem(&path) {
            return refused(problem.message);
        }
        match files::read_regular_text(&path, SIZE_BYTES_MAX) {
            Ok(text) => Self::parse(&path, &text).unwrap_or_else(refused),
            Err(error) => refused(error.message().to_owned()),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let line_of =
            |offset: usize| text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
        let document = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| format!("line {}: ", line_of(span.start))).unwrap_or_default();
            format!("{line}{}; expected TOML", error.message().trim_end())
        })?;
        let mut file = Self { path: path.to_owned(), ..Self::default() };
        for (plugin, table) in document.into_inner() {
            let plugin = plugin.into_inner().into_owned();
            let line = line_of(table.span().start);
            let DeValue::Table(table) = table.into_inner() else {
                let place = file.origin(line);
                file.refused.push(format!(
                    "{place}: \"{plugin}\" is ignored: expected a table of settings, as [{plugin}]"
                ));
                continue;
            };
            let keys = table.into_iter().map(|(key, value)| {
                let line = line_of(key.span().start);
                (key.into_inner().into_owned(), Written { what: what(value.get_ref()), line })
            });
            file.tables.insert(plugin, keys.collect());
        }
        Ok(file)
    }

    pub(super) fn get(&self, plugin: &str, key: &str) -> Option<&Written> {
        self.tables.get(plugin)?.get(key)
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = (&String, &Table)> {
        self.tables.iter()
    }

    /// What was refused, one line each.
    pub(super) fn refused(&self) -> &[String] {
        &self.refused
    }

    pub(super) fn origin(&self, line: usize) -> Origin {
        Origin::File { file: self.path.clone(), line }
    }
}

fn what(value: &DeValue<'_>) -> What {
    let value = match value {
        DeValue::Boolean(value) => SettingValue::Bool(*value),
        DeValue::String(value) => SettingValue::Text(value.clone().into_owned()),
        DeValue::Integer(value) => match i64::from_str_radix(value.as_str(), value.radix()) {
            Ok(value) => SettingValue::Int(value),
            Err(_) => return What::Other("an integer of more than 64 bits"),
        },
        DeValue::Float(value) => match value.as_str().parse() {
            Ok(value) => SettingValue::Float(value),
            Err(_) => return What::Other("a number"),
        },
        DeValue::Datetime(_) => return What::Other("a date"),
        DeValue::Array(_) => return What::Other("an array"),
        DeValue::Table(_) => return What::Other("a table"),
    };
    What::Value(value)
}
