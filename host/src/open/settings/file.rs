//! The user's file of settings (rule SET-O4).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use chipdock_plugin_api::setting::{SettingType, SettingValue};
use toml::de::{DeTable, DeValue};

use super::Origin;
use crate::files;
use crate::open::discovery::trust::Trust;
use crate::options::HostOptions;

/// Path of the file in the user's configuration folder.
const IN_CONFIG_HOME: &str = "chipdock/config.toml";
/// Greatest size of the file in bytes: a page for each of a hundred plugins.
const SIZE_BYTES_MAX: u64 = 1 << 20;

/// A value as its author wrote it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    what: What,
    /// Line in the file.
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
enum What {
    /// A value of a variable or an option: text that must be parsed.
    Text(OsString),
    /// A typed value of the file.
    Value(SettingValue),
    /// A value of the file that no setting can have, by the name of its type.
    Other(&'static str),
}

impl Written {
    pub(super) fn text(text: OsString) -> Self {
        Self { what: What::Text(text), line: 0 }
    }

    /// Returns the value, where it is of that type.
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

    /// Returns the value as text for a message.
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

/// Content of the file by plugin, with the refused parts.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    path: PathBuf,
    tables: BTreeMap<String, Table>,
    refused: Vec<String>,
}

impl File {
    /// Reads the file of these options' user, if it exists.
    pub(super) fn read(options: &HostOptions) -> Self {
        let Some(folder) = &options.environment.config_home else { return Self::default() };
        let path = folder.join(IN_CONFIG_HOME);
        // A missing file is no problem; one that exists and cannot be read is.
        if matches!(path.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound) {
            return Self::default();
        }
        let refused = |why: String| {
            let refused = vec![format!("the settings in {} are ignored: {why}", path.display())];
            Self { path: path.clone(), tables: BTreeMap::new(), refused }
        };
        if let Some(problem) = Trust::new(&options.environment, &options.trust).problem(&path) {
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

    /// Returns the refused parts, one line each.
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
