//! Substitution of expressions for variables and of buffers for buffers.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{
    AttrNode, AttrValue, Attrs, Block, Buffer, BufferNode, BufferRegion, Expr, ExprKind, IterVar,
    MatchBufferRegion, Param, PrimFunc, Range, Stmt, StmtKind, Var,
};

/// A map of variables and buffers, which rewrites nodes.
///
/// Nothing is captured, because every variable is bound once. A buffer that is not mapped but whose
/// shape, strides, offset or data variable changes is rebuilt, to the same buffer wherever this
/// substitution meets it. Unchanged nodes are kept, and shared nodes stay shared.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{DType, Expr, Var, subst::Substitution};
///
/// let i = Var::new("i", DType::INT32);
/// let e = &i.expr() + &Expr::i32(1);
/// let mut subst = Substitution::new().with_var(&i, Expr::i32(4));
/// assert_eq!(subst.expr(&e), &Expr::i32(4) + &Expr::i32(1));
/// ```
#[derive(Debug, Default)]
pub struct Substitution {
    vars: HashMap<Var, Expr>,
    buffers: HashMap<Buffer, Buffer>,
    fresh: bool,
    /// Variables that the caller mapped, as opposed to copies.
    given: HashSet<Var>,
    /// Rewritten expressions by address, with the original, so that its address stays in use.
    done: HashMap<usize, (Expr, Expr)>,
}

impl Substitution {
    /// Makes a substitution that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes fresh copies of the variables and buffers that the rewritten nodes bind, so that a
    /// copy may occur next to the original.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Maps a variable.
    #[must_use]
    pub fn with_var(mut self, var: &Var, value: Expr) -> Self {
        self.map_var(var, value);
        self
    }

    /// Maps a buffer.
    #[must_use]
    pub fn with_buffer(mut self, buffer: &Buffer, value: &Buffer) -> Self {
        self.map_buffer(buffer, value);
        self
    }

    /// Maps a variable, from now on.
    pub fn map_var(&mut self, var: &Var, value: Expr) {
        if matches!(&value.kind, ExprKind::Var(same) if same == var) {
            self.vars.remove(var);
            self.forget();
            return;
        }
        self.vars.insert(var.clone(), value);
        self.given.insert(var.clone());
        self.forget();
    }

    /// Maps a buffer, from now on.
    pub fn map_buffer(&mut self, buffer: &Buffer, value: &Buffer) {
        self.buffers.insert(buffer.clone(), value.clone());
        self.forget();
    }

    /// Forgets the rewritten expressions. A map that was once large would take long to clear each
    /// time, so it is replaced.
    fn forget(&mut self) {
        if !self.done.is_empty() {
            self.done = HashMap::new();
        }
    }

    /// Returns the expression that a variable is mapped to, if any.
    #[must_use]
    pub fn var(&self, var: &Var) -> Option<&Expr> {
        self.vars.get(var)
    }

