//! The fields of an object, taken one by one.

use std::sync::Arc;

use super::json::Json;
use super::{WireError, format};
use crate::limits::STRING_BYTES_MAX;
use crate::{DType, FloatBits};

pub(super) type Read<T> = Result<T, WireError>;

/// The fields of an object, each of which must be taken once.
pub(super) struct Fields<'j> {
    pub(super) what: String,
    fields: Vec<(&'j str, Option<&'j Json>)>,
}

impl<'j> Fields<'j> {
    pub(super) fn new(json: &'j Json, what: &str) -> Read<Self> {
        match json {
            Json::Object(fields) => Ok(Self {
                what: what.to_owned(),
                fields: fields.iter().map(|(name, value)| (&**name, Some(value))).collect(),
            }),
            other => Err(WireError::new(format!("{what}: expected an object, found {}", other.brief()))),
        }
    }

    pub(super) fn wrong(&self, name: &str, expected: &str, found: &Json) -> WireError {
        WireError::new(format!(
            "{}: field \"{name}\": expected {expected}, found {}",
            self.what,
            found.brief()
        ))
    }

    pub(super) fn take(&mut self, name: &str) -> Read<&'j Json> {
        self.fields
            .iter_mut()
            .find(|(field, _)| *field == name)
            .and_then(|(_, value)| value.take())
            .ok_or_else(|| WireError::new(format!("{}: field \"{name}\" is missing", self.what)))
    }

    pub(super) fn text(&mut self, name: &str) -> Read<Arc<str>> {
        match self.take(name)? {
            Json::Text(text) if text.len() <= STRING_BYTES_MAX => Ok(Arc::clone(text)),
            other => Err(self.wrong(name, "a string of bounded length", other)),
        }
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Read<Option<Arc<str>>> {
        match self.take(name)? {
            Json::Null => Ok(None),
            Json::Text(text) if text.len() <= STRING_BYTES_MAX => Ok(Some(Arc::clone(text))),
            other => Err(self.wrong(name, "a string or null", other)),
        }
    }

    pub(super) fn bool(&mut self, name: &str) -> Read<bool> {
        match self.take(name)? {
            Json::Bool(value) => Ok(*value),
            other => Err(self.wrong(name, "true or false", other)),
        }
    }

    pub(super) fn list(&mut self, name: &str) -> Read<&'j [Json]> {
        match self.take(name)? {
            Json::List(items) => Ok(items),
            other => Err(self.wrong(name, "a list", other)),
        }
    }

    pub(super) fn number<T: TryFrom<i64>>(&mut self, name: &str) -> Read<T> {
        let json = self.take(name)?;
        match json {
            Json::Int(value) => T::try_from(*value).map_err(|_| self.wrong(name, "a number in range", json)),
            other => Err(self.wrong(name, "a number", other)),
        }
    }

    pub(super) fn parsed<T: std::str::FromStr>(&mut self, name: &str, expected: &str) -> Read<T> {
        let text = self.text(name)?;
        text.parse().map_err(|_| self.wrong(name, expected, &Json::Text(text)))
    }

    pub(super) fn dtype(&mut self) -> Read<DType> {
        self.parsed("dtype", "a type's name")
    }

    /// Takes a decimal integer in its written form: no sign `+`, no leading zeros.
    pub(super) fn int(&mut self, name: &str) -> Read<i128> {
        let text = self.text(name)?;
        match text.parse::<i128>() {
            Ok(value) if value.to_string() == *text => Ok(value),
            _ => Err(self.wrong(name, "a decimal integer in a string", &Json::Text(text))),
        }
    }

    pub(super) fn bits(&mut self) -> Read<FloatBits> {
        let text = self.text("bits")?;
        format::bits(&text)
            .ok_or_else(|| self.wrong("bits", "0x and 16 hexadecimal digits", &Json::Text(text)))
    }

    /// Checks that every field was taken.
    pub(super) fn end(self) -> Read<()> {
        match self.fields.iter().find(|(_, value)| value.is_some()) {
            Some((name, _)) => Err(WireError::new(format!("{}: unknown field \"{name}\"", self.what))),
            None => Ok(()),
        }
    }
}
