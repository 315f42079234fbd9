//! Schemas of target kinds: conversion of an option's value, and the check of a schema itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use chipdock_ir::{CapabilitySource, DType, DeclaredKind, KIND_SCHEMA, OptionSchema, OptionType, TargetKind};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Subject, nearest, quoted};

fn option(
    name: &str,
    option_type: OptionType,
    min: Option<i64>,
    max: Option<i64>,
    doc: &str,
) -> OptionSchema {
    OptionSchema {
        name: name.to_owned(),
        option_type,
        default: None,
        min,
        max,
        one_of: Vec::new(),
        from_attribute: String::new(),
        ignored: false,
        doc: doc.to_owned(),
    }
}

/// Common options that nothing but a kind's own plugin reads (TARGET-T13).
pub(crate) const UNREAD: [&str; 3] = ["device", "model", "libs"];

/// Beginning of the names of common options that later versions add (P5.17).
const RESERVED: &str = "chipdock.";

/// Returns the options that every kind has, beside `kind`, `tag`, `host` and `from_device`.
pub(crate) fn common_options() -> Vec<OptionSchema> {
    let type_max = i64::from(i32::MAX);
    vec![
        option("keys", OptionType::StrList, None, None, "keys that schedules and passes are chosen by"),
        option("device", OptionType::Str, None, None, "a name of the hardware, which becomes a key"),
        option("model", OptionType::Str, None, None, "the hardware's model, a label"),
        option("libs", OptionType::StrList, None, None, "libraries that generated code may call"),
        option(
            "target_device_type",
            OptionType::Int,
            Some(1),
            Some(type_max),
            "the number of the device type that it runs on, where it is not the kind's own",
        ),
    ]
}

/// Returns the option `from_device`; a negative number queries no device.
pub(crate) fn from_device_option() -> OptionSchema {
    option(
        "from_device",
        OptionType::Int,
        Some(-1),
        Some(i64::from(i32::MAX)),
        "the device that fills in options that nobody set",
    )
}

/// Returns a value's type and text, for a message; long texts are cut.
pub(crate) fn described(value: &Value) -> String {
    let text: String = value.to_string().chars().take(60).collect();
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => format!("bool {text}"),
        Value::Number(number) if number.is_f64() => format!("float {text}"),
        Value::Number(_) => format!("int {text}"),
        Value::String(_) => format!("str {text}"),
        Value::Array(_) => format!("list {text}"),
        Value::Object(_) => format!("object {text}"),
    }
}

/// Converts a value to the option's type by rule TARGET-T4, or returns what is wrong with it.
/// `nested` makes a target of a list's element.
pub(crate) fn converted(
    kind: &str,
    option: &OptionSchema,
    value: &Value,
    nested: &mut dyn FnMut(&Value) -> Result<Value, Error>,
) -> Result<Value, Error> {
    let wrong = |message: String| {
        Error::new(ErrorKind::Value, format!("target \"{kind}\": option \"{}\": {message}", option.name))
    };
    let mistyped = || wrong(format!("expected {}, found {}", option.option_type, described(value)));
    match (option.option_type, value) {
        (OptionType::Bool, Value::Bool(_)) => Ok(value.clone()),
        (OptionType::Bool, Value::Number(number)) => match number.as_i64() {
            Some(0) => Ok(false.into()),
            Some(1) => Ok(true.into()),
            _ => Err(mistyped()),
        },
        (OptionType::Int, Value::Bool(value)) => Ok(ranged(option, i64::from(*value)).map_err(wrong)?.into()),
        (OptionType::Int, Value::Number(_)) => Ok(integer(option, value).map_err(wrong)?.into()),
        (OptionType::Str, Value::String(text)) => {
            allowed(option, text).map_err(wrong)?;
            Ok(value.clone())
        }
        (OptionType::StrList, Value::Array(items)) => {
            for item in items {
                allowed(option, item.as_str().ok_or_else(mistyped)?).map_err(wrong)?;
            }
            Ok(value.clone())
        }
        (OptionType::IntList, Value::Array(items)) => {
            for item in items {
                integer(option, item).map_err(wrong)?;
            }
            Ok(value.clone())
        }
        (OptionType::TargetList, Value::Array(items)) => {
            let within = |error: Error| error.at(format!("option \"{}\" of target \"{kind}\"", option.name));
            let targets: Result<Vec<Value>, Error> =
                items.iter().map(|item| nested(item).map_err(within)).collect();
            Ok(targets?.into())
        }
        _ => Err(mistyped()),
    }
}

