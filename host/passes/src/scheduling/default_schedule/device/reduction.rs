//! Reductions across the threads of a block.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Block, CompareOp, DType, Expr, ExprKind, ForKind, IterKind, Stmt, StmtKind, ThreadAxis, Var,
};

use super::launch::{self, Axis};
use super::limits::Limits;
use crate::marks::is_unmarked;
use crate::scheduling::default_schedule::access::Accesses;
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::default_schedule::nest::{Head, Nest};
use crate::simplify;

/// Minimum number of iterations, if known, for which a reduction uses the threads of a block.
const STEPS_MIN: i128 = 32;
/// Number of results below which the threads of a device would be idle otherwise.
const RESULTS_FEW: i128 = 256;

/// A reduction with one loop per axis: loops on threads are spatial axes, the others reduction
/// axes.
pub(super) struct Reduction<'a> {
    pub(super) spatial: Vec<&'a Head>,
    pub(super) reducing: Vec<&'a Head>,
    pub(super) values: &'a [Expr],
    predicate: &'a Expr,
    pub(super) block: &'a Arc<Block>,
}

/// A launch in which each block of threads reduces one result, if that is better than one thread
/// per result.
pub(super) fn across_threads(
    nest: &Nest<'_>,
    on_threads: &HashSet<Var>,
    limits: &Limits,
    sizes: &HashSet<Var>,
) -> Option<Stmt> {
    let reduction = Reduction::from_nest(nest, on_threads)?;
    let steps = product(&reduction.reducing);
    let few = product(&reduction.spatial).is_some_and(|results| results <= RESULTS_FEW);
    let long = steps.is_none_or(|steps| steps >= STEPS_MIN);
    // The largest power of two that fits a block and the length of the reduction.
    let room = steps.map_or(limits.threads, |steps| limits.threads.min(steps));
    let room = room.min(limits.shared_bytes / reduction.result_bytes());
    let threads = 1_i128 << room.max(1).ilog2();
    if !long || threads < 2 || !(few || reduction.is_along_memory(nest)) {
        return None;
    }
    let axes: Vec<Axis> = reduction.spatial.iter().map(|head| Axis::from_head(head)).collect();
    let body = reduction.of_block(threads, steps, limits);
    Some(launch::in_blocks(&axes, &body, limits, sizes))
}

fn product(heads: &[&Head]) -> Option<i128> {
    heads.iter().try_fold(1_i128, |product, head| product.checked_mul(head.extent.as_int()?.max(0)))
}

impl<'a> Reduction<'a> {
    pub(super) fn from_nest(nest: &'a Nest<'_>, on_threads: &HashSet<Var>) -> Option<Self> {
        let StmtKind::BlockRealize { iter_values, predicate, block } = &nest.body.kind else { return None };
        let (spatial, reducing): (Vec<&Head>, Vec<&Head>) =
            nest.heads.iter().partition(|head| on_threads.contains(&head.var));
        let is = |head: &Head, value: &Expr| matches!(&value.kind, ExprKind::Var(var) if *var == head.var);
        let mut n_reducing = 0;
        for (axis, value) in block.iter_vars.iter().zip(iter_values) {
            match axis.kind {
                IterKind::Reduce => {
                    let head = reducing.iter().find(|head| is(head, value))?;
                    let whole = head.min == axis.min && head.extent == axis.extent && head.step == 1;
                    whole.then_some(())?;
                    n_reducing += 1;
                }
                IterKind::Spatial => {}
                IterKind::Ordered | IterKind::Opaque => return None,
            }
        }
        let plain = n_reducing == reducing.len()
            && n_reducing > 0
            && block.alloc_buffers.is_empty()
            && block.match_buffers.is_empty()
            && is_unmarked(&block.annotations)
            && predicate.as_int() == Some(1)
            && combines(block);
        plain.then_some(Self { spatial, reducing, values: iter_values, predicate, block })
    }

    /// Bytes of a result, of which each thread has one in shared memory.
    fn result_bytes(&self) -> i128 {
        let StmtKind::Store { buffer, .. } = &self.block.body.kind else { return i128::MAX };
        i128::try_from(buffer.dtype.size_bytes()).unwrap_or(i128::MAX).max(1)
    }

    /// Returns true if adjacent steps of the reduction are adjacent in memory, and adjacent results
    /// are not.
    fn is_along_memory(&self, nest: &Nest<'_>) -> bool {
        let accesses = Accesses::collect(&nest.heads, nest.body);
        let is_adjacent = |head: &Head| {
            let reads = accesses.list.iter().filter(|access| !access.writes);
            let mut of_terms = reads.filter(|access| {
                let StmtKind::Store { buffer, .. } = &self.block.body.kind else { return false };
                access.buffer != *buffer
            });
            of_terms.any(|access| steps(&access.indices, &head.var) == Some(true))
        };
        let last = self.reducing.last().is_some_and(|head| is_adjacent(head));
        let wide = |head: &&&Head| head.extent.as_int().is_none_or(|extent| extent > 1);
        last && !self.spatial.iter().filter(wide).any(|head| reads_both(&accesses, head, &self.reducing))
    }

