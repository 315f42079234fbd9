//! Rewrites a document without its module: nodes are replaced one after the other, then the
//! document is made canonical again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash, RandomState};

use super::format::{Field, Format, Sort, map_ids};
use super::json::{Json, node};
use super::{LEVELS_MAX, WireError};
use crate::limits::{DEPTH_MAX, NODES_MAX};

/// A document under construction: its nodes, and its other fields except the version, in their
/// order.
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
    /// What stands in the place of nodes that were left out.
    gone: HashSet<usize>,
}

impl Out {
    pub(super) fn add(&mut self, node: Json) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds an empty sequence in the place of a node that is left out.
    fn nothing(&mut self) -> usize {
        let id = self.add(node!("Seq", stmts: Json::List(Vec::new())));
        self.gone.insert(id);
        id
    }

    /// Returns true for the id of a node that was left out.
    pub(super) fn is_gone(&self, json: &Json) -> bool {
        as_id(json).is_some_and(|id| self.gone.contains(&id))
    }

    /// Leaves the parts that were left out out of what holds them too: a statement out of its
    /// sequence, and the evaluation of an expression.
    fn without_gone(&self, node: &mut Json) -> Kept {
        match node.word("node") {
            "Evaluate" if node.field("value").is_some_and(|value| self.is_gone(value)) => {
                return Kept::Nothing;
            }
            "Seq" => {}
            _ => return Kept::Node,
        }
        let Json::Object(fields) = node else { return Kept::Node };
        for (_, list) in fields.iter_mut().filter(|(name, _)| name == "stmts") {
            let Json::List(stmts) = list else { continue };
            let all = stmts.len();
            stmts.retain(|stmt| !self.is_gone(stmt));
            match stmts.as_slice() {
                kept if kept.len() == all => {}
                [] => return Kept::Nothing,
                [one] => return as_id(one).map_or(Kept::Node, Kept::Part),
                _ => {}
            }
        }
        Kept::Node
    }
}

/// What is kept of a node after some of its parts were left out.
enum Kept {
    Nothing,
    /// One part stands for the node.
    Part(usize),
    Node,
}

fn as_id(json: &Json) -> Option<usize> {
    match json {
        Json::Int(value) => usize::try_from(*value).ok(),
        _ => None,
    }
}

/// Replaces each node, in order, by what `each` adds: it receives the node with the ids of its
/// replaced parts, and returns the id of the replacement, or `None` for a statement, or an
/// expression that is only evaluated, to be left out. Nodes that are not referred to any more may
/// stay; [`canonical`] drops them.
pub(super) fn rewrite(
    document: Document,
    format: &Format,
    mut each: impl FnMut(&mut Out, Json) -> Result<Option<usize>, String>,
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
        let instead = match out.without_gone(&mut node) {
            Kept::Nothing => None,
            Kept::Part(id) => Some(id),
            Kept::Node => each(&mut out, node).map_err(at)?,
        };
        now.push(instead.unwrap_or_else(|| out.nothing()));
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

    /// Returns the id of the equal node that was shared before, or adds this one; `None` if there
    /// are too many.
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
type Position = (i64, i64);

/// Restores the writer's form of a document: nodes in the order in which they are first needed,
/// equal ones once, none that is not referred to.
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

fn take_places(document: &Document) -> HashMap<usize, Position> {
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
    places: HashMap<usize, Position>,
    /// New ids by old id.
    ids: HashMap<usize, usize>,
    /// New nodes; equal ones occur once, statements only if their positions are equal too.
    new: Table<Option<Position>>,
    placed: Vec<Option<Position>>,
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
