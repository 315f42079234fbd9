//! Smaller candidates that may replace a node.

use std::collections::VecDeque;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{Attrs, Block, Expr, ExprKind, ForKind, Stmt, StmtKind};

/// Maximum number of parts of an expression that are tried as its replacement.
const PARTS_MAX: usize = 24;

/// Returns candidates for the replacement of a statement, the smallest first.
pub(crate) fn of_stmt(stmt: &Stmt) -> Vec<Stmt> {
    let mut out = vec![Stmt::nop()];
    match &stmt.kind {
        StmtKind::Seq(stmts) => sequence(stmts, &mut out),
        StmtKind::For { .. } => for_loop(stmt, &mut out),
        StmtKind::While { condition, body } => {
            out.push(body.clone());
            out.push(Stmt::if_then(condition.clone(), body.clone(), None));
        }
        StmtKind::If { condition, then, otherwise } => {
            out.push(then.clone());
            out.extend(otherwise.clone());
            if otherwise.is_some() {
                out.push(Stmt::if_then(condition.clone(), then.clone(), None));
            }
        }
        StmtKind::Attr { body, .. } => out.push(body.clone()),
        StmtKind::LaunchThread { var, body, .. } => {
            out.push(Substitution::new().with_var(var, Expr::int(0, var.dtype)).stmt(body));
        }
        StmtKind::BlockRealize { iter_values, predicate, block } => {
            of_block(iter_values, predicate, block, &mut out);
        }
        StmtKind::AllocBuffer { buffer, annotations } if !annotations.is_empty() => {
            out.push(Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() }));
        }
        StmtKind::Store { buffer, indices, value, predicate: Some(_) } => {
            out.push(Stmt::store(buffer, indices.clone(), value.clone()));
        }
        _ => {}
    }
    out
}

fn sequence(stmts: &[Stmt], out: &mut Vec<Stmt>) {
    let mut size = stmts.len() / 2;
    while size > 0 {
        for start in (0..stmts.len()).step_by(size) {
            let end = (start + size).min(stmts.len());
            out.push(Stmt::seq(stmts[..start].iter().chain(&stmts[end..]).cloned()));
        }
        size /= 2;
    }
    for (at, stmt) in stmts.iter().enumerate() {
        if let StmtKind::Bind { var, value } = &stmt.kind {
            let mut substitution = Substitution::new().with_var(var, value.clone());
            let rest: Vec<Stmt> = stmts[at + 1..].iter().map(|stmt| substitution.stmt(stmt)).collect();
            out.push(Stmt::seq(stmts[..at].iter().cloned().chain(rest)));
        }
    }
    if stmts.iter().any(|stmt| matches!(stmt.kind, StmtKind::Seq(_))) {
        let flat = stmts.iter().flat_map(|stmt| match &stmt.kind {
            StmtKind::Seq(inner) => inner.clone(),
            _ => vec![stmt.clone()],
        });
        out.push(Stmt::new(StmtKind::Seq(flat.collect())));
    }
}

fn for_loop(stmt: &Stmt, out: &mut Vec<Stmt>) {
    let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else { return };
    out.push(Substitution::new().with_var(var, min.clone()).stmt(body));
    let make = |min: &Expr, extent: Expr, kind: ForKind, step: Option<Expr>, annotations: Attrs| {
        let (var, min, body) = (var.clone(), min.clone(), body.clone());
        Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body })
    };
    let zero = Expr::int(0, var.dtype);
    out.push(make(&zero, extent.clone(), ForKind::Serial, None, Attrs::new()));
    out.push(make(min, extent.clone(), ForKind::Serial, step.clone(), Attrs::new()));
    out.push(make(min, extent.clone(), *kind, None, annotations.clone()));
    out.push(make(min, extent.clone(), *kind, step.clone(), Attrs::new()));
    for shorter in [1, 2, 4] {
        out.push(make(min, Expr::int(shorter, var.dtype), *kind, step.clone(), annotations.clone()));
    }
}

