//! JSON with ordered objects, integers only, and no key twice.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::WireError;

/// Fields of an object at most; nodes have few.
const FIELDS_MAX: usize = 1024;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Int(i128),
    Text(Arc<str>),
    List(Vec<Json>),
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn number(value: impl Into<i128>) -> Self {
        Self::Int(value.into())
    }

    /// The value in a few characters, for messages.
    pub(super) fn brief(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        if out.chars().count() > 60 { out.chars().take(57).chain("...".chars()).collect() } else { out }
    }

    /// Appends the value as JSON, without spaces.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => out.push_str(&value.to_string()),
            Self::Text(text) => write_text(text, out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads a text that is one JSON value. Nesting is bounded by the parser, at 128 levels.
pub(super) fn parse(text: &str) -> Result<Json, WireError> {
    serde_json::from_str(text).map_err(|error| WireError::new(format!("not a JSON document: {error}")))
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, an integer, a string, a list or an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Int(value.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(Cow<'static, str>, Json)> = Vec::new();
        while let Some((name, value)) = entries.next_entry::<String, Json>()? {
            if fields.len() >= FIELDS_MAX {
                return Err(A::Error::custom(format!("an object has more than {FIELDS_MAX} fields")));
            }
            if fields.iter().any(|(other, _)| *other == name) {
                return Err(A::Error::custom(format!("field \"{name}\" stands twice in one object")));
            }
            fields.push((name.into(), value));
        }
        Ok(Json::Object(fields))
    }
}
