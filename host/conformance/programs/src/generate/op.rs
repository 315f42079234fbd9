//! One operation on values: brings the operands into its domain and computes the range of the
//! result.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op, Signature};

use super::facts::{Val, comfortable, number};
use crate::choices::Choices;

/// The range of the result of a function of one float.
enum Range {
    /// Within these bounds, whatever the operand.
    Within(f64, f64),
    /// At most 1 from the operand.
    NearOperand,
}

/// Returns the domain and the range of a function of one float; `None` for an op of which nothing
/// is stated here.
fn domain(op: Op) -> Option<((f64, f64), Range)> {
    const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    use Range::{NearOperand, Within};
    Some(match op {
        Op::Acos | Op::Asin => ((-0.9, 0.9), Within(-2.0, 4.0)),
        Op::Atanh => ((-0.9, 0.9), Within(-2.0, 2.0)),
        Op::Acosh => ((1.1, 1e3), Within(0.0, 8.0)),
        Op::Asinh => (ALL, Within(-25.0, 25.0)),
        Op::Atan => (ALL, Within(-1.6, 1.6)),
        Op::Cos | Op::Sin => ((-64.0, 64.0), Within(-1.0, 1.0)),
        Op::Cosh | Op::Sinh => ((-4.0, 4.0), Within(-28.0, 28.0)),
        Op::Erf | Op::Tanh | Op::Sigmoid => (ALL, Within(-1.0, 1.0)),
        Op::Exp => ((-8.0, 5.0), Within(0.0, 150.0)),
        Op::Exp2 => ((-12.0, 8.0), Within(0.0, 256.0)),
        Op::Exp10 => ((-4.0, 2.0), Within(0.0, 101.0)),
        Op::Log | Op::Log2 | Op::Log10 => ((0.01, 1e6), Within(-7.0, 21.0)),
        Op::Log1p => ((-0.9, 1e6), Within(-3.0, 15.0)),
        Op::Rsqrt => ((0.01, 1e6), Within(0.0, 10.0)),
        Op::Sqrt => ((0.0, 1e6), Within(0.0, 1e3)),
        Op::Tan => ((-1.2, 1.2), Within(-2.6, 2.6)),
        _ if op.info().is_rounding => (ALL, NearOperand),
        _ => return None,
    })
}

/// The operands of a function of two, each within its domain, and the bounds of the result.
type Pair = (Val, Val, f64, f64);

/// Returns what clamps the operands of a function of a float and another value to its domain, and
/// bounds its result; `None` for an op of which nothing is stated here.
fn domain_of_two(op: Op) -> Option<fn(Val, Val) -> Pair> {
    let bound: fn(Val, Val) -> Pair = match op {
        Op::Pow => |a, b| (a.clamp(0.1, 4.0), b.clamp(-3.0, 3.0), 0.0, 1000.0),
        // The second operand is positive, away from the branch cut.
        Op::Atan2 => |a, b| (a, b.clamp(0.5, 8.0), -1.6, 1.6),
        Op::Fmod => |a, b| (a.clamp(-100.0, 100.0), b.clamp(1.0, 8.0), -8.0, 8.0),
        Op::Hypot => |a, b| {
            let most = a.lo.abs().max(a.hi.abs()) + b.lo.abs().max(b.hi.abs());
            (a, b, 0.0, most)
        },
        Op::Ldexp => |a, b| {
            let most = a.lo.abs().max(a.hi.abs()) * 16.0;
            (a, b.clamp(-4.0, 4.0), -most, most)
        },
        Op::Copysign | Op::Nextafter => |a, b| {
            let most = a.lo.abs().max(a.hi.abs()) + 1.0;
            (a, b, -most, most)
        },
        _ => return None,
    };
    Some(bound)
}

/// Returns true if this module states the range of the op's results, without which no program calls
/// it: a value outside its range would be taken for a failure of a backend, or as an index
/// (PROG-G2, PROG-G5).
pub(crate) fn is_stated(op: Op) -> bool {
    match op.signature() {
        Signature::FloatUnary => domain(op).is_some(),
        Signature::FloatBinary => domain_of_two(op).is_some(),
        Signature::FloatTernary => op == Op::Fma,
        Signature::NumberUnary => op == Op::Abs,
        // What is no float may have any value of its type.
        Signature::FloatTest
        | Signature::IntUnary
        | Signature::IntCount
        | Signature::IntBinary
        | Signature::BitBinary => true,
        // All but the first have code of their own where they are called.
        Signature::Custom => matches!(
            op,
            Op::Ldexp
                | Op::DotAdd
                | Op::Dp4a
                | Op::IfThenElse
                | Op::Likely
                | Op::QMultiplyShift
                | Op::QMultiplyShiftPerAxis
                | Op::Reinterpret
                | Op::ThreadInvariant
        ),
    }
}

