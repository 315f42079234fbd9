//! Targets: made from the name of a kind or a tag, JSON or a `Target`, checked against the kind's
//! schema, canonicalized.
//!
//! Construction, in this order; each invalid input is one error that names the option, the value
//! and what is allowed:
//!
//! * **TARGET-T1 Kind.** A known kind's name; in JSON the field `kind`. `tag` is a label beside it.
//!   A text with a `/` is the name of a tag, as `{"tag": text}` is.
//! * **TARGET-T2 Host.** `host` is a target of its own (text, object or null), which must be able
//!   to be a host.
//! * **TARGET-T3 Features.** `feature.<x>` is set aside and restored at the end, unless the
//!   canonicalizer wrote it anew. Its values are restricted to those of a module that is sent to a
//!   plugin: no float, no integer beyond 64 bits.
//! * **TARGET-T4 Schema.** Options are checked and converted in the order of their declaration: an
//!   integer 0 or 1 is taken for a boolean and a boolean for an integer, nothing else. With
//!   `from_device`, options that are not set take the device's values; then defaults are filled in.
//!   An unknown option is an error.
//! * **TARGET-T5 Keys.** The given keys, followed by `device`; when none are given, `device`, then
//!   the kind's own. No key twice.
//! * **TARGET-T6 Canonicalizer.** The kind's own function comes last; its result is checked again.
//!
//! * **TARGET-T13 Without effect.** A given value that changes nothing is a warning, once for each
//!   kind and option of a host, which names both: of an option that the kind declares as `ignored`,
//!   unless the value is its default, and of the common options `device`, `model` and `libs`,
//!   unless the kind names it in `honoured` or the list is empty. A [`Target`] that was made before
//!   is not reported again. `tag` and `keys` are labels that other tools read.
//!
//! * **TARGET-T14 Tag.** A target with `tag` and without `kind` starts from the options of that
//!   tag, with the tag's kind; fields of the target take the place of the tag's, a null one of them
//!   unsets it. The target keeps the tag as its label. What only the tag sets is no option without
//!   effect (T13) that a user is told of.
//! * **TARGET-T15 Unknown.** A tag that no kind has is an error with the nearest name. Manifests
//!   are asked first; libraries without one are opened when none has it.
//! * **TARGET-T16 Several.** A tag of two kinds is an error that names both.
//!
//! * **TARGET-T7 Once.** Text in which an object has a key twice, at any level, is refused.
//!
//! Made complete ([`Host::target`](crate::Host::target)), once, and then shared:
//!
//! * **TARGET-T8 Complete.** A [`ResolvedTarget`] has the kind, the options, the capabilities, the
//!   target of its host functions where it names one, and the chosen device. Compiling looks up
//!   none of these again.
//! * **TARGET-T9 Device.** A chosen device must be one of the kind's. Unless the source sets
//!   another, it is also `from_device`; the target of a host states all its options itself, so
//!   nothing is filled in there.
//! * **TARGET-T10 Host.** A chosen host is used as `host` of the source would be; only one of them
//!   may be given.
//! * **TARGET-T12 Named.** A target that a function names ([`TargetRequest::named`]) is a source as
//!   any other. One without keys has those of rule T5: the IR does not tell an empty list from
//!   none.
//! * **TARGET-T11 Identity.** Equal targets have equal [`TargetId`]s, different ones do not; an
//!   artifact carries that of the target that it was compiled for.
//!
//! A target written with [`Target::to_json`] reads back equal.

mod default_host;
mod resolved;
pub(crate) mod schema;
mod surroundings;
pub(crate) mod tag;
mod target_id;

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_ir::json::parse_unique;
use chipdock_ir::{OptionSchema, OptionType, Target, TargetKind, check_option};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Subject, nearest, quoted};
use crate::runtime::no_such_device;
pub use resolved::{DeviceChoice, ResolvedTarget, TargetRequest};
use schema::{FEATURE_PREFIX, UNREAD, common_options, converted, described};
pub use target_id::TargetId;