/// Reads an integer within the range of its option (T.4, T.5).
fn integer(option: &OptionSchema, value: &Value) -> Result<i64, String> {
    match value.as_i64() {
        Some(number) => ranged(option, number),
        None if value.is_u64() => Err(format!("expected {}, found {value}", range_text(option))),
        None => Err(format!("expected {}, found {}", option.option_type, described(value))),
    }
}

fn range_text(option: &OptionSchema) -> String {
    match (option.min, option.max) {
        (Some(min), Some(max)) => format!("an integer from {min} to {max}"),
        (Some(min), None) => format!("an integer of at least {min}"),
        (None, Some(max)) => format!("an integer of at most {max}"),
        (None, None) => "an integer of 64 bits".to_owned(),
    }
}

/// Checks a number against the range of its option (T.4, T.5).
fn ranged(option: &OptionSchema, number: i64) -> Result<i64, String> {
    let fits = option.min.is_none_or(|min| number >= min) && option.max.is_none_or(|max| number <= max);
    if fits { Ok(number) } else { Err(format!("expected {}, found {number}", range_text(option))) }
}

/// Checks a text against those that its option allows (T.4, T.5).
fn allowed(option: &OptionSchema, text: &str) -> Result<(), String> {
    /// Greatest number of listed names; of a longer list only a part is printed.
    const LISTED_MAX: usize = 24;
    if option.one_of.is_empty() || option.one_of.iter().any(|allowed| allowed == text) {
        return Ok(());
    }
    let shown: String = text.chars().take(60).collect();
    let listed = quoted(option.one_of.iter().take(LISTED_MAX).map(String::as_str));
    let more = if option.one_of.len() > LISTED_MAX { ", …" } else { "" };
    let near = nearest(text, option.one_of.iter().map(String::as_str))
        .map(|near| format!("; did you mean \"{near}\"?"))
        .unwrap_or_default();
    Err(format!("expected one of {listed}{more}, found \"{shown}\"{near}"))
}

/// Returns the kind, where this host can use it (P3.10).
pub(crate) fn usable_kind(declared: &DeclaredKind) -> Result<Arc<TargetKind>, Error> {
    declared.usable().cloned().map_err(|kind| {
        let message = format!("target kind \"{}\" cannot be used: {}", kind.name, kind.reason);
        Error::new(ErrorKind::Unsupported, message)
            .about(Subject::Plugin)
            .hint("use a newer host, or an older plugin")
    })
}

/// Checks that each capability is read from a declared option of its type (T.5).
fn check_capabilities(kind: &TargetKind) -> Result<(), String> {
    for (capability, name) in kind.capabilities.named() {
        let CapabilitySource::Option { option_type, .. } = capability.source else { continue };
        check_source(kind, format_args!("capability \"{}\"", capability.name), name, option_type)?;
    }
    Ok(())
}

/// Checks that the option which something is read from is declared, with that type (T.5).
fn check_source(
    kind: &TargetKind,
    what: std::fmt::Arguments<'_>,
    from: &str,
    expected: OptionType,
) -> Result<(), String> {
    let found = kind.options.iter().find(|option| option.name == from).map(|option| option.option_type);
    if found == Some(expected) {
        return Ok(());
    }
    let found = found.map_or("no option of that name".to_owned(), |found| format!("one of type {found}"));
    Err(format!(
        "{what} is read from option \"{from}\": expected an option of type {expected}, found {found}"
    ))
}

