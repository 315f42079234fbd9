//! Tags: names of hardware, each with the options of a target for it. Rules TARGET-T14 to
//! TARGET-T16.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::schema::described;
use super::{TargetContext, value_error};
use crate::error::{Error, Subject, nearest, quoted};

/// The kinds of each tag, by the tag's name.
pub(crate) type Tags = BTreeMap<String, BTreeSet<String>>;

/// A target as a user writes it, over the options of the tag that it names.
pub(super) struct Applied<'a> {
    /// All of them, with `kind`.
    pub(super) object: Cow<'a, Map<String, Value>>,
    /// Names of those that only the tag has.
    of_tag: BTreeSet<String>,
}

impl Applied<'_> {
    /// Returns the tag that was applied.
    pub(super) fn tag(&self) -> Option<&str> {
        let is_applied = matches!(self.object, Cow::Owned(_));
        self.object.get("tag").and_then(Value::as_str).filter(|_| is_applied)
    }

    /// Returns true for an option that the user did not write.
    pub(super) fn is_of_tag(&self, option: &str) -> bool {
        self.of_tag.contains(option)
    }
}

/// Returns the name of the tag whose options a target starts from: it names a tag and no kind.
fn named(object: &Map<String, Value>) -> Option<&Value> {
    let is_set = |value: &&Value| !value.is_null() && value.as_str() != Some("");
    object.get("tag").filter(is_set).filter(|_| !object.contains_key("kind"))
}

/// Applies the tag of a target by rule TARGET-T14, if it names one and no kind.
pub(super) fn applied<'a>(
    context: &dyn TargetContext,
    object: &'a Map<String, Value>,
) -> Result<Applied<'a>, Error> {
    let Some(tag) = named(object) else {
        return Ok(Applied { object: Cow::Borrowed(object), of_tag: BTreeSet::new() });
    };
    let Value::String(tag) = tag else {
        return Err(value_error(format!(
            "target field \"tag\": expected a string, found {}",
            described(tag)
        )));
    };
    let (kind, of_tag) = options(context, tag)?;
    let mut all = of_tag;
    let names = all.keys().filter(|name| !object.contains_key(*name)).cloned().collect();
    all.insert("kind".to_owned(), kind.into());
    all.extend(object.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(Applied { object: Cow::Owned(all), of_tag: names })
}

/// Returns the name of a target's kind, if it states one or its tag has one.
pub(super) fn kind_name(context: &dyn TargetContext, json: &Value) -> Result<Option<String>, Error> {
    let Some(object) = json.as_object() else { return Ok(None) };
    let applied = applied(context, object)?;
    Ok(applied.object.get("kind").and_then(Value::as_str).map(str::to_owned))
}

/// Returns the kind of a tag and its options (TARGET-T15, TARGET-T16).
fn options(context: &dyn TargetContext, tag: &str) -> Result<(String, Map<String, Value>), Error> {
    let mut tags = context.tags(false)?;
    if !tags.contains_key(tag) {
        tags = context.tags(true)?;
    }
    let kinds: Vec<&String> = tags.get(tag).into_iter().flatten().collect();
    let kind = match kinds.as_slice() {
        [] => return Err(unknown(tag, &tags, &context.unread_manifests())),
        [kind] => *kind,
        several => {
            let kinds = quoted(several.iter().map(|kind| kind.as_str()));
            let message = format!("target tag \"{tag}\": it is one of several kinds, {kinds}");
            let hint = "leave out one of their plugins, or write the options instead of the tag";
            return Err(value_error(message).about(Subject::Plugin).hint(hint));
        }
    };
    // A kind whose plugin is not used, or that several plugins have, is the error.
    let found = context.kind(kind)?.and_then(|kind| kind.tags.get(tag).cloned());
    let options = found.ok_or_else(|| unknown(tag, &tags, &context.unread_manifests()))?;
    Ok((kind.clone(), options))
}

fn unknown(tag: &str, tags: &Tags, unread: &[String]) -> Error {
    let shown: String = tag.chars().take(60).collect();
    // As for a kind: the plugin that has it may be missing.
    let error = value_error(format!("target tag \"{shown}\" is not known")).about(Subject::Plugin);
    let near = nearest(tag, tags.keys().map(String::as_str));
    let hint = match near {
        Some(near) => format!("did you mean \"{near}\"? `chipdock targets --tags` lists all"),
        None if tags.is_empty() => "no plugin that was found has tags; see `chipdock plugins`".to_owned(),
        None => "`chipdock targets --tags` lists all".to_owned(),
    };
    let unread = unread.iter().map(|why| format!("; {why}"));
    error.hint(hint + &unread.collect::<String>())
}
