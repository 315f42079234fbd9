//! Outlining of parallel loops that may fail.

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Attrs, Callee, DType, Expr, ExprKind, Param, PrimFunc, Stmt, StmtKind, Var, attr,
};

use super::is_throw;
use super::stack::Stack;
use crate::splitting::capture::{Captured, copy};
use crate::walk::any_stmt;

/// Returns true if the statement may end the function with an error.
pub(super) fn may_fail(stmt: &Stmt, stack: &Stack) -> bool {
    any_stmt(stmt, &mut |kind| match kind {
        StmtKind::Assert { .. } => true,
        StmtKind::Evaluate(value) => is_throw(value),
        StmtKind::AllocBuffer { buffer, .. } => !stack.holds(buffer),
        _ => false,
    })
}

/// Outlines the statement into a function that returns 0, or -1 with an error raised, and a call of
/// it. `None` if the statement needs a value that cannot be passed: a vector.
pub(super) fn outlined(function: &PrimFunc, number: usize, stmt: &Stmt) -> Option<(PrimFunc, Expr)> {
    let captured = Captured::of(stmt);
    captured.vars.iter().all(|var| var.dtype.is_scalar()).then_some(())?;
    let params: Vec<Var> = captured.vars.iter().map(copy).collect();
    let mut substitution = Substitution::new().fresh();
    for (old, new) in captured.vars.iter().zip(&params) {
        substitution.map_var(old, new.expr());
    }
    let success = Stmt::new(StmtKind::Return(Some(Expr::i32(0))));
    let body = Stmt::seq(captured.declarations().chain([stmt.clone(), success]));
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
    let args = captured.vars.iter().map(Var::expr).collect();
    Some((new, Expr::new(ExprKind::Call { callee: Callee::Global(name), args }, DType::INT32)))
}
