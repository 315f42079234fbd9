//! Variables and buffers that a statement captures when it becomes a function.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{AttrNode, AttrValue, Attrs, Buffer, Child, DType, Expr, ExprKind, Stmt, StmtKind, Var};

/// Variables and buffers that a statement uses and does not bind itself.
pub(crate) struct Captured {
    /// Variables, including data variables of buffers, in the order of first use.
    pub(crate) vars: Vec<Var>,
    /// Buffers that are declared around the statement.
    pub(crate) buffers: Vec<Buffer>,
}

impl Captured {
    /// Collects the captures of a statement.
    pub(crate) fn of(stmt: &Stmt) -> Self {
        let mut outer = Outer::default();
        outer.stmt(stmt);
        let Outer { used, bound, buffers, own, .. } = outer;
        Self {
            vars: used.into_iter().filter(|var| !bound.contains(var)).collect(),
            buffers: buffers
                .into_iter()
                .filter(|buffer| !bound.contains(&buffer.data) && !own.contains(buffer))
                .collect(),
        }
    }

    /// Declares the buffers over data variables that are already bound.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = Stmt> {
        let declare = |buffer: &Buffer| StmtKind::DeclBuffer { buffer: buffer.clone(), data: None };
        self.buffers.iter().map(move |buffer| Stmt::new(declare(buffer)))
    }
}

/// Creates a new variable of the same name and type; a pointer to a storage type becomes a pointer
/// to bytes.
pub(crate) fn copy(var: &Var) -> Var {
    match &var.pointer {
        Some(pointer) => {
            let element = if pointer.element.is_storage() { DType::UINT8 } else { pointer.element };
            Var::pointer(Arc::clone(&var.name), element, pointer.scope.clone())
        }
        None => Var::new(Arc::clone(&var.name), var.dtype),
    }
}

/// Variables that a statement uses, in the order of first use, and variables that it binds itself.
#[derive(Default)]
struct Outer {
    used: Vec<Var>,
    seen: HashSet<Var>,
    bound: HashSet<Var>,
    buffers: Vec<Buffer>,
    seen_buffers: HashSet<Buffer>,
    /// Buffers that the statement declares, over memory of its own or not.
    own: HashSet<Buffer>,
}

impl Outer {
    fn var(&mut self, var: &Var) {
        if self.seen.insert(var.clone()) {
            self.used.push(var.clone());
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        self.var(&buffer.data);
        if self.seen_buffers.insert(buffer.clone()) {
            self.buffers.push(buffer.clone());
            buffer.shape.iter().for_each(|extent| self.expr(extent));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Var(var) => self.var(var),
            ExprKind::Load { buffer, .. } => self.buffer(buffer),
            ExprKind::Let { var, .. } => {
                self.bound.insert(var.clone());
            }
            _ => {}
        });
    }

    fn annotations(&mut self, annotations: &Attrs) {
        annotations.values().for_each(|value| self.annotation(value));
    }

    fn annotation(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Expr(expr) => self.expr(expr),
            AttrValue::List(items) => items.iter().for_each(|item| self.annotation(item)),
            AttrValue::Map(map) => map.values().for_each(|item| self.annotation(item)),
            _ => {}
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.walk(&mut |child| {
            let stmt = match child {
                Child::Expr(expr) => return self.expr(expr),
                Child::Stmt(stmt) => stmt,
            };
            match &stmt.kind {
                StmtKind::For { var, annotations, .. } => {
                    self.bound.insert(var.clone());
                    self.annotations(annotations);
                }
                StmtKind::LaunchThread { var, .. } | StmtKind::Bind { var, .. } => {
                    self.bound.insert(var.clone());
                }
                StmtKind::AllocBuffer { buffer, annotations } => {
                    self.bound.insert(buffer.data.clone());
                    self.annotations(annotations);
                    buffer.shape.iter().for_each(|extent| self.expr(extent));
                }
                StmtKind::DeclBuffer { buffer, data } => {
                    self.own.insert(buffer.clone());
                    if data.is_some() {
                        self.bound.insert(buffer.data.clone());
                    }
                    self.var(&buffer.data);
                    buffer.shape.iter().for_each(|extent| self.expr(extent));
                }
                StmtKind::Store { buffer, .. } => self.buffer(buffer),
                StmtKind::Attr { node: AttrNode::Buffer(buffer), .. } => self.buffer(buffer),
                StmtKind::Attr { node: AttrNode::Var(var), .. } => self.var(var),
                _ => {}
            }
        });
    }
}
