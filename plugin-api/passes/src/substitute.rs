//! Replacing variables and buffers, and copying what binds them.

use std::collections::HashMap;

use chipdock_ir::{AttrNode, Buffer, BufferNode, Expr, ExprKind, Stmt, StmtKind, Var};

/// What replaces what. Buffers whose shape, strides, offset or data variable mention a replaced variable are replaced
/// by new ones, each by one and the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substitution {
    vars: HashMap<Var, Expr>,
    buffers: HashMap<Buffer, Buffer>,
    fresh: bool,
}

impl Substitution {
    /// One that also gives every variable and buffer bound within a statement a new identity, for a second copy.
    pub(crate) fn fresh() -> Self {
        Self { fresh: true, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.vars.is_empty() && self.buffers.is_empty() && !self.fresh
    }

    /// Replaces a variable from here on.
    pub(crate) fn set(&mut self, var: &Var, value: Expr) {
        self.vars.insert(var.clone(), value);
        // A buffer met before may mention it.
        self.buffers.retain(|old, new| old != new);
    }

    /// Replaces a buffer from here on.
    pub(crate) fn set_buffer(&mut self, old: &Buffer, new: Buffer) {
        self.buffers.insert(old.clone(), new);
    }

    pub(crate) fn expr(&mut self, expr: &Expr) -> Expr {
        match &expr.kind {
            ExprKind::Var(var) => self.vars.get(var).cloned().unwrap_or_else(|| expr.clone()),
            ExprKind::Load { buffer, .. } => {
                let new = self.buffer(buffer);
                let mapped = expr.map_children(&mut |child| self.expr(child));
                if new == *buffer {
                    return mapped;
                }
                match &mapped.kind {
                    ExprKind::Load { indices, predicate, .. } => {
                        let (indices, predicate) = (indices.clone(), predicate.clone());
                        Expr::new(ExprKind::Load { buffer: new, indices, predicate }, mapped.dtype)
                            .with_span(expr.span)
                    }
                    _ => mapped,
                }
            }
            ExprKind::Let { var, value, body } if self.fresh => {
                let value = self.expr(value);
                let var = self.fresh_var(var);
                let body = self.expr(body);
                Expr::new(ExprKind::Let { var, value, body }, expr.dtype).with_span(expr.span)
            }
            _ => expr.map_children(&mut |child| self.expr(child)),
        }
    }

    pub(crate) fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        if let Some(new) = self.buffers.get(buffer) {
            return new.clone();
        }
        let mut mapped = |e: &Expr| self.expr(e);
        let shape: Vec<Expr> = buffer.shape.iter().map(&mut mapped).collect();
        let strides: Vec<Expr> = buffer.strides.iter().map(&mut mapped).collect();
        let elem_offset = buffer.elem_offset.as_ref().map(&mut mapped);
        let data = self.pointer(&buffer.data);
        let same = data == buffer.data
            && same_all(&shape, &buffer.shape)
            && same_all(&strides, &buffer.strides)
            && same_all(elem_offset.as_slice(), buffer.elem_offset.as_slice());
        let new = if same {
            buffer.clone()
        } else {
            Buffer::from_node(BufferNode { shape, strides, elem_offset, data, ..(**buffer).clone() })
        };
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    /// What a data variable is replaced by.
    pub(crate) fn pointer(&self, var: &Var) -> Var {
        match self.vars.get(var).map(|e| &e.kind) {
            Some(ExprKind::Var(new)) => new.clone(),
            _ => var.clone(),
        }
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if self.is_empty() {
            return stmt.clone();
        }
        let kind = match &stmt.kind {
            StmtKind::Seq(stmts) => StmtKind::Seq(stmts.iter().map(|s| self.stmt(s)).collect()),
            StmtKind::Bind { var, value } => {
                let value = self.expr(value);
                StmtKind::Bind { var: self.bound(var), value }
            }
            StmtKind::Store { buffer, indices, value, predicate } => StmtKind::Store {
                buffer: self.buffer(buffer),
                indices: indices.iter().map(|e| self.expr(e)).collect(),
                value: self.expr(value),
                predicate: predicate.as_ref().map(|e| self.expr(e)),
            },
            StmtKind::AllocBuffer { buffer, annotations } => {
                StmtKind::AllocBuffer { buffer: self.bound_buffer(buffer), annotations: annotations.clone() }
            }
            StmtKind::DeclBuffer { buffer, data } => {
                let data = data.as_ref().map(|e| self.expr(e));
                let buffer = if data.is_some() { self.bound_buffer(buffer) } else { self.declared(buffer) };
                StmtKind::DeclBuffer { buffer, data }
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                let (min, extent) = (self.expr(min), self.expr(extent));
                let step = step.as_ref().map(|e| self.expr(e));
                let (var, annotations) = (self.bound(var), annotations.clone());
                StmtKind::For { var, min, extent, kind: *kind, step, annotations, body: self.stmt(body) }
            }
            StmtKind::LaunchThread { var, axis, extent, body } => {
                let extent = self.expr(extent);
                StmtKind::LaunchThread { var: self.bound(var), axis: *axis, extent, body: self.stmt(body) }
            }
            StmtKind::Attr { node, key, value, body } => {
                let node = match node {
                    AttrNode::Buffer(buffer) => AttrNode::Buffer(self.buffer(buffer)),
                    other => other.clone(),
                };
                let (key, value) = (key.clone(), self.expr(value));
                StmtKind::Attr { node, key, value, body: self.stmt(body) }
            }
            _ => return self.children(stmt),
        };
        Stmt::new(kind).with_span(stmt.span)
    }

    fn children(&mut self, stmt: &Stmt) -> Stmt {
        let this = std::cell::RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))
    }

    fn fresh_var(&mut self, var: &Var) -> Var {
        let new = match &var.pointer {
            Some(pointer) => Var::pointer(var.name.clone(), pointer.element, pointer.scope.clone()),
            None => Var::new(var.name.clone(), var.dtype),
        };
        self.set(var, new.expr());
        new
    }

    fn bound(&mut self, var: &Var) -> Var {
        if self.fresh { self.fresh_var(var) } else { var.clone() }
    }

    fn bound_buffer(&mut self, buffer: &Buffer) -> Buffer {
        if self.fresh {
            self.fresh_var(&buffer.data);
        }
        self.declared(buffer)
    }

    fn declared(&mut self, buffer: &Buffer) -> Buffer {
        let new = self.buffer(buffer);
        if !self.fresh || new != *buffer {
            return new;
        }
        let new = Buffer::from_node((**buffer).clone());
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }
}

fn same_all(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
}
