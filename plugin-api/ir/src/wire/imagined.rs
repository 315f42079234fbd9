//! Minors that exist in tests alone: an older one than that of modules, and a newer one, as one
//! would add them. They show that WIRE-W5 holds between minors, whichever are published. No part of
//! the interface; other crates of this workspace use it by the feature `testing`.
//!
//! # 1.8, which is the newest published minor by another name, in terms of 1.7
//!
//! | since 1.8 | in 1.7 |
//! |---|---|
//! | `tvm_thread_invariant` | its argument |
//! | `assume` | left out |
//! | `hypot` | `sqrt` of the sum of products |
//! | `Attr` of a `Reducer` | its body |
//! | `tvm_struct_set` of a string | refused |
//! | ops of threads, `TVMBackendParallelLaunch`, `tvm_stack_make_…` | refused, by the table |
//! | storage types, a `Reducer` | refused, by the table |
//! | positions | left out, by the table |
//!
//! # 1.9 in terms of 1.8
//!
//! | since 1.9 | in 1.8 |
//! |---|---|
//! | `operand` of `Not` | `value` |
//! | `unroll_max` of `For` | without it if it is 0, or else refused |
//! | `Negate` | 0 less its value |
//! | `Yield` | refused, by the table |

use std::sync::OnceLock;

use super::format::{Field, Format, NodeFormat, Shape, Sort};
use super::json::{Json, node};
use super::minors::{MINORS, Minor};
use super::rewrite::Out;
use super::{WireDocument, WireError, WriteOptions, read_among, schema_among, write_among};
use crate::{ConstantData, IrModule};

/// The minor that lacks some of what modules have.
pub const OLDER: &str = "1.7.0";

/// The minor of modules.
pub const VERSION: &str = "1.8.0";

/// The minor that has what no module has.
pub const NEWER: &str = "1.9.0";

/// Every imagined version, oldest first.
pub const VERSIONS: &[&str] = &[OLDER, VERSION, NEWER];

/// Every imagined minor, oldest first.
pub(super) const IMAGINED: &[Minor] = &[
    Minor { version: OLDER, format: v1_7, up: None, down: None },
    Minor { version: VERSION, format: v1_8, up: None, down: Some(down_to_1_7) },
    Minor { version: NEWER, format: v1_9, up: Some(up_to_1_9), down: Some(down_to_1_8) },
];

/// The place of the minor of modules.
pub(super) const NATIVE: usize = 1;

/// Writes a module at an imagined version, as [`write_with`](super::write_with) does.
///
/// # Errors
///
/// As [`write_with`](super::write_with).
pub fn write_with(module: &IrModule, options: &WriteOptions<'_>) -> Result<String, WireError> {
    write_among(module, options, IMAGINED, NATIVE)
}

/// Writes a module at an imagined version, as [`write_at`](super::write_at) does.
///
/// # Errors
///
/// As [`write_with`].
pub fn write_at(module: &IrModule, version: &str) -> Result<String, WireError> {
    write_with(module, &WriteOptions { version, ..WriteOptions::default() })
}

/// Reads a document of an imagined version, as [`read_document`](super::read_document) does.
///
/// # Errors
///
/// As [`read`](super::read()).
pub fn read_document(text: &str) -> Result<WireDocument, WireError> {
    read_among(text, &|_| None, IMAGINED, NATIVE)
}

/// Reads the module of a document of an imagined version with its sections, as
/// [`read_beside`](super::read_beside) does.
///
/// # Errors
///
/// As [`read_beside`](super::read_beside).
pub fn read_beside(text: &str, sections: &[ConstantData]) -> Result<IrModule, WireError> {
    let named = |name: &str| sections.iter().find(|data| **data.digest() == *name).map(ConstantData::bytes);
    read_among(text, &named, IMAGINED, NATIVE).map(|document| document.module)
}

/// Reads the module of a document of an imagined version.
///
/// # Errors
///
/// As [`read`](super::read()).
pub fn read(text: &str) -> Result<IrModule, WireError> {
    read_document(text).map(|document| document.module)
}

/// Returns the JSON Schema of an imagined version's documents.
///
/// # Errors
///
/// A version that was not imagined.
pub fn schema(version: &str) -> Result<serde_json::Value, WireError> {
    schema_among(version, IMAGINED)
}

fn v1_8() -> &'static Format {
    (MINORS[MINORS.len() - 1].format)()
}

/// Ops that 1.7 lacks.
const OPS: &[&str] = &[
    "tvm_thread_invariant",
    "assume",
    "hypot",
    "thread_return",
    "atomic_add",
    "tvm_warp_activemask",
    "tvm_warp_shuffle",
    "tvm_warp_shuffle_up",
    "tvm_warp_shuffle_down",
    "tvm_warp_shuffle_xor",
    "tvm_thread_allreduce",
    "TVMBackendParallelLaunch",
    "tvm_stack_make_shape",
    "tvm_stack_make_array",
];

