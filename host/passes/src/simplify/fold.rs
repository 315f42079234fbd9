//! Arithmetic of constants, exactly as the IR defines it.

use chipdock_ir::{BinaryOp, DType, Expr, ExprKind, TypeCode, number};

/// Quotient rounded down; the divisor is not 0.
pub(crate) fn floor_div(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && ((a < 0) != (b < 0)) { quotient - 1 } else { quotient }
}

/// Evaluates an integer operator on two constants of a type.
pub(crate) fn int_binary(op: BinaryOp, a: i128, b: i128, dtype: DType) -> i128 {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::FloorDiv if b == 0 => a,
        BinaryOp::Mod | BinaryOp::FloorMod if b == 0 => 0,
        BinaryOp::Div => a / b,
        BinaryOp::Mod => a % b,
        BinaryOp::FloorDiv => floor_div(a, b),
        BinaryOp::FloorMod => a - floor_div(a, b) * b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
    };
    dtype.scalar().wrap(value)
}

/// Evaluates a float operator on two constants; `None` if the result is a NaN, whose bits are
/// unspecified.
pub(crate) fn float_binary(op: BinaryOp, a: f64, b: f64, dtype: DType) -> Option<Expr> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        BinaryOp::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => return None,
    };
    // For these operators, one rounding to 53 bits and a second to at most 24 give the same as a
    // single rounding.
    (!value.is_nan()).then(|| Expr::float(value, dtype))
}

/// The value of a scalar float constant.
pub(crate) fn as_float(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Float(bits) => Some(bits.value()),
        _ => None,
    }
}

/// Converts a scalar constant; `None` if this function does not know the rounding to be exact.
pub(crate) fn cast(value: &Expr, to: DType) -> Option<Expr> {
    if !to.is_scalar() || !value.dtype.is_scalar() {
        return None;
    }
    match (&value.kind, to.code) {
        (ExprKind::Int(int), TypeCode::Int | TypeCode::UInt | TypeCode::Bool) => Some(Expr::int(*int, to)),
        (ExprKind::Int(int), TypeCode::Float | TypeCode::BFloat) => {
            let float = match to.bits {
                64 => *int as f64,
                32 => f64::from(*int as f32),
                _ if int.unsigned_abs() <= 1 << 53 => number::round_to(*int as f64, to),
                _ => return None,
            };
            Some(Expr::float(float, to))
        }
        (ExprKind::Float(bits), _) => {
            let float = bits.value();
            match to.code {
                TypeCode::Float | TypeCode::BFloat => (!float.is_nan()).then(|| Expr::float(float, to)),
                TypeCode::Bool => Some(Expr::bool(float != 0.0)),
                TypeCode::Int | TypeCode::UInt => {
                    let (low, high) = to.integer_range()?;
                    Some(Expr::int((float as i128).clamp(low, high), to))
                }
                TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2 => {
                    (!number::round_to(float, to).is_nan()).then(|| Expr::float(float, to))
                }
                TypeCode::Handle => None,
            }
        }
        _ => None,
    }
}
