//! `pow`.

use chipdock_ir::Expr;

use super::super::exp::{exp_of_pair, with_sign};
use super::super::kit::{Steps, abs, div, equal, less, plain};
use super::super::log::parts_double;
use super::coefficients as c;
use super::pair::{product, quick_sum};

/// ln 2 in two parts, the first of which has 32 digits.
const LN_2: (f64, f64) = super::super::coefficients::LN_2;
/// 2 / 3, and what its float64 lacks.
const TWO_THIRDS: (f64, f64) = (2.0 / 3.0, 3.700_743_415_417_188e-17);

/// ln x of a positive finite number in two parts, within 2^-63 of itself.
///
/// x = 2^k · m; ln m = 2 atanh t = t · (2 + 2/3 t² + ...), t = (m - 1) / (m + 1), of which all that matters is computed in
/// two parts.
fn log(s: &Steps, x: &Expr) -> (Expr, Expr) {
    let (k, f) = parts_double(s, x);
    let (under, under_low) = quick_sum(s, &s.f64(2.0), &f);
    let t = s.name("t", div(f.clone(), under.clone()));
    let (back, back_low) = product(s, &t, &under);
    let rest = ((f - back) - back_low) - t.clone() * under_low;
    let t_low = s.name("t_low", div(rest, under));

    let (z, z_lost) = product(s, &t, &t);
    let z_low = s.name("z_low", z_lost + (t.clone() + t.clone()) * t_low.clone());
    let tail = s.name("tail", z.clone() * s.polynomial(&z, c::LOG));
    let (u, u_lost) = quick_sum(s, &s.f64(TWO_THIRDS.0), &tail);
    let u_low = s.name("u_low", u_lost + s.f64(TWO_THIRDS.1));
    let (v, v_lost) = product(s, &z, &u);
    let v_low = v_lost + (z * u_low + z_low * u);
    let (w, w_lost) = quick_sum(s, &s.f64(2.0), &v);
    let w_low = s.name("w_low", w_lost + v_low);
    let (near, near_lost) = product(s, &t, &w);
    let near_low = near_lost + (t * w_low + t_low * w);

    let steps = s.name("steps", k.clone() * s.f64(LN_2.0));
    let (high, lost) = quick_sum(s, &steps, &near);
    let low = s.name("low", lost + (near_low + k * s.f64(LN_2.1)));
    (high, low)
}

/// `pow`: e^(y ln |x|) with the sign restored, and the special cases.
pub(crate) fn pow(x: &Expr, y: &Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let a = s.name("a", abs(&x));
        let (high, low) = log(s, &a);
        // ln x is 0 or at least 2^-53: beyond 2^64, an exponent makes an infinity or 0.
        let bounded = s.clamp(&y, -(2.0_f64.powi(64)), 2.0_f64.powi(64));
        let (power, lost) = product(s, &bounded, &high);
        let power = exp_of_pair(s, &power, &s.name("low", lost + bounded * low));
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
