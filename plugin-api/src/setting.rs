//! Settings of a plugin: declared as constants, read from the host (contract, section S).

use core::marker::PhantomData;
use std::ffi::OsString;
use std::path::PathBuf;

use chipdock_abi::ChipdockConfig1;

use crate::text::str_out;
use crate::{Any, Error, ErrorKind, HostRef, process};

/// Name and version of the host's interface for settings.
pub const CONFIG: (&str, u32) = ("config", 1);

/// The name of the setting, a bool, that says whether a plugin keeps what it finds out for the next
/// process. A host that is to remember nothing answers false, whatever its user's settings say; one
/// that remembers answers true where they say nothing. With another host it has no value.
pub const REMEMBER: &str = "remember";

/// The type of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingType {
    /// `true` or `false`.
    Bool,
    /// A signed integer of 64 bits.
    Int,
    /// A finite number.
    Float,
    /// A text, which may be empty.
    Str,
    /// A path, which may be empty.
    Path,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SettingValue {
    /// A value of type `bool`.
    Bool(bool),
    /// A value of type `int`.
    Int(i64),
    /// A value of type `float`.
    Float(f64),
    /// A value of type `str` or `path`.
    Text(String),
}

impl SettingType {
    /// All types.
    pub const ALL: &[Self] = &[Self::Bool, Self::Int, Self::Float, Self::Str, Self::Path];

    /// Returns the type's name in a declaration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Str => "str",
            Self::Path => "path",
        }
    }

    /// Returns the type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.name() == name)
    }

    /// Returns the expected form of a value, for messages.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int => "an integer from -2^63 to 2^63 - 1",
            Self::Float => "a finite number",
            Self::Str => "a text",
            Self::Path => "a path",
        }
    }

    /// Parses a value in the form that a user writes, or returns `None` if it is invalid. `1` and
    /// `0` are valid for `bool` too.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::setting::{SettingType, SettingValue};
    ///
    /// assert_eq!(SettingType::Int.parse("-7"), Some(SettingValue::Int(-7)));
    /// assert_eq!(SettingType::Bool.parse("maybe"), None);
    /// ```
    #[must_use]
    pub fn parse(self, text: &str) -> Option<SettingValue> {
        match self {
            Self::Bool => match text {
                "true" | "1" => Some(SettingValue::Bool(true)),
                "false" | "0" => Some(SettingValue::Bool(false)),
                _ => None,
            },
            Self::Int => text.parse().ok().map(SettingValue::Int),
            Self::Float => text.parse().ok().filter(|value: &f64| value.is_finite()).map(SettingValue::Float),
            Self::Str | Self::Path => Some(SettingValue::Text(text.to_owned())),
        }
    }

    /// Returns true if an empty environment variable is a value; otherwise it counts as unset.
    #[must_use]
    pub const fn may_be_empty(self) -> bool {
        matches!(self, Self::Str | Self::Path)
    }
}

/// The default in a declaration.
#[derive(Clone, Copy, Debug)]
enum Default {
    None,
    Bool(bool),
    Int(i64),
    /// A JSON number.
    Number(&'static str),
    Text(&'static str),
}

/// The declaration of a setting (S.2).
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    name: &'static str,
    doc: &'static str,
    value_type: SettingType,
    default: Default,
    variables: &'static [&'static str],
}

/// A setting of the plugin whose value is a `T`: `bool`, `i64`, `f64`, [`String`] or [`PathBuf`].
/// It is a constant, and is declared by passing it to [`export_plugin!`](crate::export_plugin).
///
/// # Examples
///
/// ```
/// use std::path::PathBuf;
///
/// use chipdock_plugin_api::{Any, AnyView, Context, Error, Setting, export_plugin, register_function};
///
/// const TOOL: Setting<PathBuf> = Setting::path("tool", "The program that assembles.").variables(&["NPU_TOOL"]);
/// const LANES: Setting<i64> = Setting::int("lanes", "How many lanes are used.").or(8);
///
/// export_plugin! { name: "npu", settings: [TOOL, LANES] }
///
/// register_function!("npu.lanes", lanes);
///
/// fn lanes(context: &Context, _args: &[AnyView<'_>]) -> Result<Any, Error> {
///     Ok(Any::from(context.host().setting(&LANES)?))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Setting<T> {
    declaration: Declaration,
    _value: PhantomData<fn() -> T>,
}

