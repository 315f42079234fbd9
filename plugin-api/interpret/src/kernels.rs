//! The code of operations on a lane: one function without bounds and one with, selected once when a
//! function is compiled.

use crate::bound::{self, ANY, Course, Function, Num};
use crate::math;
use crate::scalar::{Flt, Int, Lane, with_float, with_int, with_stored_float, with_stored_int};
use chipdock_ir::accuracy;
use chipdock_ir::{BinaryOp, CompareOp, Op};

/// An operation on one lane.
#[derive(Clone, Copy)]
pub(crate) struct Unary {
    pub(crate) plain: fn(u64) -> u64,
    pub(crate) bounded: fn(Num) -> Num,
}

/// An operation on two lanes.
#[derive(Clone, Copy)]
pub(crate) struct Binary {
    pub(crate) plain: fn(u64, u64) -> u64,
    pub(crate) bounded: fn(Num, Num) -> Num,
}

/// An operation on three lanes.
#[derive(Clone, Copy)]
pub(crate) struct Ternary {
    pub(crate) plain: fn(u64, u64, u64) -> u64,
    pub(crate) bounded: fn(Num, Num, Num) -> Num,
}

/// Returns a binary operator on a lane type; `None` if the type has none.
pub(crate) fn binary(op: BinaryOp, lane: Lane) -> Option<&'static Binary> {
    with_int!(lane, T => Some(int_binary::<T>(op)), with_float!(lane, T => float_binary::<T>(op), None))
}

fn int_binary<T: Int>(op: BinaryOp) -> &'static Binary {
    macro_rules! plain {
        ($method:ident) => {
            |a, b| T::from_register(a).$method(T::from_register(b)).bits()
        };
    }
    match op {
        BinaryOp::Add => &Binary {
            plain: plain!(add),
            bounded: |a, b| int_linear::<T>(a, b, T::add, |a, b| a.checked_add(b)),
        },
        BinaryOp::Sub => &Binary {
            plain: plain!(sub),
            bounded: |a, b| int_linear::<T>(a, b, T::sub, |a, b| a.checked_sub(b)),
        },
        BinaryOp::Mul => &Binary { plain: plain!(mul), bounded: int_product::<T> },
        BinaryOp::Div => &Binary { plain: plain!(div), bounded: |a, b| int_quotient::<T>(a, b, T::div) },
        BinaryOp::Mod => &Binary { plain: plain!(rem), bounded: |a, b| int_other::<T>(a, b, T::rem) },
        BinaryOp::FloorDiv => {
            &Binary { plain: plain!(floor_div), bounded: |a, b| int_quotient::<T>(a, b, T::floor_div) }
        }
        BinaryOp::FloorMod => {
            &Binary { plain: plain!(floor_rem), bounded: |a, b| int_other::<T>(a, b, T::floor_rem) }
        }
        BinaryOp::Min => &Binary { plain: plain!(min), bounded: |a, b| int_extreme::<T>(a, b, T::min) },
        BinaryOp::Max => &Binary { plain: plain!(max), bounded: |a, b| int_extreme::<T>(a, b, T::max) },
    }
}

fn int_linear<T: Int>(a: Num, b: Num, f: fn(T, T) -> T, wide: fn(i128, i128) -> Option<i128>) -> Num {
    let v = f(T::from_register(a.0), T::from_register(b.0));
    let e = a.1 + b.1;
    if e == 0.0 {
        return (v.bits(), 0.0);
    }
    let exact = wide(T::from_register(a.0).wide(), T::from_register(b.0).wide());
    (v.bits(), exact.map_or(ANY, |exact| bound::int_result::<T>(exact, e)))
}

fn int_product<T: Int>((a, ea): Num, (b, eb): Num) -> Num {
    let (a, b) = (T::from_register(a), T::from_register(b));
    let v = a.mul(b);
    if ea + eb == 0.0 {
        return (v.bits(), 0.0);
    }
    let scaled = |x: i128, e: f64| if e == 0.0 { 0.0 } else { x.unsigned_abs() as f64 * e };
    let e = if ea == ANY || eb == ANY { ANY } else { scaled(a.wide(), eb) + scaled(b.wide(), ea) + ea * eb };
    let exact = a.wide().checked_mul(b.wide());
    (v.bits(), exact.map_or(ANY, |exact| bound::int_result::<T>(exact, e)))
}

