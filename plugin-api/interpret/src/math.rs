//! Reference functions on float64, each within a unit or two in the last place.

/// Computes the error function, within two units.
///
/// Below 1 by its power series (Abramowitz and Stegun 7.1.5); above by the continued fraction of
/// the complement (7.1.14), whose errors count less.
pub(crate) fn erf(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() {
        return x;
    }
    // Past 6 the complement is below half a unit of 1.
    if a > 6.0 {
        return 1.0_f64.copysign(x);
    }
    let square = a * a;
    if a >= 1.0 {
        // With the rounding error of the square, which would cost the exponential a unit for each
        // of its own.
        let power = (-square).exp() * (1.0 - a.mul_add(a, -square));
        // At 1, where it converges slowest, 200 terms leave 1e-17.
        let fraction = (1..=200).rev().fold(a, |rest, k| a + 0.5 * f64::from(k) / rest);
        let complement = power * std::f64::consts::FRAC_2_SQRT_PI * 0.5 / fraction;
        return (1.0 - complement).copysign(x);
    }
    let (mut term, mut tail) = (1.0, 0.0);
    for n in (1..=20).map(f64::from) {
        term *= -square / n;
        tail += term / (2.0 * n + 1.0);
    }
    /// 2/√π less the nearest float64.
    const REST: f64 = 1.533545961316588e-17;
    let first = std::f64::consts::FRAC_2_SQRT_PI;
    x * first + x * (first * tail + REST)
}

/// Computes 10 to the power of `x`.
pub(crate) fn exp10(x: f64) -> f64 {
    10.0_f64.powf(x)
}

/// Computes 1 / (1 + exp(-x)), without overflow in any part.
pub(crate) fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// Above this, `x² ± 1` is `x²`.
const LARGE: f64 = (1_u64 << 28) as f64;

/// Computes the inverse hyperbolic cosine; the standard library's loses half its digits near 1.
pub(crate) fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        f64::NAN
    } else if x > LARGE {
        x.ln() + std::f64::consts::LN_2
    } else if x > 2.0 {
        (2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())).ln()
    } else {
        let t = x - 1.0;
        (t + (2.0 * t + t * t).sqrt()).ln_1p()
    }
}

/// Computes the inverse hyperbolic sine; the standard library's overflows.
pub(crate) fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let value = if a > LARGE {
        a.ln() + std::f64::consts::LN_2
    } else if a > 2.0 {
        (2.0 * a + 1.0 / ((a * a + 1.0).sqrt() + a)).ln()
    } else {
        (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p()
    };
    value.copysign(x)
}

/// Computes the inverse hyperbolic tangent; the standard library's loses digits near 1 and of
/// subnormals.
pub(crate) fn atanh(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 0.5 {
        let t = 2.0 * a;
        0.5 * (t + t * a / (1.0 - a)).ln_1p()
    } else {
        0.5 * (2.0 * a / (1.0 - a)).ln_1p()
    };
    if a < 1.0 / LARGE { x } else { value.copysign(x) }
}

/// Computes one over the square root.
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Computes `x` times 2 to the power of `n`, rounded once.
pub(crate) fn ldexp(x: f64, n: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // The float64 has room for any scaling of a narrower type; its own is scaled in steps of which
    // only the last may round.
    let mut rest = n.clamp(-2200, 2200);
    let mut value = x;
    while rest > 1023 {
        value *= 2.0_f64.powi(1023);
        rest -= 1023;
    }
    if rest < -1022 && value.is_normal() {
        // First brings the exponent near 0, so that only the last product can be subnormal.
        let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        value = f64::from_bits(value.to_bits() & !(0x7ff << 52) | (1023 << 52));
        rest = rest.saturating_add(exponent);
        if rest < -1100 {
            return 0.0_f64.copysign(x);
        }
        if rest < -1022 {
            return value * 2.0_f64.powi(-1022 + 60) * 2.0_f64.powi(rest + 1022 - 60);
        }
    }
    value * 2.0_f64.powi(rest.max(-1074))
}

/// Returns the next value of any float type from `x` towards `y`.
pub(crate) fn next_after<T: crate::scalar::Flt>(x: T, y: T) -> T {
    let (from, to) = (x.wide(), y.wide());
    if from.is_nan() {
        x
    } else if to.is_nan() || from == to {
        y
    } else if to > from {
        x.next_up()
    } else {
        x.next_down()
    }
}
