//! Converts a module to a document.

use std::collections::HashMap;
use std::sync::Arc;

use super::json::{Json, node, object};
use super::rewrite::{Document, Table};
use super::{LEVELS_MAX, WireError, format};
use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::{
    AttrNode, AttrValue, Attrs, BinaryOp, Block, Buffer, BufferRegion, Callee, CompareOp, DType, Expr,
    ExprKind, ForKind, IrModule, IterKind, Param, PrimFunc, Reducer, Span, Stmt, StmtKind, Var,
};

type Id = Result<Json, WireError>;

/// Returns the document of a module at the newest minor; with positions, statements with different
/// positions stay separate.
pub(super) fn document(
    module: &IrModule,
    positions: bool,
    file: Option<&str>,
) -> Result<Document, WireError> {
    let mut writer = Writer { positions, ..Writer::default() };
    let functions = writer.list(&module.functions, |w, f| w.function(f))?;
    let attrs = writer.attrs(&module.attrs)?;
    let mut rest = vec![("functions".into(), functions), ("attrs".into(), attrs)];
    let places = writer.places();
    if positions && (file.is_some() || !places.is_empty()) {
        let file = file.map_or(Json::Null, Json::text);
        rest.push(("positions".into(), object! { file: file, nodes: Json::List(places) }));
    }
    Ok(Document { nodes: writer.nodes.nodes, rest })
}

/// Returns a text that is the same for two modules if nothing distinguishes them (WIRE-W9).
pub(super) fn identity(module: &IrModule) -> Result<String, WireError> {
    let mut writer = Writer { positions: true, is_exact: true, ..Writer::default() };
    let functions = writer.list(&module.functions, |w, f| w.function(f))?;
    let attrs = writer.attrs(&module.attrs)?;
    let places = Json::List(writer.places());
    let rest = vec![("functions".into(), functions), ("attrs".into(), attrs), ("places".into(), places)];
    Ok(text(&Document { nodes: writer.nodes.nodes, rest }, ""))
}

/// Returns the document as text, one node a line.
pub(super) fn text(document: &Document, version: &str) -> String {
    let mut out = String::from("{\"chipdock_ir\":");
    Json::text(version).write(&mut out);
    out.push_str(",\n\"nodes\":[");
    for (index, node) in document.nodes.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        node.write(&mut out);
    }
    out.push_str("\n]");
    for (name, value) in &document.rest {
        out.push_str(",\n");
        Json::text(name).write(&mut out);
        out.push(':');
        value.write(&mut out);
    }
    out.push_str("}\n");
    out
}

pub(super) fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "Add",
        BinaryOp::Sub => "Sub",
        BinaryOp::Mul => "Mul",
        BinaryOp::Div => "Div",
        BinaryOp::Mod => "Mod",
        BinaryOp::FloorDiv => "FloorDiv",
        BinaryOp::FloorMod => "FloorMod",
        BinaryOp::Min => "Min",
        BinaryOp::Max => "Max",
    }
}

pub(super) fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "EQ",
        CompareOp::Ne => "NE",
        CompareOp::Lt => "LT",
        CompareOp::Le => "LE",
        CompareOp::Gt => "GT",
        CompareOp::Ge => "GE",
    }
}

pub(super) fn iter_name(kind: IterKind) -> &'static str {
    match kind {
        IterKind::Spatial => "spatial",
        IterKind::Reduce => "reduce",
        IterKind::Ordered => "scan",
        IterKind::Opaque => "opaque",
    }
}

#[derive(Default)]
struct Writer {
    positions: bool,
    /// Whether equal expressions with different positions are kept apart too, including each use of
    /// a variable (WIRE-W9).
    is_exact: bool,
    /// Written nodes; equal ones occur once, statements only if their positions are equal too, if
    /// positions are written.
    nodes: Table<Span>,
    /// Positions of statements and expressions; [`Span::NONE`] for equal expressions with several
    /// positions.
    places: HashMap<usize, Span>,
    exprs: HashMap<usize, usize>,
    stmts: HashMap<usize, usize>,
    vars: HashMap<Var, usize>,
    buffers: HashMap<Buffer, usize>,
    depth: usize,
}

fn id(index: usize) -> Json {
    Json::id(index)
}

fn too_many() -> WireError {
    WireError::new(format!("the module has more than {NODES_MAX} nodes"))
}