/// Greatest nesting depth of targets within targets.
const NESTING_MAX: u32 = 8;

/// Services that the construction of targets needs from its surroundings.
pub(crate) trait TargetContext {
    /// Returns the schema of a kind, or `None` when there is no such kind.
    fn kind(&self, name: &str) -> Result<Option<Arc<TargetKind>>, Error>;

    /// Returns the names of all kinds.
    fn kind_names(&self) -> Vec<String>;

    /// Runs the kind's own canonicalizer: canonical JSON in and out.
    fn canonicalize(&self, kind: &str, target_json: &str) -> Result<String, Error>;

    /// Returns the number of devices of a device API. `None`: no such device API.
    fn device_count(&self, device: &str) -> Result<Option<i32>, Error>;

    /// Returns a device's attribute, when the device has it.
    fn attribute(&self, device: &str, device_id: i32, key: &str) -> Result<Option<Value>, Error>;

    /// Returns the tags that are known without opening a plugin; with `all` of those too that have
    /// to be opened for it.
    fn tags(&self, all: bool) -> Result<tag::Tags, Error>;

    /// Returns a sentence for each plugin whose kinds are unknown because its manifest could not be
    /// read.
    fn unread_manifests(&self) -> Vec<String> {
        Vec::new()
    }

    /// Logs a warning.
    fn warn(&self, line: &str);

    /// Logs a warning that was not logged before.
    fn warn_once(&self, line: &str);
}

/// The source of a target.
#[derive(Clone, Debug)]
pub enum TargetSource {
    /// The name of a kind or of a tag, or a JSON object as text.
    Text(String),
    /// A JSON object.
    Json(Value),
    /// A target, which is checked and canonicalized again, except by a compilation, which takes it
    /// as one that a host made.
    Target(Arc<Target>),
    /// A complete target.
    Resolved(Arc<ResolvedTarget>),
}

impl From<&str> for TargetSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for TargetSource {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for TargetSource {
    fn from(json: Value) -> Self {
        Self::Json(json)
    }
}

impl From<Target> for TargetSource {
    fn from(target: Target) -> Self {
        Self::Target(Arc::new(target))
    }
}

impl From<&Arc<Target>> for TargetSource {
    fn from(target: &Arc<Target>) -> Self {
        Self::Target(Arc::clone(target))
    }
}

impl From<&Arc<ResolvedTarget>> for TargetSource {
    fn from(target: &Arc<ResolvedTarget>) -> Self {
        Self::Resolved(Arc::clone(target))
    }
}

/// How far a target is nested in others, and whether its options are given as they are, not those
/// of a target that a host made.
#[derive(Clone, Copy)]
struct Made {
    nesting: u32,
    is_given: bool,
}

impl Made {
    fn within(self) -> Self {
        Self { nesting: self.nesting + 1, ..self }
    }
}

impl TargetSource {
    /// Returns true unless a host has made the target.
    fn is_given(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Json(_))
    }
}

fn value_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Value, message)
}

/// Reads the text of a target; a kind's name becomes `{"kind": name}`, a tag's `{"tag": name}`.
fn from_text(text: &str) -> Result<Value, Error> {
    let text = text.trim();
    if text.starts_with('{') {
        return parse_unique(text)
            .map_err(|error| value_error(format!("target: not a JSON object: {error}")));
    }
    if text.contains(char::is_whitespace) {
        let name = text.split_whitespace().next().unwrap_or_default();
        return Err(value_error(format!("target \"{text}\": options do not follow the name of a kind"))
            .hint(format!("write JSON, for instance {{\"kind\": \"{name}\", \"<option>\": <value>}}")));
    }
    Ok(Value::Object(Map::from_iter([named_by(text)])))
}

/// Returns the field by which a name makes a target: `kind`, or `tag` where no kind can have the
/// name.
fn named_by(name: &str) -> (String, Value) {
    let field = if name.contains('/') { "tag" } else { "kind" };
    (field.to_owned(), Value::from(name))
}

