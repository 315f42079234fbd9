//! Which function of floats is made of what.

use chipdock_ir::{DType, Expr, Op, TargetCapabilities, TypeCode};

use super::{bits, erf, exp, float, log, narrow, trig};

/// The op as arithmetic on whole vectors; `None` where it stays a call of the C library.
pub(super) fn arithmetic(
    op: Op,
    args: &[Expr],
    dtype: DType,
    capabilities: &TargetCapabilities,
) -> Option<Expr> {
    if dtype.scalar() == DType::FLOAT32 && !capabilities.types.has(DType::FLOAT64) {
        let new = match args {
            [x] => narrow::single(op, x),
            [x, y] => narrow::pair(op, x, y),
            _ => None,
        };
        return if capabilities.execution.has_native(Op::Clz) {
            new
        } else {
            new.as_ref().map(bits::without_clz)
        };
    }
    match (dtype.code, dtype.bits, args) {
        (TypeCode::Float, 32, [x]) => single(op, x),
        (TypeCode::Float, 32, [x, y]) => single_pair(op, x, y),
        (TypeCode::Float, 64, [x]) => double(op, x),
        (TypeCode::Float, 64, [x, y]) if op == Op::Nextafter => Some(float::next_after(x, y)),
        _ => None,
    }
}

fn single(op: Op, x: &Expr) -> Option<Expr> {
    Some(match op {
        Op::Exp => float::exp(x),
        Op::Exp2 => exp::exp2_single(x),
        Op::Exp10 => exp::exp10_single(x),
        Op::Log => log::log_single(x),
        Op::Log2 => log::log2_single(x),
        Op::Log10 => log::log10_single(x),
        Op::Log1p => log::log1p_single(x),
        Op::Erf => erf::erf_single(x),
        Op::Tanh => float::tanh(x, float::exp),
        Op::Sinh => exp::sinh_single(x),
        Op::Cosh => exp::cosh_single(x),
        Op::Sin => trig::sin_single(x),
        Op::Cos => trig::cos_single(x),
        Op::Tan => trig::tan_single(x),
        Op::Asin => trig::asin_single(x),
        Op::Acos => trig::acos_single(x),
        Op::Atan => trig::atan_single(x),
        Op::Asinh => trig::asinh_single(x),
        Op::Acosh => trig::acosh_single(x),
        Op::Atanh => trig::atanh_single(x),
        _ => return None,
    })
}

fn single_pair(op: Op, x: &Expr, y: &Expr) -> Option<Expr> {
    Some(match op {
        Op::Pow => exp::pow_single(x, y),
        Op::Atan2 => trig::atan2_single(x, y),
        Op::Hypot => trig::hypot_single(x, y),
        Op::Ldexp => float::ldexp_single(x, y),
        Op::Nextafter => float::next_after(x, y),
        _ => return None,
    })
}

fn double(op: Op, x: &Expr) -> Option<Expr> {
    Some(match op {
        Op::Exp => exp::exp_double(x),
        Op::Exp2 => exp::exp2_double(x),
        Op::Exp10 => exp::exp10_double(x),
        Op::Log => log::log_double(x),
        Op::Log2 => log::log2_double(x),
        Op::Log10 => log::log10_double(x),
        Op::Log1p => log::log1p_double(x),
        Op::Erf => erf::erf_double(x),
        Op::Tanh => exp::tanh_double(x),
        _ => return None,
    })
}

/// The largest error of a function that [`lower_intrinsics`](crate::lower_intrinsics()) makes of arithmetic, in units of
/// the last place: of float32 or float64, with and without contraction. `None` where it stays a call of the C library, or
/// is no such function.
///
/// ```
/// use chipdock_ir::{DType, Op};
/// assert_eq!(chipdock_passes::lowered_ulps(Op::Tanh, DType::FLOAT32), Some(1.4));
/// assert_eq!(chipdock_passes::lowered_ulps(Op::Fmod, DType::FLOAT32), None);
/// ```
#[must_use]
pub fn lowered_ulps(op: Op, dtype: DType) -> Option<f64> {
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 32) => single_ulps(op),
        (TypeCode::Float, 64) => double_ulps(op),
        _ => None,
    }
}

/// The same of a function of float32 that is made for a target without float64, where quotients and square roots are
/// rounded to nearest; `None` where it is no such function.
///
/// ```
/// use chipdock_ir::Op;
/// assert_eq!(chipdock_passes::narrow_ulps(Op::Log), Some(1.1));
/// ```
#[must_use]
pub fn narrow_ulps(op: Op) -> Option<f64> {
    Some(match op {
        Op::Exp | Op::Log | Op::Log2 | Op::Log10 | Op::Log1p => 1.1,
        Op::Exp2 => 1.2,
        Op::Exp10 | Op::Pow => 1.4,
        Op::Tanh | Op::Acos | Op::Hypot | Op::Rsqrt => 1.5,
        Op::Erf | Op::Cosh | Op::Sin | Op::Cos => 1.8,
        Op::Sinh | Op::Asinh | Op::Acosh | Op::Atanh => 2.3,
        Op::Sigmoid => 2.6,
        Op::Asin | Op::Atan | Op::Atan2 => 2.8,
        Op::Tan => 4.0,
        _ => return None,
    })
}

fn single_ulps(op: Op) -> Option<f64> {
    Some(match op {
        Op::Exp => 1.1,
        Op::Tanh => 1.4,
        Op::Sigmoid => 2.6,
        Op::Rsqrt => 1.5,
        Op::Exp2 | Op::Exp10 | Op::Log | Op::Log2 | Op::Log10 | Op::Log1p | Op::Erf => 0.51,
        Op::Sinh | Op::Cosh | Op::Sin | Op::Cos | Op::Tan | Op::Asin | Op::Acos | Op::Atan => 0.51,
        Op::Asinh | Op::Acosh | Op::Atanh | Op::Pow | Op::Atan2 | Op::Hypot => 0.51,
        _ => return None,
    })
}

fn double_ulps(op: Op) -> Option<f64> {
    Some(match op {
        Op::Exp => 1.1,
        Op::Exp2 => 1.3,
        Op::Exp10 => 1.6,
        Op::Log => 0.9,
        Op::Log2 => 0.9,
        Op::Log10 => 0.8,
        Op::Log1p => 1.1,
        Op::Erf => 1.4,
        Op::Tanh => 1.5,
        Op::Sigmoid => 2.6,
        Op::Rsqrt => 1.5,
        _ => return None,
    })
}