fn int_quotient<T: Int>((a, ea): Num, (b, eb): Num, f: fn(T, T) -> T) -> Num {
    let v = f(T::from_register(a), T::from_register(b));
    if ea + eb == 0.0 {
        return (v.bits(), 0.0);
    }
    let divisor = T::from_register(b).wide().unsigned_abs() as f64;
    let e = if eb == 0.0 && divisor > 0.0 { ea / divisor + 1.0 } else { ANY };
    (v.bits(), bound::int_result::<T>(v.wide(), e))
}

fn int_extreme<T: Int>(a: Num, b: Num, f: fn(T, T) -> T) -> Num {
    (f(T::from_register(a.0), T::from_register(b.0)).bits(), a.1.max(b.1))
}

/// Computes an operation through which no bound passes.
fn int_other<T: Int>(a: Num, b: Num, f: fn(T, T) -> T) -> Num {
    let v = f(T::from_register(a.0), T::from_register(b.0));
    (v.bits(), bound::int_result::<T>(v.wide(), if a.1 + b.1 == 0.0 { 0.0 } else { ANY }))
}

fn float_binary<T: Flt>(op: BinaryOp) -> Option<&'static Binary> {
    Some(match op {
        BinaryOp::Add => &Binary {
            plain: |a, b| T::from_register(a).add(T::from_register(b)).bits(),
            bounded: |a, b| bound::sum::<T>(a, b, false),
        },
        BinaryOp::Sub => &Binary {
            plain: |a, b| T::from_register(a).sub(T::from_register(b)).bits(),
            bounded: |a, b| bound::sum::<T>(a, b, true),
        },
        BinaryOp::Mul => &Binary {
            plain: |a, b| T::from_register(a).mul(T::from_register(b)).bits(),
            bounded: bound::product::<T>,
        },
        BinaryOp::Div => &Binary {
            plain: |a, b| T::from_register(a).div(T::from_register(b)).bits(),
            bounded: bound::quotient::<T>,
        },
        BinaryOp::Min => &Binary {
            plain: |a, b| if T::from_register(a).less(T::from_register(b)) { a } else { b },
            bounded: |a, b| bound::extreme::<T>(a, b, true),
        },
        BinaryOp::Max => &Binary {
            plain: |a, b| if T::from_register(b).less(T::from_register(a)) { a } else { b },
            bounded: |a, b| bound::extreme::<T>(a, b, false),
        },
        BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => return None,
    })
}

/// Returns a comparison of two lanes; `None` if the type has none.
pub(crate) fn compare(op: CompareOp, lane: Lane) -> Option<&'static Binary> {
    let lane = if lane == Lane::Handle { Lane::U64 } else { lane };
    with_int!(lane, T => Some(int_compare::<T>(op)), with_float!(lane, T => Some(float_compare::<T>(op)), None))
}

fn int_compare<T: Int>(op: CompareOp) -> &'static Binary {
    macro_rules! compare {
        ($op:tt) => {
            &Binary {
                plain: |a, b| u64::from(T::from_register(a) $op T::from_register(b)),
                bounded: |a, b| (u64::from(T::from_register(a.0) $op T::from_register(b.0)), bound::int_compare::<T>(a, b)),
            }
        };
    }
    match op {
        CompareOp::Eq => compare!(==),
        CompareOp::Ne => compare!(!=),
        CompareOp::Lt => compare!(<),
        CompareOp::Le => compare!(<=),
        CompareOp::Gt => compare!(>),
        CompareOp::Ge => compare!(>=),
    }
}

fn float_compare<T: Flt>(op: CompareOp) -> &'static Binary {
    macro_rules! compare {
        ($op:tt) => {
            &Binary {
                plain: |a, b| u64::from(T::from_register(a).wide() $op T::from_register(b).wide()),
                bounded: |a, b| {
                    (u64::from(T::from_register(a.0).wide() $op T::from_register(b.0).wide()), bound::float_compare::<T>(a, b))
                },
            }
        };
    }
    match op {
        CompareOp::Eq => compare!(==),
        CompareOp::Ne => compare!(!=),
        CompareOp::Lt => compare!(<),
        CompareOp::Le => compare!(<=),
        CompareOp::Gt => compare!(>),
        CompareOp::Ge => compare!(>=),
    }
}

