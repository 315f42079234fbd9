//! A target kind as its plugin declares it, which may be newer than this reader.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{OptionType, TargetKind};
use crate::Stage;
use crate::ThreadAxis;

/// The version of the schema of target kinds that this reader supports.
pub const KIND_SCHEMA: u32 = 1;
/// The greatest number of words that a reason lists; `WORD_CHARS_MAX` limits their length.
const WORDS_MAX: usize = 4;
const WORD_CHARS_MAX: usize = 60;

/// A declared target kind: usable, or with a part that this version does not know (P3.9, P3.10).
///
/// An unknown field is ignored. A newer version of the schema, and an unknown stage, type of an
/// option or thread axis, make the kind unusable, but nothing else of the plugin. Scopes are an
/// open set; unknown ops and types cannot occur in a module that is built here, and are ignored.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclaredKind {
    /// All that matters in the kind is known.
    Usable(Arc<TargetKind>),
    /// The kind has an unknown part that matters.
    Unusable(UnusableKind),
}

/// A target kind with an unknown part that matters.
#[derive(Clone, Debug, PartialEq)]
pub struct UnusableKind {
    /// Name of the kind.
    pub name: String,
    /// The unknown part, in words.
    pub reason: String,
    /// The schema as it was declared.
    pub schema: Value,
}

impl DeclaredKind {
    /// Reads the text of a schema.
    ///
    /// # Errors
    ///
    /// A malformed schema: no JSON object, a field that is missing or of a wrong type. An unknown
    /// part is no error.
    ///
    /// ```
    /// use chipdock_ir::DeclaredKind;
    ///
    /// let newer = r#"{"schema": 1, "name": "npu", "doc": "an NPU", "device": "npu", "stage": "tensors"}"#;
    /// let Ok(DeclaredKind::Unusable(kind)) = DeclaredKind::parse(newer) else { panic!() };
    /// assert!(kind.reason.starts_with("its schema has stage \"tensors\", which is not known here"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        // Parsed from the text first: the position of a malformed part belongs in the message.
        let read = serde_json::from_str::<TargetKind>(text);
        if let Ok(kind) = read
            && kind.schema == KIND_SCHEMA
            && unknown_axes(&kind).next().is_none()
        {
            return Ok(Self::Usable(Arc::new(kind)));
        }
        let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match unusable(schema) {
            Ok(kind) => Ok(Self::Unusable(kind)),
            Err(_) => serde_json::from_str(text)
                .map(|kind| Self::Usable(Arc::new(kind)))
                .map_err(|error| error.to_string()),
        }
    }

    /// Returns the kind's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Usable(kind) => &kind.name,
            Self::Unusable(kind) => &kind.name,
        }
    }

    /// Returns the kind, if it is usable.
    ///
    /// # Errors
    ///
    /// The unusable kind, with its reason.
    pub fn usable(&self) -> Result<&Arc<TargetKind>, &UnusableKind> {
        match self {
            Self::Usable(kind) => Ok(kind),
            Self::Unusable(kind) => Err(kind),
        }
    }
}

impl From<TargetKind> for DeclaredKind {
    fn from(kind: TargetKind) -> Self {
        Self::Usable(Arc::new(kind))
    }
}

impl Serialize for DeclaredKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Usable(kind) => (**kind).serialize(serializer),
            Self::Unusable(kind) => kind.schema.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DeclaredKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let schema = Value::deserialize(deserializer)?;
        match unusable(schema) {
            Ok(kind) => Ok(Self::Unusable(kind)),
            Err(schema) => serde_json::from_value(schema)
                .map(|kind| Self::Usable(Arc::new(kind)))
                .map_err(|error| D::Error::custom(format!("a target kind: {error}"))),
        }
    }
}

fn unknown_axes(kind: &TargetKind) -> impl Iterator<Item = &String> {
    kind.thread_axes.iter().filter(|axis| axis.parse::<ThreadAxis>().is_err())
}

/// Converts the schema to an unusable kind, or returns it if nothing in it is unknown.
fn unusable(schema: Value) -> Result<UnusableKind, Value> {
    let mut words = Vec::new();
    if let Some(version) = schema["schema"].as_u64().filter(|version| *version > KIND_SCHEMA.into()) {
        words.push(format!("version {version}"));
    }
    words.extend(unknown::<Stage>(&schema["stage"]).map(|word| format!("stage {word}")));
    for option in schema["options"].as_array().into_iter().flatten() {
        words.extend(unknown::<OptionType>(&option["type"]).map(|word| format!("type {word} of an option")));
    }
    for axis in schema["thread_axes"].as_array().into_iter().flatten() {
        let axis = axis.as_str().filter(|axis| axis.parse::<ThreadAxis>().is_err());
        words.extend(axis.map(|axis| format!("thread axis {}", shortened(axis))));
    }
    let name = schema["name"].as_str().unwrap_or_default();
    if words.is_empty() || name.is_empty() {
        return Err(schema);
    }
    let more = words.len().saturating_sub(WORDS_MAX);
    words.truncate(WORDS_MAX);
    let mut reason = format!("its schema has {}", words.join(", "));
    if more > 0 {
        // Writing to a string does not fail.
        let _ = write!(reason, " and {more} more");
    }
    reason += ", which is not known here";
    Ok(UnusableKind { name: name.to_owned(), reason, schema })
}