impl<T> Setting<T> {
    const fn new(value_type: SettingType, name: &'static str, doc: &'static str) -> Self {
        let declaration = Declaration { name, doc, value_type, default: Default::None, variables: &[] };
        Self { declaration, _value: PhantomData }
    }

    /// Adds environment variables besides `CHIPDOCK_<PLUGIN>_<NAME>`; the first one that is set
    /// counts.
    #[must_use]
    pub const fn variables(mut self, variables: &'static [&'static str]) -> Self {
        self.declaration.variables = variables;
        self
    }

    /// Returns the setting's declaration.
    #[must_use]
    pub const fn declaration(&self) -> Declaration {
        self.declaration
    }

    /// Returns the setting's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.declaration.name
    }
}

impl Setting<bool> {
    /// Makes a switch.
    #[must_use]
    pub const fn bool(name: &'static str, doc: &'static str) -> Self {
        Self::new(SettingType::Bool, name, doc)
    }

    /// Sets the default.
    #[must_use]
    pub const fn or(mut self, default: bool) -> Self {
        self.declaration.default = Default::Bool(default);
        self
    }
}

impl Setting<i64> {
    /// Makes an integer setting.
    #[must_use]
    pub const fn int(name: &'static str, doc: &'static str) -> Self {
        Self::new(SettingType::Int, name, doc)
    }

    /// Sets the default.
    #[must_use]
    pub const fn or(mut self, default: i64) -> Self {
        self.declaration.default = Default::Int(default);
        self
    }
}

impl Setting<f64> {
    /// Makes a setting whose value is a finite number.
    #[must_use]
    pub const fn float(name: &'static str, doc: &'static str) -> Self {
        Self::new(SettingType::Float, name, doc)
    }

    /// Sets the default, in JSON's notation: `"0.5"`.
    #[must_use]
    pub const fn or(mut self, default: &'static str) -> Self {
        self.declaration.default = Default::Number(default);
        self
    }
}

impl Setting<String> {
    /// Makes a setting whose value is a text.
    #[must_use]
    pub const fn str(name: &'static str, doc: &'static str) -> Self {
        Self::new(SettingType::Str, name, doc)
    }

    /// Sets the default.
    #[must_use]
    pub const fn or(mut self, default: &'static str) -> Self {
        self.declaration.default = Default::Text(default);
        self
    }
}

impl Setting<PathBuf> {
    /// Makes a setting whose value is a path.
    #[must_use]
    pub const fn path(name: &'static str, doc: &'static str) -> Self {
        Self::new(SettingType::Path, name, doc)
    }

    /// Sets the default.
    #[must_use]
    pub const fn or(mut self, default: &'static str) -> Self {
        self.declaration.default = Default::Text(default);
        self
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for bool {}
    impl Sealed for i64 {}
    impl Sealed for f64 {}
    impl Sealed for String {}
    impl Sealed for std::path::PathBuf {}
}

/// A Rust type of a setting's value.
pub trait FromSetting: sealed::Sealed + Sized {
    /// Converts a host's answer; gives Rust's `None` for the value None.
    #[doc(hidden)]
    fn from_answer(answer: &Any) -> Result<Option<Self>, Error>;

    /// Parses the text of an environment variable or of a declared default.
    #[doc(hidden)]
    fn from_text(text: OsString, value_type: SettingType) -> Option<Self>;
}

macro_rules! from_setting {
    ($($rust:ty: $variant:ident as $crossing:ty;)*) => {$(
        impl FromSetting for $rust {
            fn from_answer(answer: &Any) -> Result<Option<Self>, Error> {
                Ok(answer.to::<Option<$crossing>>()?.map(Into::into))
            }

            fn from_text(text: OsString, value_type: SettingType) -> Option<Self> {
                match value_type.parse(text.to_str()?)? {
                    SettingValue::$variant(value) => Some(value.into()),
                    _ => None,
                }
            }
        }
    )*};
}
from_setting! {
    bool: Bool as bool;
    i64: Int as i64;
    f64: Float as f64;
    String: Text as String;
}

impl FromSetting for PathBuf {
    fn from_answer(answer: &Any) -> Result<Option<Self>, Error> {
        Ok(answer.to::<Option<String>>()?.map(Into::into))
    }