/// Returns true if nearby operands may have distant results.
fn jumps(op: Op) -> bool {
    op.info().is_rounding || matches!(op, Op::Fmod | Op::Nextafter)
}

/// Returns true if every backend computes the same result for the same operands.
fn is_rounded(op: Op) -> bool {
    chipdock_ir::accuracy::ulps(op, DType::FLOAT32) <= 0.5
}

/// Applies an op of one operand; returns the operand if the op's range is not stated.
pub(crate) fn op1(op: Op, a: Val) -> Val {
    let dtype = a.dtype();
    match op.signature() {
        Signature::FloatTest => Val::any(Expr::call(op, vec![a.expr], DType::BOOL.with_lanes(dtype.lanes))),
        Signature::FloatUnary => {
            let Some(((lo, hi), range)) = domain(op) else { return a };
            // Special values may pass: `clamp` adds no guard if the known range fits.
            let most = comfortable(dtype).max(1.0);
            let a = a.clamp(lo.max(-most), hi.min(most));
            let (lo, hi) = match range {
                Range::Within(lo, hi) => (lo, hi),
                Range::NearOperand => (a.lo - 1.0, a.hi + 1.0),
            };
            let exact = a.exact && is_rounded(op);
            Val::new(Expr::call(op, vec![a.expr], dtype), lo, hi, exact)
        }
        Signature::NumberUnary if dtype.is_float() && op == Op::Abs => {
            let most = a.lo.abs().max(a.hi.abs());
            Val::new(Expr::call(op, vec![a.expr], dtype), 0.0, most, a.exact)
        }
        Signature::IntCount => {
            let bits = f64::from(dtype.bits);
            let result = DType::INT32.with_lanes(dtype.lanes);
            Val::new(Expr::call(op, vec![a.expr], result), 0.0, bits, a.exact)
        }
        _ if op == Op::Popcount => {
            Val::new(Expr::call(op, vec![a.expr], dtype), 0.0, f64::from(dtype.bits), a.exact)
        }
        Signature::NumberUnary | Signature::IntUnary if !dtype.is_float() => {
            let exact = a.exact;
            Val { exact, ..Val::any(Expr::call(op, vec![a.expr], dtype)) }
        }
        _ => a,
    }
}

/// Returns true if an inexact operand makes the result useless for a comparison.
pub(crate) fn wants_exact(op: Op) -> bool {
    jumps(op) || op == Op::Reinterpret
}

/// Applies an op of two operands; returns the first operand if the op's range is not stated.
pub(crate) fn op2(op: Op, a: Val, b: Val) -> Val {
    let dtype = a.dtype();
    let exact = a.exact && b.exact && is_rounded(op);
    if !dtype.is_float() {
        return Val { exact, ..Val::any(Expr::call(op, vec![a.expr, b.expr], dtype)) };
    }
    let Some(bound) = domain_of_two(op) else { return a };
    let (a, b, lo, hi) = bound(a, b);
    Val::new(Expr::call(op, vec![a.expr, b.expr], dtype), lo, hi, exact).fit()
}

/// Applies an op of three floats, which adds a third to a product; returns the first operand if it
/// is another op.
pub(crate) fn op3(op: Op, a: Val, b: Val, c: Val) -> Val {
    if op != Op::Fma {
        return a;
    }
    let dtype = a.dtype();
    let product = binary(BinaryOp::Mul, a.clone(), b.clone());
    let (lo, hi) = (product.lo + c.lo, product.hi + c.hi);
    let exact = a.exact && b.exact && c.exact;
    Val::new(Expr::call(op, vec![a.expr, b.expr, c.expr], dtype), lo, hi, exact).fit()
}

