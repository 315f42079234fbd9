//! Nests around one block.

use std::sync::Arc;

use chipdock_ir::{Block, Buffer, Child, Expr, ExprKind, ForKind, IterKind, Stmt, StmtKind};

use crate::scheduling::default_schedule::host::{Head, nest};
use crate::scheduling::schedule::{BlockRef, LoopRef, Schedule, ScheduleError};

/// A perfect nest of plain serial loops around one block.
pub(super) struct Leaf {
    pub(super) heads: Vec<Head>,
    /// The values of the block's axes.
    pub(super) values: Vec<Expr>,
    pub(super) block: Arc<Block>,
    /// Whether the block has a predicate.
    pub(super) is_guarded: bool,
    /// The outermost loop.
    pub(super) stmt: Stmt,
    /// Whether a parallel loop is around it.
    pub(super) is_inside: bool,
}

impl Leaf {
    pub(super) fn from_stmt(stmt: &Stmt, is_inside: bool) -> Option<Self> {
        let mut heads = Vec::new();
        let inner = nest(stmt, &mut heads);
        let StmtKind::BlockRealize { iter_values, predicate, block } = &inner.kind else { return None };
        (!heads.is_empty()).then(|| Self {
            heads,
            values: iter_values.clone(),
            block: Arc::clone(block),
            is_guarded: predicate.as_int() != Some(1),
            stmt: stmt.clone(),
            is_inside,
        })
    }

    /// The loops of the nest, outermost first, without those around it.
    pub(super) fn loops(&self, schedule: &mut Schedule) -> Result<(BlockRef, Vec<LoopRef>), ScheduleError> {
        let block = schedule.get_sblock(&self.block.name)?;
        let loops = innermost(schedule, &block, self.heads.len())?;
        Ok((block, loops))
    }

    /// The extent of a loop, if it has plain bounds from 0.
    pub(super) fn extent(&self, position: usize) -> Option<&Expr> {
        match &self.heads.get(position)?.stmt.kind {
            StmtKind::For { min, extent, step: None, .. } if min.as_int() == Some(0) => Some(extent),
            _ => None,
        }
    }

    /// The position of the axis of the block whose values are those of a loop.
    pub(super) fn axis(&self, position: usize) -> Option<usize> {
        let head = self.heads.get(position)?;
        self.values.iter().position(|value| matches!(&value.kind, ExprKind::Var(var) if *var == head.var))
    }

    /// Whether a loop is a spatial axis of the block.
    pub(super) fn is_spatial(&self, position: usize) -> bool {
        self.axis(position).is_some_and(|axis| self.block.iter_vars[axis].kind == IterKind::Spatial)
    }

    /// Number of iterations of some loops together, if it is known.
    pub(super) fn iterations(&self, positions: std::ops::Range<usize>) -> Option<i128> {
        positions.into_iter().try_fold(1_i128, |total, at| total.checked_mul(self.extent(at)?.as_int()?))
    }
}

/// So many of the loops around a block, the outermost of them first.
pub(super) fn innermost(
    schedule: &mut Schedule,
    block: &BlockRef,
    count: usize,
) -> Result<Vec<LoopRef>, ScheduleError> {
    let mut loops = schedule.get_loops(block)?;
    let around = loops.len().saturating_sub(count);
    Ok(loops.split_off(around))
}

/// The indices of each load from a buffer.
pub(super) fn loads(stmt: &Stmt, buffer: &Buffer) -> Vec<Vec<Expr>> {
    let mut found = Vec::new();
    stmt.walk_exprs(&mut |e| {
        if let ExprKind::Load { buffer: from, indices, .. } = &e.kind
            && from.data == buffer.data
        {
            found.push(indices.clone());
        }
    });
    found
}

/// The nests around one block, in order.
pub(super) fn leaves(body: &Stmt) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(body, false, &mut found);
    found
}

fn collect(stmt: &Stmt, is_inside: bool, found: &mut Vec<Leaf>) {
    if let Some(leaf) = Leaf::from_stmt(stmt, is_inside) {
        found.push(leaf);
        return;
    }
    let at_once = matches!(stmt.kind, StmtKind::For { kind: ForKind::Parallel, .. });
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(inner) = child {
            collect(inner, is_inside || at_once, found);
        }
    });
}

/// The lists of statements in a body, outer ones first.
pub(super) fn lists(stmt: &Stmt, is_inside: bool, found: &mut Vec<(Vec<Stmt>, bool)>) {
    if let StmtKind::Seq(stmts) = &stmt.kind {
        found.push((stmts.to_vec(), is_inside));
    }
    let at_once = matches!(stmt.kind, StmtKind::For { kind: ForKind::Parallel, .. });
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(inner) = child {
            lists(inner, is_inside || at_once, found);
        }
    });
}