    fn from_text(text: OsString, _value_type: SettingType) -> Option<Self> {
        Some(text.into())
    }
}

impl<T: FromSetting> Setting<T> {
    /// Returns the setting's value with a host that does not answer settings (S.11).
    fn without_host(&self) -> Result<Option<T>, Error> {
        let Declaration { name, value_type, default, variables, .. } = self.declaration;
        for variable in variables {
            let Some(text) = process::variable(variable) else { continue };
            if text.is_empty() && !value_type.may_be_empty() {
                continue;
            }
            let shown = text.to_string_lossy().into_owned();
            return T::from_text(text, value_type).map(Some).ok_or_else(|| {
                let expected = value_type.expected();
                let message = format!(
                    "setting `{name}`: expected {expected}, found {shown:?} in the environment variable {variable}; \
                     correct it or unset it"
                );
                Error::new(ErrorKind::VALUE_ERROR, message)
            });
        }
        let default = match default {
            Default::None => return Ok(None),
            Default::Bool(value) => value.to_string(),
            Default::Int(value) => value.to_string(),
            Default::Number(text) | Default::Text(text) => text.to_owned(),
        };
        Ok(T::from_text(default.into(), value_type))
    }
}

impl HostRef {
    /// Returns the value of a setting that this plugin declares, or `None` if nobody set it and it
    /// has no default. May be called during `init`.
    ///
    /// With a host that has no `config` 1 the value comes from the setting's own variables, else
    /// from its default (S.11).
    ///
    /// # Errors
    ///
    /// * `ValueError`: the value that was set is not of the setting's type; the message names its
    ///   source.
    /// * `KeyError`: the plugin does not declare the setting.
    /// * Any other error that the host raised.
    pub fn setting<T: FromSetting>(self, setting: &Setting<T>) -> Result<Option<T>, Error> {
        let (interface, version) = CONFIG;
        let Some((table, self_)) = self.query::<ChipdockConfig1>(interface, version)? else {
            return setting.without_host();
        };
        let mut raw = Any::NONE.into_raw();
        // SAFETY: P3.11, the table of that name and version with its `self_`; it writes None or an
        // owned value.
        let (status, answer) = unsafe {
            let status = (table.get)(self_, str_out(setting.name()), &mut raw);
            (status, Any::from_raw(raw))
        };
        self.check(status, || format!("the host's `config` for `{}`", setting.name()))?;
        T::from_answer(&answer)
    }
}

/// Returns the length of the JSON of these declarations, in bytes.
#[must_use]
pub const fn info_size(settings: &[Declaration]) -> usize {
    written::<0>(settings).size
}

/// Returns the JSON of these declarations, for a descriptor's `info_json`; `N` is [`info_size`].
#[must_use]
pub const fn info_json<const N: usize>(settings: &[Declaration]) -> [u8; N] {
    written::<N>(settings).bytes
}

/// Returns true if the declarations satisfy S.2; for [`export_plugin!`](crate::export_plugin),
/// which compiles only if they do.
#[must_use]
pub const fn are_declarations(settings: &[Declaration]) -> bool {
    let mut index = 0;
    while index < settings.len() {
        let Declaration { name, doc, default, variables, .. } = settings[index];
        if !is_setting_name(name) || doc.is_empty() || !is_one_line(doc) {
            return false;
        }
        match default {
            Default::Number(text) if !is_number(text) => return false,
            Default::Text(text) if !is_one_line(text) => return false,
            _ => {}
        }
        let mut at = 0;
        while at < variables.len() {
            if !is_variable_name(variables[at]) {
                return false;
            }
            at += 1;
        }
        let mut before = 0;
        while before < index {
            if is_same(settings[before].name, name) {
                return false;
            }
            before += 1;
        }
        index += 1;
    }
    true
}

/// Returns true if `name` is a valid name of a setting.
#[must_use]
pub const fn is_setting_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 64 || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut index = 0;
    while index < bytes.len() {
        if !matches!(bytes[index], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        index += 1;
    }
    true
}

/// Returns true if `name` is a valid name of a setting's variable.
#[must_use]
pub const fn is_variable_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes[0].is_ascii_digit() {
        return false;
    }
    let mut index = 0;
    while index < bytes.len() {
        if !(bytes[index].is_ascii_alphanumeric() || bytes[index] == b'_') {
            return false;
        }
        index += 1;
    }
    true
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

const fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        if bytes[index].is_ascii_control() {
            return false;
        }
        index += 1;
    }
    true
}