fn v1_7() -> &'static Format {
    static FORMAT: OnceLock<Format> = OnceLock::new();
    FORMAT.get_or_init(|| {
        let mut nodes = v1_8().nodes.clone();
        nodes.retain(|node| node.name != "Reducer");
        for field in nodes.iter_mut().flat_map(|node| &mut node.fields) {
            match (field.name, &mut field.shape) {
                ("op", Shape::Word(ops)) => ops.retain(|op| !OPS.contains(op)),
                ("about", shape) => *shape = Shape::Nullable(Box::new(Shape::Id(Sort::Param))),
                (_, shape) => without_storage_types(shape),
            }
        }
        let mut document = v1_8().document.clone();
        document.retain(|field| field.name != "positions");
        Format::new(nodes, document)
    })
}

fn without_storage_types(shape: &mut Shape) {
    match shape {
        Shape::AnyDType => *shape = Shape::DType,
        Shape::Nullable(inner) => without_storage_types(inner),
        Shape::Object(fields) => fields.iter_mut().for_each(|field| without_storage_types(&mut field.shape)),
        _ => {}
    }
}

/// `Not` calls its value `operand`, `For` says how often it is unrolled (0 when nobody says), and
/// there are `Negate` and `Yield`.
fn v1_9() -> &'static Format {
    static FORMAT: OnceLock<Format> = OnceLock::new();
    FORMAT.get_or_init(|| {
        let mut nodes = v1_8().nodes.clone();
        let field = |name, shape| Field { name, shape, optional: false };
        for node in &mut nodes {
            match node.name {
                "Not" => node.fields[1].name = "operand",
                "For" => node.fields.insert(6, field("unroll_max", Shape::Number(0, 1024))),
                _ => {}
            }
        }
        let fields = vec![field("dtype", Shape::DType), field("value", Shape::Id(Sort::Expr))];
        nodes.push(NodeFormat { name: "Negate", sort: Sort::Expr, fields });
        nodes.push(NodeFormat { name: "Yield", sort: Sort::Stmt, fields: Vec::new() });
        Format::new(nodes, v1_8().document.clone())
    })
}

/// Returns the ids in a field of a node: one, or those of a list.
fn ids(node: &Json, field: &str) -> Vec<usize> {
    let one = |json: &Json| match json {
        Json::Int(value) => usize::try_from(*value).ok(),
        _ => None,
    };
    match node.field(field) {
        Some(Json::List(items)) => items.iter().filter_map(one).collect(),
        Some(json) => one(json).into_iter().collect(),
        None => Vec::new(),
    }
}

fn name(out: &Out, id: usize) -> &str {
    out.nodes.get(id).map_or("", |node| node.word("node"))
}

fn pair(out: &mut Out, name: &str, dtype: &str, a: usize, b: usize) -> usize {
    out.add(node!(name, dtype: Json::text(dtype), a: Json::id(a), b: Json::id(b)))
}

fn down_to_1_7(out: &mut Out, node: Json) -> Result<Option<usize>, String> {
    let args = ids(&node, "args");
    match (node.word("node"), node.word("op"), args.as_slice()) {
        ("CallOp", "tvm_thread_invariant", [value]) => Ok(Some(*value)),
        ("CallOp", "assume", _) => Ok(None),
        ("CallOp", "hypot", [x, y]) => {
            let dtype = node.word("dtype");
            let squares = [*x, *y].map(|side| pair(out, "Mul", dtype, side, side));
            let sum = pair(out, "Add", dtype, squares[0], squares[1]);
            let args = Json::List(vec![Json::id(sum)]);
            Ok(Some(out.add(node!("CallOp", dtype: Json::text(dtype), op: Json::text("sqrt"), args: args))))
        }
        ("CallOp", "tvm_struct_set", [.., value]) if name(out, *value) == "Str" => {
            Err("CallOp tvm_struct_set of a string".to_owned())
        }
        // Nothing refers to it after its `Attr` has become its body.
        ("Reducer", ..) => Ok(None),
        ("Attr", ..) if node.field("about").is_some_and(|about| out.is_gone(about)) => {
            Ok(ids(&node, "body").first().copied())
        }
        _ => Ok(Some(out.add(node))),
    }
}

fn rename(node: &mut Json, from: &str, to: &'static str) {
    if let Json::Object(fields) = node
        && let Some((name, _)) = fields.iter_mut().find(|(name, _)| name == from)
    {
        *name = to.into();
    }
}

fn up_to_1_9(out: &mut Out, mut node: Json) -> Result<Option<usize>, String> {
    match node.word("node") {
        "Not" => rename(&mut node, "value", "operand"),
        "For" => {
            if let Json::Object(fields) = &mut node {
                let at = fields.iter().position(|(name, _)| name == "annotations").unwrap_or(0);
                fields.insert(at, ("unroll_max".into(), Json::number(0)));
            }
        }
        _ => {}
    }
    Ok(Some(out.add(node)))
}

fn down_to_1_8(out: &mut Out, mut node: Json) -> Result<Option<usize>, String> {
    match node.word("node") {
        "Not" => rename(&mut node, "operand", "value"),
        "For" => {
            if let Json::Object(fields) = &mut node {
                fields.retain(|(name, value)| name != "unroll_max" || *value != Json::number(0));
            }
        }
        "Negate" => {
            let dtype = node.word("dtype").to_owned();
            let zero = node!("Int", dtype: Json::text(&dtype), value: Json::text("0"));
            let (zero, value) = (out.add(zero), ids(&node, "value"));
            return Ok(value.first().map(|value| pair(out, "Sub", &dtype, zero, *value)));
        }
        _ => {}
    }
    Ok(Some(out.add(node)))
}
