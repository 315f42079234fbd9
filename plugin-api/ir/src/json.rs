//! Reads JSON in which no object has a key twice.
//!
//! `serde_json` silently keeps the last of two equal keys: a person who reads
//! `{"opt-level": 3, "opt-level": 0}` sees 3 first, and 0 is used. Therefore JSON that people write
//! (targets, manifests) is read here.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a text that is one JSON value.
///
/// # Errors
///
/// A text that is not JSON, nests deeper than 128 levels, or has an object with one key twice, at
/// any level: with line and column.
///
/// # Examples
///
/// ```
/// use chipdock_ir::json::parse_unique;
///
/// assert_eq!(parse_unique(r#"{"a": [1, null]}"#).unwrap()["a"][0], 1);
/// let error = parse_unique(r#"{"a": {"b": 1, "b": 2}}"#).unwrap_err();
/// assert_eq!(error.to_string(), "key \"b\" stands twice in one object; keep one of them at line 1 column 18");
/// ```
pub fn parse_unique(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Unique(value)| value)
}

/// Checks that a text is one JSON value in which no object has a key twice, as [`parse_unique`]
/// does, without making the value.
///
/// # Errors
///
/// As [`parse_unique`].
///
/// # Examples
///
/// ```
/// use chipdock_ir::json::check_unique;
///
/// assert!(check_unique(r#"{"a": [1, null]}"#).is_ok());
/// assert!(check_unique(r#"{"a": {"b": 1, "b": 2}}"#).is_err());
/// ```
pub fn check_unique(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str(text).map(|Checked| ())
}

/// The greatest number of keys of an object that are compared pairwise; more are looked up.
const FEW_KEYS: usize = 24;

fn twice<E: Error>(key: &str) -> E {
    let shown: String = key.chars().take(60).collect();
    E::custom(format!("key {shown:?} stands twice in one object; keep one of them"))
}

/// A key, borrowed from the text if it contains no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// A value that was checked and not kept.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CheckedVisitor)
    }
}

struct CheckedVisitor;

impl<'de> Visitor<'de> for CheckedVisitor {
    type Value = Checked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_bool<E: Error>(self, _value: bool) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_i64<E: Error>(self, _value: i64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_u64<E: Error>(self, _value: u64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_f64<E: Error>(self, _value: f64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_str<E: Error>(self, _text: &str) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Checked, A::Error> {
        while let Some(Checked) = items.next_element()? {}
        Ok(Checked)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Checked, A::Error> {
        let (mut few, mut many): (Vec<Cow<'de, str>>, HashSet<Cow<'de, str>>) = Default::default();
        while let Some(Key(key)) = entries.next_key()? {
            if few.contains(&key) || many.contains(&key) {
                return Err(twice(&key));
            }
            if few.len() < FEW_KEYS {
                few.push(key);
            } else {
                many.insert(key);
            }
            let Checked = entries.next_value()?;
        }
        Ok(Checked)
    }
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Unique)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // The parser refuses numbers out of range, so that none is infinite.
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number out of range of float64"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(twice(&key));
            }
            let Unique(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_level() {
        for (text, key, place) in [
            (r#"{"a": 1, "a": 1}"#, "a", "line 1 column 12"),
            (r#"{"a": 1, "b": [{"c": {}, "c": 2}]}"#, "c", "line 1 column 28"),
            ("{\"a\": 1,\n \"\\u0061\": 2}", "a", "line 2 column 9"),
            (r#"{"": 1, "": 2}"#, "", "line 1 column 10"),
        ] {
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}: serde_json takes it");
            let error = parse_unique(text).unwrap_err().to_string();
            assert_eq!(error, format!("key {key:?} stands twice in one object; keep one of them at {place}"));
            assert_eq!(check_unique(text).unwrap_err().to_string(), error);
        }
        let many: String = (0..10_000).map(|key| format!("\"{key}\": 0, ")).collect();
        for key in [0, FEW_KEYS - 1, FEW_KEYS, 9999] {
            let text = format!("{{{many}\"{key}\": 1}}");
            let error = parse_unique(&text).unwrap_err().to_string();
            assert_eq!(check_unique(&text).unwrap_err().to_string(), error);
        }
        assert!(check_unique(&format!("{{{many}\"10000\": 1}}")).is_ok());
    }

    #[test]
    fn other_json_reads_as_serde_json_does() {
        for text in [
            "null",
            "[true, -1, 18446744073709551615, 1.5, -0.0, 1e300, \"\\n\\u20ac\", [], {}]",
            r#"{"b": {"a": 1}, "a": {"a": 1}, "A": 0}"#,
            "1e999",
            "NaN",
            "{\"a\": 1,}",
            "{} {}",
            "",
        ] {
            let (ours, theirs) = (parse_unique(text), serde_json::from_str::<Value>(text));
            assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{text}");
            let says = ours.err().map(|e| e.to_string());
            assert_eq!(says, theirs.err().map(|e| e.to_string()), "{text}");
            assert_eq!(says, check_unique(text).err().map(|e| e.to_string()), "{text}");
        }
        assert!(parse_unique(&"[".repeat(100_000)).unwrap_err().to_string().contains("recursion limit"));
    }
}
