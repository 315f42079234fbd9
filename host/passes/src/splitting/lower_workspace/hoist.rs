//! Allocations of workspace taken out of serial loops: one for all iterations.

use std::collections::HashSet;

use chipdock_ir::{Attrs, Buffer, Child, Expr, ForKind, Stmt, StmtKind, Var, attr};

use super::stack::Stack;
use crate::simplify::is_pure;
use crate::walk::{any_stmt, depends_on_memory, vars_of};

/// Moves each allocation of workspace out of the serial loops whose iterations all allocate the
/// same size. No two buffers are live at once that were not before.
pub(super) fn hoisted(stmt: &Stmt, stack: &Stack) -> Stmt {
    let inner = stmt.map_children(&mut Expr::clone, &mut |child| hoisted(child, stack));
    let StmtKind::For { var, min, extent, kind: ForKind::Serial, step, annotations, body } = &inner.kind
    else {
        return inner;
    };
    let mut bound = HashSet::new();
    inner.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        match &stmt.kind {
            StmtKind::For { var, .. } | StmtKind::Bind { var, .. } => drop(bound.insert(var.clone())),
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                bound.insert(buffer.data.clone());
            }
            _ => {}
        }
    });
    let mut found = Vec::new();
    let is_taken = |buffer: &Buffer, annotations: &Attrs| {
        !stack.holds(buffer) && is_of_invariant_size(buffer, annotations, &bound)
    };
    let body = taken(body, &is_taken, &mut found);
    if found.is_empty() {
        return inner;
    }
    let (var, min, extent, step) = (var.clone(), min.clone(), extent.clone(), step.clone());
    let alone = StmtKind::For {
        var,
        min,
        extent,
        kind: ForKind::Serial,
        step,
        annotations: annotations.clone(),
        body,
    };
    Stmt::seq(found.into_iter().chain([Stmt::new(alone).with_span(inner.span)]))
}

/// Takes allocations out of a loop's body: those of its sequence before any that stays, and those
/// of the last statement that has some.
fn taken(body: &Stmt, is_taken: &dyn Fn(&Buffer, &Attrs) -> bool, found: &mut Vec<Stmt>) -> Stmt {
    match &body.kind {
        StmtKind::AllocBuffer { buffer, annotations } if is_taken(buffer, annotations) => {
            found.push(body.clone());
            Stmt::seq([])
        }
        StmtKind::Seq(stmts) => {
            let is_last = |index: usize| !stmts[index + 1..].iter().any(allocates);
            let mut stays = false;
            let mut each = Vec::with_capacity(stmts.len());
            for (index, stmt) in stmts.iter().enumerate() {
                let is_own = matches!(stmt.kind, StmtKind::AllocBuffer { .. });
                let is_taken_from = !stays && (is_own || is_last(index));
                stays |= !is_own && allocates(stmt);
                each.push(if is_taken_from { taken(stmt, is_taken, found) } else { stmt.clone() });
            }
            Stmt::seq(each)
        }
        StmtKind::Attr { node, key, value, body: inner } => {
            let (node, key, value) = (node.clone(), key.clone(), value.clone());
            let body_inner = taken(inner, is_taken, found);
            Stmt::new(StmtKind::Attr { node, key, value, body: body_inner }).with_span(body.span)
        }
        _ => body.clone(),
    }
}

fn allocates(stmt: &Stmt) -> bool {
    any_stmt(stmt, &mut |kind| matches!(kind, StmtKind::AllocBuffer { .. }))
}

/// Returns true if the size can be computed before the loop: it uses no variable that the loop
/// binds, reads no memory, and cannot fail.
fn is_of_invariant_size(buffer: &Buffer, annotations: &Attrs, bound: &HashSet<Var>) -> bool {
    let is_invariant =
        |expr: &Expr| is_pure(expr) && !depends_on_memory(expr) && vars_of(expr).is_disjoint(bound);
    !annotations.contains_key(attr::DEVICE_MEMORY) && buffer.shape.iter().all(is_invariant)
}