fn from_json(context: &dyn TargetContext, json: &Value, made: Made) -> Result<Arc<Target>, Error> {
    if made.nesting > NESTING_MAX {
        return Err(value_error(format!("targets are nested more than {NESTING_MAX} deep")));
    }
    let object = match json {
        Value::Object(object) => object,
        Value::String(text) => return from_json(context, &from_text(text)?, made),
        other => {
            let found = described(other);
            return Err(value_error(format!(
                "target: expected the name of a kind or a JSON object, found {found}"
            )));
        }
    };
    let applied = tag::applied(context, object)?;
    from_object(context, &applied, made).map_err(|error| match applied.tag() {
        Some(tag) => error.at(format!("target tag \"{tag}\"")),
        None => error,
    })
}

fn from_object(
    context: &dyn TargetContext,
    applied: &tag::Applied<'_>,
    made: Made,
) -> Result<Arc<Target>, Error> {
    let object = &applied.object;
    let kind = kind_of(context, object)?;
    let mut given: BTreeMap<&str, &Value> =
        object.iter().map(|(name, value)| (name.as_str(), value)).collect();
    given.remove("kind");
    let tag = text_field(&kind, &mut given, "tag")?;
    let is_given = made.is_given && !applied.is_of_tag("host");
    let host = host_of(context, &kind, &mut given, Made { is_given, ..made })?;
    let features = features_of(&kind, &mut given)?;
    let from_device = given.remove("from_device");
    check_names(&kind, &given)?;
    let mut nested = |value: &Value| Ok(from_json(context, value, made.within())?.to_json());
    let mut options = BTreeMap::new();
    let common = common_options();
    for option in common.iter().chain(&kind.options) {
        // A null is an option that is not set.
        if let Some(value) = given.remove(option.name.as_str()).filter(|value| !value.is_null()) {
            let value = converted(&kind.name, option, value, &mut nested)?;
            if made.is_given && !applied.is_of_tag(&option.name) {
                tell_if_without_effect(context, &kind, option, &value);
            }
            options.insert(option.name.clone(), value);
        }
    }
    if let Some(value) = from_device {
        fill_from_device(context, &kind, value, &mut options)?;
    }
    for option in &kind.options {
        if let Some(default) = &option.default {
            options.entry(option.name.clone()).or_insert_with(|| default.clone());
        }
    }
    let keys = keys_of(&kind, &mut options);
    let target = Target { kind: kind.name.clone(), tag, keys, options, host: None };
    let mut target = canonicalized(context, &kind, target, &mut nested)?;
    for (name, value) in features {
        target.options.entry(name).or_insert(value);
    }
    target.host = host;
    Ok(Arc::new(target))
}

/// Warns of a value that changes nothing, by rule TARGET-T13.
fn tell_if_without_effect(
    context: &dyn TargetContext,
    kind: &TargetKind,
    option: &OptionSchema,
    value: &Value,
) {
    let is_empty = value.as_array().is_some_and(Vec::is_empty) || value.as_str() == Some("");
    let is_unread = UNREAD.contains(&option.name.as_str()) && !kind.honoured.contains(&option.name);
    let is_told = option.ignored && option.default.as_ref() != Some(value) || is_unread && !is_empty;
    if is_told {
        context.warn_once(&format!(
            "target \"{}\": option \"{}\" has no effect for this kind, and is kept as a note; leave it out",
            kind.name, option.name
        ));
    }
}

/// Returns the kind of a target by rule TARGET-T1.
fn kind_of(context: &dyn TargetContext, object: &Map<String, Value>) -> Result<Arc<TargetKind>, Error> {
    let known = || {
        let names = context.kind_names();
        format!("known kinds: {}", quoted(names.iter().map(String::as_str)))
    };
    let name = match object.get("kind") {
        Some(Value::String(name)) => name,
        Some(other) => {
            let found = described(other);
            return Err(
                value_error(format!("target field \"kind\": expected a string, found {found}")).hint(known())
            );
        }
        None => return Err(value_error("target field \"kind\" is missing").hint(known())),
    };
    context.kind(name)?.ok_or_else(|| unknown_kind(name, &context.kind_names(), &context.unread_manifests()))
}

