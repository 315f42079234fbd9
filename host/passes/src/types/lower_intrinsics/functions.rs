//! Table of the lowerings of functions of floats.

use chipdock_ir::{Accuracy, DType, Expr, Op, TargetCapabilities, TypeCode};

use super::{bits, erf, exp, float, log, narrow, quick, remainder, trig, wide};

/// Lowering of a function of one type.
#[derive(Clone, Copy)]
enum Made {
    /// Arithmetic on whole vectors, of one argument.
    One(fn(&Expr) -> Expr),
    /// Arithmetic on whole vectors, of two arguments.
    Two(fn(&Expr, &Expr) -> Expr),
    /// Arithmetic and other functions, composed by the pass itself.
    Composed,
    /// A call of the C library, or another table's.
    Library,
}

/// Lowering of a function of one type, and its largest error in units of the last place, 0 if it is
/// exact.
type Lowered = (Made, Option<f64>);

const LIBRARY: Lowered = (Made::Library, None);

fn one(make: fn(&Expr) -> Expr, ulps: f64) -> Lowered {
    (Made::One(make), Some(ulps))
}

fn two(make: fn(&Expr, &Expr) -> Expr, ulps: f64) -> Lowered {
    (Made::Two(make), Some(ulps))
}

fn exact(make: fn(&Expr, &Expr) -> Expr) -> Lowered {
    (Made::Two(make), Some(0.0))
}

fn composed(ulps: f64) -> Lowered {
    (Made::Composed, Some(ulps))
}

/// The lowerings of an op for float32 on a host in float64, rounded once, for float64, and for
/// float32 on a device or without float64.
fn lowered(op: Op) -> [Lowered; 3] {
    match op {
        Op::Exp => [one(exp::exp_single, 0.51), one(exp::exp_double, 1.1), one(narrow::exp::exp, 1.1)],
        Op::Exp2 => [one(exp::exp2_single, 0.51), one(exp::exp2_double, 1.3), one(narrow::exp::exp2, 1.2)],
        Op::Exp10 => {
            [one(exp::exp10_single, 0.51), one(exp::exp10_double, 1.6), one(narrow::exp::exp10, 1.4)]
        }
        Op::Log => [one(log::log_single, 0.51), one(log::log_double, 0.9), one(narrow::log::log, 1.1)],
        Op::Log2 => [one(log::log2_single, 0.51), one(log::log2_double, 0.9), one(narrow::log::log2, 1.1)],
        Op::Log10 => {
            [one(log::log10_single, 0.51), one(log::log10_double, 0.8), one(narrow::log::log10, 1.1)]
        }
        Op::Log1p => {
            [one(log::log1p_single, 0.51), one(log::log1p_double, 1.1), one(narrow::log::log1p, 1.1)]
        }
        Op::Erf => [one(erf::erf_single, 0.51), one(erf::erf_double, 1.4), one(narrow::exp::erf, 1.8)],
        Op::Tanh => [
            one(exp::tanh_single, 0.51),
            one(exp::tanh_double, 1.5),
            one(|x| float::tanh(x, narrow::exp::exp), 1.5),
        ],
        Op::Sinh => [one(exp::sinh_single, 0.51), LIBRARY, one(narrow::exp::sinh, 2.3)],
        Op::Cosh => [one(exp::cosh_single, 0.51), LIBRARY, one(narrow::exp::cosh, 1.8)],
        Op::Sin => [one(trig::sin_single, 0.51), LIBRARY, one(|x| narrow::trig::wave(x, 0), 1.8)],
        Op::Cos => [one(trig::cos_single, 0.51), LIBRARY, one(|x| narrow::trig::wave(x, 1), 1.8)],
        Op::Tan => [one(trig::tan_single, 0.51), LIBRARY, one(narrow::trig::tan, 4.0)],
        Op::Asin => [one(trig::asin_single, 0.51), LIBRARY, one(narrow::angle::asin, 2.8)],
        Op::Acos => [one(trig::acos_single, 0.51), LIBRARY, one(narrow::angle::acos, 1.5)],
        Op::Atan => [one(trig::atan_single, 0.51), LIBRARY, one(narrow::angle::atan, 2.8)],
        Op::Asinh => [one(trig::asinh_single, 0.51), LIBRARY, one(narrow::log::asinh, 2.3)],
        Op::Acosh => [one(trig::acosh_single, 0.51), LIBRARY, one(narrow::log::acosh, 2.3)],
        Op::Atanh => [one(trig::atanh_single, 0.51), LIBRARY, one(narrow::log::atanh, 2.3)],
        Op::Pow => [two(exp::pow_single, 0.51), LIBRARY, two(narrow::pow::pow, 1.4)],
        Op::Atan2 => [two(trig::atan2_single, 0.51), LIBRARY, two(narrow::angle::atan2, 2.8)],
        Op::Hypot => [two(trig::hypot_single, 0.51), LIBRARY, two(narrow::angle::hypot, 1.5)],
        Op::Sigmoid => [one(exp::sigmoid_single, 0.51), composed(2.6), composed(2.6)],
        Op::Rsqrt => [one(exp::rsqrt_single, 0.51), composed(1.5), composed(1.5)],
        Op::Ldexp => [exact(float::ldexp_single), LIBRARY, exact(narrow::exp::ldexp)],
        Op::Fmod => [exact(remainder::fmod_single), LIBRARY, LIBRARY],
        Op::Nextafter => [exact(float::next_after), exact(float::next_after), exact(float::next_after)],
        _ => [LIBRARY; 3],
    }
}

