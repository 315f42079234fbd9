//! JSON with ordered objects, only integers of 64 bits, and no key twice.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::WireError;
use crate::limits::FIELDS_MAX;

/// The greatest number of fields of an object that are compared pairwise; more are looked up.
const FIELDS_FEW: usize = 32;

/// The node and the fields of an object, in their order.
macro_rules! node {
    ($node:expr $(, $name:ident: $value:expr)* $(,)?) => {
        $crate::wire::json::Json::Object(vec![
            ("node".into(), $crate::wire::json::Json::text($node)),
            $((stringify!($name).into(), $value),)*
        ])
    };
}

/// An object without a node's name.
macro_rules! object {
    ($($name:ident: $value:expr),* $(,)?) => {
        $crate::wire::json::Json::Object(vec![$((stringify!($name).into(), $value),)*])
    };
}

pub(super) use {node, object};

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
    List(Vec<Json>),
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn number(value: impl Into<i64>) -> Self {
        Self::Int(value.into())
    }

    /// Makes an id, or another count of things in memory.
    pub(super) fn id(index: usize) -> Self {
        Self::Int(i64::try_from(index).unwrap_or(i64::MAX))
    }

    /// Returns the field of an object.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the text of the field of an object.
    pub(super) fn word(&self, name: &str) -> &str {
        match self.field(name) {
            Some(Self::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the value in a few characters, for messages.
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
        Ok(Json::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        i64::try_from(value)
            .map(Json::Int)
            .map_err(|_| E::custom(format!("expected a number of 64 bits, signed, found {value}")))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        list.shrink_to_fit();
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(Cow<'static, str>, Json)> = Vec::new();
        let mut names: HashSet<String> = HashSet::new();
        while let Some((name, value)) = entries.next_entry::<String, Json>()? {
            if fields.len() >= FIELDS_MAX {
                return Err(A::Error::custom(format!("an object has more than {FIELDS_MAX} fields")));
            }
            if fields.len() == FIELDS_FEW {
                names = fields.iter().map(|(name, _)| name.to_string()).collect();
            }
            let twice = match fields.len() {
                0..FIELDS_FEW => fields.iter().any(|(other, _)| *other == name),
                _ => !names.insert(name.clone()),
            };
            if twice {
                return Err(A::Error::custom(format!("field \"{name}\" stands twice in one object")));
            }
            fields.push((name.into(), value));
        }
        fields.shrink_to_fit();
        Ok(Json::Object(fields))
    }
}
