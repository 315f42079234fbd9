//! Propagation of absolute error bounds through operations (rules INT-B1, INT-B2 of [`crate`]).
//!
//! A bound `e` of a value `v` means: every conforming backend has a value within `e` of `v`. 0
//! means exactly `v` (any NaN for a NaN), infinity means anything. An operation gives `prop` (the
//! greatest distance between its exact results on the operands of the two sides) plus the rounding
//! of both sides. If nothing is propagated and the operation is rounded to nearest, both sides
//! compute the same from the same, and the bound is 0.

use crate::scalar::{Flt, Int};

/// A register and its bound.
pub(crate) type Num = (u64, f64);

/// The bound for "anything".
pub(crate) const ANY: f64 = f64::INFINITY;

/// A factor for the rounding of the bounds themselves.
const SLACK: f64 = 1.0 + 1e-9;

/// Returns the bound of a result rounded to nearest.
#[inline]
pub(crate) fn rounded<T: Flt>(v: T, prop: f64) -> f64 {
    if prop == 0.0 { 0.0 } else { inexact(v, prop, 0.5) }
}

/// Returns the bound of a finite result that the other side may compute with an error of `ulps`
/// units.
pub(crate) fn inexact<T: Flt>(v: T, prop: f64, ulps: f64) -> f64 {
    let magnitude = v.wide().abs() + prop;
    let own = T::UNIT * v.wide().abs();
    let theirs = 2.0 * ulps * T::UNIT * magnitude;
    let bound = (prop + own + theirs + T::TINY * (ulps + 0.5)) * SLACK;
    if magnitude + bound <= T::MAX { bound } else { ANY }
}

/// Handles operands that determine the bound alone: `Some` is the result's bound.
#[inline]
fn quick<T: Flt>(a: T, ea: f64, b: T, eb: f64) -> Option<f64> {
    if (ea == 0.0 && a.wide().is_nan()) || (eb == 0.0 && b.wide().is_nan()) {
        // A NaN operand gives a NaN.
        Some(0.0)
    } else if ea == ANY || eb == ANY {
        Some(ANY)
    } else {
        None
    }
}

#[inline]
pub(crate) fn sum<T: Flt>((a, ea): Num, (b, eb): Num, subtract: bool) -> Num {
    let (a, b) = (T::from_register(a), T::from_register(b));
    let v = if subtract { a.sub(b) } else { a.add(b) };
    if ea + eb == 0.0 {
        return (v.bits(), 0.0);
    }
    let bound = match quick(a, ea, b, eb) {
        Some(bound) => bound,
        None if v.wide().is_finite() => rounded(v, ea + eb),
        // An infinite operand is exact, and the other one finite or exact too: the result is
        // determined; else it overflowed.
        None if !a.wide().is_finite() || !b.wide().is_finite() => 0.0,
        None => ANY,
    };
    (v.bits(), bound)
}

#[inline]
pub(crate) fn product<T: Flt>((a, ea): Num, (b, eb): Num) -> Num {
    let (a, b) = (T::from_register(a), T::from_register(b));
    let v = a.mul(b);
    let (x, y, z) = (a.wide(), b.wide(), v.wide());
    if ea + eb == 0.0 {
        // Contracted into a sum, the product is not rounded (INT-B2).
        let lost = x.mul_add(y, -z).abs();
        return (v.bits(), if lost > 0.0 { lost } else { 0.0 });
    }
    let bound = match quick(a, ea, b, eb) {
        Some(bound) => bound,
        None if z.is_finite() => rounded(v, x.abs() * eb + y.abs() * ea + ea * eb),
        None if sign_is_settled(x, ea) && sign_is_settled(y, eb) && !(x.is_finite() && y.is_finite()) => 0.0,
        None => ANY,
    };
    (v.bits(), bound)
}

fn sign_is_settled(x: f64, e: f64) -> bool {
    e == 0.0 || x.abs() > e
}

#[inline]
pub(crate) fn quotient<T: Flt>((a, ea): Num, (b, eb): Num) -> Num {
    let (a, b) = (T::from_register(a), T::from_register(b));
    let v = a.div(b);
    if ea + eb == 0.0 {
        return (v.bits(), 0.0);
    }
    let (x, y, z) = (a.wide(), b.wide(), v.wide());
    let bound = match quick(a, ea, b, eb) {
        Some(bound) => bound,
        None if y.abs() <= eb && eb > 0.0 => ANY,
        // Neither finite nor overflowed: an infinity over a number, or a number over an exact zero.
        None if !z.is_finite() => {
            if sign_is_settled(x, ea) && (!x.is_finite() || y == 0.0) {
                0.0
            } else {
                ANY
            }
        }
        None => rounded(v, (ea + z.abs() * eb) / (y.abs() - eb)),
    };
    (v.bits(), bound)
}