/// Conjunction of booleans, both evaluated.
pub(crate) const AND: &Binary = &Binary {
    plain: |a, b| a & b,
    bounded: |a, b| {
        // An operand that is certainly false decides.
        let decided = (a.0 == 0 && a.1 == 0.0) || (b.0 == 0 && b.1 == 0.0);
        (a.0 & b.0, if decided { 0.0 } else { a.1.max(b.1).min(1.0) })
    },
};

/// Disjunction of booleans, both evaluated.
pub(crate) const OR: &Binary = &Binary {
    plain: |a, b| a | b,
    bounded: |a, b| {
        let decided = (a.0 != 0 && a.1 == 0.0) || (b.0 != 0 && b.1 == 0.0);
        (a.0 | b.0, if decided { 0.0 } else { a.1.max(b.1).min(1.0) })
    },
};

/// Negation of a boolean.
pub(crate) const NOT: &Unary = &Unary { plain: |a| a ^ 1, bounded: |(a, e)| (a ^ 1, e) };

/// Test for a null pointer.
pub(crate) const IS_NULL: &Unary =
    &Unary { plain: |a| u64::from(a == 0), bounded: |(a, e)| (u64::from(a == 0), e) };

/// Returns a conversion; `None` if either type is no number.
pub(crate) fn cast(from: Lane, to: Lane) -> Option<&'static Unary> {
    with_stored_int!(from, F => with_stored_int!(to, T => Some(int_to_int::<F, T>()), with_stored_float!(to, T => Some(int_to_float::<F, T>()), None)),
        with_stored_float!(from, F => with_stored_int!(to, T => Some(float_to_int::<F, T>()), with_stored_float!(to, T => Some(float_to_float::<F, T>()), None)), None))
}

fn int_to_int<F: Int, T: Int>() -> &'static Unary {
    &Unary {
        plain: |a| T::wrap(F::from_register(a).wide()).bits(),
        bounded: |(a, e)| {
            let value = F::from_register(a).wide();
            (T::wrap(value).bits(), bound::int_result::<T>(value, e))
        },
    }
}

fn int_to_float<F: Int, T: Flt>() -> &'static Unary {
    &Unary {
        plain: |a| T::nearest_int(F::from_register(a).wide()).bits(),
        bounded: |(a, e)| {
            let v = T::nearest_int(F::from_register(a).wide());
            let bound = if v.wide().is_finite() || e == 0.0 { bound::rounded(v, e) } else { ANY };
            (v.bits(), bound)
        },
    }
}

fn float_to_int<F: Flt, T: Int>() -> &'static Unary {
    &Unary {
        plain: |a| T::from_f64(F::from_register(a).wide()).bits(),
        bounded: |(a, e)| {
            let x = F::from_register(a).wide();
            let v = T::from_f64(x);
            let bound = if e == 0.0 {
                0.0
            } else if e == ANY || x.is_nan() {
                ANY
            } else if T::IS_BOOL {
                f64::from(x.abs() <= e)
            } else {
                let reach = |end: f64| T::from_f64(end).wide().abs_diff(v.wide()) as f64;
                reach(x - e).max(reach(x + e))
            };
            (v.bits(), bound)
        },
    }
}

fn float_to_float<F: Flt, T: Flt>() -> &'static Unary {
    &Unary {
        plain: |a| T::nearest(F::from_register(a).wide()).bits(),
        bounded: |(a, e)| {
            let x = F::from_register(a).wide();
            let v = T::nearest(x);
            let widens = T::UNIT <= F::UNIT && T::MAX >= F::MAX;
            let bound = if e == 0.0 {
                0.0
            } else if e == ANY {
                ANY
            } else if v.wide().is_finite() {
                if widens { e } else { bound::inexact(v, e, 0.5) }
            } else if x.is_finite() && x.abs() - e > T::MAX * (1.0 + T::UNIT) {
                0.0
            } else {
                ANY
            };
            (v.bits(), bound)
        },
    }
}

