//! The values that a float expression can take, if it is known to be no NaN.

use super::{Interval, Ranges};
use crate::{BinaryOp, Callee, DType, Expr, ExprKind, Op, TypeCode};

/// An interval of floats, both ends included; they may be infinite.
type Floats = (f64, f64);

impl Ranges {
    /// Returns the values that a float, or each lane of a vector of floats, can take; `None` if it
    /// may be a NaN.
    pub fn of_float(&mut self, e: &Expr) -> Option<(f64, f64)> {
        match &e.kind {
            ExprKind::Float(value) => return finite((value.value(), value.value())),
            ExprKind::Var(var) => return self.float_vars.get(&var.address()).copied(),
            _ if !e.dtype.is_float() => return None,
            _ => {}
        }
        if let Some(known) = self.known_floats.get(&e.address()) {
            return *known;
        }
        let found = self.compute_float(e).filter(|(low, high)| low <= high);
        self.known_floats.insert(e.address(), found);
        found
    }

    /// Returns true if every value of a float, truncated, is one of the integer type's: no
    /// saturation and no NaN is to be minded.
    pub fn truncates_into(&mut self, value: &Expr, to: DType) -> bool {
        let (Some((least, greatest)), Some((low, high))) = (self.of_float(value), to.integer_range()) else {
            return false;
        };
        if to.is_bool() {
            return false;
        }
        // An end that is not exact in float64 is rounded outwards: the ends of 64 bits need one
        // value less.
        let inside = |end: i128| if to.bits == 64 { end as f64 * (1.0 - f64::EPSILON) } else { end as f64 };
        inside(low) <= least && greatest <= inside(high)
    }

    /// Returns the values of a float that is truncated to an integer.
    pub(super) fn truncated(&mut self, value: &Expr) -> Option<Interval> {
        let (low, high) = finite(self.of_float(value)?)?;
        // Saturation is the type's; what is beyond it is cut by the caller.
        (low.abs().max(high.abs()) < 1e18).then_some((low.trunc() as i128, high.trunc() as i128))
    }

