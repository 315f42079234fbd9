//! Checks of documents against the JSON Schemas of this repository, for the output and the files of
//! its programs: every `*.schema.json` whose `$id` is `chipdock.NAME/VERSION`.
//!
//! Readers ignore fields that they do not know, so a validator accepts a field that no schema
//! describes. [`Schema::complaints`] walks the document and the schema together and reports such a
//! field too; [`Schema::gaps`] reports where a schema would accept anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::command::fields as fields_of;
use crate::workspace;

/// Returns the names of JSON's types, each with a value that occurs in no output.
fn strangers() -> [(&'static str, Value); 6] {
    [
        ("null", Value::Null),
        ("boolean", json!(true)),
        ("number", json!(-0.5)),
        ("string", json!("no such word")),
        ("array", json!([[]])),
        ("object", json!({"no such field": []})),
    ]
}

/// A schema of this repository.
#[derive(Debug)]
pub struct Schema {
    /// The `$id`, which the field `schema` of a document names.
    pub id: String,
    /// Path of the schema's file.
    pub path: PathBuf,
    document: Value,
    validator: jsonschema::Validator,
}

/// A value within a document, with the schemas that describe it.
struct DescribedValue<'a> {
    /// JSON Pointer to the value.
    at: String,
    value: &'a Value,
    /// Schemas that apply to the value, with references resolved.
    schemas: Vec<&'a Value>,
}

/// Checks a document against the schema that its field `schema` names.
///
/// # Panics
///
/// If there is no such schema, the document violates it, or the schema has gaps for the document.
pub fn check(document: &Value) {
    let id = document["schema"].as_str().unwrap_or_default();
    let schema = Schema::with_id(id);
    let wrong: Vec<String> = schema.complaints(document).into_iter().chain(schema.gaps(document)).collect();
    assert!(wrong.is_empty(), "{id}: {wrong:#?}\nin {document:#}");
}