/// Returns a unary op; `None` if the type has none, or `op` is not unary.
pub(crate) fn unary_op(op: Op, lane: Lane) -> Option<&'static Unary> {
    with_int!(lane, T => int_unary::<T>(op), with_float!(lane, T => float_unary::<T>(op), None))
}

fn int_unary<T: Int>(op: Op) -> Option<&'static Unary> {
    macro_rules! opaque {
        ($f:expr) => {
            &Unary {
                plain: |a| $f(T::from_register(a)),
                bounded: |(a, e)| ($f(T::from_register(a)), if e == 0.0 { 0.0 } else { ANY }),
            }
        };
    }
    Some(match op {
        Op::Abs => &Unary {
            plain: |a| T::from_register(a).abs().bits(),
            bounded: |(a, e)| {
                let v = T::from_register(a).abs();
                (v.bits(), bound::int_result::<T>(v.wide(), e))
            },
        },
        Op::BitwiseNot => &Unary {
            plain: |a| T::from_register(a).not().bits(),
            bounded: |(a, e)| {
                let v = T::from_register(a).not();
                (v.bits(), bound::int_result::<T>(v.wide(), e))
            },
        },
        Op::Popcount => opaque!(|a: T| u64::from(a.count_ones())),
        Op::Clz => opaque!(|a: T| u64::from(a.leading_zeros())),
        _ => return None,
    })
}

fn float_unary<T: Flt>(op: Op) -> Option<&'static Unary> {
    macro_rules! function {
        ($f:expr, $course:ident, $op:ident) => {
            &Unary {
                plain: |a| T::nearest($f(T::from_register(a).wide())).bits(),
                bounded: |a| {
                    let ulps = const { accuracy::lane_ulps(Op::$op, T::UNIT > 1e-5) };
                    bound::apply::<T>(a, &Function { f: $f, course: Course::$course, ulps })
                },
            }
        };
    }
    macro_rules! test {
        ($test:expr) => {
            &Unary {
                plain: |a| u64::from($test(T::from_register(a).wide())),
                bounded: |(a, e)| (u64::from($test(T::from_register(a).wide())), f64::from(e == ANY)),
            }
        };
    }
    Some(match op {
        Op::Acos => function!(f64::acos, Monotone, Acos),
        Op::Acosh => function!(math::acosh, Monotone, Acosh),
        Op::Asin => function!(f64::asin, Monotone, Asin),
        Op::Asinh => function!(math::asinh, Monotone, Asinh),
        Op::Atan => function!(f64::atan, Monotone, Atan),
        Op::Atanh => function!(math::atanh, Monotone, Atanh),
        Op::Ceil => function!(f64::ceil, Monotone, Ceil),
        Op::Cos => function!(f64::cos, Wave, Cos),
        Op::Cosh => function!(f64::cosh, Valley, Cosh),
        Op::Erf => function!(math::erf, Monotone, Erf),
        Op::Exp => function!(f64::exp, Monotone, Exp),
        Op::Exp10 => function!(math::exp10, Monotone, Exp10),
        Op::Exp2 => function!(f64::exp2, Monotone, Exp2),
        Op::Floor => function!(f64::floor, Monotone, Floor),
        Op::Log => function!(f64::ln, Monotone, Log),
        Op::Log10 => function!(f64::log10, Monotone, Log10),
        Op::Log1p => function!(f64::ln_1p, Monotone, Log1p),
        Op::Log2 => function!(f64::log2, Monotone, Log2),
        Op::Nearbyint | Op::Round => function!(f64::round_ties_even, Monotone, Round),
        Op::Rsqrt => function!(math::rsqrt, Monotone, Rsqrt),
        Op::Sigmoid => function!(math::sigmoid, Monotone, Sigmoid),
        Op::Sin => function!(f64::sin, Wave, Sin),
        Op::Sinh => function!(f64::sinh, Monotone, Sinh),
        Op::Sqrt => function!(f64::sqrt, Monotone, Sqrt),
        Op::Tan => function!(f64::tan, Tangent, Tan),
        Op::Tanh => function!(f64::tanh, Monotone, Tanh),
        Op::Trunc => function!(f64::trunc, Monotone, Trunc),
        Op::Abs => &Unary {
            plain: |a| T::from_register(a).abs().bits(),
            bounded: |(a, e)| (T::from_register(a).abs().bits(), e),
        },
        Op::Isnan => test!(f64::is_nan),
        Op::Isinf => test!(f64::is_infinite),
        Op::Isfinite => test!(f64::is_finite),
        _ => return None,
    })
}