/// The lowering of an op for float32 on a host, where it is faster than the first of [`lowered`]:
/// in float32, which has twice the lanes of float64.
fn quick(op: Op) -> Option<Lowered> {
    Some(match op {
        Op::Exp => one(quick::exp::exp, 1.4),
        Op::Exp2 => one(quick::exp::exp2, 1.2),
        Op::Exp10 => one(quick::exp::exp10, 1.3),
        Op::Log => one(quick::log::log, 1.0),
        Op::Log2 => one(quick::log::log2, 1.5),
        Op::Log10 => one(quick::log::log10, 1.8),
        Op::Log1p => one(quick::log::log1p, 1.6),
        Op::Erf => one(quick::exp::erf, 2.5),
        Op::Sigmoid => one(quick::exp::sigmoid, 2.5),
        Op::Rsqrt => composed(1.5),
        Op::Tanh => one(quick::exp::tanh, 2.7),
        Op::Sin => one(quick::trig::sin, 1.8),
        Op::Cos => one(quick::trig::cos, 1.8),
        Op::Tan => one(quick::trig::tan, 4.0),
        Op::Sinh
        | Op::Cosh
        | Op::Asin
        | Op::Acos
        | Op::Atan
        | Op::Asinh
        | Op::Acosh
        | Op::Atanh
        | Op::Atan2 => lowered(op)[2],
        Op::Hypot => two(quick::hypot, 1.5),
        _ => return None,
    })
}

/// The lowering of an op for float32 on a host.
fn single(op: Op) -> Lowered {
    quick(op).unwrap_or_else(|| lowered(op)[0])
}

/// The lowering of an op for float64.
fn double(op: Op) -> Lowered {
    let [_, double, _] = lowered(op);
    if matches!(double.0, Made::Library) { wide_double(op) } else { double }
}

/// The lowering of an op for float64 that needs more than its digits on the way.
fn wide_double(op: Op) -> Lowered {
    match op {
        Op::Sinh => one(wide::hyperbolic::sinh, 1.7),
        Op::Cosh => one(wide::hyperbolic::cosh, 1.6),
        Op::Sin => one(|x| wide::trig::wave(x, 0), 0.95),
        Op::Cos => one(|x| wide::trig::wave(x, 1), 0.9),
        Op::Tan => one(wide::trig::tan, 2.4),
        Op::Asin => one(wide::angle::asin, 2.2),
        Op::Acos => one(wide::angle::acos, 1.3),
        Op::Atan => one(wide::angle::atan, 1.6),
        Op::Asinh => one(wide::hyperbolic::asinh, 1.8),
        Op::Acosh => one(wide::hyperbolic::acosh, 2.7),
        Op::Atanh => one(wide::hyperbolic::atanh, 1.9),
        Op::Pow => two(wide::power::pow, 1.3),
        Op::Atan2 => two(wide::angle::atan2, 1.7),
        Op::Hypot => two(wide::angle::hypot, 1.3),
        Op::Ldexp => exact(wide::ldexp),
        _ => LIBRARY,
    }
}

/// Lowers the op to arithmetic on whole vectors; `None` if it remains a call of the C library.
pub(super) fn arithmetic(
    op: Op,
    args: &[Expr],
    dtype: DType,
    capabilities: &TargetCapabilities,
) -> Option<Expr> {
    let [high, _, narrow] = lowered(op);
    let make = |(made, _): Lowered| match (made, args) {
        (Made::One(make), [x]) => Some(make(x)),
        (Made::Two(make), [x, y]) => Some(make(x, y)),
        _ => None,
    };
    // On GPUs float64 takes up to 64 times as long as float32.
    let is_narrow = !capabilities.is_host || !capabilities.types.has(DType::FLOAT64);
    if dtype.scalar() == DType::FLOAT32 && is_narrow {
        let new = make(narrow);
        return if capabilities.execution.has_native(Op::Clz) {
            new
        } else {
            new.as_ref().map(bits::without_clz)
        };
    }
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 32) if capabilities.math.accuracy == Accuracy::High => make(high),
        (TypeCode::Float, 32) => make(single(op)),
        (TypeCode::Float, 64) => make(double(op)),
        _ => None,
    }
}

/// The largest error, in units of the last place, of a function that
/// [`lower_intrinsics`](crate::lower_intrinsics()) lowers to arithmetic on a host: of float32 or
/// float64, with and without contraction; 0 if it is exact. `None` if it remains a call of the C
/// library or is not such a function.
///
/// ```
/// use chipdock_ir::{DType, Op};
/// assert_eq!(chipdock_passes::lowered_ulps(Op::Tanh, DType::FLOAT32), Some(2.7));
/// assert_eq!(chipdock_passes::lowered_ulps(Op::Fmod, DType::FLOAT32), Some(0.0));
/// assert_eq!(chipdock_passes::lowered_ulps(Op::Fmod, DType::FLOAT64), None);
/// ```
#[must_use]
pub fn lowered_ulps(op: Op, dtype: DType) -> Option<f64> {
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 32) => single(op).1,
        (TypeCode::Float, 64) => double(op).1,
        _ => None,
    }
}

/// The largest error of a function of float32 on a host whose target has the accuracy `high`;
/// `None` as for [`lowered_ulps`].
///
/// ```
/// use chipdock_ir::Op;
/// assert_eq!(chipdock_passes::high_ulps(Op::Tanh), Some(0.51));
/// ```
#[must_use]
pub fn high_ulps(op: Op) -> Option<f64> {
    lowered(op)[0].1
}

/// The largest error of a function of float32 on a device, or on a target without float64, provided
/// that quotients and square roots are rounded to nearest; `None` if it is not such a function.
///
/// ```
/// use chipdock_ir::Op;
/// assert_eq!(chipdock_passes::narrow_ulps(Op::Log), Some(1.1));
/// ```
#[must_use]
pub fn narrow_ulps(op: Op) -> Option<f64> {
    lowered(op)[2].1
}
