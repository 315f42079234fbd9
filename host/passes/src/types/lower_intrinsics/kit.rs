//! Building blocks of the functions of floats: named steps, in float64 or float32, over whole
//! vectors.

use std::cell::RefCell;
use std::collections::HashSet;

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, Op, Var};

use crate::simplify::is_pure;
use crate::walk::vars_of;

/// Adding this to a float64 below 2^51 rounds it to an integer, which is then in the low bits.
pub(crate) const MAGIC: f64 = 6_755_399_441_055_744.0;
/// From here on, every float64 is whole.
pub(crate) const TWO_52: f64 = 4_503_599_627_370_496.0;
/// The bits of 1.0.
pub(crate) const ONE_BITS: u64 = 1023 << 52;

/// A sequence of named values, each of which may be used any number of times in later values and in
/// the result.
pub(crate) struct Steps {
    lanes: u16,
    bound: RefCell<Vec<(Var, Expr)>>,
}

impl Steps {
    pub(crate) fn new(lanes: u16) -> Self {
        Self { lanes, bound: RefCell::new(Vec::new()) }
    }

    /// Binds the value to a name and returns the variable.
    pub(crate) fn name(&self, name: &str, value: Expr) -> Expr {
        if matches!(value.kind, ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_)) {
            return value;
        }
        let var = Var::new(name, value.dtype);
        self.bound.borrow_mut().push((var.clone(), value));
        var.expr()
    }

    /// The body within bindings of the steps that it needs.
    pub(crate) fn finish(self, body: Expr) -> Expr {
        needed(self.bound.into_inner(), &[&body]).into_iter().rev().fold(body, |body, (var, value)| {
            let dtype = body.dtype;
            Expr::new(ExprKind::Let { var, value, body }, dtype)
        })
    }

    /// The steps in order.
    pub(crate) fn into_steps(self) -> Vec<(Var, Expr)> {
        self.bound.into_inner()
    }

    /// A float64 in each lane.
    pub(crate) fn f64(&self, value: f64) -> Expr {
        Expr::float(value, DType::FLOAT64.with_lanes(self.lanes))
    }

    /// A uint64 in each lane.
    pub(crate) fn u64(&self, value: u64) -> Expr {
        Expr::int(value.into(), DType::UINT64.with_lanes(self.lanes))
    }

    /// A float32 in each lane.
    pub(crate) fn f32(&self, value: f32) -> Expr {
        Expr::float(value.into(), DType::FLOAT32.with_lanes(self.lanes))
    }

    /// An int32 in each lane.
    pub(crate) fn i32(&self, value: i32) -> Expr {
        Expr::int(value.into(), DType::INT32.with_lanes(self.lanes))
    }

    /// A uint32 in each lane.
    pub(crate) fn u32(&self, value: u32) -> Expr {
        Expr::int(value.into(), DType::UINT32.with_lanes(self.lanes))
    }

    /// The polynomial with these coefficients, the highest power first, by Horner's rule.
    pub(crate) fn polynomial(&self, x: &Expr, coefficients: &[f64]) -> Expr {
        let mut rest = coefficients.iter();
        let first = rest.next().copied().unwrap_or(0.0);
        rest.fold(self.f64(first), |sum, c| sum * x.clone() + self.f64(*c))
    }

    /// Clamps the value to the bounds; a NaN is kept.
    pub(crate) fn clamp(&self, x: &Expr, low: f64, high: f64) -> Expr {
        self.name("clamped", min(self.f64(high), max(self.f64(low), x.clone())))
    }

    /// The float64 of these bits.
    pub(crate) fn of_bits(&self, bits: Expr) -> Expr {
        reinterpret(bits, DType::FLOAT64)
    }

    /// The bits of the float64 as a uint64.
    pub(crate) fn bits(&self, x: &Expr) -> Expr {
        reinterpret(x.clone(), DType::UINT64)
    }

    /// 2^n, given the sum of n and [`MAGIC`]; n + 1023 must be a normal exponent.
    pub(crate) fn power_of_two(&self, shifted: &Expr) -> Expr {
        self.of_bits(shl(self.bits(shifted), self.u64(52)) + self.u64(ONE_BITS))
    }

    /// The upper word of a product of two words, uint32 or uint64, from products of halves of
    /// words.
    pub(crate) fn high_product(&self, a: &Expr, b: &Expr) -> Expr {
        let half = i128::from(a.dtype.bits / 2);
        let mask = Expr::int((1 << half) - 1, a.dtype);
        let (low, count) = (|e: &Expr| and(e.clone(), mask.clone()), || Expr::int(half, a.dtype));
        let (a_low, a_high) = (self.name("a", low(a)), self.name("a", shr(a.clone(), count())));
        let (b_low, b_high) = (self.name("b", low(b)), self.name("b", shr(b.clone(), count())));
        let first = a_low.clone() * b_high.clone() + shr(a_low * b_low.clone(), count());
        let first = self.name("first", first);
        let second = self.name("second", a_high.clone() * b_low + low(&first));
        self.name("upper", a_high * b_high + shr(first, count()) + shr(second, count()))
    }

    /// The upper of two words, as one number of twice the digits, after a shift to the left by less
    /// than a word.
    pub(crate) fn moved(&self, high: &Expr, low: &Expr, count: &Expr) -> Expr {
        let constant = |value: u16| Expr::int(value.into(), count.dtype);
        let over = shr(shr(low.clone(), constant(1)), constant(count.dtype.bits as u16 - 1) - count.clone());
        self.name("word", or(shl(high.clone(), count.clone()), over))
    }

    /// Selects one of two values by a comparison of float64.
    pub(crate) fn if_less(&self, a: &Expr, b: f64, then: Expr, otherwise: Expr) -> Expr {
        Expr::select(less(a.clone(), self.f64(b)), then, otherwise)
    }
}

