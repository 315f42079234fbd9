//! Finds the fields of documents that this host does not read.
//!
//! A host ignores unknown fields (P3.9): the document may be newer than the host. For the author of
//! a document, who may have misspelt a field, they are an error.

use chipdock_ir::{CAPABILITIES, CapabilitySource, TargetKind};
use chipdock_plugin_api::names::is_own_field;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, ErrorKind, nearest, quoted};

/// Reads a document; returns it with the paths of the fields that were not read, as
/// `needs.libraries.0.nams`.
pub(crate) fn read_with_ignored<T: DeserializeOwned>(
    text: &str,
) -> Result<(T, Vec<String>), serde_json::Error> {
    let mut ignored = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_ignored::deserialize(&mut json, |path| ignored.push(path.to_string()))?;
    json.end()?;
    Ok((read, ignored))
}

/// Returns the paths of the fields of a target kind's schema that are not known here.
///
/// # Errors
///
/// `ValueError`: the text is no schema that this host can use.
pub fn unknown_schema_fields(schema: &str) -> Result<Vec<String>, Error> {
    read_with_ignored::<TargetKind>(schema)
        .map(|(_, ignored)| ignored)
        .map_err(|error| Error::new(ErrorKind::Value, format!("not the schema of a target kind: {error}")))
}

/// Returns the unknown fields of a schema within another document, where its path is `place`.
pub(crate) fn unknown_fields_at(place: &str, schema: &Value) -> Vec<String> {
    let mut ignored = Vec::new();
    // A document that is no usable schema of a kind is another error.
    let _: Result<TargetKind, _> =
        serde_ignored::deserialize(schema, |path| ignored.push(format!("{place}.{path}")));
    ignored
}

/// Returns an error for the author of a document that has unknown fields.
///
/// Fields of the plugin's own are none (P5.17); of a document without a plugin, every one is.
pub(crate) fn refuse_unknown(what: &str, unknown: &[String], plugin: Option<&str>) -> Result<(), Error> {
    let is_own = |path: &&String| plugin.is_some_and(|plugin| is_own_field(path, plugin));
    let unknown: Vec<&String> = unknown.iter().filter(|path| !is_own(path)).collect();
    let Some(first) = unknown.first() else { return Ok(()) };
    let more =
        if unknown.len() > 1 { format!(", nor are {} more", unknown.len() - 1) } else { String::new() };
    let first: String = first.chars().take(200).collect();
    let message = format!("{what}: unknown field {first:?}{more}; a host would ignore it");
    let own = plugin.map(|plugin| format!("; a field of your own begins with \"{plugin}.\" (P5.17)"));
    let hint = meant(&first)
        .unwrap_or_else(|| format!("correct its name, or take it out{}", own.unwrap_or_default()));
    Err(Error::new(ErrorKind::Value, message).hint(hint))
}

/// Suggests the field that an author can have meant by the unknown field of that path, where it is
/// one of `capabilities`: the nearest name, or all names.
#[must_use]
pub fn meant(field: &str) -> Option<String> {
    let (place, name) = field.rsplit_once('.')?;
    if place.rsplit('.').next() != Some("capabilities") {
        return None;
    }
    let is_named = |source| matches!(source, CapabilitySource::Option { .. });
    let known = CAPABILITIES.iter().filter(|known| is_named(known.source)).map(|known| known.name);
    Some(match nearest(name, known.clone()) {
        Some(near) => format!("did you mean the capability \"{near}\"?"),
        None => format!("known capabilities: {}", quoted(known)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_known_is_named_by_its_path() {
        let schema = r#"{"schema": 1, "name": "k", "doc": "", "device": "d", "stage": "host", "licence": 1,
            "options": [{"name": "o", "type": "int", "doc": "", "mim": 1}], "capabilities": {"warp": "o"}}"#;
        assert_eq!(unknown_schema_fields(schema).unwrap(), ["licence", "options.0.mim", "capabilities.warp"]);
        let value: Value = serde_json::from_str(schema).unwrap();
        assert_eq!(unknown_fields_at("kinds.0", &value)[1], "kinds.0.options.0.mim");
        assert!(unknown_schema_fields("{}").is_err() && unknown_schema_fields("{} x").is_err());
        let error = refuse_unknown("the needs", &["a".into(), "b".into()], None).unwrap_err();
        assert!(error.to_string().contains("the needs: unknown field \"a\", nor are 1 more"), "{error}");
        assert!(refuse_unknown("the needs", &[], None).is_ok());
        // P5.17: a field of the plugin's own is none, within whatever it stands.
        let own = ["npu.power".to_owned(), "options.0.npu.watts".to_owned()];
        assert!(refuse_unknown("the schema", &own, Some("npu")).is_ok());
        let error = refuse_unknown("the schema", &own, Some("np")).unwrap_err();
        assert!(error.to_string().contains("\"npu.power\", nor are 1 more"), "{error}");
        assert!(error.advice().ends_with("a field of your own begins with \"np.\" (P5.17)"), "{error}");
    }

    #[test]
    fn an_unknown_capability_is_refused_with_the_nearest_name() {
        let refused =
            |field: &str| refuse_unknown("the schema", &[field.into()], None).unwrap_err().to_string();
        let error = refused("capabilities.warp_sise");
        assert!(error.contains("unknown field \"capabilities.warp_sise\""), "{error}");
        assert!(error.ends_with("; did you mean the capability \"warp_size\"?"), "{error}");
        let error = refused("target_kinds.0.capabilities.clusters");
        assert!(
            error.contains("known capabilities: \"threads_per_block_max\", \"block_dimensions"),
            "{error}"
        );
        assert!(refused("options.0.warp_sise").ends_with("correct its name, or take it out"));
    }
}
