//! Converts a document to a module.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{Fields, Read};
use super::json::Json;
use super::rewrite::Document;
use super::write::{binary_name, compare_name, iter_name};
use super::{LEVELS_MAX, Sections, WireError};
use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::{
    AttrNode, AttrValue, Attrs, BinaryOp, Block, Buffer, BufferNode, BufferRegion, Callee, CompareOp,
    ConstantData, Expr, ExprKind, ForKind, IrModule, IterKind, IterVar, MatchBufferRegion, Op, Param,
    PointerType, PrimFunc, Range, Reducer, Span, Stmt, StmtKind, StorageScope, Target, Var,
};

const ITERS: [IterKind; 4] = [IterKind::Spatial, IterKind::Reduce, IterKind::Ordered, IterKind::Opaque];

/// Returns the module of a document of the newest minor, with the sections beside it, and the file
/// that it was read from.
pub(super) fn document(document: Document, sections: Sections<'_>) -> Read<(IrModule, Option<Arc<str>>)> {
    let Document { nodes, rest } = document;
    if nodes.len() as u64 > NODES_MAX {
        return Err(WireError::new(format!("expected at most {NODES_MAX} nodes, found {}", nodes.len())));
    }
    let rest = Json::Object(rest);
    let nodes_of = Vec::with_capacity(nodes.len());
    let constants = RefCell::new(HashMap::new());
    let mut reader = Reader { nodes: nodes_of, copied: Cell::new(0), sections, constants };
    let (file, mut places) = positions(&rest)?;
    for (index, json) in nodes.into_iter().enumerate() {
        let mut node = reader.node(&json).map_err(|error| WireError { node: Some(index), ..error })?;
        if let Some((_, span)) = places.next_if(|(id, _)| *id == index) {
            node = node.at(span).map_err(|error| WireError { node: Some(index), ..error })?;
        }
        reader.nodes.push(node);
    }
    if let Some((id, _)) = places.next() {
        return Err(WireError::new(format!("positions: there is no node {id}")));
    }
    let mut fields = Fields::new(&rest, "the document")?;
    let functions = fields.list("functions")?;
    let functions = functions.iter().map(|function| reader.function(function)).collect::<Read<_>>()?;
    let attrs = reader.attrs(&mut fields, "attrs", &mut 0)?;
    if rest.field("positions").is_some() {
        fields.take("positions")?;
    }
    fields.end()?;
    Ok((IrModule { functions, attrs }, file))
}

type Places = std::iter::Peekable<std::vec::IntoIter<(usize, Span)>>;

/// Returns the file's name, and positions by id, in order.
fn positions(rest: &Json) -> Read<(Option<Arc<str>>, Places)> {
    let Some(json) = rest.field("positions") else {
        return Ok((None, Vec::new().into_iter().peekable()));
    };
    let mut fields = Fields::new(json, "positions")?;
    let file = fields.optional_text("file")?;
    let mut places: Vec<(usize, Span)> = Vec::new();
    for json in fields.list("nodes")? {
        let place = match json {
            Json::List(place) => match place.as_slice() {
                [Json::Int(id), Json::Int(line), Json::Int(column)] => usize::try_from(*id)
                    .ok()
                    .zip(u32::try_from(*line).ok().filter(|line| *line > 0))
                    .zip(u32::try_from(*column).ok().filter(|column| *column > 0)),
                _ => None,
            },
            _ => None,
        };
        let Some(((id, line), column)) = place else {
            return Err(fields.wrong("nodes", "an id, a line and a column, both from 1", json));
        };
        if places.last().is_some_and(|(last, _)| *last >= id) {
            return Err(fields.wrong("nodes", "each id once, in their order", json));
        }
        places.push((id, Span { line, column }));
    }
    fields.end()?;
    Ok((file, places.into_iter().peekable()))
}

/// A node that was read, with its number of levels.
enum Node {
    Var(Var),
    Buffer(Buffer, usize),
    Expr(Expr, usize),
    Stmt(Stmt, usize),
    /// The value, levels, and nodes; a value is copied at each reference to it.
    Attr(AttrValue, usize, u64),
    Reducer(Arc<Reducer>, usize),
}