fn unknown_kind(name: &str, known: &[String], unread: &[String]) -> Error {
    let shown: String = name.chars().take(60).collect();
    // A misspelt kind cannot be distinguished from one whose plugin is not here: the error says
    // that a plugin is missing.
    let error = value_error(format!("target kind \"{shown}\" is not known")).about(Subject::Plugin);
    let names = known.iter().map(String::as_str);
    let hint = match nearest(name, names.clone()) {
        Some(near) => format!("did you mean \"{near}\"? known kinds: {}", quoted(names)),
        None if known.is_empty() && unread.is_empty() => {
            "no plugin provides a target kind: see `chipdock plugins`".to_owned()
        }
        None => format!("known kinds: {}", quoted(names)),
    };
    let unread = unread.iter().map(|why| format!("; {why}"));
    error.hint(hint + &unread.collect::<String>())
}

fn text_field(kind: &TargetKind, given: &mut BTreeMap<&str, &Value>, name: &str) -> Result<String, Error> {
    match given.remove(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(value_error(format!(
            "target \"{}\": option \"{name}\": expected str, found {}",
            kind.name,
            described(other)
        ))),
    }
}

/// Returns the host of a target by rule TARGET-T2.
fn host_of(
    context: &dyn TargetContext,
    kind: &TargetKind,
    given: &mut BTreeMap<&str, &Value>,
    made: Made,
) -> Result<Option<Arc<Target>>, Error> {
    let Some(value) = given.remove("host").filter(|value| !value.is_null()) else { return Ok(None) };
    let within = |error: Error| error.at(format!("host of target \"{}\"", kind.name));
    let host = from_json(context, value, made.within()).map_err(within)?;
    let is_host = context.kind(&host.kind)?.is_some_and(|kind| kind.is_host);
    if is_host {
        return Ok(Some(host));
    }
    Err(within(value_error(format!(
        "target kind \"{}\" has no host functions and cannot be a host",
        host.kind
    ))))
}

/// Returns the features of a target by rule TARGET-T3.
fn features_of(
    kind: &TargetKind,
    given: &mut BTreeMap<&str, &Value>,
) -> Result<BTreeMap<String, Value>, Error> {
    let is_feature = |name: &str| name.len() > FEATURE_PREFIX.len() && name.starts_with(FEATURE_PREFIX);
    let names: Vec<&str> = given.keys().copied().filter(|name| is_feature(name)).collect();
    let mut features = BTreeMap::new();
    for name in names {
        let Some(value) = given.remove(name) else { continue };
        check_option(value)
            .map_err(|what| value_error(format!("target \"{}\": option \"{name}\": {what}", kind.name)))?;
        features.insert(name.to_owned(), value.clone());
    }
    Ok(features)
}

fn known_names(kind: &TargetKind) -> Vec<String> {
    let common = common_options();
    let names = ["kind", "tag", "host", "from_device"].map(str::to_owned);
    names.into_iter().chain(common.iter().chain(&kind.options).map(|option| option.name.clone())).collect()
}

fn check_names(kind: &TargetKind, given: &BTreeMap<&str, &Value>) -> Result<(), Error> {
    let known = known_names(kind);
    let Some(unknown) = given.keys().find(|name| !known.iter().any(|known| known == *name)) else {
        return Ok(());
    };
    let error = value_error(format!("target \"{}\": unknown option \"{unknown}\"", kind.name));
    let names = known.iter().map(String::as_str);
    Err(match nearest(unknown, names.clone()) {
        Some(near) => error.hint(format!("did you mean \"{near}\"? known options: {}", quoted(names))),
        None => error.hint(format!("known options: {}", quoted(names))),
    })
}

