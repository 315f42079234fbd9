//! Analysis of the values that an expression can take, precise enough to leave out unnecessary
//! casts and guards.

mod floats;

use std::collections::HashMap;

use crate::{BinaryOp, DType, Expr, ExprKind, Var};

/// An interval of integers, both ends included.
pub type Interval = (i128, i128);

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueBounds {
    /// An integer of an interval.
    Integer(Interval),
    /// A float, which is no NaN, between two values, both included, which may be infinite.
    Float(f64, f64),
    /// Nothing.
    Nothing,
}

/// Intervals of variables and of expressions over them, which must outlive this: nodes are
/// identified by address.
#[derive(Debug, Default)]
pub struct Ranges {
    vars: HashMap<usize, Interval>,
    known: HashMap<usize, (Interval, bool)>,
    float_vars: HashMap<usize, (f64, f64)>,
    known_floats: HashMap<usize, Option<(f64, f64)>>,
}

impl Ranges {
    /// Records the values that a variable can take, until this is called for it again.
    pub fn bind(&mut self, var: &Var, interval: Interval) {
        if let Some((low, high)) = var.dtype.integer_range() {
            let interval = (interval.0.max(low), interval.1.min(high));
            let before = self.vars.insert(var.address(), interval);
            if before.is_some_and(|before| before != interval) {
                self.known.clear();
                self.known_floats.clear();
            }
        }
    }

    /// Returns what is known of the value of an expression, or of each of its lanes.
    pub fn known(&mut self, e: &Expr) -> ValueBounds {
        if e.dtype.integer_range().is_some() {
            return ValueBounds::Integer(self.of(e));
        }
        self.of_float(e).map_or(ValueBounds::Nothing, |(low, high)| ValueBounds::Float(low, high))
    }

    /// Records what is known of the value of a variable, until this or [`Ranges::bind`] is called
    /// for it again.
    pub fn learn(&mut self, var: &Var, known: ValueBounds) {
        let address = var.address();
        let (before, now) = match known {
            ValueBounds::Integer(interval) => return self.bind(var, interval),
            ValueBounds::Float(low, high) => {
                (self.float_vars.insert(address, (low, high)), Some((low, high)))
            }
            ValueBounds::Nothing => (self.float_vars.remove(&address), None),
        };
        if before.is_some() && before != now {
            self.known.clear();
            self.known_floats.clear();
        }
    }

    /// Returns the values that a scalar integer expression can take: the whole range of its type if
    /// nothing better is known.
    pub fn of(&mut self, e: &Expr) -> Interval {
        self.look(e).0
    }

    /// Returns true if the exact result of this sum, difference or product fits its type, whatever
    /// its operands are.
    pub fn is_exact(&mut self, e: &Expr) -> bool {
        self.look(e).1
    }

    /// Returns the interval of a loop variable that starts at `min` and counts by one, and the
    /// value after its last one; `None` if one of them may wrap. An extent `min(n, end - min)` is
    /// recognised to stop at `end`.
    pub fn of_loop(&mut self, min: &Expr, extent: &Expr) -> Option<(Interval, i128)> {
        let ((low, high), (_, most)) = (self.of(min), self.of(extent));
        let mut end = high.checked_add(most.max(1))?;
        if let ExprKind::Binary(BinaryOp::Min, a, b) = &extent.kind {
            for side in [a, b] {
                if let ExprKind::Binary(BinaryOp::Sub, until, from) = &side.kind
                    && from == min
                    && self.is_exact(side)
                {
                    end = end.min(self.of(until).1);
                }
            }
        }
        let (_, greatest) = min.dtype.integer_range()?;
        (low < end && end - 1 <= greatest).then_some(((low, end - 1), end))
    }

    /// Returns the interval of a loop variable that starts at `min` and counts `extent` times by a
    /// step (1 if it is absent); `None` if it may wrap.
    pub fn of_loop_variable(&mut self, min: &Expr, extent: &Expr, step: Option<&Expr>) -> Option<Interval> {
        let Some(step) = step.filter(|step| step.as_int() != Some(1)) else {
            return self.of_loop(min, extent).map(|(range, _)| range);
        };
        let (first, count, step) = (self.of(min), self.of(extent), self.of(step));
        let last = count.1.checked_sub(1)?.max(0).checked_mul(step.1.max(1))?;
        let high = first.1.checked_add(last)?;
        let most = min.dtype.integer_range()?.1;
        (high <= most).then_some((first.0, high))
    }

    fn look(&mut self, e: &Expr) -> (Interval, bool) {
        let whole = e.dtype.integer_range().unwrap_or((i128::MIN, i128::MAX));
        match &e.kind {
            ExprKind::Int(value) => return ((*value, *value), true),
            ExprKind::Var(var) => return (self.vars.get(&var.address()).copied().unwrap_or(whole), true),
            _ => {}
        }
        if let Some(known) = self.known.get(&e.address()) {
            return *known;
        }
        let found = self.compute(e, whole);
        self.known.insert(e.address(), found);
        found
    }

