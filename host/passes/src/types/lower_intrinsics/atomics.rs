//! Atomics that nothing can interrupt: lowered to a load, a sum and a store.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{
    Buffer, Callee, Child, Expr, ExprKind, ForKind, IrModule, Op, Stmt, StmtKind, StorageScope, Var,
};

/// Functions that a parallel loop or a parallel launch runs, directly or through other functions.
pub(super) fn called_in_parallel(module: &IrModule) -> HashSet<Arc<str>> {
    let mut found = HashSet::new();
    let mut open: Vec<Arc<str>> = Vec::new();
    for function in &module.functions {
        function.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child
                && let StmtKind::For { kind: ForKind::Parallel, body, .. } = &stmt.kind
            {
                callees(body, &mut open);
            }
        });
        function.body.walk_exprs(&mut |e| {
            if let ExprKind::Call { callee: Callee::Op(Op::ParallelLaunch), .. } = &e.kind {
                open.extend(e.called().cloned());
            }
        });
    }
    let functions = module.by_name();
    while let Some(name) = open.pop() {
        if found.insert(Arc::clone(&name))
            && let Some(function) = functions.get(&*name)
        {
            callees(&function.body, &mut open);
        }
    }
    found
}

fn callees(body: &Stmt, into: &mut Vec<Arc<str>>) {
    body.walk_exprs(&mut |e| {
        into.extend(e.called().cloned());
    });
}

/// Splits the statement if it has an `atomic_add` in a place that is always evaluated, once.
///
/// Elsewhere (under a condition, in a `Let`, in the condition of a loop) it must remain an op.
pub(super) fn split(stmt: &Stmt) -> Option<Vec<Stmt>> {
    let value = match &stmt.kind {
        StmtKind::Evaluate(value) | StmtKind::Bind { value, .. } => value,
        StmtKind::Store { value, predicate: None, .. } => value,
        _ => return None,
    };
    let call = always_evaluated(value)?;
    let ExprKind::Call { args, .. } = &call.kind else { return None };
    let [address, added] = args.as_slice() else { return None };
    let mut parts = Vec::new();
    let (buffer, index) = element(address, added, &mut parts)?;
    let load = || Expr::load(&buffer, vec![index.clone()]);
    if matches!(stmt.kind, StmtKind::Evaluate(_)) && value.same(call) {
        parts.push(Stmt::store(&buffer, vec![index.clone()], load() + added.clone()));
        return Some(parts);
    }
    let old = Var::new("old", call.dtype);
    parts.push(Stmt::new(StmtKind::Bind { var: old.clone(), value: load() }));
    parts.push(Stmt::store(&buffer, vec![index.clone()], old.expr() + added.clone()));
    parts.push(stmt.map_children(
        &mut |e| if e.same(value) { replaced(e, call, &old.expr()) } else { e.clone() },
        &mut Clone::clone,
    ));
    Some(parts)
}

fn replaced(e: &Expr, call: &Expr, by: &Expr) -> Expr {
    if e.same(call) { by.clone() } else { e.map_children(&mut |child| replaced(child, call, by)) }
}

fn always_evaluated(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(Op::AtomicAdd), .. } => Some(e),
        ExprKind::Let { .. } | ExprKind::And(..) | ExprKind::Or(..) => None,
        ExprKind::Call { callee: Callee::Op(Op::IfThenElse), .. } => None,
        _ => {
            let mut found = None;
            e.for_each_child(&mut |child| found = found.or_else(|| always_evaluated(child)));
            found
        }
    }
}

/// The element at an address, as a buffer and an index that may be evaluated twice.
fn element(address: &Expr, added: &Expr, parts: &mut Vec<Stmt>) -> Option<(Buffer, Expr)> {
    if let ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } = &address.kind
        && let [load] = args.as_slice()
        && let ExprKind::Load { buffer, indices, predicate: None } = &load.kind
        && let [index] = indices.as_slice()
        && index.dtype.is_scalar()
        && buffer.dtype == added.dtype
    {
        if matches!(index.kind, ExprKind::Int(_) | ExprKind::Var(_)) {
            return Some((buffer.clone(), index.clone()));
        }
        let var = Var::new("index", index.dtype);
        parts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value: index.clone() }));
        return Some((buffer.clone(), var.expr()));
    }
    let one = vec![Expr::i32(1)];
    let scope = match &address.kind {
        ExprKind::Var(var) => var.pointer.as_ref().map(|pointer| pointer.scope.clone()),
        _ => None,
    };
    let buffer = Buffer::new("element", one, added.dtype, scope.unwrap_or(StorageScope::GLOBAL));
    if let ExprKind::Var(var) = &address.kind {
        let node = chipdock_ir::BufferNode { data: var.clone(), ..(*buffer).clone() };
        let view = Buffer::from_node(node);
        parts.push(Stmt::new(StmtKind::DeclBuffer { buffer: view.clone(), data: None }));
        return Some((view, Expr::i32(0)));
    }
    let data = Some(address.clone());
    parts.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data }));
    Some((buffer, Expr::i32(0)))
}
