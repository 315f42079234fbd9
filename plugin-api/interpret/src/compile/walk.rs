//! Walks that visit each shared node once, because a module may represent far more nodes than it
//! holds, and that stop at the depth at which the compiler refuses to go on.

use std::collections::HashSet;

use super::DEPTH_MAX;
use chipdock_ir::{Child, Expr, Stmt};

/// Calls `f` on this expression and on every expression below it.
pub(super) fn exprs<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    exprs_but(expr, &mut HashSet::new(), 0, f);
}

fn exprs_but<'a>(expr: &'a Expr, met: &mut HashSet<usize>, depth: usize, f: &mut dyn FnMut(&'a Expr)) {
    if depth <= DEPTH_MAX && met.insert(expr.address()) {
        f(expr);
        expr.for_each_child(&mut |child| exprs_but(child, met, depth + 1, f));
    }
}

/// Calls `f` on this statement and on every statement and every expression below it.
pub(super) fn all<'a>(stmt: &'a Stmt, f: &mut dyn FnMut(Child<'a>)) {
    all_but(stmt, &mut (HashSet::new(), HashSet::new()), 0, f);
}

fn all_but<'a>(
    stmt: &'a Stmt,
    met: &mut (HashSet<usize>, HashSet<usize>),
    depth: usize,
    f: &mut dyn FnMut(Child<'a>),
) {
    if depth > DEPTH_MAX || !met.0.insert(stmt.address()) {
        return;
    }
    f(Child::Stmt(stmt));
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(stmt) => all_but(stmt, met, depth + 1, f),
        Child::Expr(expr) => exprs_but(expr, &mut met.1, depth, &mut |expr| f(Child::Expr(expr))),
    });
}