    fn compute_float(&mut self, e: &Expr) -> Option<Floats> {
        match &e.kind {
            ExprKind::Cast(value) if value.dtype.is_float() => rounded(self.of_float(value)?, e.dtype),
            ExprKind::Cast(value) => {
                value.dtype.integer_range()?;
                let (low, high) = self.of(value);
                rounded((low as f64, high as f64), e.dtype)
            }
            ExprKind::Broadcast { value, .. } => self.of_float(value),
            ExprKind::Select(_, a, b) => {
                let (a, b) = (self.of_float(a)?, self.of_float(b)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            ExprKind::Binary(op, a, b) => self.float_binary(*op, a, b, e.dtype),
            ExprKind::Call { callee: Callee::Op(op), args } => {
                let (low, high) = self.of_float(args.first()?)?;
                match op {
                    Op::Floor => Some((low.floor(), high.floor())),
                    Op::Ceil => Some((low.ceil(), high.ceil())),
                    Op::Trunc => Some((low.trunc(), high.trunc())),
                    Op::Round | Op::Nearbyint => Some((low.round_ties_even(), high.round_ties_even())),
                    Op::Abs => Some((0.0, low.abs().max(high.abs()))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn float_binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, dtype: DType) -> Option<Floats> {
        // A NaN as first operand is dropped (IR-N7), one as second is the result.
        let (a, b) = match op {
            BinaryOp::Min | BinaryOp::Max => {
                (self.of_float(a).unwrap_or((f64::NEG_INFINITY, f64::INFINITY)), self.of_float(b)?)
            }
            _ => (finite(self.of_float(a)?)?, finite(self.of_float(b)?)?),
        };
        let corners = |of: fn(f64, f64) -> f64| {
            let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            rounded((least, all.iter().copied().fold(f64::NEG_INFINITY, f64::max)), dtype)
        };
        match op {
            BinaryOp::Min => Some((a.0.min(b.0), a.1.min(b.1))),
            BinaryOp::Max => Some((a.0.max(b.0), a.1.max(b.1))),
            BinaryOp::Add => rounded((a.0 + b.0, a.1 + b.1), dtype),
            BinaryOp::Sub => rounded((a.0 - b.1, a.1 - b.0), dtype),
            BinaryOp::Mul => corners(|a, b| a * b),
            BinaryOp::Div if b.0 > 0.0 || b.1 < 0.0 => corners(|a, b| a / b),
            _ => None,
        }
    }
}

fn finite((low, high): Floats) -> Option<Floats> {
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// The interval with room for the rounding of its ends to the type, and for subnormal values that
/// are taken for 0; `None` if a value may overflow. Rounding is monotone, so that an end at 0 stays
/// there.
fn rounded((low, high): Floats, dtype: DType) -> Option<Floats> {
    let (relative, absolute, most) = match (dtype.code, dtype.bits) {
        (TypeCode::Float, 64) => (1e-12, 1e-300, 1e300),
        (TypeCode::Float, 32) => (1e-5, 1e-30, 1e38),
        (TypeCode::Float, 16) => (1e-2, 1e-3, 6e4),
        (TypeCode::BFloat, 16) => (5e-2, 1e-30, 1e38),
        _ => return None,
    };
    let room = |end: f64| if end == 0.0 { 0.0 } else { end.abs() * relative + absolute };
    let (low, high) = (low - room(low), high + room(high));
    (-most < low && high < most).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ValueBounds;
    use super::*;
    use crate::Var;

    fn number(value: f64) -> Expr {
        Expr::float(value, DType::FLOAT32)
    }

    fn call(op: Op, x: &Expr) -> Expr {
        Expr::call(op, vec![x.clone()], x.dtype)
    }

    #[test]
    fn clamped_floats_are_no_nan() {
        let mut ranges = Ranges::default();
        let x = Var::new("x", DType::FLOAT32).expr();
        let least = Expr::binary(BinaryOp::Min, x.clone(), number(127.0));
        let clamped = Expr::binary(BinaryOp::Max, least.clone(), number(-128.0));
        let rounded = call(Op::Round, &clamped);
        assert_eq!(ranges.of_float(&x), None);
        assert_eq!(ranges.of_float(&least), Some((f64::NEG_INFINITY, 127.0)));
        assert_eq!(ranges.of_float(&rounded), Some((-128.0, 127.0)));
        assert!(ranges.truncates_into(&rounded, DType::INT8));
        assert!(!ranges.truncates_into(&rounded, DType::UINT8), "it may be negative");
        assert!(!ranges.truncates_into(&least, DType::INT32), "it has no least value");
        // The other order lets a NaN through.
        let passes = Expr::binary(BinaryOp::Min, number(127.0), x);
        assert_eq!(ranges.of_float(&passes), None);
        let no_sum = Expr::binary(BinaryOp::Add, least.clone(), least);
        assert_eq!(ranges.of_float(&no_sum), None, "infinities of both signs may meet");
    }

    #[test]
    fn positions_of_a_resized_image_are_within_32_bits() {
        let mut ranges = Ranges::default();
        let i = Var::new("i", DType::INT32);
        ranges.bind(&i, (0, 111));
        let place = Expr::binary(BinaryOp::Mul, number(0.495_495_5), i.expr().cast(DType::FLOAT32));
        let floor = call(Op::Floor, &place);
        assert!(ranges.truncates_into(&floor, DType::INT32));
        assert!(ranges.truncates_into(&floor, DType::UINT8), "an end at 0 stays there");
        let integer = floor.clone().cast(DType::INT32);
        assert_eq!(ranges.of(&integer), (0, 55));
        ranges.bind(&i, (-1, 111));
        assert!(!ranges.truncates_into(&floor, DType::UINT8), "what was known is forgotten");
        let half = i.expr().cast(DType::FLOAT16);
        let square = Expr::binary(BinaryOp::Mul, half.clone(), half);
        let fourth = Expr::binary(BinaryOp::Mul, square.clone(), square);
        assert_eq!(ranges.of_float(&fourth), None, "it may overflow");
    }

    #[test]
    fn ends_of_64_bits_are_not_exceeded() {
        let mut ranges = Ranges::default();
        let x = Var::new("x", DType::FLOAT64);
        ranges.learn(&x, ValueBounds::Float(0.0, 9_223_372_036_854_775_807.0));
        assert!(!ranges.truncates_into(&x.expr(), DType::INT64), "2 to the 63 is beyond it");
        ranges.learn(&x, ValueBounds::Float(0.0, 9_223_372_036_854_770_000.0));
        assert!(ranges.truncates_into(&x.expr(), DType::INT64));
        ranges.learn(&x, ValueBounds::Nothing);
        assert!(!ranges.truncates_into(&x.expr(), DType::INT64));
    }

    /// A step of a random expression: what is done to the value before, and with which constant.
    fn applied(step: (u8, f32), x: &Expr, value: f32) -> (Expr, f32) {
        let (constant, c) = (number(step.1.into()), step.1);
        let binary = |op, a: &Expr, b: &Expr| Expr::binary(op, a.clone(), b.clone());
        match step.0 {
            0 => (binary(BinaryOp::Add, x, &constant), value + c),
            1 => (binary(BinaryOp::Sub, &constant, x), c - value),
            2 => (binary(BinaryOp::Mul, x, &constant), value * c),
            3 => (binary(BinaryOp::Mul, x, x), value * value),
            4 => (binary(BinaryOp::Min, x, &constant), if value < c { value } else { c }),
            5 => (binary(BinaryOp::Max, x, &constant), if value > c { value } else { c }),
            6 => (binary(BinaryOp::Div, x, &constant), value / c),
            7 => (binary(BinaryOp::Div, &constant, x), c / value),
            8 => (call(Op::Floor, x), value.floor()),
            9 => (call(Op::Round, x), value.round_ties_even()),
            10 => (call(Op::Abs, x), value.abs()),
            _ => (call(Op::Trunc, x), value.trunc()),
        }
    }

    proptest! {
        /// What is computed is within what was expected, and no NaN where none was.
        #[test]
        fn values_are_within_their_intervals(
            (low, count, at) in (-1000_i32..1000, 1_i32..1000, 0_i32..1000),
            steps in prop::collection::vec((0_u8..12, -100_f32..100.0), 1..8),
        ) {
            let mut ranges = Ranges::default();
            let i = Var::new("i", DType::INT32);
            ranges.bind(&i, (low.into(), (low + count - 1).into()));
            let mut values = vec![(i.expr().cast(DType::FLOAT32), (low + at % count) as f32)];
            for step in steps {
                let (x, value) = values.last().unwrap().clone();
                values.push(applied(step, &x, value));
            }
            let integers: Vec<Expr> = values.iter().map(|(x, _)| x.clone().cast(DType::INT32)).collect();
            for ((x, value), integer) in values.iter().zip(&integers) {
                if let Some((least, greatest)) = ranges.of_float(x) {
                    prop_assert!((least..=greatest).contains(&f64::from(*value)), "{value} of {least}..={greatest}: {x:?}");
                }
                let (least, greatest) = ranges.of(integer);
                prop_assert!((least..=greatest).contains(&i128::from(*value as i32)));
                if ranges.truncates_into(x, DType::INT8) {
                    prop_assert!((-128.0..=127.0).contains(&value.trunc()));
                }
            }
        }
    }
}
