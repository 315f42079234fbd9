//! The structure of the documents of a minor, as a table: the check of structure, the JSON Schema,
//! and the positions of ids follow from it, so that documents can be rewritten without a module.

mod schema;
mod tables;

use std::collections::HashMap;

use super::json::Json;
use super::{Document, WireError};
use crate::limits::{LANES_MAX, STRING_BYTES_MAX};
use crate::{DType, FloatBits};

pub(super) use schema::schema;
pub(super) use tables::v1_0;

/// The greatest number of digits of an integer: those of 2^64.
const DIGITS_MAX: usize = 20;

/// The sort of a node, and of the nodes that an id may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Var,
    Buffer,
    Expr,
    Stmt,
    Attr,
    Reducer,
    /// A buffer or a variable.
    Param,
    /// A buffer, a variable or a reducer.
    About,
    /// A statement or an expression, which have positions.
    Placed,
}

impl Sort {
    fn doc(self) -> &'static str {
        match self {
            Self::Var => "the id of a Var",
            Self::Buffer => "the id of a Buffer",
            Self::Expr => "the id of an expression",
            Self::Stmt => "the id of a statement",
            Self::Attr => "the id of the value of an attribute",
            Self::Reducer => "the id of a Reducer",
            Self::Param => "the id of a Buffer or a Var",
            Self::About => "the id of a Buffer, a Var or a Reducer",
            Self::Placed => "the id of a statement or an expression",
        }
    }
}

/// The shape of a field's value.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Text,
    Integer,
    Bits,
    /// 64 hexadecimal digits.
    Digest,
    /// A type, except storage types.
    DType,
    /// Any type.
    AnyDType,
    Bool,
    /// A JSON number within these bounds.
    Number(i64, i64),
    Word(Vec<&'static str>),
    Id(Sort),
    List(Box<Shape>),
    Nullable(Box<Shape>),
    Tuple(Vec<Shape>),
    Object(Vec<Field>),
    Target,
}

/// A field of an object.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// Whether the field may be absent, which means that it has no value.
    pub(super) optional: bool,
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct NodeFormat {
    pub(super) name: &'static str,
    pub(super) sort: Sort,
    pub(super) fields: Vec<Field>,
}

/// A minor's table.
#[derive(Clone, Debug)]
pub(super) struct Format {
    pub(super) nodes: Vec<NodeFormat>,
    /// The document's fields except its version and its nodes.
    pub(super) document: Vec<Field>,
    index: HashMap<&'static str, usize>,
}

pub(super) type Checked = Result<(), String>;

impl Format {
    pub(super) fn new(nodes: Vec<NodeFormat>, document: Vec<Field>) -> Self {
        let index = nodes.iter().enumerate().map(|(index, node)| (node.name, index)).collect();
        Self { nodes, document, index }
    }

    pub(super) fn node(&self, name: &str) -> Option<&NodeFormat> {
        self.index.get(name).map(|index| &self.nodes[*index])
    }

    /// Returns true for a field of the document that may be absent.
    pub(super) fn is_optional(&self, name: &str) -> bool {
        self.document.iter().any(|field| field.name == name && field.optional)
    }

    pub(super) fn has_document_field(&self, name: &str) -> bool {
        self.document.iter().any(|field| field.name == name)
    }

    /// Checks that every node and field belongs to the minor, and has the right shape. The reader
    /// checks what ids refer to.
    pub(super) fn check(&self, document: &Document) -> Result<(), WireError> {
        for (index, node) in document.nodes.iter().enumerate() {
            self.check_node(node).map_err(|message| WireError { node: Some(index), message })?;
        }
        self.check_rest(&document.rest).map_err(WireError::new)
    }

    /// Checks the fields of a document except its version and its nodes.
    pub(super) fn check_rest<N: AsRef<str>>(&self, rest: &[(N, Json)]) -> Checked {
        check_fields(&self.document, rest, 0, "the document")
    }

    fn check_node(&self, node: &Json) -> Checked {
        let Json::Object(fields) = node else {
            return Err(format!("a node: expected an object, found {}", node.brief()));
        };
        let Some(name) = node.field("node") else {
            return Err("a node: field \"node\" is missing".to_owned());
        };
        let Json::Text(name) = name else {
            return Err(format!("a node: field \"node\": expected a string, found {}", name.brief()));
        };
        match self.node(name) {
            Some(format) => check_fields(&format.fields, fields, 1, format.name),
            None => Err(format!("unknown node {}", Json::text(name).brief())),
        }
    }