pub(crate) fn binary(op: BinaryOp, a: Val, b: Val) -> Val {
    let dtype = a.dtype();
    if !dtype.is_float() {
        return integers(op, a, b);
    }
    let exact = a.exact && b.exact;
    let products = |a: &Val, b: &Val| {
        let all = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
        (
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let (b, (lo, hi), exact) = match op {
        BinaryOp::Add => {
            let range = (a.lo + b.lo, a.hi + b.hi);
            (b, range, exact)
        }
        BinaryOp::Sub => {
            let range = (a.lo - b.hi, a.hi - b.lo);
            (b, range, exact)
        }
        BinaryOp::Mul => {
            let range = products(&a, &b);
            // A backend may contract the product into a following sum.
            (b, range, false)
        }
        BinaryOp::Min | BinaryOp::Max => {
            let range = (a.lo.min(b.lo), a.hi.max(b.hi));
            (b, range, exact)
        }
        _ => {
            let b = if b.lo >= 0.25 || b.hi <= -0.25 { b } else { off_zero(b) };
            let inverse = Val { lo: -4.0, hi: 4.0, ..b.clone() };
            let range = products(&a, &inverse);
            (b, range, exact)
        }
    };
    Val::new(Expr::binary(op, a.expr, b.expr), lo, hi, exact).fit()
}

/// Moves a divisor away from zero.
fn off_zero(b: Val) -> Val {
    let dtype = b.dtype();
    let most = b.lo.abs().max(b.hi.abs());
    let magnitude = Expr::call(Op::Abs, vec![b.expr], dtype);
    Val::new(magnitude + number(0.5, dtype), 0.5, most + 0.5, b.exact).fit()
}

fn integers(op: BinaryOp, a: Val, b: Val) -> Val {
    let dtype = a.dtype();
    let exact = a.exact && b.exact;
    let range = match op {
        BinaryOp::Add => Some((a.lo + b.lo, a.hi + b.hi)),
        BinaryOp::Sub => Some((a.lo - b.hi, a.hi - b.lo)),
        BinaryOp::Mul if a.lo >= 0.0 && b.lo >= 0.0 => Some((a.lo * b.lo, a.hi * b.hi)),
        BinaryOp::Min | BinaryOp::Max => Some((a.lo.min(b.lo), a.hi.max(b.hi))),
        BinaryOp::FloorMod if b.lo >= 1.0 => Some((0.0, b.hi - 1.0)),
        _ => None,
    };
    let all = Val { exact, ..Val::any(Expr::binary(op, a.expr, b.expr)) };
    match range {
        Some((lo, hi)) if all.lo <= lo && hi <= all.hi && dtype.is_integer() => Val { lo, hi, ..all },
        _ => all,
    }
}

pub(crate) fn compare(op: CompareOp, a: Val, b: Val) -> Val {
    let exact = (a.exact && b.exact) || a.dtype().is_float();
    Val { exact, ..Val::any(Expr::compare(op, a.expr, b.expr)) }
}

/// Converts a value to another type with the same number of lanes.
pub(crate) fn convert(value: Val, to: DType, random: &mut Choices<'_>) -> Val {
    let from = value.dtype();
    let to = to.scalar().with_lanes(from.lanes);
    if from == to {
        return value;
    }
    if !to.is_float() && from.is_float() && !value.exact && !random.one_in(8) {
        // Truncating an inexact value may jump; a comparison with the middle of its range rarely
        // does.
        let middle = (value.lo + value.hi) / 2.0;
        let above = Expr::compare(CompareOp::Gt, value.expr, number(middle, from));
        return Val::new(above.cast(to), 0.0, 1.0, true);
    }
    let value = if to.is_float() && from.is_integer() && !value.is_within(-comfortable(to), comfortable(to)) {
        let by = Val::new(number(101.0, from), 101.0, 101.0, true);
        binary(BinaryOp::FloorMod, value, by)
    } else if to.is_float() && !value.is_within(-comfortable(to), comfortable(to)) {
        value.clamp(-comfortable(to), comfortable(to))
    } else {
        value
    };
    let (lo, hi, exact) = (value.lo, value.hi, value.exact);
    let cast = value.expr.cast(to);
    match to.scalar().integer_range() {
        Some((low, high)) if to.is_bool() || lo < low as f64 || hi > high as f64 => {
            Val { exact, ..Val::any(cast) }
        }
        _ => Val::new(cast, lo, hi, exact),
    }
}

#[cfg(test)]
mod tests {
    use super::{Op, is_stated};
    use crate::computing;

    /// Random programs call every op that computes a value: this module states the range of each.
    #[test]
    fn prog_g5_the_range_of_every_op_is_stated() {
        let missing: Vec<&str> = computing().filter(|op| !is_stated(*op)).map(Op::name).collect();
        assert!(
            missing.is_empty(),
            "no random program calls {missing:?}: state the domain and the range of each in `domain` or `domain_of_two` of \
             host/conformance/programs/src/generate/op.rs, or, for an op of another signature, call it in `value.rs` and \
             `rotation.rs` and name it in `is_stated`"
        );
    }
}
