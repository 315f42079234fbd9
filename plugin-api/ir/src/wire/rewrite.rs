//! Rewrites a document without its module: nodes are replaced one after the other, then the document is made canonical
//! again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash, RandomState};

use super::format::{Field, Format, Sort, map_ids};
use super::json::{Json, node};
use super::{LEVELS_MAX, WireError};
use crate::limits::{DEPTH_MAX, NODES_MAX};

/// A document under construction: its nodes, and its other fields except the version, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Document {
    pub(super) nodes: Vec<Json>,
    pub(super) rest: Vec<(Cow<'static, str>, Json)>,
}

impl Document {
    pub(super) fn field(&self, name: &str) -> Option<&Json> {
        self.rest.iter().find(|(field, _)| field == name).map(|(_, json)| json)
    }
}

/// The nodes that replace the old ones. Ids are those of the new nodes.
#[derive(Default)]
pub(super) struct Out {
    pub(super) nodes: Vec<Json>,
    /// Statements that were removed completely.
    pub(super) gone: HashSet<usize>,
}

impl Out {
    pub(super) fn add(&mut self, node: Json) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns the name of a node; empty if there is no such node.
    pub(super) fn name(&self, id: usize) -> &str {
        self.nodes.get(id).map_or("", |node| node.word("node"))
    }

    /// Returns the type of an expression as it is written; empty if there is none.
    pub(super) fn dtype(&self, id: usize) -> String {
        self.nodes.get(id).map_or("", |node| node.word("dtype")).to_owned()
    }

    /// Adds an empty sequence, which the enclosing sequence then leaves out.
    pub(super) fn nothing(&mut self) -> usize {
        let index = self.add(node!("Seq", stmts: Json::List(Vec::new())));
        self.gone.insert(index);
        index
    }

    pub(super) fn int(&mut self, dtype: &str, value: i64) -> usize {
        self.add(node!("Int", dtype: Json::text(dtype), value: Json::text(&value.to_string())))
    }

    pub(super) fn cast(&mut self, dtype: &str, value: usize) -> usize {
        if self.dtype(value) == dtype {
            return value;
        }
        self.add(node!("Cast", dtype: Json::text(dtype), value: Json::id(value)))
    }

    pub(super) fn pair(&mut self, name: &str, dtype: &str, a: usize, b: usize) -> usize {
        self.add(node!(name, dtype: Json::text(dtype), a: Json::id(a), b: Json::id(b)))
    }

    pub(super) fn call(&mut self, op: &str, dtype: &str, args: &[usize]) -> usize {
        let args = Json::List(args.iter().copied().map(Json::id).collect());
        self.add(node!("CallOp", dtype: Json::text(dtype), op: Json::text(op), args: args))
    }
}

/// Returns the ids in a list of a node.
pub(super) fn ids(node: &Json, field: &str) -> Vec<usize> {
    match node.field(field) {
        Some(Json::List(items)) => items.iter().filter_map(as_id).collect(),
        _ => Vec::new(),
    }
}

/// Returns the id in a field of a node.
pub(super) fn id(node: &Json, field: &str) -> Option<usize> {
    node.field(field).and_then(as_id)
}

fn as_id(json: &Json) -> Option<usize> {
    match json {
        Json::Int(value) => usize::try_from(*value).ok(),
        _ => None,
    }
}

/// Replaces each node, in order, by the nodes that `each` adds: `each` receives the node with the ids of its rewritten
/// parts, and returns the id of the replacement. Nodes that are not referred to any more may stay; [`canonical`] drops
/// them.
pub(super) fn rewrite(
    document: Document,
    format: &Format,
    mut each: impl FnMut(&mut Out, Json) -> Result<usize, String>,
) -> Result<Document, WireError> {
    let mut out = Out::default();
    let mut now: Vec<usize> = Vec::with_capacity(document.nodes.len());
    for (index, node) in document.nodes.iter().enumerate() {
        let mut node = node.clone();
        let at = |message: String| {
            let function = function_of(&document, format, index);
            let message = match function {
                Some(function) => format!("function {function}: {message}"),
                None => message,
            };
            WireError { node: Some(index), message }
        };
        refer(format, &mut node, &now).map_err(at)?;
        now.push(each(&mut out, node).map_err(at)?);
    }
    let mut rest = document.rest;
    map_ids(&format.document, &mut rest, &mut |_, id| found(&now, id)).map_err(WireError::new)?;
    Ok(Document { nodes: out.nodes, rest })
}

fn found(now: &[usize], id: usize) -> Result<usize, String> {
    now.get(id)
        .copied()
        .ok_or_else(|| format!("expected the id of an earlier node, below {}, found {id}", now.len()))
}

fn refer(format: &Format, node: &mut Json, now: &[usize]) -> Result<(), String> {
    let Some(fields) = fields_of(format, node) else { return Ok(()) };
    let Json::Object(found_fields) = node else { return Ok(()) };
    map_ids(fields, found_fields, &mut |_, id| found(now, id))
}

fn fields_of<'f>(format: &'f Format, node: &Json) -> Option<&'f [Field]> {
    format.node(node.word("node")).map(|node| &*node.fields)
}

/// Returns the name of the first function that contains a node, as JSON.
fn function_of(document: &Document, format: &Format, index: usize) -> Option<String> {
    let mut holds = vec![false; document.nodes.len()];
    holds[index] = true;
    for (above, node) in document.nodes.iter().enumerate().skip(index + 1) {
        let (Some(fields), Json::Object(found)) = (fields_of(format, node), &mut node.clone()) else {
            continue;
        };
        holds[above] = refers_to(fields, found, &holds);
    }
    let functions = format.document.iter().filter(|field| field.name == "functions");
    for field in functions {
        let super::format::Shape::List(shape) = &field.shape else { continue };
        let Some(Json::List(functions)) = document.field("functions") else { continue };
        for function in functions {
            let mut found = false;
            let Ok(()) = shape.map_ids(&mut function.clone(), &mut |_, id| {
                found |= holds.get(id).is_some_and(|holds| *holds);
                Ok::<_, std::convert::Infallible>(id)
            });
            if found {
                return function.field("name").map(Json::brief);
            }
        }
    }
    None
}