    /// Returns what of a node the minor does not have, in a few words; `None` if it has the node as
    /// it is.
    pub(super) fn lacks(&self, node: &Json) -> Option<String> {
        let name = node.word("node");
        let Some(format) = self.node(name) else { return Some(name.to_owned()) };
        let Json::Object(found) = node else { return Some(node.brief()) };
        let has = |name: &str, value: &Json| {
            format.fields.iter().any(|field| field.name == name && is(&field.shape, value))
        };
        for (field, value) in found.iter().filter(|(field, _)| field != "node") {
            if !has(field, value) {
                return Some(match (&**field, value) {
                    ("op", Json::Text(op)) => format!("{name} {op}"),
                    ("dtype", Json::Text(dtype)) => format!("{name} of type {dtype}"),
                    (field, value) => format!("{name} with {field} {}", value.brief()),
                });
            }
        }
        let missing = format.fields.iter().find(|field| !field.optional && node.field(field.name).is_none());
        missing.map(|field| format!("{name} without {}", field.name))
    }
}

/// Checks the fields of an object. `more`: the number of additional fields, which are checked
/// already.
fn check_fields<N: AsRef<str>>(wanted: &[Field], found: &[(N, Json)], more: usize, what: &str) -> Checked {
    let mut taken = 0;
    for field in wanted {
        match found.iter().find(|(name, _)| name.as_ref() == field.name) {
            Some((_, json)) => {
                taken += 1;
                if !is(&field.shape, json) {
                    let (name, expected) = (field.name, expected(&field.shape, json));
                    return Err(format!("{what}: field \"{name}\": {expected}"));
                }
            }
            None if field.optional => {}
            None => return Err(format!("{what}: field \"{}\" is missing", field.name)),
        }
    }
    if taken + more == found.len() {
        return Ok(());
    }
    let known = |name: &str| wanted.iter().any(|field| field.name == name) || more > 0 && name == "node";
    let unknown = found.iter().map(|(name, _)| name.as_ref()).find(|name| !known(name)).unwrap_or_default();
    Err(format!("{what}: unknown field {}", Json::text(unknown).brief()))
}

/// Returns true if a value has a shape.
fn is(shape: &Shape, json: &Json) -> bool {
    match (shape, json) {
        (Shape::Text, Json::Text(text)) => text.len() <= STRING_BYTES_MAX,
        (Shape::Integer, Json::Text(text)) => is_integer(text),
        (Shape::Bits, Json::Text(text)) => bits(text).is_some(),
        (Shape::Digest, Json::Text(text)) => is_digest(text),
        (Shape::DType, Json::Text(text)) => dtype(text).is_some_and(|dtype| !dtype.is_storage()),
        (Shape::AnyDType, Json::Text(text)) => dtype(text).is_some(),
        (Shape::Word(words), Json::Text(text)) => words.contains(&&**text),
        (Shape::Number(min, max), Json::Int(value)) => (min..=max).contains(&value),
        (Shape::Id(_), Json::Int(value)) => *value >= 0,
        (Shape::List(each), Json::List(items)) => items.iter().all(|item| is(each, item)),
        (Shape::Nullable(_), Json::Null) | (Shape::Bool, Json::Bool(_)) => true,
        (Shape::Nullable(inner), json) => is(inner, json),
        (Shape::Tuple(shapes), Json::List(items)) => {
            shapes.len() == items.len() && shapes.iter().zip(items).all(|(shape, item)| is(shape, item))
        }
        (Shape::Object(fields), Json::Object(found)) => check_fields(fields, found, 0, "").is_ok(),
        (Shape::Target, json) => is_target(json),
        _ => false,
    }
}

/// Returns what was expected and what was found instead, as deep in the value as it is known.
fn expected(shape: &Shape, json: &Json) -> String {
    match (shape, json) {
        (Shape::List(each), Json::List(items)) => {
            if let Some(item) = items.iter().find(|item| !is(each, item)) {
                return expected(each, item);
            }
        }
        (Shape::Nullable(inner), _) if matches!(**inner, Shape::Object(_) | Shape::List(_)) => {
            return expected(inner, json);
        }
        (Shape::Tuple(shapes), Json::List(items)) if shapes.len() == items.len() => {
            if let Some((shape, item)) = shapes.iter().zip(items).find(|(shape, item)| !is(shape, item)) {
                return expected(shape, item);
            }
        }
        (Shape::Object(fields), Json::Object(found)) => {
            if let Err(message) = check_fields(fields, found, 0, "an object") {
                return message;
            }
        }
        _ => {}
    }
    format!("expected {}, found {}", shape.doc(), json.brief())
}

