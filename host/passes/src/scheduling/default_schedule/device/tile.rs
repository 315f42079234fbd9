//! Shared code of the kernels that are tiled through shared memory.

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, Block, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, Stmt, StmtKind, StorageScope, Var,
};

use crate::marks::is_unmarked;
use crate::scheduling::default_schedule::nest::{Head, Nest};
use crate::simplify;

/// A store in terms of the surrounding loops.
pub(super) struct Store {
    pub(super) buffer: Buffer,
    pub(super) indices: Vec<Expr>,
    pub(super) value: Expr,
}

impl Store {
    /// The only store of a nest, if it has no other statement and no reduction.
    pub(super) fn only_in(nest: &Nest<'_>) -> Option<Self> {
        match &nest.body.kind {
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                let plain = predicate.as_int() == Some(1)
                    && block.init.is_none()
                    && block.alloc_buffers.is_empty()
                    && block.match_buffers.is_empty()
                    && is_unmarked(&block.annotations);
                plain.then(|| Self::within(block, iter_values, &block.body))?
            }
            _ => Self::with(&mut Substitution::new(), nest.body),
        }
    }

    /// A store within a block, its axes replaced by their values.
    pub(super) fn within(block: &Block, values: &[Expr], stmt: &Stmt) -> Option<Self> {
        let mut substitution = Substitution::new();
        for (axis, value) in block.iter_vars.iter().zip(values) {
            substitution.map_var(&axis.var, value.clone());
        }
        Self::with(&mut substitution, stmt)
    }

    fn with(substitution: &mut Substitution, stmt: &Stmt) -> Option<Self> {
        let StmtKind::Store { buffer, indices, value, predicate: None } = &stmt.kind else { return None };
        let mut expr = |e: &Expr| simplify::expr(&substitution.expr(e));
        let (indices, value) = (indices.iter().map(&mut expr).collect(), expr(value));
        buffer.dtype.is_scalar().then(|| Self { buffer: buffer.clone(), indices, value })
    }
}

/// Replaces every occurrence of `part` in the expression.
pub(super) fn replaced(expr: &Expr, part: &Expr, by: &Expr) -> Expr {
    if expr == part {
        return by.clone();
    }
    expr.map_children(&mut |child| replaced(child, part, by))
}

/// A block without axes in which no thread waits for another.
pub(super) fn block(name: &str, body: Stmt) -> Stmt {
    let block = Block {
        name: name.into(),
        iter_vars: Vec::new(),
        reads: None,
        writes: None,
        init: None,
        alloc_buffers: Vec::new(),
        match_buffers: Vec::new(),
        annotations: Attrs::new(),
        body,
    };
    let predicate = Expr::bool(true);
    Stmt::new(StmtKind::BlockRealize { iter_values: Vec::new(), predicate, block: Arc::new(block) })
}

/// A new buffer of constant size.
pub(super) fn buffer(name: &str, shape: &[i128], dtype: DType, scope: StorageScope) -> Buffer {
    Buffer::new(name, shape.iter().map(|extent| Expr::int(*extent, DType::INT32)).collect(), dtype, scope)
}

pub(super) fn allocation(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
}

/// Distributes the positions of a tile of `rows * columns` among the threads, adjacent columns to
/// adjacent threads.
pub(super) fn each_place(
    rows: i128,
    columns: i128,
    thread: &Var,
    threads: i128,
    body: impl FnOnce(Expr, Expr) -> Stmt,
) -> Stmt {
    let int = |value: i128| Expr::int(value, DType::INT32);
    let round = Var::new("r", DType::INT32);
    let rounds = rows * columns / threads;
    let index = if rounds == 1 { thread.expr() } else { round.expr() * int(threads) + thread.expr() };
    let row = Expr::binary(chipdock_ir::BinaryOp::FloorDiv, index.clone(), int(columns));
    let column = Expr::binary(chipdock_ir::BinaryOp::FloorMod, index, int(columns));
    let body = body(row, column);
    if rounds == 1 { body } else { Stmt::for_loop(round, int(rounds), ForKind::Serial, body) }
}

/// A loop cut into tiles.
pub(super) struct Tiled<'a> {
    pub(super) head: &'a Head,
    /// Variable for the number of the tile.
    pub(super) tile: Var,
    pub(super) size: i128,
}

impl<'a> Tiled<'a> {
    pub(super) fn new(head: &'a Head, size: i128) -> Self {
        let tile = Var::new(format!("{}_o", head.var.name), head.var.dtype);
        Self { head, tile, size }
    }

    fn int(&self, value: i128) -> Expr {
        Expr::int(value, self.head.var.dtype)
    }

    /// Number of tiles.
    pub(super) fn count(&self) -> Expr {
        let last = self.head.extent.clone() - self.int(1);
        let last = Expr::binary(chipdock_ir::BinaryOp::FloorDiv, last, self.int(self.size));
        simplify::expr(&(last + self.int(1)))
    }

    /// The loop's value at a position within the tile.
    pub(super) fn at(&self, place: &Expr) -> Expr {
        let start = self.tile.expr() * self.int(self.size);
        simplify::expr(&(self.head.min.clone() + (start + place.clone().cast(self.head.var.dtype))))
    }

    /// The condition that a position is within the loop; `None` if all are.
    pub(super) fn holds(&self, place: &Expr) -> Option<Expr> {
        if self.head.extent.as_int().is_some_and(|extent| extent % self.size == 0) {
            return None;
        }
        // Compared this way because `start + place` might wrap.
        let left = self.head.extent.clone() - self.tile.expr() * self.int(self.size);
        let place = place.clone().cast(self.head.var.dtype);
        Some(Expr::compare(CompareOp::Lt, place, left))
    }

    /// Returns true if the loop is, or may be, long enough for tiles.
    pub(super) fn is_long(head: &Head, least: i128) -> bool {
        head.step == 1 && head.extent.as_int().is_none_or(|extent| extent >= least)
    }
}

/// Conjunction of the conditions that are present.
pub(super) fn all(conditions: impl IntoIterator<Item = Option<Expr>>) -> Option<Expr> {
    conditions.into_iter().flatten().reduce(Expr::and)
}

pub(super) fn under(condition: Option<Expr>, body: Stmt) -> Stmt {
    match condition {
        Some(condition) => Stmt::if_then(condition, body, None),
        None => body,
    }
}

/// The loads of an expression that are evaluated unconditionally.
pub(super) fn unconditional_loads<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Load { predicate: None, .. } if !found.contains(&expr) => found.push(expr),
        ExprKind::Cast(_) | ExprKind::Binary(..) | ExprKind::Compare(..) | ExprKind::Select(..) => {
            expr.for_each_child(&mut |child| unconditional_loads(child, found));
        }
        ExprKind::Call { callee: chipdock_ir::Callee::Op(op), .. } if *op != chipdock_ir::Op::IfThenElse => {
            expr.for_each_child(&mut |child| unconditional_loads(child, found));
        }
        _ => {}
    }
}
