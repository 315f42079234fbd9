//! Loop order that a host compiler can vectorize.

use std::sync::Arc;

use chipdock_ir::{Block, Expr, ExprKind, ForKind, IterKind, Stmt, StmtKind, Var};

use crate::marks::is_unmarked;
use crate::simplify::linear::Linear;
use crate::walk::{depends_on_memory, vars_of};

/// Minimum number of steps of a reduction: compilers unroll shorter ones, such as 3 × 3 × 3 of a
/// convolution, but not those of a product of matrices.
const LOOP_MIN: i128 = 32;

/// A loop without its body.
pub(super) struct Head {
    pub(super) stmt: Stmt,
    pub(super) var: Var,
}

/// Moves the last spatial loop of each nest around a reduction inside, if that is profitable.
pub(super) fn rewrite(stmt: &Stmt) -> Stmt {
    if matches!(stmt.kind, StmtKind::For { .. }) {
        let mut heads = Vec::new();
        let block = nest(stmt, &mut heads);
        if let StmtKind::BlockRealize { iter_values, block: inner, .. } = &block.kind
            && let Some(moved) = position(&heads, iter_values, inner)
        {
            let head = heads.remove(moved);
            heads.push(head);
            return heads.iter().rev().fold(block.clone(), |body, head| with_body(&head.stmt, body));
        }
    }
    stmt.map_children(&mut Expr::clone, &mut rewrite)
}

/// Collects the loops down to the first statement that is not a serial loop or has a mark that a
/// pass acts on.
pub(super) fn nest<'a>(stmt: &'a Stmt, heads: &mut Vec<Head>) -> &'a Stmt {
    match &stmt.kind {
        StmtKind::For { var, kind: ForKind::Serial, annotations, body, .. } if is_unmarked(annotations) => {
            heads.push(Head { stmt: stmt.clone(), var: var.clone() });
            nest(body, heads)
        }
        _ => stmt,
    }
}

fn with_body(head: &Stmt, body: Stmt) -> Stmt {
    match &head.kind {
        StmtKind::For { var, min, extent, kind, step, annotations, .. } => Stmt::new(StmtKind::For {
            var: var.clone(),
            min: min.clone(),
            extent: extent.clone(),
            kind: *kind,
            step: step.clone(),
            annotations: annotations.clone(),
            body,
        })
        .with_span(head.span),
        _ => body,
    }
}

/// The position of the loop to move inside, if that is profitable.
pub(super) fn position(heads: &[Head], values: &[Expr], block: &Arc<Block>) -> Option<usize> {
    let independent = heads.iter().all(|head| match &head.stmt.kind {
        StmtKind::For { min, extent, step, .. } => [Some(min), Some(extent), step.as_ref()]
            .into_iter()
            .flatten()
            .all(|e| !depends_on_memory(e) && heads.iter().all(|other| !vars_of(e).contains(&other.var))),
        _ => false,
    });
    let plain = block.alloc_buffers.is_empty()
        && block.match_buffers.is_empty()
        && is_unmarked(&block.annotations)
        && block.init.is_some()
        && block.iter_vars.iter().all(|axis| matches!(axis.kind, IterKind::Spatial | IterKind::Reduce));
    if !independent || !plain || values.len() != heads.len() {
        return None;
    }
    // Each loop is one axis of the block.
    let mut kinds = Vec::new();
    for head in heads {
        let axis =
            values.iter().position(|value| matches!(&value.kind, ExprKind::Var(var) if *var == head.var))?;
        kinds.push((block.iter_vars[axis].kind, &block.iter_vars[axis].var));
    }
    let last = kinds.iter().rposition(|(kind, _)| *kind == IterKind::Spatial)?;
    let (_, axis) = kinds[last];
    let reduction = &heads[last + 1..];
    let moves = !reduction.is_empty() && steps_of(reduction).is_none_or(|steps| steps >= LOOP_MIN);
    (moves && is_simple(&block.body) && neighbours(block, axis)).then_some(last)
}

/// Total number of iterations of these loops; `None` if it is not constant.
fn steps_of(heads: &[Head]) -> Option<i128> {
    heads.iter().try_fold(1_i128, |steps, head| match &head.stmt.kind {
        StmtKind::For { extent, .. } => match &extent.kind {
            ExprKind::Int(extent) => steps.checked_mul(*extent),
            _ => None,
        },
        _ => None,
    })
}

/// Returns true if the body is one store whose value has no effects.
fn is_simple(body: &Stmt) -> bool {
    matches!(&body.kind, StmtKind::Store { value, predicate: None, .. } if crate::simplify::is_pure(value))
}

/// Returns true if a step along the axis moves each access to the adjacent element or leaves it in
/// place; the store must move.
fn neighbours(block: &Block, axis: &Var) -> bool {
    let StmtKind::Store { buffer: stored, indices: own, value, .. } = &block.body.kind else { return false };
    let mut fine = stored.strides.is_empty() && steps(own, axis) == Some(true);
    value.walk(&mut |e| {
        if let ExprKind::Load { buffer, indices, .. } = &e.kind {
            fine &= buffer.strides.is_empty() && steps(indices, axis).is_some();
            fine &= buffer.data != stored.data || indices == own;
        }
    });
    fine
}

/// `Some(true)` if the last index grows one by one with the axis and no other index depends on it,
/// `Some(false)` if no index depends on it.
pub(crate) fn steps(indices: &[Expr], axis: &Var) -> Option<bool> {
    let (last, others) = indices.split_last()?;
    let depends = |e: &Expr| vars_of(e).contains(axis);
    if others.iter().any(depends) {
        return None;
    }
    let sum = Linear::of(last);
    let with: Vec<&(Expr, i128)> = sum.terms.iter().filter(|(term, _)| depends(term)).collect();
    match with.as_slice() {
        [] => Some(false),
        [(term, 1)] if matches!(&term.kind, ExprKind::Var(var) if var == axis) => Some(true),
        _ => None,
    }
}
