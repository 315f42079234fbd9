//! `pow`.

use chipdock_ir::Expr;

use super::super::exp::{exp_of_pair, with_sign};
use super::super::kit::{Steps, abs, div, equal, less, plain};
use super::super::log::parts_double;
use super::coefficients as c;
use super::pair::{halves, quick_sum, upper};

/// 3/2 ln 2 in two parts, the first of which has 33 digits.
const STEP: (f64, f64) = (1.5 * super::super::coefficients::LN_2.0, 1.5 * super::super::coefficients::LN_2.1);
/// 2/3: its upper 26 digits, the others, and the nearest float64.
const TWO_THIRDS: [f64; 3] = [0.6666666567325592, 9.934107462565104e-09, 2.0 / 3.0];

/// 3/2 ln x of a positive finite number in two parts, within 2^-63 of itself.
///
/// x = 2^k · m; 3/2 ln m = 3 atanh t = t · (3 + t² + ...), t = (m - 1) / (m + 1). The larger part
/// of each number has so few digits that its products are exact, so that it is the same to a
/// compiler that contracts (see [`super::pair`]).
fn log(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let (k, f) = parts_double(s, x);
    let (under, under_low) = quick_sum(s, &s.f64(2.0), &f);
    let inverse = s.name("inverse", div(s.f64(1.0), under.clone()));
    let high = s.name("t_high", upper(s, &(f.clone() * inverse.clone())));
    let (under, under_rest) = halves(s, &under);
    let rest = (f - high.clone() * under) - high.clone() * (under_rest + under_low);
    let low = s.name("t_low", rest * inverse);
    let t = s.name("t", high.clone() + low.clone());

    let square = s.name("square", high.clone() * high.clone());
    let z = s.name("z", t.clone() * t.clone());
    let coefficients: Vec<f64> = c::LOG.iter().map(|c| 1.5 * c).collect();
    let tail = z.clone() * z.clone() * s.polynomial(&z, &coefficients);
    let tail = s.name("tail", tail + low.clone() * (high.clone() + t.clone()));
    let three = || s.f64(3.0);
    let series = s.name("series", upper(s, &((three() + square.clone()) + tail.clone())));
    let series_low = tail - ((series.clone() - three()) - square);
    let near = s.name("near", high * series.clone());
    let near_low = low * series + series_low * t;

    let steps = s.name("steps", k.clone() * s.f64(STEP.0));
    let (sum, lost) = quick_sum(s, &steps, &near);
    (sum, s.name("low", lost + (near_low + k * s.f64(STEP.1))))
}

/// y ln |x| in two parts, the second of which is within 2^-25 of the first.
fn exponent(s: &Steps, x: &Expr, y: &Expr) -> (Expr, Expr) {
    let (log, log_low) = log(s, x);
    let high = s.name("log", upper(s, &log));
    let low = s.name("log_low", (log - high.clone()) + log_low);
    let (y_high, y_low) = halves(s, y);
    let power = s.name("power", y_high * high.clone());
    let power_low = y_low * high + y.clone() * low;
    // Times 2/3.
    let (power, rest) = halves(s, &power);
    let [unit, unit_low, all] = TWO_THIRDS.map(|part| s.f64(part));
    let product_low = power.clone() * unit_low + (rest + power_low) * all;
    (s.name("product", power * unit), s.name("product_low", product_low))
}

/// `pow`: e^(y ln |x|) with the sign restored, and the special cases.
pub(crate) fn pow(x: &Expr, y: &Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let a = s.name("a", abs(&x));
        // ln x is 0 or at least 2^-53: beyond 2^64, an exponent makes an infinity or 0.
        let bounded = s.clamp(&y, -(2.0_f64.powi(64)), 2.0_f64.powi(64));
        let (high, low) = exponent(s, &a, &bounded);
        let power = exp_of_pair(s, &high, &low);
        // 0 and infinity, of which there is no logarithm above.
        let grows = Expr::select(equal(a.clone(), s.f64(0.0)), s.f64(-1.0), s.f64(1.0)) * y.clone();
        let end = s.name("end", s.if_less(&grows, 0.0, s.f64(0.0), s.f64(f64::INFINITY)));
        let power = Expr::select(less(s.f64(0.0), a.clone()), power, end.clone());
        let power = s.if_less(&a, f64::INFINITY, power, end);
        let sum = s.name("sum", a.clone() + abs(&y));
        let power = Expr::select(equal(sum.clone(), sum.clone()), power, sum);
        // 1 to any power, and any number to the power of 0, is 1, also for NaNs.
        let power = Expr::select(equal(a, s.f64(1.0)), s.f64(1.0), power);
        let power = s.name("power", Expr::select(equal(y.clone(), s.f64(0.0)), s.f64(1.0), power));
        with_sign(s, &x, &y, &power)
    })
}