/// Computes the minimum if `less`, else the maximum.
#[inline]
pub(crate) fn extreme<T: Flt>((a, ea): Num, (b, eb): Num, less: bool) -> Num {
    let (x, y) = (T::from_register(a).wide(), T::from_register(b).wide());
    let first = if less { x < y } else { x > y };
    let v = if first { a } else { b };
    let bound = if ea + eb == 0.0 {
        0.0
    } else if (x.is_nan() && ea == 0.0) || (y.is_nan() && eb == 0.0) {
        eb
    } else {
        ea.max(eb)
    };
    (v, bound)
}

#[inline]
pub(crate) fn fused<T: Flt>((a, ea): Num, (b, eb): Num, (c, ec): Num) -> Num {
    let (a, b, c) = (T::from_register(a), T::from_register(b), T::from_register(c));
    let v = a.fma(b, c);
    let narrow = T::UNIT > 1e-5;
    if ea + eb + ec == 0.0 && (!narrow || !v.wide().is_finite()) {
        return (v.bits(), 0.0);
    }
    let bound = match quick(a, ea, b, eb).or_else(|| quick(c, ec, c, ec)) {
        Some(bound) => bound,
        None if !v.wide().is_finite() => ANY,
        // Narrow types are fused in float32 and rounded again, or fused at once.
        None => {
            let prop = a.wide().abs() * eb + b.wide().abs() * ea + ea * eb + ec;
            inexact(v, prop, if narrow { 0.51 } else { 0.5 })
        }
    };
    (v.bits(), bound)
}

/// Adds products of halves to a float32, as [`chipdock_ir::Op::DotAdd`] allows it: sums in any
/// order, rounded in any direction, subnormal numbers replaced by 0.
pub(crate) fn dot<T: Flt>((c, ec): Num, factors: impl Iterator<Item = [Num; 2]>) -> Num {
    let c = f32::from_register(c);
    // Of the exact value: the magnitude of its terms, what is propagated, and what is lost with
    // subnormal factors.
    let (mut value, mut magnitude, mut prop) = (c, c.wide().abs(), ec);
    let (mut lost, mut is_nan, mut is_exact) = (0.0, c.wide().is_nan() && ec == 0.0, ec == 0.0);
    // What the finite terms may come to if there are infinite ones.
    let mut finite = if c.wide().is_finite() { c.wide().abs() } else { 0.0 };
    for [(a, ea), (b, eb)] in factors {
        let (x, y) = (T::from_register(a).wide(), T::from_register(b).wide());
        let product = x * y;
        value = value.add(f32::nearest(product));
        magnitude += product.abs();
        prop += x.abs() * eb + y.abs() * ea + ea * eb;
        is_nan |= (x.is_nan() && ea == 0.0) || (y.is_nan() && eb == 0.0);
        is_exact &= ea + eb == 0.0;
        let is_tiny = |x: f64, e: f64| x.abs() - e < f32::NORMAL && (x != 0.0 || e != 0.0);
        if is_tiny(x, ea) || is_tiny(y, eb) {
            lost += product.abs();
        }
        finite += if product.is_finite() { product.abs() } else { 0.0 };
    }
    let bound = if is_nan {
        0.0
    } else if !magnitude.is_finite() {
        // The same infinity or NaN on both sides, unless a finite term may overflow or a subnormal
        // factor vanish.
        if is_exact && lost.is_finite() && 2.0 * finite < f32::MAX.into() { 0.0 } else { ANY }
    } else {
        let bound = prop + lost + 4.0 * 2.0 * f32::UNIT * (magnitude + prop) + 4.0 * f32::NORMAL;
        if magnitude + bound <= f32::MAX.into() { bound * SLACK } else { ANY }
    };
    (Flt::bits(value), bound)
}

/// Returns true if the sign of `a - b` is certain.
#[inline]
pub(crate) fn is_apart(a: f64, ea: f64, b: f64, eb: f64) -> bool {
    if ea + eb == 0.0 || (a.is_nan() && ea == 0.0) || (b.is_nan() && eb == 0.0) {
        return true;
    }
    (a - b).abs() > (ea + eb) * SLACK
}