impl Schema {
    /// Returns every schema, by path.
    ///
    /// # Panics
    ///
    /// If a file is not a JSON Schema of draft 2020-12, or two have the same `$id`.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Schema>> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut paths = Vec::new();
            for folder in ["host", "bench", "tests", "plugin-api", "xtask"] {
                collect(&workspace().join(folder), &mut paths);
            }
            paths.sort();
            let all: Vec<Self> = paths.into_iter().filter_map(Self::read).collect();
            for (index, one) in all.iter().enumerate() {
                assert!(all[..index].iter().all(|other| other.id != one.id), "{} stands twice", one.id);
            }
            all
        })
    }

    /// Returns the schema with that `$id`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn with_id(id: &str) -> &'static Self {
        let found = Self::all().iter().find(|schema| schema.id == id);
        found.unwrap_or_else(|| panic!("no schema has the $id {id:?}"))
    }

    fn read(path: PathBuf) -> Option<Self> {
        let text = fs::read_to_string(&path).expect("a schema");
        let document: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let id = document["$id"].as_str().filter(|id| id.starts_with("chipdock."))?.to_owned();
        assert!(jsonschema::meta::validate(&document).is_ok(), "{}: of draft 2020-12", path.display());
        let validator = jsonschema::draft202012::new(&document).expect("a schema that can be used");
        Some(Self { id, path, document, validator })
    }

    /// Returns the schema as JSON.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Returns true if a validator accepts the document.
    #[must_use]
    pub fn accepts(&self, document: &Value) -> bool {
        self.validator.is_valid(document)
    }

    /// Returns the errors of a document: those of the validator, and each field that the schema
    /// does not describe.
    #[must_use]
    pub fn complaints(&self, document: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(document);
        let mut wrong: Vec<String> =
            errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
        let undescribed = self.parts(document).into_iter().filter(|part| part.schemas.is_empty());
        wrong.extend(undescribed.map(|part| format!("{}: the schema does not describe it", part.at)));
        wrong
    }

    /// Returns the gaps of the schema for this document: parts that may be of any type although the
    /// schema does not say so in its `type`, and required fields without which the document is
    /// accepted.
    #[must_use]
    pub fn gaps(&self, document: &Value) -> Vec<String> {
        let mut gaps = Vec::new();
        let document = &reduced(document);
        for part in self.parts(document) {
            if !part.schemas.iter().any(|schema| is_free(schema)) {
                let is_refused = |value: Value| {
                    let mut changed = document.clone();
                    *changed.pointer_mut(&part.at).expect("a part of it") = value;
                    !self.accepts(&changed)
                };
                if !strangers().into_iter().any(|(_, value)| is_refused(value)) {
                    gaps.push(format!("{}: anything is accepted", part.at));
                }
            }
            let names = part.schemas.iter().flat_map(|schema| words(&schema["required"]));
            for name in names {
                let mut less = document.clone();
                let object = less.pointer_mut(&part.at).and_then(Value::as_object_mut);
                let removed = object.and_then(|object| object.remove(name));
                if removed.is_some() && self.accepts(&less) {
                    gaps.push(format!("{}/{}: it may be missing", part.at, escaped(name)));
                }
            }
        }
        gaps
    }

    /// Returns the parts of the schema that lack a description or a type, and objects and lists
    /// whose content is not described.
    #[must_use]
    pub fn undescribed(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for name in ["$schema", "title", "description"] {
            if !self.document[name].is_string() {
                wrong.push(format!("no {name}"));
            }
        }
        self.undescribed_below("", &self.document, &mut wrong);
        for (name, schema) in fields(&self.document["$defs"]) {
            self.described(&format!("$defs/{name}"), schema, &mut wrong);
        }
        wrong
    }

    fn described(&self, at: &str, schema: &Value, wrong: &mut Vec<String>) {
        if !self.followed(schema).iter().any(|schema| schema["description"].is_string()) {
            wrong.push(format!("{at}: no description"));
        }
        self.undescribed_below(at, schema, wrong);
    }

    fn undescribed_below(&self, at: &str, schema: &Value, wrong: &mut Vec<String>) {
        let has = |name: &str| schema.get(name).is_some();
        if !["type", "const", "enum", "$ref", "anyOf"].iter().any(|name| has(name)) {
            wrong.push(format!("{at}: no type"));
        }
        let types: Vec<&str> = words(&schema["type"]).collect();
        if !is_free(schema) {
            if types.contains(&"object") && !has("properties") && !has("additionalProperties") {
                wrong.push(format!("{at}: an object of which nothing is described"));
            }
            if types.contains(&"array") && !has("items") && !has("prefixItems") {
                wrong.push(format!("{at}: a list of which nothing is described"));
            }
        }
        for (name, field) in fields(&schema["properties"]) {
            self.described(&format!("{at}/{name}"), field, wrong);
        }
        if schema["additionalProperties"].is_object() {
            self.described(&format!("{at}/*"), &schema["additionalProperties"], wrong);
        }
        for below in ["items", "propertyNames"].into_iter().filter(|name| has(name)) {
            self.undescribed_below(&format!("{at}[]"), &schema[below], wrong);
        }
        let branches = ["anyOf", "prefixItems"].into_iter().filter_map(|name| schema[name].as_array());
        branches.flatten().for_each(|branch| self.undescribed_below(at, branch, wrong));
    }

    /// Returns every part of a document, from the whole to the leaves, except parts below one that
    /// may be anything or is not described.
    fn parts<'a>(&'a self, document: &'a Value) -> Vec<DescribedValue<'a>> {
        let mut parts = Vec::new();
        let mut open = vec![DescribedValue {
            at: String::new(),
            value: document,
            schemas: self.applied(&self.document, document),
        }];
        while let Some(part) = open.pop() {
            if !part.schemas.iter().any(|schema| is_free(schema)) {
                open.extend(self.below(&part));
            }
            parts.push(part);
        }
        parts
    }

    fn below<'a>(&'a self, part: &DescribedValue<'a>) -> Vec<DescribedValue<'a>> {
        let named = |step: &str| format!("{}/{}", part.at, escaped(step));
        let below = |step: String, value: &'a Value, schemas: Vec<&'a Value>| {
            let schemas = schemas.into_iter().flat_map(|schema| self.applied(schema, value)).collect();
            DescribedValue { at: named(&step), value, schemas }
        };
        match part.value {
            Value::Object(object) => {
                let field = |(name, value): (&String, &'a Value)| {
                    let own = part.schemas.iter().filter_map(|schema| schema["properties"].get(name));
                    let mut own: Vec<&Value> = own.collect();
                    if own.is_empty() {
                        let others = part.schemas.iter().map(|schema| &schema["additionalProperties"]);
                        own = others.filter(|schema| schema.is_object()).collect();
                    }
                    below(name.clone(), value, own)
                };
                object.iter().map(field).collect()
            }
            Value::Array(items) => {
                let item = |(index, value): (usize, &'a Value)| {
                    let of =
                        |schema: &&'a Value| schema["prefixItems"].get(index).or_else(|| schema.get("items"));
                    below(index.to_string(), value, part.schemas.iter().filter_map(of).collect())
                };
                items.iter().enumerate().map(item).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns a schema, the schemas that it refers to, and the alternatives among them that apply
    /// to values of this type.
    fn applied<'a>(&'a self, schema: &'a Value, value: &Value) -> Vec<&'a Value> {
        let mut all = Vec::new();
        for schema in self.followed(schema) {
            all.push(schema);
            let branches = schema["anyOf"].as_array().into_iter().flatten();
            let fitting = branches.filter(|branch| self.followed(branch).iter().all(|one| fits(one, value)));
            all.extend(fitting.flat_map(|branch| self.applied(branch, value)));
        }
        all
    }

    /// Returns a schema and the chain of schemas that it refers to.
    fn followed<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        let mut all = vec![schema];
        let mut last = schema;
        while let Some(reference) = last["$ref"].as_str() {
            let pointer = reference.strip_prefix('#').expect("a reference within the schema");
            last = self.document.pointer(pointer).unwrap_or_else(|| panic!("{}: no {pointer}", self.id));
            all.push(last);
        }
        all
    }
}

/// Returns a copy of a document in whose lists only one of the items with the same fields of the
/// same types is kept.
fn reduced(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            let items = items.iter().filter(|item| seen.insert(fields_of(item)));
            Value::Array(items.map(reduced).collect())
        }
        Value::Object(object) => {
            Value::Object(object.iter().map(|(name, value)| (name.clone(), reduced(value))).collect())
        }
        other => other.clone(),
    }
}