fn refers_to<N: AsRef<str>>(fields: &[Field], found: &mut [(N, Json)], holds: &[bool]) -> bool {
    let mut refers = false;
    let Ok(()) = map_ids(fields, found, &mut |_, id| {
        refers |= holds.get(id).is_some_and(|holds| *holds);
        Ok::<_, std::convert::Infallible>(id)
    });
    refers
}

/// Nodes by id, in which equal ones can be found. `P` distinguishes nodes that are equal otherwise.
#[derive(Default)]
pub(super) struct Table<P> {
    pub(super) nodes: Vec<Json>,
    apart: Vec<P>,
    /// Ids by hash; if two hashes are equal, the second node takes the next free one.
    ids: HashMap<u64, usize>,
    hasher: RandomState,
}

impl<P: Hash + PartialEq> Table<P> {
    /// Adds a node without sharing it; returns `None` if there are too many.
    pub(super) fn add(&mut self, node: Json, apart: P) -> Option<usize> {
        let index = self.nodes.len();
        if index as u64 >= NODES_MAX {
            return None;
        }
        self.nodes.push(node);
        self.apart.push(apart);
        Some(index)
    }

    /// Returns the id of the equal node that was shared before, or adds this one; `None` if there are too many.
    pub(super) fn share(&mut self, node: Json, apart: P) -> Option<usize> {
        let mut hash = self.hasher.hash_one((&node, &apart));
        while let Some(index) = self.ids.get(&hash).copied() {
            if self.nodes[index] == node && self.apart[index] == apart {
                return Some(index);
            }
            hash = hash.wrapping_add(1);
        }
        let index = self.add(node, apart)?;
        self.ids.insert(hash, index);
        Some(index)
    }
}

/// The position from which a node was read: line and column.
type Place = (i64, i64);

/// Restores the writer's form of a document: nodes in the order in which they are first needed, equal ones once, none
/// that is not referred to.
pub(super) fn canonical(document: Document, format: &Format) -> Result<Document, WireError> {
    let places = take_places(&document);
    let mut rest = document.rest;
    let positions = rest.iter().position(|(name, _)| name == "positions").map(|index| rest.remove(index));
    let mut order = Order {
        format,
        old: document.nodes,
        places,
        ids: HashMap::new(),
        new: Table::default(),
        placed: Vec::new(),
    };
    map_ids(&format.document, &mut rest, &mut |_, id| order.visit(id, 0))?;
    if let Some((name, mut positions)) = positions {
        let mut list: Vec<Json> = Vec::new();
        for (index, place) in order.placed.iter().enumerate() {
            if let Some((line, column)) = place {
                list.push(Json::List(vec![Json::id(index), Json::Int(*line), Json::Int(*column)]));
            }
        }
        if let Json::Object(fields) = &mut positions {
            for (name, json) in fields {
                if name == "nodes" {
                    *json = Json::List(std::mem::take(&mut list));
                }
            }
        }
        rest.push((name, positions));
    }
    Ok(Document { nodes: order.new.nodes, rest })
}

fn take_places(document: &Document) -> HashMap<usize, Place> {
    let Some(Json::List(items)) = document.field("positions").and_then(|positions| positions.field("nodes"))
    else {
        return HashMap::new();
    };
    let place = |item: &Json| match item {
        Json::List(place) => match place.as_slice() {
            [id, Json::Int(line), Json::Int(column)] => Some((as_id(id)?, (*line, *column))),
            _ => None,
        },
        _ => None,
    };
    items.iter().filter_map(place).collect()
}

struct Order<'f> {
    format: &'f Format,
    old: Vec<Json>,
    places: HashMap<usize, Place>,
    /// New ids by old id.
    ids: HashMap<usize, usize>,
    /// New nodes; equal ones occur once, statements only if their positions are equal too.
    new: Table<Option<Place>>,
    placed: Vec<Option<Place>>,
}

impl Order<'_> {
    fn visit(&mut self, id: usize, depth: usize) -> Result<usize, WireError> {
        if let Some(index) = self.ids.get(&id) {
            return Ok(*index);
        }
        if depth >= LEVELS_MAX {
            return Err(WireError::new(format!(
                "the module nests more than {DEPTH_MAX} levels deep when rewritten"
            )));
        }
        // Each is visited once.
        let mut node = self.old.get_mut(id).map_or(Json::Null, |node| std::mem::replace(node, Json::Null));
        let kind = self.format.node(node.word("node"));
        if let (Some(kind), Json::Object(fields)) = (kind, &mut node) {
            map_ids(&kind.fields, fields, &mut |_, id| self.visit(id, depth + 1))?;
        }
        let sort = kind.map_or(Sort::Attr, |kind| kind.sort);
        let place = self.places.get(&id).copied();
        let index = match sort {
            Sort::Var | Sort::Buffer => self.new.add(node, None),
            _ => self.new.share(node, place.filter(|_| sort == Sort::Stmt)),
        };
        let too_many =
            || WireError::new(format!("the module has more than {NODES_MAX} nodes when rewritten"));
        let index = index.ok_or_else(too_many)?;
        if index == self.placed.len() {
            self.placed.push(place);
        } else if self.placed[index] != place {
            self.placed[index] = None;
        }
        self.ids.insert(id, index);
        Ok(index)
    }
}