/// Returns the bound of a comparison of floats.
#[inline]
pub(crate) fn float_compare<T: Flt>((a, ea): Num, (b, eb): Num) -> f64 {
    f64::from(!is_apart(T::from_register(a).wide(), ea, T::from_register(b).wide(), eb))
}

/// Returns the bound of a comparison of integers.
#[inline]
pub(crate) fn int_compare<T: Int>((a, ea): Num, (b, eb): Num) -> f64 {
    if ea + eb == 0.0 {
        return 0.0;
    }
    let distance = T::from_register(a).wide().abs_diff(T::from_register(b).wide()) as f64;
    f64::from(distance <= (ea + eb) * SLACK)
}

/// Returns the bound of an integer result that may be off by `e`; if it may wrap past the range, it
/// may be anything.
#[inline]
pub(crate) fn int_result<T: Int>(exact: i128, e: f64) -> f64 {
    if e == 0.0 {
        return 0.0;
    }
    if T::BITS == 1 {
        return 1.0;
    }
    let (low, high) = (T::RANGE.0 as f64, T::RANGE.1 as f64);
    let exact = exact as f64;
    if exact - e >= low && exact + e <= high { e.ceil() } else { ANY }
}

/// The shape of a function's graph, which determines its values on an interval from those at the
/// ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// Rises or falls throughout.
    Monotone,
    /// Falls to 0 and rises again (`cosh`, `abs`).
    Valley,
    /// Changes no faster than its argument and stays within 1 of 0 (`sin`, `cos`).
    Wave,
    /// Rises between its poles at odd multiples of π/2.
    Tangent,
}

/// A function on floats, with the properties that a bound depends on.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    /// The function on float64.
    pub(crate) f: fn(f64) -> f64,
    /// Shape of its graph.
    pub(crate) course: Course,
    /// Units in the last place that a backend may be off; 0: its values need no rounding.
    pub(crate) ulps: f64,
}

/// Applies a function to a register with a bound.
pub(crate) fn apply<T: Flt>((a, e): Num, function: &Function) -> Num {
    let x = T::from_register(a).wide();
    let exact = (function.f)(x);
    let v = T::nearest(exact);
    (v.bits(), function_bound::<T>(x, e, exact, function))
}

fn function_bound<T: Flt>(x: f64, e: f64, exact: f64, function: &Function) -> f64 {
    let to_nearest = function.ulps <= 0.5;
    if e == 0.0 && (to_nearest || !exact.is_finite()) {
        return 0.0;
    }
    let prop = spread(x, e, exact, function);
    if prop == ANY || !exact.is_finite() {
        return ANY;
    }
    if function.ulps == 0.0 {
        return prop;
    }
    let magnitude = exact.abs() + prop;
    // The reference itself is off by a unit or two of float64.
    let own = if T::UNIT < 1e-10 { 8.0 } else { 1.0 };
    let mut bound = prop + own * T::UNIT * exact.abs() + 2.0 * function.ulps * T::UNIT * magnitude;
    bound += T::TINY * (function.ulps + 0.5);
    // A result below the normal numbers may be flushed to zero.
    if exact.abs() - prop < 2.0 * T::NORMAL && T::NORMAL < 1e-30 && !to_nearest {
        bound += T::NORMAL;
    }
    bound *= SLACK;
    if magnitude + bound <= T::MAX {
        bound
    } else if exact.abs() - bound > T::MAX * (1.0 + T::UNIT) {
        0.0 // an infinity on both sides
    } else {
        ANY
    }
}

/// Returns the greatest distance of the function's values within `e` of `x` from its value at `x`.
fn spread(x: f64, e: f64, exact: f64, function: &Function) -> f64 {
    if e == 0.0 {
        return 0.0;
    }
    if e == ANY || !x.is_finite() {
        return ANY;
    }
    let ends = [(function.f)(x - e), (function.f)(x + e)];
    let mut spread = ends.iter().fold(0.0_f64, |spread, end| {
        let distance = (end - exact).abs();
        if distance.is_finite() { spread.max(distance) } else { ANY }
    });
    match function.course {
        Course::Monotone => {}
        Course::Valley if x.abs() <= e => spread = spread.max((exact - (function.f)(0.0)).abs()),
        Course::Valley => {}
        Course::Wave => spread = e.min(2.0),
        Course::Tangent => {
            let branch = |x: f64| (x / std::f64::consts::PI + 0.5).floor();
            if branch(x - e) != branch(x + e) {
                return ANY;
            }
        }
    }
    // The differences above cancel: they are known only to a few units of float64.
    if function.ulps == 0.0 { spread } else { spread + 4.0 * f64::EPSILON * exact.abs() }
}