fn of_block(values: &[Expr], predicate: &Expr, block: &Arc<Block>, out: &mut Vec<Stmt>) {
    let mut substitution = Substitution::new();
    for (axis, value) in block.iter_vars.iter().zip(values) {
        substitution.map_var(&axis.var, value.clone());
    }
    if block.match_buffers.is_empty() {
        let allocations = block.alloc_buffers.iter().map(|buffer| {
            Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
        });
        let allocations: Vec<Stmt> = allocations.collect();
        let body = substitution.stmt(&block.body);
        let init = block.init.as_ref().map(|init| substitution.stmt(init));
        out.push(Stmt::seq(allocations.iter().cloned().chain([body.clone()])));
        if let Some(init) = init {
            out.push(Stmt::seq(allocations.into_iter().chain([init, body])));
        }
    }
    let mut with = |values: &[Expr], predicate: &Expr, change: &dyn Fn(&mut Block)| {
        let mut block = Block::clone(block);
        change(&mut block);
        let (iter_values, predicate, block) = (values.to_vec(), predicate.clone(), Arc::new(block));
        out.push(Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block }));
    };
    with(values, &Expr::bool(true), &|block| {
        (block.reads, block.writes) = (None, None);
        block.annotations = Attrs::new();
    });
    with(values, &Expr::bool(true), &|_| {});
    with(values, predicate, &|block| (block.reads, block.writes) = (None, None));
    with(values, predicate, &|block| block.annotations = Attrs::new());
    with(values, predicate, &|block| block.init = None);
    for at in 0..block.alloc_buffers.len() {
        with(values, predicate, &|block| drop(block.alloc_buffers.remove(at)));
    }
    for at in 0..block.match_buffers.len() {
        with(values, predicate, &|block| drop(block.match_buffers.remove(at)));
    }
    for (at, axis) in block.iter_vars.iter().enumerate() {
        let mut values = values.to_vec();
        let value = values.remove(at);
        with(&values, predicate, &|block| {
            let mut substitution = Substitution::new().with_var(&axis.var, value.clone());
            block.iter_vars.remove(at);
            block.body = substitution.stmt(&block.body);
            block.init = block.init.as_ref().map(|init| substitution.stmt(init));
        });
    }
}

/// Returns candidates for the replacement of an expression, the smallest first.
pub(crate) fn of_expr(expr: &Expr) -> Vec<Expr> {
    let dtype = expr.dtype;
    let mut out = Vec::new();
    if dtype.is_handle() {
        return parts(expr);
    }
    for value in [0, 1] {
        let constant = Expr::constant(value, dtype.scalar()).broadcast(dtype.lanes);
        if dtype.is_bool() || dtype.is_float() || dtype.is_integer() {
            out.push(constant);
        }
    }
    match &expr.kind {
        ExprKind::Int(value) => {
            out.extend([value / 2, 2, 4].map(|smaller| Expr::int(smaller, dtype)));
        }
        ExprKind::Float(_) => out.push(Expr::float(2.0, dtype)),
        ExprKind::Let { var, value, body } => {
            out.push(Substitution::new().with_var(var, value.clone()).expr(body));
        }
        ExprKind::Load { buffer, indices, predicate: Some(_) } => {
            out.push(Expr::load(buffer, indices.clone()));
        }
        _ => {}
    }
    out.extend(parts(expr));
    out
}

/// Returns the inner expressions of the same type, or converted to it, the outermost first.
fn parts(expr: &Expr) -> Vec<Expr> {
    let mut same = Vec::new();
    let mut converted = Vec::new();
    let mut queue: VecDeque<&Expr> = VecDeque::new();
    expr.for_each_child(&mut |child| queue.push_back(child));
    while let Some(part) = queue.pop_front() {
        if same.len() + converted.len() >= PARTS_MAX {
            break;
        }
        if part.dtype == expr.dtype {
            same.push(part.clone());
        } else if part.dtype.lanes == expr.dtype.lanes && !part.dtype.is_handle() && !expr.dtype.is_handle() {
            converted.push(part.clone().cast(expr.dtype));
        }
        part.for_each_child(&mut |child| queue.push_back(child));
    }
    same.extend(converted);
    same
}