/// Returns a binary op; `None` if the type has none, or `op` is not binary. The second operand of
/// `ldexp` is an int32.
pub(crate) fn binary_op(op: Op, lane: Lane) -> Option<&'static Binary> {
    with_int!(lane, T => int_bits::<T>(op), with_float!(lane, T => float_pair::<T>(op), None))
}

fn int_bits<T: Int>(op: Op) -> Option<&'static Binary> {
    macro_rules! bits {
        ($f:expr) => {
            &Binary {
                plain: |a, b| $f(T::from_register(a), T::from_register(b)).bits(),
                bounded: |a, b| int_other::<T>(a, b, $f),
            }
        };
    }
    Some(match op {
        Op::BitwiseAnd => bits!(|a: T, b: T| T::from_register(a.bits() & b.bits())),
        Op::BitwiseOr => bits!(|a: T, b: T| T::from_register(a.bits() | b.bits())),
        Op::BitwiseXor => bits!(|a: T, b: T| T::from_register(a.bits() ^ b.bits())),
        Op::ShiftLeft => bits!(T::shl),
        Op::ShiftRight => bits!(T::shr),
        _ => return None,
    })
}

fn float_pair<T: Flt>(op: Op) -> Option<&'static Binary> {
    macro_rules! pair {
        ($f:expr, $op:ident, $spread:expr) => {
            &Binary {
                plain: |a, b| T::nearest($f(T::from_register(a).wide(), T::from_register(b).wide())).bits(),
                bounded: |a, b| {
                    let ulps = const { accuracy::lane_ulps(Op::$op, T::UNIT > 1e-5) };
                    float_two::<T>(a, b, $f, $spread, ulps)
                },
            }
        };
    }
    Some(match op {
        Op::Atan2 => pair!(f64::atan2, Atan2, spread_atan2),
        Op::Hypot => pair!(f64::hypot, Hypot, |(_, ea), (_, eb), _| ea + eb),
        Op::Pow => pair!(f64::powf, Pow, spread_pow),
        Op::Fmod => pair!(|a: f64, b: f64| a % b, Fmod, spread_fmod),
        Op::Copysign => &Binary {
            plain: |a, b| T::from_register(a).copysign(T::from_register(b)).bits(),
            bounded: |(a, ea), (b, eb)| {
                let sign = T::from_register(b).wide();
                // The sign of a NaN is unspecified (IR-N6).
                let settled = !sign.is_nan() && (eb == 0.0 || sign.abs() > eb);
                (T::from_register(a).copysign(T::from_register(b)).bits(), if settled { ea } else { ANY })
            },
        },
        Op::Nextafter => &Binary {
            plain: |a, b| math::next_after(T::from_register(a), T::from_register(b)).bits(),
            bounded: |(a, ea), (b, eb)| {
                let v = math::next_after(T::from_register(a), T::from_register(b));
                let inexact = || if v.wide().is_finite() { bound::inexact(v, ea, 4.0) } else { ANY };
                (v.bits(), if ea + eb == 0.0 { 0.0 } else { inexact() })
            },
        },
        Op::Ldexp => &Binary {
            plain: |a, n| T::nearest(math::ldexp(T::from_register(a).wide(), n as i32)).bits(),
            bounded: |(a, ea), (n, en)| {
                let v = T::nearest(math::ldexp(T::from_register(a).wide(), n as i32));
                let bound = match (ea, en) {
                    (0.0, 0.0) => 0.0,
                    (_, 0.0) if v.wide().is_finite() => bound::rounded(v, math::ldexp(ea, n as i32)),
                    _ => ANY,
                };
                (v.bits(), bound)
            },
        },
        _ => return None,
    })
}