impl Node {
    /// Returns the node with a position.
    fn at(self, span: Span) -> Read<Self> {
        match self {
            Self::Expr(expr, levels) => Ok(Self::Expr(expr.with_span(span), levels)),
            Self::Stmt(stmt, levels) => Ok(Self::Stmt(stmt.with_span(span), levels)),
            other => Err(WireError::new(format!("{} has no position", other.sort()))),
        }
    }

    fn sort(&self) -> &'static str {
        match self {
            Self::Var(_) => "a variable",
            Self::Buffer(..) => "a buffer",
            Self::Expr(..) => "an expression",
            Self::Stmt(..) => "a statement",
            Self::Attr(..) => "the value of an attribute",
            Self::Reducer(..) => "a reducer",
        }
    }
}

struct Reader<'s> {
    nodes: Vec<Node>,
    sections: Sections<'s>,
    /// The bytes of sections that were read, by their digest: each is copied once.
    constants: RefCell<HashMap<Arc<str>, ConstantData>>,
    /// Number of attribute values that references copied so far.
    copied: Cell<u64>,
}

impl Reader<'_> {
    fn node(&self, json: &Json) -> Read<Node> {
        let mut fields = Fields::new(json, "a node")?;
        let name = fields.text("node")?;
        fields.what = name.to_string();
        let node = match &*name {
            "Var" => Node::Var(Self::var_node(&mut fields)?),
            "Buffer" => {
                let mut levels = 0;
                let buffer = self.buffer_node(&mut fields, &mut levels)?;
                Node::Buffer(buffer, self.level(levels)?)
            }
            "Reducer" => {
                let mut levels = 0;
                let reducer = self.reducer_node(&mut fields, &mut levels)?;
                Node::Reducer(Arc::new(reducer), self.level(levels)?)
            }
            _ if name.starts_with("Attr") && &*name != "Attr" => {
                let before = self.copied.get();
                let (value, levels) = self.attr_node(&name, &mut fields)?;
                Node::Attr(value, self.level(levels)?, self.copied.get() - before + 1)
            }
            _ => {
                let mut levels = 0;
                if let Some(kind) = self.stmt_node(&name, &mut fields, &mut levels)? {
                    Node::Stmt(Stmt::new(kind), self.level(levels)?)
                } else if let Some(expr) = self.expr_node(&name, &mut fields, &mut levels)? {
                    Node::Expr(expr, self.level(levels)?)
                } else {
                    return Err(WireError::new(format!("unknown node \"{}\"", Json::Text(name).brief())));
                }
            }
        };
        fields.end()?;
        Ok(node)
    }

    fn level(&self, below: usize) -> Read<usize> {
        if below >= LEVELS_MAX {
            return Err(WireError::new(format!("nests more than {DEPTH_MAX} levels deep")));
        }
        Ok(below + 1)
    }

    /// Returns the node that an id refers to.
    fn refer(&self, fields: &Fields<'_>, name: &str, json: &Json) -> Read<&Node> {
        let index = match json {
            Json::Int(value) => usize::try_from(*value).ok(),
            _ => None,
        };
        index.and_then(|index| self.nodes.get(index)).ok_or_else(|| {
            fields.wrong(name, &format!("the id of an earlier node, below {}", self.nodes.len()), json)
        })
    }

    fn sort_error(fields: &Fields<'_>, name: &str, expected: &str, json: &Json, found: &Node) -> WireError {
        let text = format!("node {}, {}", json.brief(), found.sort());
        WireError::new(format!("{}: field \"{name}\": expected {expected}, found {text}", fields.what))
    }

    fn as_var(&self, fields: &Fields<'_>, name: &str, json: &Json) -> Read<Var> {
        match self.refer(fields, name, json)? {
            Node::Var(var) => Ok(var.clone()),
            other => Err(Self::sort_error(fields, name, "a variable", json, other)),
        }
    }

    fn as_buffer(&self, fields: &Fields<'_>, name: &str, json: &Json, levels: &mut usize) -> Read<Buffer> {
        match self.refer(fields, name, json)? {
            Node::Buffer(buffer, below) => {
                *levels = (*levels).max(*below);
                Ok(buffer.clone())
            }
            other => Err(Self::sort_error(fields, name, "a buffer", json, other)),
        }
    }

    fn as_expr(&self, fields: &Fields<'_>, name: &str, json: &Json, levels: &mut usize) -> Read<Expr> {
        match self.refer(fields, name, json)? {
            Node::Var(var) => {
                *levels = (*levels).max(1);
                Ok(var.expr())
            }
            Node::Expr(expr, below) => {
                *levels = (*levels).max(*below);
                Ok(expr.clone())
            }
            other => Err(Self::sort_error(fields, name, "an expression", json, other)),
        }
    }

    fn as_stmt(&self, fields: &Fields<'_>, name: &str, json: &Json, levels: &mut usize) -> Read<Stmt> {
        match self.refer(fields, name, json)? {
            Node::Stmt(stmt, below) => {
                *levels = (*levels).max(*below);
                Ok(stmt.clone())
            }
            other => Err(Self::sort_error(fields, name, "a statement", json, other)),
        }
    }

    fn var(&self, fields: &mut Fields<'_>, name: &str) -> Read<Var> {
        let json = fields.take(name)?;
        self.as_var(fields, name, json)
    }

    fn buffer(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Buffer> {
        let json = fields.take(name)?;
        self.as_buffer(fields, name, json, levels)
    }

    fn buffers(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Vec<Buffer>> {
        fields.list(name)?.iter().map(|json| self.as_buffer(fields, name, json, levels)).collect()
    }

    fn expr(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Expr> {
        let json = fields.take(name)?;
        self.as_expr(fields, name, json, levels)
    }

    fn exprs(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Vec<Expr>> {
        fields.list(name)?.iter().map(|json| self.as_expr(fields, name, json, levels)).collect()
    }

    fn optional_expr(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Option<Expr>> {
        match fields.take(name)? {
            Json::Null => Ok(None),
            json => self.as_expr(fields, name, json, levels).map(Some),
        }
    }

    fn stmt(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Stmt> {
        let json = fields.take(name)?;
        self.as_stmt(fields, name, json, levels)
    }

    fn optional_stmt(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Option<Stmt>> {
        match fields.take(name)? {
            Json::Null => Ok(None),
            json => self.as_stmt(fields, name, json, levels).map(Some),
        }
    }

    fn var_node(fields: &mut Fields<'_>) -> Read<Var> {
        let name = fields.text("name")?;
        let dtype = fields.dtype()?;
        let pointer = match fields.take("pointer")? {
            Json::Null => None,
            json => {
                let mut inner = Fields::new(json, "the pointer of a Var")?;
                let element = inner.parsed("element", "a type's name")?;
                let scope = StorageScope::parse(&inner.text("scope")?);
                inner.end()?;
                Some(PointerType { element, scope })
            }
        };
        match pointer {
            None => Ok(Var::new(name, dtype)),
            Some(pointer) if dtype.is_handle() => Ok(Var::pointer(name, pointer.element, pointer.scope)),
            Some(_) => Err(WireError::new(format!("Var: a pointer has type handle, found {dtype}"))),
        }
    }

    fn buffer_node(&self, fields: &mut Fields<'_>, levels: &mut usize) -> Read<Buffer> {
        let node = BufferNode {
            name: fields.text("name")?,
            dtype: fields.dtype()?,
            shape: self.exprs(fields, "shape", levels)?,
            strides: self.exprs(fields, "strides", levels)?,
            elem_offset: self.optional_expr(fields, "elem_offset", levels)?,
            data: self.var(fields, "data")?,
            scope: StorageScope::parse(&fields.text("scope")?),
            data_alignment_bytes: fields.number("data_alignment_bytes")?,
            offset_factor: fields.number("offset_factor")?,
        };
        Ok(Buffer::from_node(node))
    }

    fn expr_node(&self, name: &str, fields: &mut Fields<'_>, levels: &mut usize) -> Read<Option<Expr>> {
        if name == "Str" {
            return Ok(Some(Expr::str(fields.text("value")?)));
        }
        if name == "ConstantData" {
            return self.constant_data(fields).map(Some);
        }
        let binary = BinaryOp::ALL.iter().copied().find(|op| binary_name(*op) == name);
        let compare = CompareOp::ALL.iter().copied().find(|op| compare_name(*op) == name);
        let pair = binary.is_some() || compare.is_some() || matches!(name, "And" | "Or");
        let kind = if pair {
            let (a, b) = (self.expr(fields, "a", levels)?, self.expr(fields, "b", levels)?);
            match (binary, compare, name) {
                (Some(op), _, _) => ExprKind::Binary(op, a, b),
                (_, Some(op), _) => ExprKind::Compare(op, a, b),
                (_, _, "And") => ExprKind::And(a, b),
                _ => ExprKind::Or(a, b),
            }
        } else if let Some(kind) = self.other_expr(name, fields, levels)? {
            kind
        } else {
            return Ok(None);
        };
        Ok(Some(Expr::new(kind, fields.dtype()?)))
    }

    fn other_expr(&self, name: &str, fields: &mut Fields<'_>, levels: &mut usize) -> Read<Option<ExprKind>> {
        Ok(Some(match name {
            "Int" => ExprKind::Int(fields.int("value")?),
            "Float" => ExprKind::Float(fields.bits()?),
            "Cast" => ExprKind::Cast(self.expr(fields, "value", levels)?),
            "Not" => ExprKind::Not(self.expr(fields, "value", levels)?),
            "Select" => ExprKind::Select(
                self.expr(fields, "condition", levels)?,
                self.expr(fields, "then", levels)?,
                self.expr(fields, "otherwise", levels)?,
            ),
            "Load" => ExprKind::Load {
                buffer: self.buffer(fields, "buffer", levels)?,
                indices: self.exprs(fields, "indices", levels)?,
                predicate: self.optional_expr(fields, "predicate", levels)?,
            },
            "Ramp" => ExprKind::Ramp {
                base: self.expr(fields, "base", levels)?,
                stride: self.expr(fields, "stride", levels)?,
                lanes: fields.number("lanes")?,
            },
            "Broadcast" => ExprKind::Broadcast {
                value: self.expr(fields, "value", levels)?,
                lanes: fields.number("lanes")?,
            },
            "Shuffle" => {
                ExprKind::Shuffle { vectors: self.exprs(fields, "vectors", levels)?, indices: lanes(fields)? }
            }
            "Let" => ExprKind::Let {
                var: self.var(fields, "var")?,
                value: self.expr(fields, "value", levels)?,
                body: self.expr(fields, "body", levels)?,
            },
            "CallOp" => {
                let op = fields.text("op")?;
                let callee =
                    Op::by_name(&op).ok_or_else(|| fields.wrong("op", "a known op", &Json::Text(op)))?;
                ExprKind::Call { callee: Callee::Op(callee), args: self.exprs(fields, "args", levels)? }
            }
            "CallGlobal" => ExprKind::Call {
                callee: Callee::Global(fields.text("function")?),
                args: self.exprs(fields, "args", levels)?,
            },
            "CallExtern" => ExprKind::Call {
                callee: Callee::Extern { name: fields.text("name")?, pure: fields.bool("pure")? },
                args: self.exprs(fields, "args", levels)?,
            },
            _ => return Ok(None),
        }))
    }

    /// Takes the bytes of a constant from its section (WIRE-W10).
    fn constant_data(&self, fields: &mut Fields<'_>) -> Read<Expr> {
        let (name, size_bytes) = (fields.text("section")?, fields.int("size_bytes")?);
        let known = self.constants.borrow().get(&name).cloned();
        let data = match known {
            Some(data) => data,
            None => {
                let wrong = |what: &str| {
                    WireError::new(format!("ConstantData: section \"{name}\" {what} (WIRE-W10)"))
                };
                let bytes = (self.sections)(&name).ok_or_else(|| {
                    wrong("is not beside the document; give the document's sections to its reader")
                })?;
                let data = ConstantData::new(bytes);
                if *data.digest() != name {
                    return Err(wrong("has other bytes: expected those of that SHA-256"));
                }
                self.constants.borrow_mut().insert(name.clone(), data.clone());
                data
            }
        };
        let found = data.bytes().len();
        if i128::try_from(found) != Ok(size_bytes) {
            let text = format!("ConstantData: section \"{name}\" has {found} bytes");
            return Err(WireError::new(format!("{text}, the node expects {size_bytes} (WIRE-W10)")));
        }
        Ok(Expr::constant_data(data))
    }

    fn stmt_node(&self, name: &str, fields: &mut Fields<'_>, levels: &mut usize) -> Read<Option<StmtKind>> {
        Ok(Some(match name {
            "Seq" => {
                let stmts = fields.list("stmts")?.iter();
                StmtKind::Seq(
                    stmts.map(|json| self.as_stmt(fields, "stmts", json, levels)).collect::<Read<_>>()?,
                )
            }
            "Bind" => {
                StmtKind::Bind { var: self.var(fields, "var")?, value: self.expr(fields, "value", levels)? }
            }
            "Store" => StmtKind::Store {
                buffer: self.buffer(fields, "buffer", levels)?,
                indices: self.exprs(fields, "indices", levels)?,
                value: self.expr(fields, "value", levels)?,
                predicate: self.optional_expr(fields, "predicate", levels)?,
            },
            "AllocBuffer" => StmtKind::AllocBuffer {
                buffer: self.buffer(fields, "buffer", levels)?,
                annotations: self.attrs(fields, "annotations", levels)?,
            },
            "DeclBuffer" => StmtKind::DeclBuffer {
                buffer: self.buffer(fields, "buffer", levels)?,
                data: self.optional_expr(fields, "data", levels)?,
            },
            "For" => self.for_node(fields, levels)?,
            "While" => StmtKind::While {
                condition: self.expr(fields, "condition", levels)?,
                body: self.stmt(fields, "body", levels)?,
            },
            "If" => StmtKind::If {
                condition: self.expr(fields, "condition", levels)?,
                then: self.stmt(fields, "then", levels)?,
                otherwise: self.optional_stmt(fields, "otherwise", levels)?,
            },
            "BlockRealize" => self.block_node(fields, levels)?,
            "Evaluate" => StmtKind::Evaluate(self.expr(fields, "value", levels)?),
            "Assert" => StmtKind::Assert {
                condition: self.expr(fields, "condition", levels)?,
                kind: fields.text("kind")?,
                message: self.exprs(fields, "message", levels)?,
            },
            "Attr" => StmtKind::Attr {
                node: self.about(fields, levels)?,
                key: fields.text("key")?,
                value: self.expr(fields, "value", levels)?,
                body: self.stmt(fields, "body", levels)?,
            },
            "LaunchThread" => StmtKind::LaunchThread {
                var: self.var(fields, "var")?,
                axis: fields.parsed("axis", "a thread axis")?,
                extent: self.expr(fields, "extent", levels)?,
                body: self.stmt(fields, "body", levels)?,
            },
            "Return" => StmtKind::Return(self.optional_expr(fields, "value", levels)?),
            "Break" => StmtKind::Break,
            "Continue" => StmtKind::Continue,
            _ => return Ok(None),
        }))
    }

    fn about(&self, fields: &mut Fields<'_>, levels: &mut usize) -> Read<AttrNode> {
        let json = fields.take("about")?;
        if *json == Json::Null {
            return Ok(AttrNode::None);
        }
        match self.refer(fields, "about", json)? {
            Node::Buffer(..) => self.as_buffer(fields, "about", json, levels).map(AttrNode::Buffer),
            Node::Var(var) => Ok(AttrNode::Var(var.clone())),
            Node::Reducer(reducer, below) => {
                *levels = (*levels).max(*below);
                Ok(AttrNode::Reducer(Arc::clone(reducer)))
            }
            other => Err(Self::sort_error(fields, "about", "a buffer, a variable or a reducer", json, other)),
        }
    }

    fn reducer_node(&self, fields: &mut Fields<'_>, levels: &mut usize) -> Read<Reducer> {
        let mut vars = |name: &str| -> Read<Vec<Var>> {
            fields.list(name)?.iter().map(|json| self.as_var(fields, name, json)).collect()
        };
        let (lhs, rhs) = (vars("lhs")?, vars("rhs")?);
        Ok(Reducer {
            lhs,
            rhs,
            result: self.exprs(fields, "result", levels)?,
            identity: self.exprs(fields, "identity", levels)?,
        })
    }

    fn for_node(&self, fields: &mut Fields<'_>, levels: &mut usize) -> Read<StmtKind> {
        let kind = fields.text("kind")?;
        let thread = fields.optional_text("thread")?;
        let kind = match (&*kind, thread) {
            ("serial", None) => ForKind::Serial,
            ("parallel", None) => ForKind::Parallel,
            ("vectorized", None) => ForKind::Vectorized,
            ("unrolled", None) => ForKind::Unrolled,
            ("thread_binding", Some(axis)) => match axis.parse() {
                Ok(axis) => ForKind::ThreadBinding(axis),
                Err(_) => return Err(fields.wrong("thread", "a thread axis", &Json::Text(axis))),
            },
            (_, thread) => {
                let found = Json::List(vec![Json::text(&kind), thread.map_or(Json::Null, Json::Text)]);
                let expected = "a kind of loop, and a thread with thread_binding alone";
                return Err(fields.wrong("kind", expected, &found));
            }
        };
        Ok(StmtKind::For {
            var: self.var(fields, "var")?,
            min: self.expr(fields, "min", levels)?,
            extent: self.expr(fields, "extent", levels)?,
            kind,
            step: self.optional_expr(fields, "step", levels)?,
            annotations: self.attrs(fields, "annotations", levels)?,
            body: self.stmt(fields, "body", levels)?,
        })
    }

    fn block_node(&self, fields: &mut Fields<'_>, levels: &mut usize) -> Read<StmtKind> {
        let mut iter_vars = Vec::new();
        for json in fields.list("iter_vars")? {
            let mut axis = Fields::new(json, "an axis of a BlockRealize")?;
            let kind = axis.text("kind")?;
            let kind = ITERS
                .into_iter()
                .find(|iter| iter_name(*iter) == &*kind)
                .ok_or_else(|| axis.wrong("kind", "spatial, reduce, scan or opaque", &Json::Text(kind)))?;
            iter_vars.push(IterVar {
                var: self.var(&mut axis, "var")?,
                min: self.expr(&mut axis, "min", levels)?,
                extent: self.expr(&mut axis, "extent", levels)?,
                kind,
            });
            axis.end()?;
        }
        let mut match_buffers = Vec::new();
        for json in fields.list("match_buffers")? {
            let mut view = Fields::new(json, "a view of a BlockRealize")?;
            let source = self.region(view.take("source")?, levels)?;
            match_buffers
                .push(MatchBufferRegion { buffer: self.buffer(&mut view, "buffer", levels)?, source });
            view.end()?;
        }
        Ok(StmtKind::BlockRealize {
            iter_values: self.exprs(fields, "iter_values", levels)?,
            predicate: self.expr(fields, "predicate", levels)?,
            block: Arc::new(Block {
                name: fields.text("name")?,
                iter_vars,
                reads: self.regions(fields, "reads", levels)?,
                writes: self.regions(fields, "writes", levels)?,
                init: self.optional_stmt(fields, "init", levels)?,
                alloc_buffers: self.buffers(fields, "alloc_buffers", levels)?,
                match_buffers,
                annotations: self.attrs(fields, "annotations", levels)?,
                body: self.stmt(fields, "body", levels)?,
            }),
        })
    }

    fn regions(
        &self,
        fields: &mut Fields<'_>,
        name: &str,
        levels: &mut usize,
    ) -> Read<Option<Vec<BufferRegion>>> {
        match fields.take(name)? {
            Json::Null => Ok(None),
            Json::List(items) => {
                items.iter().map(|json| self.region(json, levels)).collect::<Read<_>>().map(Some)
            }
            other => Err(fields.wrong(name, "a list or null", other)),
        }
    }

    fn region(&self, json: &Json, levels: &mut usize) -> Read<BufferRegion> {
        let mut fields = Fields::new(json, "a region")?;
        let buffer = self.buffer(&mut fields, "buffer", levels)?;
        let mut region = Vec::new();
        for json in fields.list("region")? {
            let Json::List(range) = json else {
                return Err(fields.wrong("region", "pairs of ids", json));
            };
            let [min, extent] = range.as_slice() else {
                return Err(fields.wrong("region", "pairs of ids", json));
            };
            region.push(Range {
                min: self.as_expr(&fields, "region", min, levels)?,
                extent: self.as_expr(&fields, "region", extent, levels)?,
            });
        }
        fields.end()?;
        Ok(BufferRegion { buffer, region })
    }

    fn attrs(&self, fields: &mut Fields<'_>, name: &str, levels: &mut usize) -> Read<Attrs> {
        let mut attrs = Attrs::new();
        for json in fields.list(name)? {
            let pair = match json {
                Json::List(pair) => pair.as_slice(),
                _ => &[],
            };
            let [Json::Text(key), value] = pair else {
                return Err(fields.wrong(name, "pairs of a name and an id", json));
            };
            let value = self.as_attr(fields, name, value, levels)?;
            if attrs.insert(Arc::clone(key), value).is_some() {
                return Err(fields.wrong(name, "each name once", json));
            }
        }
        Ok(attrs)
    }

    fn as_attr(&self, fields: &Fields<'_>, name: &str, json: &Json, levels: &mut usize) -> Read<AttrValue> {
        match self.refer(fields, name, json)? {
            Node::Attr(value, below, nodes) => {
                *levels = (*levels).max(*below);
                let copied = self.copied.get().saturating_add(*nodes);
                self.copied.set(copied);
                if copied > NODES_MAX {
                    return Err(WireError::new(format!(
                        "attributes have more than {NODES_MAX} values in all"
                    )));
                }
                Ok(value.clone())
            }
            other => Err(Self::sort_error(fields, name, "the value of an attribute", json, other)),
        }
    }

    fn attr_node(&self, name: &str, fields: &mut Fields<'_>) -> Read<(AttrValue, usize)> {
        let mut levels = 0;
        let value = match name {
            "AttrNone" => AttrValue::None,
            "AttrBool" => AttrValue::Bool(fields.bool("value")?),
            "AttrInt" => {
                let value = fields.int("value")?;
                let narrow = i64::try_from(value);
                AttrValue::Int(narrow.map_err(|_| {
                    fields.wrong("value", "a 64-bit integer", &Json::text(&value.to_string()))
                })?)
            }
            "AttrFloat" => AttrValue::Float(fields.bits()?),
            "AttrStr" => AttrValue::Str(fields.text("value")?),
            "AttrList" => {
                let mut items = Vec::new();
                for json in fields.list("items")? {
                    items.push(self.as_attr(fields, "items", json, &mut levels)?);
                }
                AttrValue::List(items)
            }
            "AttrMap" => AttrValue::Map(self.attrs(fields, "items", &mut levels)?),
            "AttrTarget" => {
                let target = Target::from_canonical_json(&plain(fields.take("target")?))
                    .map_err(|error| WireError::new(format!("AttrTarget: {error}")))?;
                AttrValue::Target(Arc::new(target))
            }
            "AttrExpr" => AttrValue::Expr(self.expr(fields, "value", &mut levels)?),
            _ => return Err(WireError::new(format!("unknown node \"{name}\""))),
        };
        Ok((value, levels))
    }

    fn function(&self, json: &Json) -> Read<PrimFunc> {
        let mut fields = Fields::new(json, "a function")?;
        let name = fields.text("name")?;
        fields.what = format!("function {}", Json::Text(Arc::clone(&name)).brief());
        let mut params = Vec::new();
        for json in fields.list("params")? {
            params.push(match self.refer(&fields, "params", json)? {
                Node::Buffer(buffer, _) => Param::Buffer(buffer.clone()),
                Node::Var(var) => Param::Var(var.clone()),
                other => {
                    return Err(Self::sort_error(&fields, "params", "a buffer or a variable", json, other));
                }
            });
        }
        let ret = match fields.optional_text("ret")? {
            None => None,
            Some(text) => match text.parse() {
                Ok(dtype) => Some(dtype),
                Err(_) => return Err(fields.wrong("ret", "a type's name or null", &Json::Text(text))),
            },
        };
        let mut levels = 0;
        let function = PrimFunc {
            name,
            params,
            ret,
            attrs: self.attrs(&mut fields, "attrs", &mut levels)?,
            s_tir: fields.bool("s_tir")?,
            alloc_buffers: self.buffers(&mut fields, "alloc_buffers", &mut levels)?,
            body: self.stmt(&mut fields, "body", &mut levels)?,
        };
        fields.end()?;
        Ok(function)
    }
}

fn lanes(fields: &mut Fields<'_>) -> Read<Vec<u16>> {
    let items = fields.list("indices")?.iter();
    items
        .map(|json| match json {
            Json::Int(value) => {
                u16::try_from(*value).map_err(|_| fields.wrong("indices", "numbers of lanes", json))
            }
            _ => Err(fields.wrong("indices", "numbers of lanes", json)),
        })
        .collect()
}

/// Converts to the JSON of targets.
fn plain(json: &Json) -> serde_json::Value {
    use serde_json::Value;
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Int(value) => Value::from(*value),
        Json::Text(text) => Value::String(text.to_string()),
        Json::List(items) => Value::Array(items.iter().map(plain).collect()),
        Json::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.to_string(), plain(value))).collect())
        }
    }
}
