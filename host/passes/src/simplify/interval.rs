//! Ranges of integer expressions.

use std::collections::HashMap;

use chipdock_ir::{BinaryOp, Callee, CompareOp, DType, Expr, ExprKind, Op, Var};

use super::linear::Linear;

/// Least and greatest value, both included.
pub(crate) type Interval = (i128, i128);

/// Known ranges of variables. A variable without an entry may have any value of its type.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    vars: HashMap<Var, Interval>,
    /// The previous range for each change since the outermost open mark.
    before: Vec<(Var, Option<Interval>)>,
    /// Number of open marks.
    marks: usize,
}

impl Ranges {
    /// No known ranges.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// States that `var` lies between `min` and `max`, both included. An empty interval is ignored.
    pub fn set(&mut self, var: &Var, min: i128, max: i128) {
        if min <= max {
            let before = self.vars.insert(var.clone(), (min, max));
            if self.marks > 0 {
                self.before.push((var.clone(), before));
            }
        }
    }

    /// Begins a scope for ranges. A copy instead would cost time proportional to all known ranges.
    pub(crate) fn mark(&mut self) -> usize {
        self.marks += 1;
        self.before.len()
    }

    /// Ends the scope that began at the mark, and drops the ranges recorded in it.
    pub(crate) fn back_to(&mut self, mark: usize) {
        self.marks -= 1;
        for (var, before) in self.before.drain(mark..).rev() {
            match before {
                Some(interval) => self.vars.insert(var, interval),
                None => self.vars.remove(&var),
            };
        }
    }

    /// States that `var` runs through `extent` values from `min` in steps of `step`.
    pub(crate) fn set_loop(&mut self, var: &Var, min: &Expr, extent: &Expr, step: Option<&Expr>) {
        let (low, high) = self.of(min);
        let (_, count) = self.of(extent);
        let (_, step) = step.map_or((1, 1), |step| self.of(step));
        let last =
            count.checked_sub(1).and_then(|n| n.max(0).checked_mul(step)).and_then(|n| n.checked_add(high));
        if let (Some(last), Some((_, limit))) = (last, var.dtype.integer_range()) {
            let held = if step == 1 { self.held_until(min, extent) } else { None };
            self.set(var, low, held.map_or(last, |end| last.min(end - 1)).min(limit));
        }
    }

    /// The exclusive upper bound of a loop of `extent` values from `min` on, if its extent is
    /// `min(n, value - min)`.
    fn held_until(&self, min: &Expr, extent: &Expr) -> Option<i128> {
        let ExprKind::Binary(BinaryOp::Min, a, b) = &extent.kind else { return None };
        [a, b].into_iter().find_map(|side| match &side.kind {
            ExprKind::Binary(BinaryOp::Sub, until, from) if from == min => {
                self.exact(side).filter(|exact| *exact == self.of(side))?;
                Some(self.of(until).1)
            }
            _ => None,
        })
    }

    /// Records that a condition holds: comparisons of a variable, plus a constant, and conjunctions
    /// of them. A condition that cannot hold is ignored.
    pub(crate) fn assume(&mut self, condition: &Expr) {
        match &condition.kind {
            ExprKind::And(a, b) => {
                self.assume(a);
                self.assume(b);
            }
            ExprKind::Call { callee: Callee::Op(Op::Likely), args } => {
                args.iter().for_each(|a| self.assume(a))
            }
            ExprKind::Compare(op, a, b) if a.dtype.is_integer() && a.dtype.is_scalar() => {
                self.compared(*op, a, b);
                self.compared(mirrored(*op), b, a);
            }
            _ => {}
        }
    }

    /// Records the range implied by `a op b` if `a` is a variable plus a constant.
    fn compared(&mut self, op: CompareOp, a: &Expr, b: &Expr) {
        let sum = Linear::of(a);
        let [(term, 1)] = sum.terms.as_slice() else { return };
        let ExprKind::Var(var) = &term.kind else { return };
        if !sum.fits(self) {
            return;
        }
        let (own, (low, high)) = (self.of(&var.expr()), self.of(b));
        let (low, high) = (low - sum.constant, high - sum.constant);
        let (least, most) = match op {
            CompareOp::Eq => (low, high),
            CompareOp::Ne => return,
            CompareOp::Lt => (own.0, high - 1),
            CompareOp::Le => (own.0, high),
            CompareOp::Gt => (low + 1, own.1),
            CompareOp::Ge => (low, own.1),
        };
        self.set(var, own.0.max(least), own.1.min(most));
    }

