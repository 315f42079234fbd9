//! What is known where a statement stands: which thread of its warp runs it, and what all of them have in common.

use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Callee, DType, Effect, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, ThreadAxis, Var, print,
};

use super::layout::Part;
use crate::simplify::linear::Linear;
use crate::simplify::{self, Ranges, is_pure};
use crate::threads::{BLOCK_AXES, Threads};
use crate::walk::{depends_on_memory, is_thread};

/// The variables of the axes of a block, x first, and whether a launch is open.
type Axes = ([Option<Var>; 3], bool);

#[derive(Clone)]
pub(super) struct Place {
    warp: i128,
    /// Threads of a block by axis, where constant.
    extents: [Option<i128>; 3],
    axes: Axes,
    /// Names of what is worked out from indices alone, with what they stand for.
    names: HashMap<Var, Expr>,
    ranges: Ranges,
    /// Variables that may differ between the threads of a warp.
    varying: HashSet<Var>,
}

impl Place {
    /// Outside of everything.
    pub(super) fn new(warp: i128) -> Self {
        Self {
            warp,
            extents: [None; 3],
            axes: ([None, None, None], false),
            names: HashMap::new(),
            ranges: Ranges::new(),
            varying: HashSet::new(),
        }
    }

    /// Goes into a statement, or past one that binds a name; what [`Place::leave`] takes.
    pub(super) fn enter(&mut self, stmt: &Stmt) -> Axes {
        let outer = self.axes.clone();
        if is_thread(stmt) && !self.axes.1 {
            let threads = Threads::of(stmt);
            self.extents = BLOCK_AXES.map(|axis| threads.extent(axis));
            self.axes.1 = true;
        }
        match &stmt.kind {
            StmtKind::LaunchThread { var, axis, extent, .. }
            | StmtKind::For { var, kind: ForKind::ThreadBinding(axis), extent, .. } => {
                self.ranges.set_loop(var, &Expr::int(0, var.dtype), extent, None);
                self.bound(var, *axis);
            }
            StmtKind::For { var, min, extent, kind, step, .. } => {
                let (first, count) = (self.resolved(min), self.resolved(extent));
                self.ranges.set_loop(var, &first, &count, step.as_ref());
                if let (low, high) = self.ranges.of(&var.expr())
                    && low == high
                {
                    self.names.insert(var.clone(), Expr::int(low, var.dtype));
                }
                let in_order = matches!(kind, ForKind::Serial | ForKind::Unrolled);
                if !(in_order && self.is_uniform(min) && self.is_uniform(extent)) {
                    self.varying.insert(var.clone());
                }
            }
            StmtKind::Bind { var, value } => {
                if !self.is_uniform(value) {
                    self.varying.insert(var.clone());
                }
                if value.dtype.is_integer() && value.dtype.is_scalar() {
                    let (low, high) = self.ranges.of(value);
                    self.ranges.set(var, low, high);
                }
                if is_pure(value) && !depends_on_memory(value) {
                    self.names.insert(var.clone(), self.resolved(value));
                }
            }
            _ => {}
        }
        outer
    }

    pub(super) fn leave(&mut self, axes: Axes) {
        self.axes = axes;
    }

    fn bound(&mut self, var: &Var, axis: ThreadAxis) {
        let Some(position) = BLOCK_AXES.iter().position(|known| *known == axis) else { return };
        self.axes.0[position] = Some(var.clone());
        // A warp lies within what whole warps make up.
        let inner =
            self.extents[..position].iter().try_fold(1_i128, |all, extent| all.checked_mul((*extent)?));
        if inner.is_none_or(|inner| inner % self.warp != 0) {
            self.varying.insert(var.clone());
        }
    }

    /// The number of the thread within its warp, if that can be said: threads count x fastest.
    fn lane(&self, dtype: DType) -> Option<Expr> {
        let (mut sum, mut weight) = (Expr::int(0, dtype), 1_i128);
        for (position, (axis, extent)) in self.axes.0.iter().zip(self.extents).enumerate() {
            if weight % self.warp == 0 {
                break;
            }
            match axis {
                Some(var) => sum = sum + var.expr().cast(dtype) * Expr::int(weight, dtype),
                None if extent == Some(1) => {}
                None => return None,
            }
            match extent {
                Some(extent) => weight = weight.checked_mul(extent)?,
                None if self.extents[position + 1..].iter().all(|extent| *extent == Some(1)) => break,
                None => return None,
            }
        }
        Some(Expr::binary(BinaryOp::FloorMod, sum, Expr::int(self.warp, dtype)))
    }

    /// In terms of indices of threads and loops.
    fn resolved(&self, expr: &Expr) -> Expr {
        let mut names = Substitution::new();
        for (var, value) in &self.names {
            names.map_var(var, value.clone());
        }
        names.expr(expr)
    }

    /// Simplified, with what is known here.
    pub(super) fn simple(&self, expr: &Expr) -> Expr {
        simplify::expr_with(expr, &self.ranges)
    }

    /// Whether an element is of the thread that runs here.
    pub(super) fn is_own(&self, part: &dyn Part, index: &Expr) -> bool {
        let Some(lane) = self.lane(index.dtype) else { return false };
        let index = self.simple(&self.resolved(index));
        let whose = ordered(&self.simple(&part.lane(&index)));
        let lane = ordered(&self.simple(&lane));
        !depends_on_memory(&index) && self.ranges.of(&self.simple(&(whose - lane))) == (0, 0)
    }

    /// Whether an expression has one value in all threads of a warp that work it out together.
    pub(super) fn is_uniform(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Var(var) => !self.varying.contains(var),
            ExprKind::Load { .. } | ExprKind::Let { .. } => false,
            ExprKind::Call { callee: Callee::Op(Op::ThreadInvariant), .. } => true,
            ExprKind::Call { callee: Callee::Op(op), args } if op.effect() == Effect::Pure => {
                args.iter().all(|arg| self.is_uniform(arg))
            }
            ExprKind::Call { .. } => false,
            // Which warp it is, or a part of that.
            ExprKind::Binary(BinaryOp::FloorDiv | BinaryOp::Div, x, by) if self.counts_warps(x, by) => true,
            _ => {
                let mut uniform = true;
                expr.for_each_child(&mut |child| uniform &= self.is_uniform(child));
                uniform
            }
        }
    }

    fn counts_warps(&self, x: &Expr, by: &Expr) -> bool {
        let is_x = matches!((&x.kind, &self.axes.0[0]), (ExprKind::Var(var), Some(first)) if var == first);
        let whole = self.extents[0].is_some_and(|extent| extent % self.warp == 0);
        is_x && whole && by.as_int().is_some_and(|by| by > 0 && by % self.warp == 0)
    }
}

/// The expression with the terms of its sums in one order, whatever order they were written in.
fn ordered(expr: &Expr) -> Expr {
    let expr = expr.map_children(&mut ordered);
    if !expr.dtype.is_integer()
        || !expr.dtype.is_scalar()
        || !matches!(&expr.kind, ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..))
    {
        return expr;
    }
    let mut sum = Linear::of(&expr);
    sum.terms.sort_by_cached_key(|(term, _)| print::expr(term));
    sum.to_expr()
}