    fn compute(&mut self, e: &Expr, whole: Interval) -> (Interval, bool) {
        let computed = match &e.kind {
            ExprKind::Binary(op, a, b) if e.dtype.is_integer() => self.binary(*op, a, b),
            ExprKind::Cast(value) if value.dtype.integer_range().is_some() && e.dtype.is_integer() => {
                Some(self.of(value))
            }
            ExprKind::Cast(value) if value.dtype.is_float() && e.dtype.is_integer() => self.truncated(value),
            ExprKind::Select(_, a, b) if e.dtype.is_integer() => {
                let (a, b) = (self.of(a), self.of(b));
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            ExprKind::Broadcast { value, .. } if e.dtype.is_integer() => Some(self.of(value)),
            ExprKind::Ramp { base, stride, lanes } if e.dtype.is_integer() => self.ramp(base, stride, *lanes),
            _ => None,
        };
        match computed {
            Some((low, high)) if whole.0 <= low && high <= whole.1 => ((low, high), true),
            _ => (whole, false),
        }
    }

    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Option<Interval> {
        let (base, stride) = (self.of(base), self.of(stride));
        let last = i128::from(lanes) - 1;
        let (down, up) = (stride.0.checked_mul(last)?.min(0), stride.1.checked_mul(last)?.max(0));
        Some((base.0.checked_add(down)?, base.1.checked_add(up)?))
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Interval> {
        let (a, b) = (self.of(a), self.of(b));
        match op {
            BinaryOp::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
            BinaryOp::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
            BinaryOp::Mul => {
                let corners = [
                    a.0.checked_mul(b.0)?,
                    a.0.checked_mul(b.1)?,
                    a.1.checked_mul(b.0)?,
                    a.1.checked_mul(b.1)?,
                ];
                Some((*corners.iter().min()?, *corners.iter().max()?))
            }
            BinaryOp::Min => Some((a.0.min(b.0), a.1.min(b.1))),
            BinaryOp::Max => Some((a.0.max(b.0), a.1.max(b.1))),
            BinaryOp::Div | BinaryOp::FloorDiv if a.0 >= 0 && b.0 >= 1 => Some((a.0 / b.1, a.1 / b.0)),
            BinaryOp::FloorDiv if b.0 >= 1 => Some((a.0.min(0), a.1.max(0))),
            BinaryOp::Mod if a.0 >= 0 && b.0 >= 1 => Some((0, a.1.min(b.1 - 1))),
            BinaryOp::FloorMod if a.0 >= 0 && b.0 >= 1 => Some((0, a.1.min(b.1 - 1))),
            BinaryOp::FloorMod if b.0 >= 1 => Some((0, b.1 - 1)),
            BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => None,
        }
    }
}

/// Returns true if `to` is an integer type that holds all values of `from`.
pub fn holds(to: DType, from: DType) -> bool {
    match (to.integer_range(), from.integer_range()) {
        (Some(to), Some(from)) => to.0 <= from.0 && from.1 <= to.1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn products_of_loop_variables_are_exact() {
        let (i, j, n) =
            (Var::new("i", DType::INT32), Var::new("j", DType::INT32), Var::new("n", DType::INT32));
        let mut ranges = Ranges::default();
        ranges.bind(&i, (0, 1023));
        ranges.bind(&j, (0, 1023));
        let index = &(&i.expr() * &Expr::i32(1024)) + &j.expr();
        assert_eq!(ranges.of(&index), (0, 1_048_575));
        assert!(ranges.is_exact(&index));
        let product = &i.expr() * &n.expr();
        assert!(!ranges.is_exact(&product));
        // A part of a loop, which ends at the latest where the whole loop does.
        let (first, count) = (Var::new("first", DType::INT32), Var::new("count", DType::INT32));
        let share = |from: &Var| Expr::binary(BinaryOp::Min, count.expr(), Expr::i32(100) - from.expr());
        let (start, own, other, all) = (first.expr(), share(&first), share(&i), count.expr());
        ranges.bind(&first, (0, 99));
        assert_eq!(ranges.of_loop(&start, &own), Some(((0, 99), 100)));
        assert_eq!(ranges.of_loop(&start, &other), Some(((0, 198), 199)));
        assert_eq!(ranges.of_loop(&start, &all), None);
        let mut unknown = Ranges::default();
        assert_eq!(unknown.of_loop(&start, &own), None, "it may start anywhere");
        let modulo = Expr::binary(BinaryOp::FloorMod, n.expr(), Expr::i32(8));
        assert_eq!(ranges.of(&modulo), (0, 7));
        ranges.bind(&i, (0, i128::from(i32::MAX)));
        assert!(!ranges.is_exact(&index));
    }
}