    /// Rewrites an expression.
    #[must_use]
    pub fn expr(&mut self, expr: &Expr) -> Expr {
        match &expr.kind {
            ExprKind::Var(var) => return self.vars.get(var).unwrap_or(expr).clone(),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) | ExprKind::ConstantData(_) => {
                return expr.clone();
            }
            _ => {}
        }
        if let Some((_, new)) = self.done.get(&expr.address()) {
            return new.clone();
        }
        let new = self.rewrite(expr);
        self.done.insert(expr.address(), (expr.clone(), new.clone()));
        new
    }

    fn rewrite(&mut self, expr: &Expr) -> Expr {
        let kind = match &expr.kind {
            ExprKind::Load { buffer, indices, predicate } => {
                let new = self.buffer(buffer);
                if new == *buffer {
                    return expr.map_children(&mut |e| self.expr(e));
                }
                ExprKind::Load {
                    buffer: new,
                    indices: indices.iter().map(|e| self.expr(e)).collect(),
                    predicate: predicate.as_ref().map(|e| self.expr(e)),
                }
            }
            ExprKind::Let { var, value, body } if self.fresh => {
                let value = self.expr(value);
                ExprKind::Let { var: self.binder(var), value, body: self.expr(body) }
            }
            _ => return expr.map_children(&mut |e| self.expr(e)),
        };
        Expr::new(kind, expr.dtype).with_span(expr.span)
    }

    /// Rewrites a buffer: returns the one that it is mapped to, or itself if nothing in it changes.
    #[must_use]
    pub fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        if let Some(new) = self.buffers.get(buffer) {
            return new.clone();
        }
        let new = self.rebuild(buffer);
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    fn rebuild(&mut self, buffer: &Buffer) -> Buffer {
        let mut exprs = |list: &[Expr]| list.iter().map(|e| self.expr(e)).collect::<Vec<_>>();
        let (shape, strides) = (exprs(&buffer.shape), exprs(&buffer.strides));
        let elem_offset = buffer.elem_offset.as_ref().map(|e| self.expr(e));
        let data = self.renamed(&buffer.data);
        let same = |new: &[Expr], old: &[Expr]| new.iter().zip(old).all(|(a, b)| a.same(b));
        let offset_same = elem_offset.iter().zip(&buffer.elem_offset).all(|(a, b)| a.same(b));
        if same(&shape, &buffer.shape)
            && same(&strides, &buffer.strides)
            && offset_same
            && data == buffer.data
        {
            return buffer.clone();
        }
        Buffer::from_node(BufferNode { shape, strides, elem_offset, data, ..BufferNode::clone(buffer) })
    }

    /// Returns the variable that a variable is mapped to, or itself.
    fn renamed(&self, var: &Var) -> Var {
        match self.vars.get(var).map(|e| &e.kind) {
            Some(ExprKind::Var(new)) => new.clone(),
            _ => var.clone(),
        }
    }

    /// Rewrites a variable where it is bound.
    fn binder(&mut self, var: &Var) -> Var {
        if !self.fresh {
            return var.clone();
        }
        let new = match &var.pointer {
            Some(pointer) => Var::pointer(Arc::clone(&var.name), pointer.element, pointer.scope.clone()),
            None => Var::new(Arc::clone(&var.name), var.dtype),
        };
        if self.vars.insert(var.clone(), new.expr()).is_some() {
            // A copy of a copy: expressions rewritten for the first copy are not valid for the
            // second.
            self.forget();
        }
        new
    }

    /// Rewrites a buffer where it is bound; `owns` if its data variable is bound with it.
    fn buffer_binder(&mut self, buffer: &Buffer, owns: bool) -> Buffer {
        if !self.fresh {
            return self.buffer(buffer);
        }
        if owns {
            self.binder(&buffer.data);
        }
        if self.buffers.remove(buffer).is_some() {
            self.forget();
        }
        let new = match self.rebuild(buffer) {
            new if new == *buffer => Buffer::from_node(BufferNode::clone(buffer)),
            new => new,
        };
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    /// Rewrites a region.
    #[must_use]
    pub fn region(&mut self, region: &BufferRegion) -> BufferRegion {
        BufferRegion {
            buffer: self.buffer(&region.buffer),
            region: region
                .region
                .iter()
                .map(|range| Range { min: self.expr(&range.min), extent: self.expr(&range.extent) })
                .collect(),
        }
    }

    /// Rewrites attributes, that is, the expressions in them.
    #[must_use]
    pub fn attrs(&mut self, attrs: &Attrs) -> Attrs {
        attrs.iter().map(|(name, value)| (Arc::clone(name), self.attr_value(value))).collect()
    }

    fn attr_value(&mut self, value: &AttrValue) -> AttrValue {
        match value {
            AttrValue::Expr(expr) => AttrValue::Expr(self.expr(expr)),
            AttrValue::List(items) => {
                AttrValue::List(items.iter().map(|item| self.attr_value(item)).collect())
            }
            AttrValue::Map(map) => AttrValue::Map(self.attrs(map)),
            other => other.clone(),
        }
    }

    /// Rewrites a statement.
    #[must_use]
    pub fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let kind = match &stmt.kind {
            StmtKind::Bind { var, value } => {
                let value = self.expr(value);
                StmtKind::Bind { var: self.binder(var), value }
            }
            StmtKind::Store { buffer, indices, value, predicate } => StmtKind::Store {
                buffer: self.buffer(buffer),
                value: self.expr(value),
                indices: indices.iter().map(|e| self.expr(e)).collect(),
                predicate: predicate.as_ref().map(|e| self.expr(e)),
            },
            StmtKind::AllocBuffer { buffer, annotations } => StmtKind::AllocBuffer {
                buffer: self.buffer_binder(buffer, true),
                annotations: self.attrs(annotations),
            },
            StmtKind::DeclBuffer { buffer, data } => {
                let data = data.as_ref().map(|e| self.expr(e));
                StmtKind::DeclBuffer { buffer: self.buffer_binder(buffer, data.is_some()), data }
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => StmtKind::For {
                min: self.expr(min),
                extent: self.expr(extent),
                step: step.as_ref().map(|e| self.expr(e)),
                annotations: self.attrs(annotations),
                var: self.binder(var),
                kind: *kind,
                body: self.stmt(body),
            },
            StmtKind::LaunchThread { var, axis, extent, body } => StmtKind::LaunchThread {
                extent: self.expr(extent),
                var: self.binder(var),
                axis: *axis,
                body: self.stmt(body),
            },
            StmtKind::BlockRealize { iter_values, predicate, block } => StmtKind::BlockRealize {
                iter_values: iter_values.iter().map(|e| self.expr(e)).collect(),
                predicate: self.expr(predicate),
                block: Arc::new(self.block(block)),
            },
            StmtKind::Attr { node, key, value, body } => StmtKind::Attr {
                node: match node {
                    AttrNode::None => AttrNode::None,
                    AttrNode::Buffer(buffer) => AttrNode::Buffer(self.buffer(buffer)),
                    AttrNode::Var(var) => AttrNode::Var(self.renamed(var)),
                    // A reducer is closed: its variables are used only inside, and it uses none
                    // from outside.
                    AttrNode::Reducer(reducer) => AttrNode::Reducer(Arc::clone(reducer)),
                },
                key: Arc::clone(key),
                value: self.expr(value),
                body: self.stmt(body),
            },
            _ => return self.children(stmt),
        };
        if kind == stmt.kind { stmt.clone() } else { Stmt::new(kind).with_span(stmt.span) }
    }

    fn children(&mut self, stmt: &Stmt) -> Stmt {
        let this = RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))
    }

    fn block(&mut self, block: &Block) -> Block {
        let iter_vars = block
            .iter_vars
            .iter()
            .map(|axis| IterVar {
                min: self.expr(&axis.min),
                extent: self.expr(&axis.extent),
                var: self.binder(&axis.var),
                kind: axis.kind,
            })
            .collect();
        let alloc_buffers = block.alloc_buffers.iter().map(|b| self.buffer_binder(b, true)).collect();
        let match_buffers = block
            .match_buffers
            .iter()
            .map(|view| MatchBufferRegion {
                source: self.region(&view.source),
                buffer: self.buffer_binder(&view.buffer, true),
            })
            .collect();
        let mut regions = |list: &Option<Vec<BufferRegion>>| {
            list.as_ref().map(|list| list.iter().map(|region| self.region(region)).collect())
        };
        let (reads, writes) = (regions(&block.reads), regions(&block.writes));
        Block {
            name: Arc::clone(&block.name),
            iter_vars,
            reads,
            writes,
            alloc_buffers,
            match_buffers,
            annotations: self.attrs(&block.annotations),
            init: block.init.as_ref().map(|init| self.stmt(init)),
            body: self.stmt(&block.body),
        }
    }

    /// Rewrites a function. A fresh copy also has its own parameters and sizes.
    #[must_use]
    pub fn function(&mut self, function: &PrimFunc) -> PrimFunc {
        if self.fresh {
            self.sizes(function);
        }
        let params = function
            .params
            .iter()
            .map(|param| match param {
                Param::Buffer(buffer) => Param::Buffer(self.buffer_binder(buffer, true)),
                Param::Var(var) => Param::Var(self.renamed(var)),
            })
            .collect();
        PrimFunc {
            name: Arc::clone(&function.name),
            params,
            ret: function.ret,
            attrs: self.attrs(&function.attrs),
            s_tir: function.s_tir,
            alloc_buffers: function.alloc_buffers.iter().map(|b| self.buffer_binder(b, true)).collect(),
            body: self.stmt(&function.body),
        }
    }

    /// Copies scalar parameters and the free variables of buffer parameters, except those that the
    /// caller mapped.
    fn sizes(&mut self, function: &PrimFunc) {
        let mut seen = self.given.clone();
        let mut bound = Vec::new();
        let mut meet = |var: &Var| {
            if seen.insert(var.clone()) {
                bound.push(var.clone());
            }
        };
        for param in &function.params {
            match param {
                Param::Var(var) => meet(var),
                Param::Buffer(buffer) => {
                    for part in buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset) {
                        part.walk(&mut |e| {
                            if let ExprKind::Var(var) = &e.kind {
                                meet(var);
                            }
                        });
                    }
                }
            }
        }
        for var in &bound {
            self.binder(var);
        }
    }
}

#[cfg(test)]
mod tests;