/// Checks that each optional type is read from a declared option of type bool, and that the kind
/// does not lack it (T.5).
fn check_types(kind: &TargetKind) -> Result<(), String> {
    for (name, from) in &kind.optional_types {
        check_source(kind, format_args!("type \"{name}\""), from, OptionType::Bool)?;
        let dtype: Option<DType> = name.parse().ok();
        if dtype.is_some_and(|dtype| !DType::SCALARS.contains(&dtype)) {
            return Err(format!("optional_types: expected types of scalars, found \"{name}\""));
        }
        if kind.missing_types.contains(name) {
            return Err(format!(
                "type \"{name}\" is in missing_types and in optional_types; expected one of them"
            ));
        }
    }
    Ok(())
}

/// Checks that each optional op is read from a declared option of type bool, and that the common
/// options of `honoured` are such (T.5).
fn check_ops_and_honoured(kind: &TargetKind) -> Result<(), String> {
    for (name, from) in &kind.optional_ops {
        check_source(kind, format_args!("op \"{name}\""), from, OptionType::Bool)?;
        if kind.native_ops.contains(name) {
            return Err(format!("op \"{name}\" is in native_ops and in optional_ops; expected one of them"));
        }
    }
    // A name of Chipdock's that is not known here is that of a later common option (P5.17).
    let is_wrong = |name: &&String| !UNREAD.contains(&name.as_str()) && !name.starts_with(RESERVED);
    match kind.honoured.iter().find(is_wrong) {
        Some(name) => {
            Err(format!("honoured: expected some of {}, found \"{name}\"", quoted(UNREAD.iter().copied())))
        }
        None => Ok(()),
    }
}

/// Checks a kind's schema, which the host relies on afterwards (T.1, T.5, P5.17).
///
/// Of a kind that cannot be used (P3.10) only the name is relied on.
pub(crate) fn check_kind(name: &str, declared: &DeclaredKind) -> Result<(), String> {
    if declared.name() != name {
        return Err(format!("registered as \"{name}\" but its schema is named \"{}\"", declared.name()));
    }
    let Ok(kind) = declared.usable() else { return Ok(()) };
    if kind.schema != KIND_SCHEMA {
        return Err(format!("schema version {} is not known; expected {KIND_SCHEMA}", kind.schema));
    }
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '{') || kind.device.is_empty() {
        return Err("its name or its device is empty, or holds a blank or a brace".to_owned());
    }
    let common = common_options();
    let reserved = ["kind", "tag", "host", "from_device"];
    let mut names = BTreeSet::new();
    for option in &kind.options {
        let name = option.name.as_str();
        let known = reserved.contains(&name) || common.iter().any(|common| common.name == name);
        if name.is_empty() || known || name.starts_with("feature.") || name.starts_with(RESERVED) {
            return Err(format!("option \"{name}\" has a name that every target has, or none"));
        }
        if !names.insert(name) {
            return Err(format!("option \"{name}\" is declared twice"));
        }
        if let (Some(min), Some(max)) = (option.min, option.max)
            && min > max
        {
            return Err(format!("option \"{name}\" has min {min} above max {max}"));
        }
        if let Some(default) = &option.default {
            let converted = converted(&kind.name, option, default, &mut |value| Ok(value.clone()))
                .map_err(|error| format!("default: {error}"))?;
            if converted != *default {
                return Err(format!("default of option \"{name}\": expected {converted}, found {default}"));
            }
        }
    }
    if kind.device_type < 0 {
        return Err(format!(
            "device_type: expected 0 or DLPack's number of a device, found {}",
            kind.device_type
        ));
    }
    check_capabilities(kind)?;
    check_types(kind)?;
    check_ops_and_honoured(kind)
}
