//! Loops rewritten so that they ask once in so many iterations.

use chipdock_ir::{
    Attrs, BinaryOp, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, Span, Stmt, StmtKind, StorageScope,
    Var,
};

use super::{ask, estimate};
use crate::simplify::{self, Ranges};

/// The parts of a serial loop.
pub(super) struct Loop<'a> {
    pub(super) var: &'a Var,
    pub(super) min: &'a Expr,
    pub(super) extent: &'a Expr,
    pub(super) step: Option<&'a Expr>,
    pub(super) body: &'a Stmt,
    annotations: &'a Attrs,
    span: Span,
}

impl<'a> Loop<'a> {
    pub(super) fn of(stmt: &'a Stmt) -> Option<Self> {
        let StmtKind::For { var, min, extent, step, annotations, body, .. } = &stmt.kind else { return None };
        Some(Self { var, min, extent, step: step.as_ref(), body, annotations, span: stmt.span })
    }

    /// The loop with another body.
    pub(super) fn with_body(&self, body: Stmt) -> Stmt {
        self.over(self.min.clone(), self.extent.clone(), body)
    }

    fn over(&self, min: Expr, extent: Expr, body: Stmt) -> Stmt {
        Stmt::new(StmtKind::For {
            var: self.var.clone(),
            min,
            extent,
            kind: ForKind::Serial,
            step: self.step.cloned(),
            annotations: self.annotations.clone(),
            body,
        })
        .with_span(self.span)
    }
}

/// The number of iterations from one question to the next.
pub(super) enum Count {
    /// A number, at least 1.
    Constant(i128),
    /// A value of what is known before the loop, of int64, at least 1.
    Computed(Expr),
}

impl Count {
    /// The number of iterations of a loop that come to so many operations.
    pub(super) fn of(of: &Loop<'_>, operations: i128) -> Self {
        let int = |value: i128| Expr::int(value, DType::INT64);
        let each = estimate::of_iteration(of.var, of.body);
        let count = Expr::binary(BinaryOp::Div, int(operations), each);
        let count = simplify::expr(&Expr::binary(BinaryOp::Max, count, int(1)));
        count.as_int().map_or(Self::Computed(count), Self::Constant)
    }

    fn expr(&self, dtype: DType) -> Expr {
        match self {
            Self::Constant(count) => Expr::int(*count, dtype),
            Self::Computed(count) if count.dtype == dtype => count.clone(),
            Self::Computed(count) => count.clone().cast(dtype),
        }
    }
}

/// The loop in blocks, each of which but the first asks.
///
/// Values are computed so that their ranges show that nothing wraps: then the loop within a block
/// counts as the one that was there did.
pub(super) fn in_blocks(of: &Loop<'_>, count: &Count, body: Stmt, ranges: &Ranges) -> Stmt {
    let dtype = of.extent.dtype;
    let int = |value: i128| Expr::int(value, dtype);
    let mut before = Vec::new();
    let some = if ranges.of(of.extent).0 < 0 {
        Expr::binary(BinaryOp::Max, of.extent.clone(), int(0))
    } else {
        of.extent.clone()
    };
    let extent = settled("extent", &some, &mut before);
    let min = settled("min", of.min, &mut before);
    let iterations = settled("iterations", &count.expr(dtype), &mut before);
    let block = Var::new("block", dtype);
    let blocks = match (extent.as_int(), iterations.as_int()) {
        (Some(extent), Some(iterations)) => int((extent - 1) / iterations + 1),
        // The last one is empty where the others are all of it.
        _ => Expr::binary(BinaryOp::Div, extent.clone(), iterations.clone()) + int(1),
    };
    let is_later = Expr::compare(CompareOp::Gt, block.expr(), int(0));
    let mut inner = vec![Stmt::if_then(is_later, ask(), None)];
    let done = match count {
        Count::Constant(_) => &block.expr() * &iterations,
        Count::Computed(_) => at_most(&extent, dtype, |wide| wide(&block.expr()) * wide(&iterations)),
    };
    let done = settled("done", &done, &mut inner);
    let left = Expr::binary(BinaryOp::Min, iterations, &extent - &done);
    let (start, share) = match (min.as_int(), of.step) {
        (Some(0), None) => (done, left),
        (_, Some(step)) => (min + &done * step, left),
        (_, None) => {
            // What was known of the loop's variable is known of this one's.
            let end = ranges.of(&of.var.expr()).1.checked_add(1);
            match end.filter(|end| dtype.integer_range().is_some_and(|range| *end <= range.1)) {
                Some(end) => {
                    let start = at_most(&int(end), dtype, |wide| wide(&min) + wide(&done));
                    let start = settled("start", &start, &mut inner);
                    (start.clone(), Expr::binary(BinaryOp::Min, left, int(end) - start))
                }
                None => (min + done, left),
            }
        }
    };
    inner.push(of.over(start, share, body));
    let body = Stmt::new(StmtKind::Seq(inner));
    before.push(Stmt::for_loop(block, blocks, ForKind::Serial, body).with_span(of.span));
    Stmt::seq(before).with_span(of.span)
}

/// A value that is at most `most`, computed in int64, in which it does not wrap if it is one of
/// int32.
fn at_most(most: &Expr, dtype: DType, value: impl FnOnce(&dyn Fn(&Expr) -> Expr) -> Expr) -> Expr {
    if dtype == DType::INT64 {
        return value(&Expr::clone);
    }
    let wide = |narrow: &Expr| narrow.clone().cast(DType::INT64);
    simplify::expr(&Expr::binary(BinaryOp::Min, value(&wide), wide(most)).cast(dtype))
}

/// A loop that counts its iterations and asks once in so many; `with` makes it of the statement
/// that each iteration begins with.
pub(super) fn counted(count: &Count, with: impl FnOnce(Stmt) -> Stmt) -> Stmt {
    let dtype = DType::INT64;
    let int = |value: i128| Expr::int(value, dtype);
    let mut before = Vec::new();
    let count = settled("iterations", &count.expr(dtype), &mut before);
    let turns = Buffer::new("turns", vec![int(1)], dtype, StorageScope::LOCAL);
    let (zero, turn) = (|| vec![int(0)], Expr::load(&turns, vec![int(0)]));
    before.push(Stmt::new(StmtKind::AllocBuffer { buffer: turns.clone(), annotations: Attrs::new() }));
    before.push(Stmt::store(&turns, zero(), int(0)));
    let is_due = Expr::compare(CompareOp::Ge, turn.clone(), count);
    let question = Stmt::seq([
        Stmt::store(&turns, zero(), &turn + &int(1)),
        Stmt::if_then(is_due, Stmt::seq([Stmt::store(&turns, zero(), int(0)), ask()]), None),
    ]);
    before.push(with(question));
    Stmt::seq(before)
}

/// Returns a constant or a variable as it is, and binds any other value to a variable first.
fn settled(name: &str, value: &Expr, before: &mut Vec<Stmt>) -> Expr {
    if value.as_int().is_some() || matches!(value.kind, ExprKind::Var(_)) {
        return value.clone();
    }
    let var = Var::new(name, value.dtype);
    before.push(Stmt::new(StmtKind::Bind { var: var.clone(), value: value.clone() }));
    var.expr()
}