/// The steps, in order, that the results or other such steps use, and those with effects.
pub(crate) fn needed(steps: Vec<(Var, Expr)>, results: &[&Expr]) -> Vec<(Var, Expr)> {
    let mut used: HashSet<Var> = results.iter().flat_map(|result| vars_of(result)).collect();
    let mut kept: Vec<(Var, Expr)> = Vec::with_capacity(steps.len());
    for (var, value) in steps.into_iter().rev() {
        if used.contains(&var) || !is_pure(&value) {
            used.extend(vars_of(&value));
            kept.push((var, value));
        }
    }
    kept.reverse();
    kept
}

/// Builds a function whose arguments are used as they are.
pub(crate) fn plain<const N: usize>(args: [&Expr; N], f: impl FnOnce(&Steps, [Expr; N]) -> Expr) -> Expr {
    let steps = Steps::new(args.first().map_or(1, |arg| arg.dtype.lanes));
    let args = args.map(|arg| steps.name("x", arg.clone()));
    let result = f(&steps, args);
    steps.finish(result)
}

/// Builds a function of float32 arguments that is computed in float64 and rounded once.
pub(crate) fn single<const N: usize>(args: [&Expr; N], f: impl FnOnce(&Steps, [Expr; N]) -> Expr) -> Expr {
    let lanes = args.first().map_or(1, |arg| arg.dtype.lanes);
    let steps = Steps::new(lanes);
    let wide = args.map(|arg| steps.name("x", arg.clone().cast(DType::FLOAT64.with_lanes(lanes))));
    let result = f(&steps, wide);
    steps.finish(result.cast(DType::FLOAT32.with_lanes(lanes)))
}

/// Builds a function of one float64.
pub(crate) fn double(x: &Expr, f: impl FnOnce(&Steps, Expr) -> Expr) -> Expr {
    let steps = Steps::new(x.dtype.lanes);
    let x = steps.name("x", x.clone());
    let result = f(&steps, x);
    steps.finish(result)
}

pub(crate) fn div(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Div, a, b)
}

pub(crate) fn min(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Min, a, b)
}

pub(crate) fn max(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Max, a, b)
}

pub(crate) fn less(a: Expr, b: Expr) -> Expr {
    Expr::compare(CompareOp::Lt, a, b)
}

/// 1 if the comparison of floats holds, 0 otherwise. The choice is made once, as a number:
/// compilers vectorize that, while they turn one comparison in several selections into branches.
pub(crate) fn one_if_less(a: &Expr, b: &Expr) -> Expr {
    let float = |value| Expr::float(value, a.dtype);
    Expr::select(less(a.clone(), b.clone()), float(1.0), float(0.0))
}

pub(crate) fn equal(a: Expr, b: Expr) -> Expr {
    Expr::compare(CompareOp::Eq, a, b)
}

pub(crate) fn unary(op: Op, x: &Expr) -> Expr {
    Expr::call(op, vec![x.clone()], x.dtype)
}

pub(crate) fn pair(op: Op, a: Expr, b: Expr) -> Expr {
    let dtype = a.dtype;
    Expr::call(op, vec![a, b], dtype)
}

pub(crate) fn abs(x: &Expr) -> Expr {
    unary(Op::Abs, x)
}

pub(crate) fn sqrt(x: &Expr) -> Expr {
    unary(Op::Sqrt, x)
}

pub(crate) fn copysign(magnitude: Expr, sign: &Expr) -> Expr {
    pair(Op::Copysign, magnitude, sign.clone())
}

pub(crate) fn and(a: Expr, b: Expr) -> Expr {
    pair(Op::BitwiseAnd, a, b)
}

pub(crate) fn or(a: Expr, b: Expr) -> Expr {
    pair(Op::BitwiseOr, a, b)
}

pub(crate) fn shl(a: Expr, count: Expr) -> Expr {
    pair(Op::ShiftLeft, a, count)
}

pub(crate) fn shr(a: Expr, count: Expr) -> Expr {
    pair(Op::ShiftRight, a, count)
}

pub(crate) fn reinterpret(value: Expr, dtype: DType) -> Expr {
    let dtype = dtype.with_lanes(value.dtype.lanes);
    Expr::call(Op::Reinterpret, vec![value], dtype)
}