/// Returns true if a text is a JSON number: digits, with digits after a decimal point if there is
/// one.
const fn is_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let first = if !bytes.is_empty() && bytes[0] == b'-' { 1 } else { 0 };
    let (mut index, mut point) = (first, 0);
    while index < bytes.len() {
        match bytes[index] {
            b'0'..=b'9' => {}
            b'.' if point == 0 && index > first => point = index,
            _ => return false,
        }
        index += 1;
    }
    let begins_well =
        first < bytes.len() && (bytes[first] != b'0' || bytes.len() == first + 1 || point == first + 1);
    begins_well && (point == 0 || point + 1 != bytes.len())
}

/// Writes JSON at compile time; bytes beyond `N` are counted and not stored.
struct Writer<const N: usize> {
    bytes: [u8; N],
    size: usize,
}

const fn written<const N: usize>(settings: &[Declaration]) -> Writer<N> {
    let mut out = Writer { bytes: [0; N], size: 0 };
    if settings.is_empty() {
        return out;
    }
    out.raw("{\"settings\":[");
    let mut index = 0;
    while index < settings.len() {
        if index > 0 {
            out.byte(b',');
        }
        out.declaration(&settings[index]);
        index += 1;
    }
    out.raw("]}");
    out
}

impl<const N: usize> Writer<N> {
    const fn byte(&mut self, byte: u8) {
        if self.size < N {
            self.bytes[self.size] = byte;
        }
        self.size += 1;
    }

    const fn raw(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            self.byte(bytes[index]);
            index += 1;
        }
    }

    /// Writes a text without control characters, in quotes.
    const fn quoted(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.byte(b'"');
        let mut index = 0;
        while index < bytes.len() {
            if matches!(bytes[index], b'"' | b'\\') {
                self.byte(b'\\');
            }
            self.byte(bytes[index]);
            index += 1;
        }
        self.byte(b'"');
    }

    const fn int(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        let value = value.unsigned_abs();
        let mut unit = 1;
        while value / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self.byte(b'0' + (value / unit % 10) as u8);
            unit /= 10;
        }
    }

    const fn declaration(&mut self, declared: &Declaration) {
        self.raw("{\"name\":");
        self.quoted(declared.name);
        self.raw(",\"type\":");
        self.quoted(declared.value_type.name());
        if !matches!(declared.default, Default::None) {
            self.raw(",\"default\":");
        }
        match declared.default {
            Default::None => {}
            Default::Bool(true) => self.raw("true"),
            Default::Bool(false) => self.raw("false"),
            Default::Int(value) => self.int(value),
            Default::Number(text) => self.raw(text),
            Default::Text(text) => self.quoted(text),
        }
        self.raw(",\"doc\":");
        self.quoted(declared.doc);
        let mut index = 0;
        while index < declared.variables.len() {
            self.raw(if index == 0 { ",\"variables\":[" } else { "," });
            self.quoted(declared.variables[index]);
            index += 1;
        }
        self.raw(if index == 0 { "}" } else { "]}" });
    }
}

#[cfg(test)]
mod tests;
