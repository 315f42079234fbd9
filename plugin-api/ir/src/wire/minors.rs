//! The minors of the format, and the conversions of documents between them.

use super::format::{self, Format};
use super::json::{Json, node};
use super::rewrite::{Document, Out, canonical, id, ids, rewrite};
use super::{WireError, parse_version, quantised};
use crate::DType;

/// A minor of the format.
pub(super) struct Minor {
    pub(super) version: &'static str,
    /// Structure of a document of the minor.
    pub(super) format: fn() -> &'static Format,
    /// Rewrites a document of the previous minor to this one; `None` if each is one of this minor unchanged.
    pub(super) up: Option<Rewrite>,
    /// Rewrites a document of this minor to the previous one; `None` for the first.
    pub(super) down: Option<Rewrite>,
}

pub(super) type Rewrite = fn(Document) -> Result<Document, WireError>;

/// Every minor, oldest first; modules are written from and read to the last.
pub(super) const MINORS: &[Minor] = &[
    Minor { version: "1.0.0", format: format::v1_0, up: None, down: None },
    Minor { version: "1.1.0", format: format::v1_1, up: None, down: Some(down_to_1_0) },
    Minor { version: "1.2.0", format: format::v1_2, up: None, down: Some(down_to_1_1) },
    Minor { version: "1.3.0", format: format::v1_3, up: None, down: Some(down_to_1_2) },
    Minor { version: "1.4.0", format: format::v1_4, up: None, down: Some(down_to_1_3) },
];

/// Returns the position in `minors` of the minor that a version belongs to.
pub(super) fn find(version: &str, minors: &[Minor]) -> Result<Option<usize>, WireError> {
    let (major, minor, _) = parse_version(version)?;
    let is = |one: &Minor| parse_version(one.version).is_ok_and(|found| (found.0, found.1) == (major, minor));
    Ok(minors.iter().position(is))
}

/// Rewrites a document from one minor to another, minor by minor.
pub(super) fn convert(
    mut document: Document,
    from: usize,
    to: usize,
    minors: &[Minor],
) -> Result<Document, WireError> {
    for up in minors.iter().take(to + 1).skip(from + 1).filter_map(|minor| minor.up) {
        document = up(document)?;
    }
    for down in minors.iter().take(from + 1).skip(to + 1).rev().filter_map(|minor| minor.down) {
        document = down(document)?;
    }
    Ok(document)
}

/// Rewrites 1.4 to 1.3: a dot product is replaced by its definition; all else is unchanged.
fn down_to_1_3(document: Document) -> Result<Document, WireError> {
    let document = rewrite(document, format::v1_4(), |out, node| {
        match (node.word("node"), node.word("op"), ids(&node, "args").as_slice()) {
            ("CallOp", "dot_add", [c, a, b]) => Ok(quantised::dot_add(out, *c, *a, *b)),
            _ => Ok(out.add(node)),
        }
    })?;
    canonical(document, format::v1_3())
}

/// Rewrites 1.3 to 1.2: storage types, and tensors and strings of packed calls, have no equivalent; all else is
/// unchanged.
fn down_to_1_2(document: Document) -> Result<Document, WireError> {
    let sets_text = |out: &Out, node: &Json| {
        let value = ids(node, "args").get(3).copied();
        node.word("op") == "tvm_struct_set" && value.is_some_and(|value| out.name(value) == "Str")
    };
    rewrite(document, format::v1_3(), |out, node| {
        let what = match storage_type(&node) {
            Some(dtype) => format!("{} of type {dtype}", node.word("node")),
            None if is_new_call(&node, format::v1_2()) || sets_text(out, &node) => {
                format!("CallOp {}", node.word("op"))
            }
            None => return Ok(out.add(node)),
        };
        Err(no_equal(&what, "1.2.0", "1.3.0"))
    })
}

/// Returns the storage type that a node has or points to.
fn storage_type(node: &Json) -> Option<DType> {
    let pointer = node.field("pointer").map_or("", |pointer| pointer.word("element"));
    let types = [node.word("dtype"), pointer].into_iter().filter_map(|name| name.parse::<DType>().ok());
    types.into_iter().find(|dtype| dtype.is_storage())
}

fn is_new_call(node: &Json, older: &Format) -> bool {
    node.word("node") == "CallOp" && !older.has_op(node.word("op"))
}