/// Applies a function of two floats: `spread` returns the distance of its values from the given
/// one, for given values and bounds.
fn float_two<T: Flt>(
    (a, ea): Num,
    (b, eb): Num,
    f: fn(f64, f64) -> f64,
    spread: fn((f64, f64), (f64, f64), f64) -> f64,
    ulps: f64,
) -> Num {
    let (x, y) = (T::from_register(a).wide(), T::from_register(b).wide());
    let exact = f(x, y);
    let v = T::nearest(exact);
    if ea + eb == 0.0 && (ulps == 0.0 || !exact.is_finite()) {
        return (v.bits(), 0.0);
    }
    let mut prop = 0.0;
    if ea + eb > 0.0 {
        prop = spread((x, ea), (y, eb), exact);
        // Also if a value is not a number.
        if !(prop.is_finite() && x.is_finite() && y.is_finite() && exact.is_finite()) {
            return (v.bits(), ANY);
        }
    }
    let magnitude = exact.abs() + prop;
    if magnitude > T::MAX {
        let certain = exact.abs() - prop > T::MAX * (1.0 + 2.0 * (ulps + 2.0) * T::UNIT);
        return (v.bits(), if certain { 0.0 } else { ANY });
    }
    let flushed = if exact.abs() - prop < 2.0 * T::NORMAL && T::NORMAL < 1e-30 { T::NORMAL } else { 0.0 };
    // The reference itself may be off by a few units of float64.
    let units = if T::UNIT < 1e-10 { ulps + 4.0 } else { ulps };
    (v.bits(), bound::inexact(v, prop, units) + flushed)
}

fn spread_atan2((y, ey): (f64, f64), (x, ex): (f64, f64), _: f64) -> f64 {
    let reach = y.hypot(x) - (ey + ex);
    let at_cut = x - ex <= 0.0 && y.abs() <= ey;
    if reach <= 0.0 || at_cut { ANY } else { (ex + ey) / reach }
}

fn spread_pow((x, ex): (f64, f64), (y, ey): (f64, f64), exact: f64) -> f64 {
    let mut values = Vec::with_capacity(5);
    if x - ex > 0.0 {
        values.extend([x - ex, x + ex].iter().flat_map(|x| [x.powf(y - ey), x.powf(y + ey)]));
    } else if ey == 0.0 && y.fract() == 0.0 {
        values.extend([(x - ex).powf(y), (x + ex).powf(y)]);
        if x.abs() <= ex {
            values.push(0.0_f64.powf(y));
        }
    } else {
        return ANY;
    }
    let far = values.into_iter().map(|value| (value - exact).abs());
    // A NaN counts as far away.
    far.fold(0.0, |spread: f64, far| if far.is_finite() { spread.max(far) } else { ANY })
        + 4.0 * f64::EPSILON * exact.abs()
}

fn spread_fmod((x, ex): (f64, f64), (y, ey): (f64, f64), _: f64) -> f64 {
    let (near, far) = (y.abs() - ey, y.abs() + ey);
    if near <= 0.0 {
        return ANY;
    }
    let quotients = [(x - ex) / near, (x - ex) / far, (x + ex) / near, (x + ex) / far];
    let whole = (x / y.abs()).trunc();
    let same = quotients.iter().all(|quotient| quotient.trunc() == whole);
    if same && whole.abs() < 1e15 { ex + whole.abs() * ey } else { ANY }
}

/// Returns a ternary op; `None` if the type has none, or `op` is not ternary.
pub(crate) fn ternary_op(op: Op, lane: Lane) -> Option<&'static Ternary> {
    with_float!(lane, T => float_three::<T>(op), None)
}

fn float_three<T: Flt>(op: Op) -> Option<&'static Ternary> {
    Some(match op {
        Op::Fma => &Ternary {
            plain: |a, b, c| T::from_register(a).fma(T::from_register(b), T::from_register(c)).bits(),
            bounded: bound::fused::<T>,
        },
        _ => return None,
    })
}