impl Shape {
    fn doc(&self) -> String {
        match self {
            Self::Text => "a string of bounded length".into(),
            Self::Integer => "a decimal integer in a string".into(),
            Self::Bits => "0x and 16 hexadecimal digits".into(),
            Self::Digest => "64 hexadecimal digits".into(),
            Self::DType | Self::AnyDType => "a type's name".into(),
            Self::Bool => "true or false".into(),
            Self::Number(min, max) => format!("a number from {min} to {max}"),
            Self::Word(words) if words.len() <= 10 => format!("one of {}", words.join(", ")),
            Self::Word(_) => "a known op".into(),
            Self::Id(sort) => format!("{} that is earlier", sort.doc()),
            Self::List(_) => "a list".into(),
            Self::Nullable(inner) => format!("{} or null", inner.doc()),
            Self::Tuple(shapes) => {
                let shapes: Vec<String> = shapes.iter().map(Self::doc).collect();
                format!("a list of {}", shapes.join(", "))
            }
            Self::Object(_) => "an object".into(),
            Self::Target => "a target".into(),
        }
    }

    /// Rewrites each id in a value of this shape.
    pub(super) fn map_ids<E>(
        &self,
        json: &mut Json,
        each: &mut impl FnMut(Sort, usize) -> Result<usize, E>,
    ) -> Result<(), E> {
        match (self, json) {
            (Self::Id(sort), Json::Int(value)) => {
                *value = i64::try_from(each(*sort, usize::try_from(*value).unwrap_or(usize::MAX))?)
                    .unwrap_or(i64::MAX);
                Ok(())
            }
            (Self::List(shape), Json::List(items)) => {
                items.iter_mut().try_for_each(|item| shape.map_ids(item, each))
            }
            (Self::Tuple(shapes), Json::List(items)) => {
                shapes.iter().zip(items).try_for_each(|(shape, item)| shape.map_ids(item, each))
            }
            (Self::Object(fields), Json::Object(found)) => map_ids(fields, found, each),
            (Self::Nullable(shape), json) => shape.map_ids(json, each),
            _ => Ok(()),
        }
    }
}

/// Rewrites each id in the fields of an object, in the order of the table.
pub(super) fn map_ids<N: AsRef<str>, E>(
    fields: &[Field],
    found: &mut [(N, Json)],
    each: &mut impl FnMut(Sort, usize) -> Result<usize, E>,
) -> Result<(), E> {
    for field in fields {
        if let Some((_, json)) = found.iter_mut().find(|(name, _)| name.as_ref() == field.name) {
            field.shape.map_ids(json, each)?;
        }
    }
    Ok(())
}

/// Returns true for a decimal integer in its written form: no sign `+`, no leading zeros.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let first = digits.as_bytes().first();
    digits.len() <= DIGITS_MAX
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && (text == "0" || first.is_some_and(|digit| *digit != b'0'))
}

/// Returns true for a SHA-256 in lower-case hexadecimal digits.
pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// Parses a float64 from its bits, in lower case.
pub(super) fn bits(text: &str) -> Option<FloatBits> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 16)?;
    let lower = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let bits = u64::from_str_radix(digits, 16).ok()?;
    digits.bytes().all(lower).then_some(FloatBits(bits))
}

/// Parses a type from its printed name.
pub(super) fn dtype(text: &str) -> Option<DType> {
    let dtype: DType = text.parse().ok()?;
    let canonical = !text.contains("x0") && !text.contains("x+");
    (canonical && dtype.lanes <= LANES_MAX && (dtype.lanes == 1 || !dtype.is_handle())).then_some(dtype)
}

/// Returns true for a target that [`crate::Target::from_canonical_json`] accepts.
fn is_target(json: &Json) -> bool {
    let Json::Object(fields) = json else { return false };
    let text = |json: &Json| matches!(json, Json::Text(_));
    let is = |name: &str, value: &Json| match (name, value) {
        ("kind", Json::Text(kind)) => !kind.is_empty(),
        ("tag", value) => text(value),
        ("keys", Json::List(keys)) => keys.iter().all(text),
        ("host", Json::Null) => true,
        ("host", host) => is_target(host),
        ("kind" | "keys", _) => false,
        _ => true,
    };
    json.field("kind").is_some() && fields.iter().all(|(name, value)| is(name, value))
}