    /// The loops of one block of threads: the last loop of the reduction over threads, or all of
    /// them if they are constant.
    fn of_block(&self, threads: i128, steps: Option<i128>, limits: &Limits) -> Stmt {
        let fused: Vec<&Head> = match (steps, self.reducing.split_last()) {
            (None, Some((last, _))) => vec![*last],
            _ => self.reducing.clone(),
        };
        let is_wide = limits.has_int64 && fused.iter().any(|head| head.var.dtype.bits == 64);
        let dtype = if is_wide { DType::INT64 } else { DType::INT32 };
        let int = |value: i128| Expr::int(value, dtype);
        let total = match (steps, fused.as_slice()) {
            (Some(steps), _) => int(steps),
            (None, [only, ..]) => only.extent.clone().cast(dtype),
            (None, []) => int(1),
        };
        let (part, thread) = (Var::new("ko", dtype), Var::new("tx", dtype));
        // Rounded down first: adding in order to round up might wrap.
        let last = Expr::binary(BinaryOp::FloorDiv, total.clone() - int(1), int(threads));
        let rounds = simplify::expr(&(last + int(1)));
        let one_round = rounds.as_int() == Some(1);
        let start = if one_round { int(0) } else { part.expr() * int(threads) };
        let index = simplify::expr(&(start.clone() + thread.expr()));
        let mut substitution = Substitution::new();
        let mut inner = 1_i128;
        for (position, head) in fused.iter().enumerate().rev() {
            let mut value = index.clone();
            if inner != 1 {
                value = Expr::binary(BinaryOp::FloorDiv, value, int(inner));
            }
            if position > 0 {
                value = Expr::binary(BinaryOp::FloorMod, value, head.extent.clone().cast(dtype));
            }
            let value = head.min.clone() + value.cast(head.var.dtype);
            substitution.map_var(&head.var, simplify::expr(&value));
            inner = inner.saturating_mul(head.extent.as_int().unwrap_or(1));
        }
        let mut predicate = self.predicate.clone();
        if steps.is_none_or(|steps| steps % threads != 0) {
            // The remainder in the last round: `total - start` does not wrap, while
            // `start + thread` may.
            predicate = Expr::compare(CompareOp::Lt, thread.expr(), total - start);
        }
        let iter_values = self.values.iter().map(|value| substitution.expr(value)).collect();
        let block = Arc::clone(self.block);
        let mut body = Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block });
        if !one_round {
            body = Stmt::for_loop(part, rounds, ForKind::Serial, body);
        }
        let outer = self.reducing.iter().filter(|head| !fused.iter().any(|own| own.var == head.var));
        body = outer.rev().fold(body, |body, head| head.around(body));
        launch::bound(thread, int(threads), ThreadAxis::ThreadX, body)
    }
}

/// Returns true if a load that the reduction steps through lies along this loop.
fn reads_both(accesses: &Accesses, head: &Head, reducing: &[&Head]) -> bool {
    accesses.list.iter().filter(|access| !access.writes).any(|access| {
        let reduces = reducing.iter().any(|reducing| {
            access.indices.iter().any(|index| crate::walk::vars_of(index).contains(&reducing.var))
        });
        reduces && steps(&access.indices, &head.var) == Some(true)
    })
}

/// Returns true if the block is `own = own op term` with an operator whose order does not matter,
/// on a value that init has set.
fn combines(block: &Block) -> bool {
    let StmtKind::Store { buffer, indices, value, predicate: None } = &block.body.kind else { return false };
    let Some(StmtKind::Store { buffer: set, indices: at, predicate: None, .. }) =
        block.init.as_ref().map(|init| &init.kind)
    else {
        return false;
    };
    let ExprKind::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max, a, b) = &value.kind
    else {
        return false;
    };
    let is_own = |e: &Expr| {
        matches!(&e.kind, ExprKind::Load { buffer: of, indices: at, predicate: None }
            if of == buffer && at == indices)
    };
    let term = if is_own(a) { b } else { a };
    let mut reads_own = false;
    term.walk(&mut |e| {
        reads_own |= matches!(&e.kind, ExprKind::Load { buffer: of, .. } if of.data == buffer.data);
    });
    (is_own(a) || is_own(b))
        && !reads_own
        && set == buffer
        && at == indices
        && buffer.dtype.is_scalar()
        && simplify::is_pure(value)
}