/// Rewrites 1.2 to 1.1: a parallel launch has no equivalent; all else is unchanged.
fn down_to_1_1(document: Document) -> Result<Document, WireError> {
    rewrite(document, format::v1_2(), |out, node| {
        if is_new_call(&node, format::v1_1()) {
            return Err(no_equal(&format!("CallOp {}", node.word("op")), "1.1.0", "1.2.0"));
        }
        Ok(out.add(node))
    })
}

/// Rewrites 1.1 to 1.0: ops with a definition in core nodes are replaced by it, notes and positions are dropped.
fn down_to_1_0(mut document: Document) -> Result<Document, WireError> {
    document.rest.retain(|(name, _)| name != "positions");
    let older = format::v1_0();
    let document = rewrite(document, format::v1_1(), |out, node| replace(out, node, older))?;
    canonical(document, older)
}

fn replace(out: &mut Out, node: Json, older: &Format) -> Result<usize, String> {
    match node.word("node") {
        "CallOp" => {
            let op = node.word("op").to_owned();
            let args = ids(&node, "args");
            if let Some(index) = core_nodes(out, &op, &args)? {
                return Ok(index);
            }
            // The statement around the call is removed.
            if older.has_op(&op) || op == ASSUME {
                return Ok(out.add(node));
            }
            Err(no_equal(&format!("CallOp {op}"), "1.0.0", "1.1.0"))
        }
        "Evaluate" if id(&node, "value").is_some_and(|value| is_assume(out, value)) => Ok(out.nothing()),
        "Seq" => Ok(sequence(out, node)),
        "Attr" if id(&node, "about").is_some_and(|about| out.name(about) == "Reducer") => {
            id(&node, "body").ok_or_else(|| "Attr: field \"body\" is no id".to_owned())
        }
        _ => Ok(out.add(node)),
    }
}

const ASSUME: &str = "assume";

fn is_assume(out: &Out, index: usize) -> bool {
    out.nodes.get(index).is_some_and(|node| node.word("node") == "CallOp" && node.word("op") == ASSUME)
}

fn no_equal(what: &str, older: &str, newer: &str) -> String {
    format!("{what} has no equal in version {older}; a reader of {newer} takes it")
}

/// Rewrites a sequence without the statements that were removed; a sequence of one statement becomes that statement.
fn sequence(out: &mut Out, node: Json) -> usize {
    let mut kept = ids(&node, "stmts");
    let all = kept.len();
    kept.retain(|index| !out.gone.contains(index));
    match kept.as_slice() {
        _ if kept.len() == all => out.add(node),
        [] => out.nothing(),
        [one] => *one,
        _ => out.add(node!("Seq", stmts: Json::List(kept.into_iter().map(Json::id).collect()))),
    }
}

/// Returns the call of an op of 1.1 in nodes of 1.0, if there is an equivalent.
fn core_nodes(out: &mut Out, op: &str, args: &[usize]) -> Result<Option<usize>, String> {
    Ok(Some(match (op, args) {
        ("tvm_thread_invariant", [value]) => *value,
        ("tvm_access_ptr", [zero, data, offset, ..]) => access_pointer(out, *zero, *data, *offset)?,
        ("dp4a", [a, b, sum]) => quantised::dp4a(out, *a, *b, *sum),
        ("q_multiply_shift", [x, y, q, s]) => quantised::multiply_shift(out, *x, *y, *q, *s),
        ("q_multiply_shift_per_axis", [x, y, ls, rs, q, left, right]) => {
            let flag = |index: usize| out.nodes.get(index).is_some_and(|node| node.word("value") != "0");
            let (left, right) = (flag(*left).then_some(*ls), flag(*right).then_some(*rs));
            quantised::multiply_shift_per_axis(out, *x, *y, *q, left, right)
        }
        _ => return Ok(None),
    }))
}

/// Returns `data` moved by so many elements of the type of `zero`.
fn access_pointer(out: &mut Out, zero: usize, data: usize, offset: usize) -> Result<usize, String> {
    let element: DType =
        out.dtype(zero).parse().map_err(|error| format!("CallOp tvm_access_ptr: {error}"))?;
    let size = i64::try_from(element.size_bytes()).unwrap_or(i64::MAX);
    let constant = out.nodes.get(offset).filter(|node| node.word("node") == "Int");
    let constant = constant.and_then(|node| node.word("value").parse::<i64>().ok());
    let bytes = match constant.and_then(|value| value.checked_mul(size)) {
        Some(bytes) => out.int("int64", bytes),
        None => {
            let wide = out.cast("int64", offset);
            let size = out.int("int64", size);
            out.pair("Mul", "int64", wide, size)
        }
    };
    Ok(out.call("handle_add_byte_offset", "handle", &[data, bytes]))
}