/// Returns the value, shortened, if it is a text that is no word of `T`.
fn unknown<T: DeserializeOwned>(value: &Value) -> Option<String> {
    let word = value.as_str()?;
    serde_json::from_value::<T>(value.clone()).is_err().then(|| shortened(word))
}

fn shortened(word: &str) -> String {
    let cut: String = word.chars().take(WORD_CHARS_MAX).collect();
    format!("{cut:?}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "schema": 1, "name": "npu", "doc": "an NPU", "device": "npu", "stage": "device",
            "thread_axes": ["blockIdx.x"], "storage_scopes": ["global", "npu.scratch"],
            "options": [{"name": "cores", "type": "int", "doc": "its cores"}],
        })
    }

    /// Reads a schema from its value and from its text, and checks that both agree.
    fn read(schema: &Value) -> Result<DeclaredKind, String> {
        let by_text = DeclaredKind::parse(&schema.to_string());
        let within: Result<Vec<DeclaredKind>, _> = serde_json::from_value(json!([schema]));
        assert_eq!(by_text.as_ref().ok(), within.ok().map(|mut kinds| kinds.remove(0)).as_ref());
        by_text
    }

    #[test]
    fn p3_9_a_field_that_is_not_known_is_ignored() {
        let plain = read(&schema()).unwrap();
        assert!(plain.usable().is_ok());
        let mut newer = schema();
        newer["licence"] = json!({"name": "MIT"});
        // Names that fields had before the release are as free as any other.
        newer["facts"] = json!({"lone_threads": "cores"});
        newer["capabilities"] = json!({"clusters_max": "cores"});
        newer["options"][0]["unit"] = json!("cores");
        newer["native_ops"] = json!(["tensor_core_of_2031"]);
        newer["missing_types"] = json!(["float5"]);
        newer["optional_types"] = json!({"float5": "cores"});
        newer["optional_ops"] = json!({"tensor_core_of_2031": "cores"});
        let newer = read(&newer).unwrap();
        assert_eq!(newer.usable().unwrap().options, plain.usable().unwrap().options);
    }

    #[test]
    fn p3_10_a_word_that_is_not_known_makes_the_kind_unusable_and_says_why() {
        for (pointer, word, says) in [
            ("/schema", json!(2), "version 2"),
            ("/stage", json!("tensors"), "stage \"tensors\""),
            ("/options/0/type", json!("list[bool]"), "type \"list[bool]\" of an option"),
            ("/thread_axes/0", json!("clusterIdx.x"), "thread axis \"clusterIdx.x\""),
        ] {
            let mut newer = schema();
            *newer.pointer_mut(pointer).unwrap() = word;
            let DeclaredKind::Unusable(kind) = read(&newer).unwrap() else { panic!("{newer} is usable") };
            assert_eq!(kind.name, "npu");
            assert!(kind.reason.starts_with(&format!("its schema has {says}, which")), "{}", kind.reason);
            assert_eq!(serde_json::to_value(DeclaredKind::Unusable(kind)).unwrap(), newer);
        }
    }

    #[test]
    fn a_reason_stays_short() {
        let mut newer = schema();
        newer["thread_axes"] = json!(vec!["x\u{1b}".repeat(1000); 100]);
        let DeclaredKind::Unusable(kind) = read(&newer).unwrap() else { panic!("usable") };
        assert!(kind.reason.contains(" and 96 more") && !kind.reason.contains('\u{1b}'), "{}", kind.reason);
        assert!(kind.reason.len() < 2000);
    }

    #[test]
    fn a_malformed_input_is_an_error() {
        for (field, value) in [
            ("schema", json!("1")),
            ("stage", json!(7)),
            ("stage", Value::Null),
            ("thread_axes", json!("blockIdx.x")),
            ("options", json!([{"name": "cores", "doc": ""}])),
            ("name", json!(1)),
        ] {
            let mut broken = schema();
            broken[field] = value;
            assert!(read(&broken).is_err(), "{broken}");
        }
        assert!(DeclaredKind::parse("[]").is_err() && DeclaredKind::parse("{").is_err());
        let place = DeclaredKind::parse("{\"schema\": 1,\n\"name\": 2}").unwrap_err();
        assert!(place.contains("line 2"), "{place}");
    }
}