/// Returns true if the schema states that a value may be of any type.
fn is_free(schema: &Value) -> bool {
    let types: Vec<&str> = words(&schema["type"]).collect();
    strangers().iter().all(|(name, _)| types.contains(name))
}

/// Returns true if a value is of a type that the schema names.
fn fits(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let mut types = words(&schema["type"]).peekable();
    let is_word = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    is_word
        && (types.peek().is_none() || types.any(|name| name == kind || (name, kind) == ("integer", "number")))
}

/// Returns the words of a string or of a list of strings.
fn words(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value.as_str().into_iter().chain(list.iter().filter_map(Value::as_str))
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" {
            collect(&path, paths);
        } else if name.ends_with(".schema.json") {
            paths.push(path);
        }
    }
}

/// Escapes a step of a JSON Pointer.
fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(document: Value) -> Schema {
        let validator = jsonschema::draft202012::new(&document).expect("a schema");
        Schema { id: "chipdock.test/1".to_owned(), path: PathBuf::new(), document, validator }
    }

    fn tight() -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", "description": "d",
            "type": "object", "required": ["names", "more"],
            "properties": {
                "names": {"description": "d", "type": "array", "items": {"$ref": "#/$defs/name"}},
                "more": {"description": "d", "anyOf": [{"$ref": "#/$defs/more"}, {"type": "null"}]},
                "free": {"description": "d", "type": ["null", "boolean", "number", "string", "array", "object"]},
            },
            "$defs": {
                "name": {"description": "d", "type": "string"},
                "more": {"description": "d", "type": "object", "required": ["a/b"], "properties": {
                    "a/b": {"description": "d", "type": "integer"},
                }},
            },
        })
    }

    #[test]
    fn a_schema_describes_only_what_it_names() {
        let schema = schema(tight());
        assert_eq!(schema.undescribed(), Vec::<String>::new());
        let none: &[&str] = &[];
        for (document, expected) in [
            (json!({"names": ["x"], "more": null, "free": {"any": [{}]}}), none),
            (json!({"names": [], "more": {"a/b": 1}}), none),
            (json!({"names": [], "more": {"a/b": 1, "c": 2}}), &["/more/c: the schema does not describe it"]),
            (
                json!({"names": [], "more": null, "other": {"x": 1}}),
                &["/other: the schema does not describe it", "/other/x: the schema does not describe it"],
            ),
            (json!({"names": [1], "more": null}), &["/names/0: 1 is not of type \"string\""]),
        ] {
            assert_eq!(schema.complaints(&document), expected, "{document}");
            if expected.is_empty() {
                assert_eq!(schema.gaps(&document), none, "{document}");
            }
        }
    }

    #[test]
    fn gaps_of_a_schema_are_found() {
        let changed = |at: &str, value: Value| {
            let mut document = tight();
            *document.pointer_mut(at).expect("a part") = value;
            schema(document)
        };
        let document = json!({"names": ["x"], "more": {"a/b": 1}});
        let loose = changed("/$defs/name", json!({"description": "d"}));
        assert_eq!(loose.gaps(&document), ["/names/0: anything is accepted"]);
        assert_eq!(loose.undescribed(), ["$defs/name: no type"]);
        let silent = changed("/$defs/name", json!({"type": "string"}));
        assert_eq!(silent.undescribed(), ["$defs/name: no description"]);
        let empty = changed("/properties/names", json!({"description": "d", "type": "array"}));
        assert_eq!(empty.undescribed(), ["/names: a list of which nothing is described"]);
        assert_eq!(empty.complaints(&document), ["/names/0: the schema does not describe it"]);
        let missing = changed(
            "/properties/more/anyOf/1",
            json!({"description": "d", "type": "object", "properties": {}}),
        );
        assert_eq!(
            missing.gaps(&document),
            ["/more/a~1b: it may be missing", "/more/a~1b: anything is accepted"]
        );
    }
}