    /// Returns sound bounds of an integer or boolean expression, over all its lanes; for any other
    /// expression, a meaningless range of more than an `i64`.
    #[must_use]
    pub fn of(&self, expr: &Expr) -> Interval {
        let full = full(expr.dtype);
        self.exact(expr).filter(|(low, high)| *low >= full.0 && *high <= full.1).unwrap_or(full)
    }

    /// Returns bounds of the value before it wraps; `None` if not known.
    pub(crate) fn exact(&self, expr: &Expr) -> Option<Interval> {
        if !(expr.dtype.is_integer() || expr.dtype.is_bool()) {
            return None;
        }
        match &expr.kind {
            ExprKind::Int(value) => Some((*value, *value)),
            ExprKind::Var(var) => self.vars.get(var).copied(),
            ExprKind::Cast(value) if value.dtype.is_integer() && expr.dtype.is_integer() => {
                let inner = self.of(value);
                let (low, high) = full(expr.dtype);
                (inner.0 >= low && inner.1 <= high).then_some(inner)
            }
            ExprKind::Cast(value) if value.dtype.is_bool() => Some(self.of(value)),
            ExprKind::Binary(op, a, b) => binary(*op, self.of(a), self.of(b)),
            ExprKind::Select(_, a, b) => Some(union(self.of(a), self.of(b))),
            ExprKind::Broadcast { value, .. } => Some(self.of(value)),
            ExprKind::Ramp { base, stride, lanes } => {
                let (base, stride) = (self.of(base), self.of(stride));
                let last = binary(BinaryOp::Mul, stride, (0, i128::from(*lanes) - 1))?;
                binary(BinaryOp::Add, base, last)
            }
            ExprKind::Call { callee: Callee::Op(op), args } => self.call(*op, args),
            _ => None,
        }
    }

    fn call(&self, op: Op, args: &[Expr]) -> Option<Interval> {
        match (op, args) {
            (Op::IfThenElse, [_, a, b]) => Some(union(self.of(a), self.of(b))),
            (Op::ShiftRight, [a, b]) => {
                let (value, (count, most)) = (self.of(a), self.of(b));
                let inside = count == most && (0..i128::from(a.dtype.bits)).contains(&count);
                inside.then(|| (value.0 >> count, value.1 >> count))
            }
            (Op::BitwiseAnd, [a, b]) => {
                let (x, y) = (self.of(a), self.of(b));
                (x.0 >= 0 && y.0 >= 0).then(|| (0, x.1.min(y.1))).or((y.0 >= 0).then_some((0, y.1)))
            }
            (Op::Popcount | Op::Clz, [a]) => Some((0, a.dtype.bits.into())),
            _ => None,
        }
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}

pub(crate) fn full(dtype: DType) -> Interval {
    dtype.integer_range().unwrap_or((-(1 << 64), 1 << 64))
}

fn union(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

fn binary(op: BinaryOp, a: Interval, b: Interval) -> Option<Interval> {
    let corners = |f: &dyn Fn(i128, i128) -> Option<i128>| -> Option<Interval> {
        let all = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
        let low = all.into_iter().min()?;
        Some((low, all.into_iter().max()?))
    };
    match op {
        BinaryOp::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
        BinaryOp::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
        BinaryOp::Mul => corners(&i128::checked_mul),
        BinaryOp::FloorDiv if b.0 > 0 => corners(&|x, y| Some(super::fold::floor_div(x, y))),
        BinaryOp::Div if b.0 > 0 => corners(&i128::checked_div),
        BinaryOp::FloorMod if b.0 > 0 => {
            let same_period =
                b.0 == b.1 && super::fold::floor_div(a.0, b.0) == super::fold::floor_div(a.1, b.0);
            Some(if same_period {
                (a.0.rem_euclid(b.0), a.1.rem_euclid(b.0))
            } else {
                (0, if a.0 >= 0 { a.1.min(b.1 - 1) } else { b.1 - 1 })
            })
        }
        BinaryOp::Mod if b.0 > 0 => {
            let most = b.1 - 1;
            Some((a.0.clamp(-most, 0), a.1.clamp(0, most)))
        }
        BinaryOp::Min => Some((a.0.min(b.0), a.1.min(b.1))),
        BinaryOp::Max => Some((a.0.max(b.0), a.1.max(b.1))),
        BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => None,
    }
}
