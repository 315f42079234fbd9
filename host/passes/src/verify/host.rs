//! Accesses of a host function to device memory.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{Child, Expr, ExprKind, IrModule, PrimFunc, Span, Stmt, StmtKind, StorageRank};

use crate::splitting::split_host_device::is_kernel;
use crate::walk::{Starts, any_stmt, called_functions};

/// Names of the functions that only threads run: those called within launches and not outside.
pub(super) fn of_threads(module: &IrModule, starts: Starts) -> HashSet<Arc<str>> {
    let (mut by_threads, mut by_host): (HashSet<Arc<str>>, HashSet<Arc<str>>) = Default::default();
    for function in &module.functions {
        let is_kernel = is_kernel(function);
        split(&function.body, is_kernel, starts, &mut |stmt, in_threads| {
            let names = called_functions(stmt);
            if in_threads { by_threads.extend(names) } else { by_host.extend(names) }
        });
    }
    // Functions that they call are run by threads too.
    let functions = module.by_name();
    let mut all: HashSet<Arc<str>> = by_threads.clone();
    let mut open: Vec<Arc<str>> = by_threads.into_iter().collect();
    while let Some(name) = open.pop() {
        let called = functions.get(&*name).map(|f| called_functions(&f.body)).unwrap_or_default();
        for name in called {
            if all.insert(Arc::clone(&name)) {
                by_host.remove(&name);
                open.push(name);
            }
        }
    }
    all.retain(|name| !by_host.contains(name));
    all
}

/// Calls `f` on each launch, and on each statement outside of launches that has no launch below it.
fn split(stmt: &Stmt, in_threads: bool, starts: Starts, f: &mut dyn FnMut(&Stmt, bool)) {
    let in_threads = in_threads || starts(&stmt.kind);
    if in_threads || !any_stmt(stmt, &mut |kind| starts(kind)) {
        return f(stmt, in_threads);
    }
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(stmt) => split(stmt, false, starts, f),
        Child::Expr(expr) => f(&Stmt::new(StmtKind::Evaluate(expr.clone())), false),
    });
}

/// The first access of a function to device memory outside of threads: its position, and the name
/// of the buffer.
pub(super) fn touched(function: &PrimFunc, starts: Starts) -> Option<(Span, Arc<str>)> {
    let mut found: Option<(Span, Arc<str>)> = None;
    split(&function.body, is_kernel(function), starts, &mut |stmt, in_threads| {
        if in_threads {
            return;
        }
        stmt.walk(&mut |child| {
            let mut note = |span: Span, name: &Arc<str>| {
                found.get_or_insert_with(|| (span, Arc::clone(name)));
            };
            match child {
                Child::Stmt(stmt) => {
                    if let StmtKind::Store { buffer, .. } = &stmt.kind
                        && buffer.scope.rank == StorageRank::Global
                    {
                        note(stmt.span, &buffer.name);
                    }
                }
                Child::Expr(expr) => loads(expr, &mut |e| {
                    if let ExprKind::Load { buffer, .. } = &e.kind
                        && buffer.scope.rank == StorageRank::Global
                    {
                        note(if e.span == Span::NONE { stmt.span } else { e.span }, &buffer.name);
                    }
                }),
            }
        });
    });
    found
}

fn loads(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    expr.walk(&mut |e| f(e));
}