/// Fills in options that are not set from the device. A negative id queries no device.
fn fill_from_device(
    context: &dyn TargetContext,
    kind: &TargetKind,
    device_id: &Value,
    options: &mut BTreeMap<String, Value>,
) -> Result<(), Error> {
    let schema = schema::from_device_option();
    let device_id = converted(&kind.name, &schema, device_id, &mut |value| Ok(value.clone()))?;
    let device_id = device_id.as_i64().and_then(|id| i32::try_from(id).ok()).unwrap_or(-1);
    if device_id < 0 {
        return Ok(());
    }
    let Some(count) = context.device_count(&kind.device)? else {
        context.warn(&format!(
            "target \"{}\": no plugin provides device_api.{}, so \"from_device\" fills in nothing; defaults are used",
            kind.name, kind.device
        ));
        return Ok(());
    };
    if device_id >= count {
        return Err(no_such_device(&kind.device, device_id, count).at(format!("target \"{}\"", kind.name)));
    }
    for option in kind.options.iter().filter(|option| !option.from_attribute.is_empty()) {
        if options.contains_key(&option.name) {
            continue;
        }
        if let Some(value) = context.attribute(&kind.device, device_id, &option.from_attribute)? {
            let value = converted(&kind.name, option, &value, &mut |value| Ok(value.clone()))
                .map_err(|error| error.at(format!("as device {}:{device_id} reports it", kind.device)))?;
            options.insert(option.name.clone(), value);
        }
    }
    Ok(())
}

/// Returns the keys of a target by rule TARGET-T5.
fn keys_of(kind: &TargetKind, options: &mut BTreeMap<String, Value>) -> Vec<String> {
    let given = options.remove("keys").map(|keys| match keys {
        Value::Array(keys) => {
            keys.iter().filter_map(|key| key.as_str().map(str::to_owned)).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    });
    let device = options.get("device").and_then(Value::as_str).map(str::to_owned);
    let all: Vec<String> = match given {
        Some(given) => given.into_iter().chain(device).collect(),
        None => device.into_iter().chain(kind.keys.iter().cloned()).collect(),
    };
    let mut keys: Vec<String> = Vec::with_capacity(all.len());
    for key in all {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Canonicalizes a target by rule TARGET-T6.
fn canonicalized(
    context: &dyn TargetContext,
    kind: &TargetKind,
    target: Target,
    nested: &mut dyn FnMut(&Value) -> Result<Value, Error>,
) -> Result<Target, Error> {
    let text = target.to_json().to_string();
    let answer = context.canonicalize(&kind.name, &text)?;
    if answer == text {
        return Ok(target);
    }
    let broken = |what: String| {
        let message = format!("the canonicalizer of target kind \"{}\" answered {what}", kind.name);
        Error::new(ErrorKind::BrokenPlugin, message)
    };
    let json = parse_unique(&answer).map_err(|error| broken(format!("no JSON: {error}")))?;
    let mut canonical =
        Target::from_canonical_json(&json).map_err(|error| broken(format!("no target: {error}")))?;
    if canonical.kind != kind.name || canonical.host.is_some() {
        return Err(broken(format!("another kind or a host: {answer}")));
    }
    let common = common_options();
    let schema = |name: &str| -> Option<&OptionSchema> {
        common.iter().chain(&kind.options).find(|option| option.name == name)
    };
    for (name, value) in &mut canonical.options {
        if name.starts_with(FEATURE_PREFIX) {
            continue;
        }
        let option = schema(name).ok_or_else(|| broken(format!("an unknown option \"{name}\"")))?;
        // Nested targets have been canonicalized already.
        if option.option_type != OptionType::TargetList {
            *value =
                converted(&kind.name, option, value, nested).map_err(|error| broken(error.to_string()))?;
        }
    }
    Ok(canonical)
}

#[cfg(test)]
mod tests;
