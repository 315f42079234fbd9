//! Parallel loops that may fail, as functions of their own.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, AttrValue, Attrs, Buffer, Callee, Child, DType, Expr, ExprKind, Param, PrimFunc, Stmt,
    StmtKind, Var, attr,
};

use super::{is_throw, on_stack};
use crate::walk::any_stmt;

/// True where a statement may end the function with an error.
pub(super) fn may_fail(stmt: &Stmt) -> bool {
    any_stmt(stmt, &mut |kind| match kind {
        StmtKind::Assert { .. } => true,
        StmtKind::Evaluate(value) => is_throw(value),
        StmtKind::AllocBuffer { buffer, .. } => !on_stack(buffer),
        _ => false,
    })
}

/// The statement as a function that gives 0, or -1 with an error raised, and the call of it. `None` where it needs what
/// cannot be passed: a vector.
pub(super) fn outlined(function: &PrimFunc, number: usize, stmt: &Stmt) -> Option<(PrimFunc, Expr)> {
    let mut outer = Outer::default();
    outer.stmt(stmt);
    let captured: Vec<Var> = outer.used.iter().filter(|var| !outer.bound.contains(*var)).cloned().collect();
    captured.iter().all(|var| var.dtype.is_scalar()).then_some(())?;
    let params: Vec<Var> = captured.iter().map(copy).collect();
    let mut substitution = Substitution::new().fresh();
    for (old, new) in captured.iter().zip(&params) {
        substitution.map_var(old, new.expr());
    }
    let is_outer = |buffer: &&Buffer| !outer.bound.contains(&buffer.data) && !outer.own.contains(*buffer);
    let declared = outer.buffers.iter().filter(is_outer);
    let declared =
        declared.map(|buffer| Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }));
    let success = Stmt::new(StmtKind::Return(Some(Expr::i32(0))));
    let body = Stmt::seq(declared.chain([stmt.clone(), success]));
    let mut attrs = Attrs::new();
    attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    if let Some(target) = function.attrs.get(attr::TARGET) {
        attrs.insert(attr::TARGET.into(), target.clone());
    }
    let name: Arc<str> = format!("{}loop{number}_", function.name).into();
    let new = PrimFunc {
        name: Arc::clone(&name),
        params: params.into_iter().map(Param::Var).collect(),
        ret: Some(DType::INT32),
        attrs,
        s_tir: false,
        alloc_buffers: Vec::new(),
        body: substitution.stmt(&body),
    };
    let args = captured.iter().map(Var::expr).collect();
    Some((new, Expr::new(ExprKind::Call { callee: Callee::Global(name), args }, DType::INT32)))
}

fn copy(var: &Var) -> Var {
    match &var.pointer {
        Some(pointer) => Var::pointer(Arc::clone(&var.name), pointer.element, pointer.scope.clone()),
        None => Var::new(Arc::clone(&var.name), var.dtype),
    }
}

/// What a statement uses, in the order of first use, and what it binds itself.
#[derive(Default)]
struct Outer {
    used: Vec<Var>,
    seen: HashSet<Var>,
    bound: HashSet<Var>,
    buffers: Vec<Buffer>,
    /// Buffers that it declares, over memory of its own or not.
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
        if !self.buffers.contains(buffer) {
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

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.walk(&mut |child| {
            let stmt = match child {
                Child::Expr(expr) => return self.expr(expr),
                Child::Stmt(stmt) => stmt,
            };
            match &stmt.kind {
                StmtKind::For { var, .. } | StmtKind::Bind { var, .. } => {
                    self.bound.insert(var.clone());
                }
                StmtKind::AllocBuffer { buffer, .. } => {
                    self.bound.insert(buffer.data.clone());
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
