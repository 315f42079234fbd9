//! Facts known at a statement: the lane that runs it, and the values that all threads of the warp
//! share.

use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Callee, DType, Effect, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, ThreadAxis, Var, print,
};

use super::layout::OwnerMap;
use crate::simplify::linear::Linear;
use crate::simplify::{self, Ranges, is_pure};
use crate::threading::threads::{BLOCK_AXES, Threads};
use crate::walk::{depends_on_memory, is_thread};

/// The variables of the axes of a block, x first, and whether a launch is open.
type Axes = ([Option<Var>; 3], bool);

#[derive(Clone)]
pub(super) struct WarpContext {
    warp: i128,
    /// Number of threads of a block by axis, if constant.
    extents: [Option<i128>; 3],
    axes: Axes,
    /// Names of values that are computed from indices alone, with their values.
    names: HashMap<Var, Expr>,
    ranges: Ranges,
    /// Variables that may differ between the threads of a warp.
    varying: HashSet<Var>,
}

impl WarpContext {
    /// The state outside of all statements.
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

    /// Enters a statement, or passes one that binds a name; returns the argument for
    /// [`WarpContext::leave`].
    pub(super) fn enter(&mut self, stmt: &Stmt) -> Axes {
        let outer = self.axes.clone();
        if is_thread(stmt) && !self.axes.1 {
            let threads = Threads::collect(stmt);
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
        // If the inner axes make up whole warps, the index on this axis is the same in all of a
        // warp.
        let inner =
            self.extents[..position].iter().try_fold(1_i128, |all, extent| all.checked_mul((*extent)?));
        if inner.is_none_or(|inner| inner % self.warp != 0) {
            self.varying.insert(var.clone());
        }
    }

    /// The lane of the thread within its warp, if it can be expressed: threads count x fastest.
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

    /// Rewrites the expression in terms of indices of threads and loops.
    fn resolved(&self, expr: &Expr) -> Expr {
        let mut names = Substitution::new();
        for (var, value) in &self.names {
            names.map_var(var, value.clone());
        }
        names.expr(expr)
    }

    /// Simplifies the expression with the known facts.
    pub(super) fn simple(&self, expr: &Expr) -> Expr {
        simplify::expr_with(expr, &self.ranges)
    }

    /// Returns true if the element belongs to the current thread.
    pub(super) fn is_own(&self, part: &dyn OwnerMap, index: &Expr) -> bool {
        let Some(lane) = self.lane(index.dtype) else { return false };
        let index = self.simple(&self.resolved(index));
        let whose = self.ordered(&self.simple(&part.lane(&index)));
        let lane = self.ordered(&self.simple(&lane));
        !depends_on_memory(&index) && self.ranges.of(&self.simple(&(whose - lane))) == (0, 0)
    }

    /// Normalizes the order of the terms of sums, and splits remainders of sums into digits:
    /// `(x + y * 8) % 32` is `y % 4 * 8 + x` for an `x` below 8.
    fn ordered(&self, expr: &Expr) -> Expr {
        let expr = expr.map_children(&mut |child| self.ordered(child));
        if !expr.dtype.is_integer() || !expr.dtype.is_scalar() {
            return expr;
        }
        let ExprKind::Binary(op, a, b) = &expr.kind else { return expr };
        match (op, b.as_int()) {
            (BinaryOp::Add | BinaryOp::Sub, _) => {
                let mut sum = Linear::of(&expr);
                sum.terms.sort_by_cached_key(|(term, _)| print::expr(term));
                sum.to_expr()
            }
            (BinaryOp::FloorMod, Some(by)) if by > 1 => self.digits(a, by).unwrap_or(expr),
            _ => expr,
        }
    }

    /// The remainder of a sum in which one part is less than a factor of all others.
    fn digits(&self, sum: &Expr, by: i128) -> Option<Expr> {
        let sum = Linear::of(sum);
        let weights = sum.terms.iter().map(|(_, coefficient)| coefficient.abs());
        let weights = weights.filter(|weight| *weight > 1 && *weight < by && by % weight == 0);
        weights.filter(|_| sum.fits(&self.ranges)).find_map(|weight| {
            let (high, low) = sum.split(weight);
            let (least, most) = low.exact(&self.ranges)?;
            let below = least >= 0 && most < weight && high.fits(&self.ranges);
            let int = |value: i128| Expr::int(value, sum.dtype);
            let high = Expr::binary(BinaryOp::FloorMod, high.to_expr(), int(by / weight));
            below.then(|| self.ordered(&(self.simple(&high) * int(weight) + low.to_expr())))
        })
    }

    /// Returns true if the expression has the same value in all threads of a warp that evaluate it
    /// together.
    pub(super) fn is_uniform(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Var(var) => !self.varying.contains(var),
            ExprKind::Load { .. } | ExprKind::Let { .. } => false,
            ExprKind::Call { callee: Callee::Op(Op::ThreadInvariant), .. } => true,
            ExprKind::Call { callee: Callee::Op(op), args } if op.effect() == Effect::Pure => {
                args.iter().all(|arg| self.is_uniform(arg))
            }
            ExprKind::Call { .. } => false,
            // The index of the warp, or a part of it.
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
