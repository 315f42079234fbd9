//! Functions of float32 for hosts, computed in float32 on as many lanes as a register has, with
//! selections for ranges.
//!
//! Few of them divide: a division takes as long as ten products with sums. A host neither reorders
//! sums nor drops the pair of a sum and a difference by which numbers are rounded; it may contract
//! a product and a sum.

mod coefficients;
pub(super) mod exp;
pub(super) mod log;
pub(super) mod trig;

use chipdock_ir::{BinaryOp, DType, Expr, Op};

use super::kit::{Steps, abs, and, equal, max, or, pair, plain, reinterpret, sqrt};
use super::narrow::if_less;

/// 1.5 · 2^23: a float32 below 2^22 and this make a sum in whose low bits the nearest integer is.
const MAGIC: f32 = 12_582_912.0;
const SIGN: u32 = 1 << 31;

/// The bits of a float32 as a uint32.
fn bits(x: &Expr) -> Expr {
    reinterpret(x.clone(), DType::UINT32)
}

/// The float32 of these bits.
fn of_bits(bits: Expr) -> Expr {
    reinterpret(bits, DType::FLOAT32)
}

/// A magnitude with the sign of `like`.
fn with_sign(s: &Steps, magnitude: &Expr, like: &Expr) -> Expr {
    of_bits(or(bits(magnitude), and(bits(like), s.u32(SIGN))))
}

fn xor(a: Expr, b: Expr) -> Expr {
    pair(Op::BitwiseXor, a, b)
}

fn flipped(value: &Expr, sign: Expr) -> Expr {
    of_bits(xor(bits(value), sign))
}

fn difference(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Sub, a, b)
}

/// `hypot`, computed at a scale, a power of 2, at which squares neither overflow nor underflow.
pub(super) fn hypot(x: &Expr, y: &Expr) -> Expr {
    plain([x, y], |s, [x, y]| {
        let (a, b) = (s.name("a", abs(&x)), s.name("b", abs(&y)));
        let most = s.name("most", max(a.clone(), b.clone()));
        let up = if_less(s, &most, 2.0_f32.powi(-60), s.f32(2.0_f32.powi(90)), s.f32(1.0));
        let scale = s.name("scale", if_less(s, &most, 2.0_f32.powi(60), up, s.f32(2.0_f32.powi(-70))));
        let inverse = of_bits(difference(s.u32(254 << 23), bits(&scale)));
        let (p, q) = (s.name("p", a.clone() * scale.clone()), s.name("q", b.clone() * scale));
        let root = s.name("root", sqrt(&(p.clone() * p + q.clone() * q)) * inverse);
        let infinity = || s.f32(f32::INFINITY);
        let either = Expr::select(equal(b, infinity()), infinity(), root);
        Expr::select(equal(a, infinity()), infinity(), either)
    })
}
