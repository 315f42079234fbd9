//! JSON in which no object has a key twice.
//!
//! `serde_json` keeps the last of two equal keys and says nothing, so that of `{"opt-level": 3, "opt-level": 0}` a reader
//! sees 3 first and 0 is used. What people write (targets, manifests) is read here instead.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a text that is one JSON value.
///
/// # Errors
///
/// What is not JSON, nests deeper than 128 levels, or holds an object with one key twice, at any level: each with its line
/// and column.
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
        // The parser refuses what is out of range, so that none is infinite.
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
                let shown: String = key.chars().take(60).collect();
                return Err(A::Error::custom(format!(
                    "key {shown:?} stands twice in one object; keep one of them"
                )));
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
        }
        let many: String = (0..10_000).map(|key| format!("\"{key}\": 0, ")).collect();
        assert!(parse_unique(&format!("{{{many}\"9999\": 1}}")).is_err());
    }

    #[test]
    fn everything_else_is_what_serde_json_reads() {
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
            assert_eq!(ours.err().map(|e| e.to_string()), theirs.err().map(|e| e.to_string()), "{text}");
        }
        assert!(parse_unique(&"[".repeat(100_000)).unwrap_err().to_string().contains("recursion limit"));
    }
}
