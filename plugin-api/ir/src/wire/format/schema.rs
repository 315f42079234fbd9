//! The JSON Schema of a minor's table, draft 2020-12.

use serde_json::{Map, Value, json};

use super::{DIGITS_MAX, Field, Format, Shape};
use crate::limits::{NODES_MAX, STRING_BYTES_MAX};

const REFER: &str = "$ref";

/// Makes the JSON Schema of a minor. A schema cannot express what an id refers to; descriptions
/// state it for readers.
pub(in crate::wire) fn schema(format: &Format, version: &str) -> Value {
    let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    let mut definitions = definitions();
    let mut nodes = Vec::new();
    for node in &format.nodes {
        let mut object = object(&node.fields);
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.shift_insert(0, "node".into(), json!({ "const": node.name }));
        }
        if let Some(Value::Array(required)) = object.get_mut("required") {
            required.insert(0, "node".into());
        }
        nodes.push(json!({ REFER: format!("#/$defs/{}", node.name) }));
        definitions.insert(node.name.into(), Value::Object(object));
    }
    definitions.insert("node".into(), json!({ "oneOf": nodes }));
    let mut document = object(&format.document);
    let own = [
        (
            "chipdock_ir",
            json!({ "type": "string", "pattern": format!("^{}\\.(0|[1-9][0-9]*)$", minor.replace('.', "\\.")) }),
        ),
        ("nodes", json!({ "type": "array", "maxItems": NODES_MAX, "items": { REFER: "#/$defs/node" } })),
    ];
    for (index, (name, value)) in own.into_iter().enumerate() {
        if let Some(Value::Object(properties)) = document.get_mut("properties") {
            properties.shift_insert(index, name.into(), value);
        }
        if let Some(Value::Array(required)) = document.get_mut("required") {
            required.insert(index, name.into());
        }
    }
    let mut schema = Map::new();
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), format!("chipdock-ir {minor}").into());
    schema.insert("description".into(), DESCRIPTION.into());
    schema.extend(document);
    schema.insert("$defs".into(), Value::Object(definitions));
    Value::Object(schema)
}

const DESCRIPTION: &str = "A module of Chipdock's IR. A node's id is its index in `nodes`; it refers only to nodes before \
    it. That ids lead to nodes of the right sort, that types fit and how deep nodes nest is for the reader to check.";

const DIGEST: &str =
    "The SHA-256 of a section's bytes, which is its name: the section comes beside the document.";

fn definitions() -> Map<String, Value> {
    let values = "bool|u?int(8|16|32|64)|float(16|32|64)|bfloat16";
    let all = "bool|u?int(1|4|8|16|32|64)|float(16|32|64)|bfloat16|float8_(e4m3fn|e5m2)";
    let lanes = "x([2-9]|[1-9][0-9]{1,2}|10[01][0-9]|102[0-4])";
    let dtype =
        |names: &str| json!({ "type": "string", "pattern": format!("^(({names})({lanes})?|handle)$") });
    let text = json!({ "type": "string" });
    let json = [
        json!({ "type": ["null", "boolean", "integer", "string"] }),
        json!({ "type": "array", "items": { REFER: "#/$defs/json" } }),
        json!({ "type": "object", "additionalProperties": { REFER: "#/$defs/json" } }),
    ];
    let definitions = [
        ("id", json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX })),
        ("text", json!({ "type": "string", "maxLength": STRING_BYTES_MAX })),
        (
            "integer",
            json!({ "type": "string", "pattern": format!("^(0|-?[1-9][0-9]{{0,{}}})$", DIGITS_MAX - 1) }),
        ),
        ("bits", json!({ "type": "string", "pattern": "^0x[0-9a-f]{16}$" })),
        ("digest", json!({ "type": "string", "pattern": "^[0-9a-f]{64}$", "description": DIGEST })),
        ("dtype", dtype(all)),
        ("value_dtype", dtype(values)),
        ("json", json!({ "anyOf": json })),
        (
            "target",
            json!({
                "type": "object",
                "properties": {
                    "kind": { "type": "string", "minLength": 1 },
                    "tag": text,
                    "keys": { "type": "array", "items": text },
                    "host": { "anyOf": [{ "type": "null" }, { REFER: "#/$defs/target" }] },
                },
                "required": ["kind"],
                "additionalProperties": { REFER: "#/$defs/json" },
            }),
        ),
    ];
    definitions.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn object(fields: &[Field]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), shape(&field.shape))).collect();
    let required: Vec<&str> = fields.iter().filter(|field| !field.optional).map(|field| field.name).collect();
    let mut object = Map::new();
    object.insert("type".into(), "object".into());
    object.insert("properties".into(), Value::Object(properties));
    object.insert("required".into(), required.into());
    object.insert("additionalProperties".into(), false.into());
    object
}

fn shape(of: &Shape) -> Value {
    let named = |name: &str| json!({ REFER: format!("#/$defs/{name}") });
    match of {
        Shape::Text => named("text"),
        Shape::Integer => named("integer"),
        Shape::Bits => named("bits"),
        Shape::Digest => named("digest"),
        Shape::AnyDType => named("dtype"),
        Shape::DType => named("value_dtype"),
        Shape::Target => named("target"),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Number(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Id(sort) => json!({ REFER: "#/$defs/id", "description": sort.doc() }),
        Shape::List(each) => json!({ "type": "array", "items": shape(each) }),
        Shape::Nullable(inner) => json!({ "anyOf": [{ "type": "null" }, shape(inner)] }),
        Shape::Tuple(shapes) => {
            let shapes: Vec<Value> = shapes.iter().map(shape).collect();
            let length = shapes.len();
            json!({ "type": "array", "prefixItems": shapes, "minItems": length, "maxItems": length })
        }
        Shape::Object(fields) => Value::Object(object(fields)),
    }
}