impl Writer {
    fn add(&mut self, node: Json) -> Result<usize, WireError> {
        self.nodes.add(node, Span::NONE).ok_or_else(too_many)
    }

    /// Returns the id of a node: that of an equal one at the same position, if any.
    fn share(&mut self, node: Json, place: Span) -> Result<usize, WireError> {
        self.nodes.share(node, place).ok_or_else(too_many)
    }

    /// Records the position of a node.
    fn place(&mut self, index: usize, place: Span) {
        if self.positions {
            let known = self.places.entry(index).or_insert(place);
            if *known != place {
                *known = Span::NONE;
            }
        }
    }

    /// Returns every known position, by id.
    fn places(&mut self) -> Vec<Json> {
        let mut places: Vec<_> = std::mem::take(&mut self.places).into_iter().collect();
        places.retain(|(_, place)| self.is_exact || place.line > 0 && place.column > 0);
        places.sort_unstable_by_key(|(index, _)| *index);
        let item = |(index, place): (usize, Span)| {
            Json::List(vec![id(index), Json::number(place.line), Json::number(place.column)])
        };
        places.into_iter().map(item).collect()
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, WireError>) -> Result<T, WireError> {
        if self.depth >= LEVELS_MAX {
            return Err(WireError::new(format!("the module nests more than {DEPTH_MAX} levels deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T) -> Id) -> Id {
        Ok(Json::List(items.iter().map(|item| each(self, item)).collect::<Result<_, _>>()?))
    }

    fn optional<T>(&mut self, item: &Option<T>, each: impl FnOnce(&mut Self, &T) -> Id) -> Id {
        item.as_ref().map_or(Ok(Json::Null), |item| each(self, item))
    }

    fn dtype(dtype: DType) -> Id {
        let text = dtype.to_string();
        if format::dtype(&text) == Some(dtype) {
            Ok(Json::text(&text))
        } else {
            Err(WireError::new(format!("there is no type {text}")))
        }
    }

    fn function(&mut self, function: &PrimFunc) -> Id {
        Ok(object! {
            name: Json::Text(Arc::clone(&function.name)),
            params: self.list(&function.params, |w, param| match param {
                Param::Buffer(buffer) => w.buffer(buffer),
                Param::Var(var) => w.var(var),
            })?,
            ret: self.optional(&function.ret, |_, ret| Self::dtype(*ret))?,
            attrs: self.attrs(&function.attrs)?,
            s_tir: Json::Bool(function.s_tir),
            alloc_buffers: self.list(&function.alloc_buffers, Self::buffer)?,
            body: self.stmt(&function.body)?,
        })
    }

    fn var(&mut self, var: &Var) -> Id {
        if let Some(index) = self.vars.get(var) {
            return Ok(id(*index));
        }
        let pointer = self.optional(&var.pointer, |_, pointer| {
            Ok(object! {
                element: Self::dtype(pointer.element)?,
                scope: Json::text(&pointer.scope.to_string()),
            })
        })?;
        let dtype = Self::dtype(var.dtype)?;
        let index = self
            .add(node! { "Var", name: Json::Text(Arc::clone(&var.name)), dtype: dtype, pointer: pointer })?;
        self.vars.insert(var.clone(), index);
        Ok(id(index))
    }

    fn buffer(&mut self, buffer: &Buffer) -> Id {
        if let Some(index) = self.buffers.get(buffer) {
            return Ok(id(*index));
        }
        let node = self.deeper(|w| {
            Ok(node! { "Buffer",
                name: Json::Text(Arc::clone(&buffer.name)),
                dtype: Self::dtype(buffer.dtype)?,
                shape: w.list(&buffer.shape, Self::expr)?,
                strides: w.list(&buffer.strides, Self::expr)?,
                elem_offset: w.optional(&buffer.elem_offset, Self::expr)?,
                data: w.var(&buffer.data)?,
                scope: Json::text(&buffer.scope.to_string()),
                data_alignment_bytes: Json::number(buffer.data_alignment_bytes),
                offset_factor: Json::number(buffer.offset_factor),
            })
        })?;
        let index = self.add(node)?;
        self.buffers.insert(buffer.clone(), index);
        Ok(id(index))
    }

    fn expr(&mut self, expr: &Expr) -> Id {
        if let ExprKind::Var(var) = &expr.kind {
            if expr.dtype != var.dtype {
                return Err(WireError::new(format!(
                    "variable `{}` of type {} is used as {}",
                    var.name, var.dtype, expr.dtype
                )));
            }
            let var = self.var(var)?;
            let Span { line, column } = expr.span;
            return Ok(match self.is_exact {
                true => Json::List(vec![var, Json::number(line), Json::number(column)]),
                false => var,
            });
        }
        let place = if self.is_exact { expr.span } else { Span::NONE };
        let index = match self.exprs.get(&expr.address()) {
            Some(index) => *index,
            None => {
                let node = self.deeper(|w| w.expr_node(expr))?;
                let index = self.share(node, place)?;
                self.exprs.insert(expr.address(), index);
                index
            }
        };
        self.place(index, expr.span);
        Ok(id(index))
    }

    fn expr_node(&mut self, expr: &Expr) -> Id {
        let dtype = Self::dtype(expr.dtype)?;
        Ok(match &expr.kind {
            // Written above.
            ExprKind::Var(_) => Json::Null,
            ExprKind::Int(value) if value.unsigned_abs() > 1 << 64 => {
                return Err(WireError::new(format!("no type has the integer {value}")));
            }
            ExprKind::Int(value) => node! { "Int", dtype: dtype, value: Json::text(&value.to_string()) },
            ExprKind::Float(bits) => {
                node! { "Float", dtype: dtype, bits: Json::text(&format!("{:#018x}", bits.0)) }
            }
            ExprKind::Str(_) if expr.dtype != DType::HANDLE => {
                return Err(WireError::new(format!("a string has type handle, found {}", expr.dtype)));
            }
            ExprKind::Str(text) => node! { "Str", value: Json::Text(Arc::clone(text)) },
            ExprKind::ConstantData(_) if expr.dtype != DType::HANDLE => {
                let text = format!("the bytes of a constant have type handle, found {}", expr.dtype);
                return Err(WireError::new(text));
            }
            ExprKind::ConstantData(data) => node! { "ConstantData",
                section: Json::Text(Arc::clone(data.digest())),
                size_bytes: Json::text(&data.bytes().len().to_string()),
            },
            ExprKind::Cast(value) => node! { "Cast", dtype: dtype, value: self.expr(value)? },
            ExprKind::Not(value) => node! { "Not", dtype: dtype, value: self.expr(value)? },
            ExprKind::Binary(op, a, b) => {
                node! { binary_name(*op), dtype: dtype, a: self.expr(a)?, b: self.expr(b)? }
            }
            ExprKind::Compare(op, a, b) => {
                node! { compare_name(*op), dtype: dtype, a: self.expr(a)?, b: self.expr(b)? }
            }
            ExprKind::And(a, b) => node! { "And", dtype: dtype, a: self.expr(a)?, b: self.expr(b)? },
            ExprKind::Or(a, b) => node! { "Or", dtype: dtype, a: self.expr(a)?, b: self.expr(b)? },
            ExprKind::Select(c, a, b) => node! { "Select", dtype: dtype,
                condition: self.expr(c)?, then: self.expr(a)?, otherwise: self.expr(b)?,
            },
            ExprKind::Load { buffer, indices, predicate } => node! { "Load", dtype: dtype,
                buffer: self.buffer(buffer)?,
                indices: self.list(indices, Self::expr)?,
                predicate: self.optional(predicate, Self::expr)?,
            },
            ExprKind::Ramp { base, stride, lanes } => node! { "Ramp", dtype: dtype,
                base: self.expr(base)?, stride: self.expr(stride)?, lanes: Json::number(*lanes),
            },
            ExprKind::Broadcast { value, lanes } => {
                node! { "Broadcast", dtype: dtype, value: self.expr(value)?, lanes: Json::number(*lanes) }
            }
            ExprKind::Shuffle { vectors, indices } => node! { "Shuffle", dtype: dtype,
                vectors: self.list(vectors, Self::expr)?,
                indices: self.list(indices, |_, index| Ok(Json::number(*index)))?,
            },
            ExprKind::Let { var, value, body } => node! { "Let", dtype: dtype,
                var: self.var(var)?, value: self.expr(value)?, body: self.expr(body)?,
            },
            ExprKind::Call { callee, args } => {
                let args = self.list(args, Self::expr)?;
                match callee {
                    Callee::Op(op) => node! { "CallOp", dtype: dtype, op: Json::text(op.name()), args: args },
                    Callee::Global(name) => {
                        let function = Json::Text(Arc::clone(name));
                        node! { "CallGlobal", dtype: dtype, function: function, args: args }
                    }
                    Callee::Extern { name, pure } => node! { "CallExtern", dtype: dtype,
                        name: Json::Text(Arc::clone(name)), pure: Json::Bool(*pure), args: args,
                    },
                }
            }
        })
    }

    fn stmt(&mut self, stmt: &Stmt) -> Id {
        if let Some(index) = self.stmts.get(&stmt.address()) {
            return Ok(id(*index));
        }
        let node = self.deeper(|w| w.stmt_node(stmt))?;
        let place = if self.positions { stmt.span } else { Span::NONE };
        let index = self.share(node, place)?;
        self.place(index, place);
        self.stmts.insert(stmt.address(), index);
        Ok(id(index))
    }

    fn stmt_node(&mut self, stmt: &Stmt) -> Id {
        Ok(match &stmt.kind {
            StmtKind::Seq(stmts) => node! { "Seq", stmts: self.list(stmts, Self::stmt)? },
            StmtKind::Bind { var, value } => {
                node! { "Bind", var: self.var(var)?, value: self.expr(value)? }
            }
            StmtKind::Store { buffer, indices, value, predicate } => node! { "Store",
                buffer: self.buffer(buffer)?,
                indices: self.list(indices, Self::expr)?,
                value: self.expr(value)?,
                predicate: self.optional(predicate, Self::expr)?,
            },
            StmtKind::AllocBuffer { buffer, annotations } => node! { "AllocBuffer",
                buffer: self.buffer(buffer)?, annotations: self.attrs(annotations)?,
            },
            StmtKind::DeclBuffer { buffer, data } => node! { "DeclBuffer",
                buffer: self.buffer(buffer)?, data: self.optional(data, Self::expr)?,
            },
            StmtKind::For { .. } => self.for_node(stmt)?,
            StmtKind::While { condition, body } => {
                node! { "While", condition: self.expr(condition)?, body: self.stmt(body)? }
            }
            StmtKind::If { condition, then, otherwise } => node! { "If",
                condition: self.expr(condition)?,
                then: self.stmt(then)?,
                otherwise: self.optional(otherwise, Self::stmt)?,
            },
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.block_node(iter_values, predicate, block)?
            }
            StmtKind::Evaluate(value) => node! { "Evaluate", value: self.expr(value)? },
            StmtKind::Assert { condition, kind, message } => node! { "Assert",
                condition: self.expr(condition)?,
                kind: Json::Text(Arc::clone(kind)),
                message: self.list(message, Self::expr)?,
            },
            StmtKind::Attr { node, key, value, body } => node! { "Attr",
                about: match node {
                    AttrNode::None => Json::Null,
                    AttrNode::Buffer(buffer) => self.buffer(buffer)?,
                    AttrNode::Var(var) => self.var(var)?,
                    AttrNode::Reducer(reducer) => self.reducer(reducer)?,
                },
                key: Json::Text(Arc::clone(key)),
                value: self.expr(value)?,
                body: self.stmt(body)?,
            },
            StmtKind::LaunchThread { var, axis, extent, body } => node! { "LaunchThread",
                var: self.var(var)?,
                axis: Json::text(axis.name()),
                extent: self.expr(extent)?,
                body: self.stmt(body)?,
            },
            StmtKind::Return(value) => node! { "Return", value: self.optional(value, Self::expr)? },
            StmtKind::Break => node! { "Break" },
            StmtKind::Continue => node! { "Continue" },
        })
    }

    fn for_node(&mut self, stmt: &Stmt) -> Id {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
            return Ok(Json::Null);
        };
        let (kind, thread) = match kind {
            ForKind::Serial => ("serial", Json::Null),
            ForKind::Parallel => ("parallel", Json::Null),
            ForKind::Vectorized => ("vectorized", Json::Null),
            ForKind::Unrolled => ("unrolled", Json::Null),
            ForKind::ThreadBinding(axis) => ("thread_binding", Json::text(axis.name())),
        };
        Ok(node! { "For",
            var: self.var(var)?,
            min: self.expr(min)?,
            extent: self.expr(extent)?,
            kind: Json::text(kind),
            thread: thread,
            step: self.optional(step, Self::expr)?,
            annotations: self.attrs(annotations)?,
            body: self.stmt(body)?,
        })
    }

    fn block_node(&mut self, iter_values: &[Expr], predicate: &Expr, block: &Block) -> Id {
        Ok(node! { "BlockRealize",
            iter_values: self.list(iter_values, Self::expr)?,
            predicate: self.expr(predicate)?,
            name: Json::Text(Arc::clone(&block.name)),
            iter_vars: self.list(&block.iter_vars, |w, axis| Ok(object! {
                var: w.var(&axis.var)?,
                min: w.expr(&axis.min)?,
                extent: w.expr(&axis.extent)?,
                kind: Json::text(iter_name(axis.kind)),
            }))?,
            reads: self.optional(&block.reads, |w, list| w.list(list, Self::region))?,
            writes: self.optional(&block.writes, |w, list| w.list(list, Self::region))?,
            init: self.optional(&block.init, Self::stmt)?,
            alloc_buffers: self.list(&block.alloc_buffers, Self::buffer)?,
            match_buffers: self.list(&block.match_buffers, |w, view| Ok(object! {
                buffer: w.buffer(&view.buffer)?,
                source: w.region(&view.source)?,
            }))?,
            annotations: self.attrs(&block.annotations)?,
            body: self.stmt(&block.body)?,
        })
    }

    fn region(&mut self, region: &BufferRegion) -> Id {
        Ok(object! {
            buffer: self.buffer(&region.buffer)?,
            region: self.list(&region.region, |w, range| {
                Ok(Json::List(vec![w.expr(&range.min)?, w.expr(&range.extent)?]))
            })?,
        })
    }

    fn reducer(&mut self, reducer: &Reducer) -> Id {
        let node = node! { "Reducer",
            lhs: self.list(&reducer.lhs, Self::var)?,
            rhs: self.list(&reducer.rhs, Self::var)?,
            result: self.list(&reducer.result, Self::expr)?,
            identity: self.list(&reducer.identity, Self::expr)?,
        };
        Ok(id(self.share(node, Span::NONE)?))
    }

    fn attrs(&mut self, attrs: &Attrs) -> Id {
        let mut items = Vec::with_capacity(attrs.len());
        for (name, value) in attrs {
            items.push(Json::List(vec![Json::Text(Arc::clone(name)), self.attr_value(value)?]));
        }
        Ok(Json::List(items))
    }

    fn attr_value(&mut self, value: &AttrValue) -> Id {
        let node = self.deeper(|w| {
            Ok(match value {
                AttrValue::None => node! { "AttrNone" },
                AttrValue::Bool(value) => node! { "AttrBool", value: Json::Bool(*value) },
                AttrValue::Int(value) => node! { "AttrInt", value: Json::text(&value.to_string()) },
                AttrValue::Float(bits) => {
                    node! { "AttrFloat", bits: Json::text(&format!("{:#018x}", bits.0)) }
                }
                AttrValue::Str(text) => node! { "AttrStr", value: Json::Text(Arc::clone(text)) },
                AttrValue::List(items) => node! { "AttrList", items: w.list(items, Self::attr_value)? },
                AttrValue::Map(map) => node! { "AttrMap", items: w.attrs(map)? },
                AttrValue::Target(target) => {
                    target.check().map_err(|what| WireError::new(format!("AttrTarget: {what}")))?;
                    node! { "AttrTarget", target: plain(&target.to_json())? }
                }
                AttrValue::Expr(expr) => node! { "AttrExpr", value: w.expr(expr)? },
            })
        })?;
        self.share(node, Span::NONE).map(id)
    }
}

/// Converts JSON unchanged; a target's options hold integers, never floats.
fn plain(value: &serde_json::Value) -> Id {
    use serde_json::Value;
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::String(text) => Json::text(text),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Json::number(value),
            None => {
                return Err(WireError::new(format!(
                    "expected an integer of 64 bits, signed, found {number}"
                )));
            }
        },
        Value::Array(items) => Json::List(items.iter().map(plain).collect::<Result<_, _>>()?),
        Value::Object(map) => {
            let fields = map.iter().map(|(name, value)| Ok((name.clone().into(), plain(value)?)));
            Json::Object(fields.collect::<Result<_, WireError>>()?)
        }
    })
}
