//! Functions of floats as arithmetic on whole vectors.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op, TypeCode};

use super::named;

fn f32_like(value: f32, like: &Expr) -> Expr {
    Expr::float(value.into(), DType::FLOAT32.with_lanes(like.dtype.lanes))
}

fn i32_like(value: i32, like: &Expr) -> Expr {
    Expr::int(value.into(), DType::INT32.with_lanes(like.dtype.lanes))
}

fn minus(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Sub, a, b)
}

fn reinterpret(value: Expr, dtype: DType) -> Expr {
    let dtype = dtype.with_lanes(value.dtype.lanes);
    Expr::call(Op::Reinterpret, vec![value], dtype)
}

/// Evaluates a polynomial with coefficients from the highest power down, by Horner's rule.
pub(super) fn polynomial(x: &Expr, coefficients: &[f32]) -> Expr {
    let mut rest = coefficients.iter();
    let first = rest.next().copied().unwrap_or(0.0);
    rest.fold(f32_like(first, x), |sum, c| sum * x.clone() + f32_like(*c, x))
}

/// e^r of float32, for |r| up to ln(2) / 2.
pub(super) fn exp_near_zero(r: &Expr) -> Expr {
    let p = polynomial(r, &[1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1]);
    (p * (r.clone() * r.clone()) + r.clone()) + f32_like(1.0, r)
}

/// Hyperbolic tangent, float32: an odd polynomial near 0, 1 - 2 / (e^2x + 1) elsewhere, on the
/// magnitude; the sign bit is copied back, so that -0.0 is kept. The polynomial is that of Cephes
/// (`tanhf`).
pub(super) fn tanh(x: &Expr, exp: fn(&Expr) -> Expr) -> Expr {
    let bits = |e: Expr| reinterpret(e, DType::INT32);
    let both = |op: Op, a: Expr, b: Expr| {
        let dtype = a.dtype;
        Expr::call(op, vec![a, b], dtype)
    };
    named("x", x.clone(), |x| {
        let magnitude = both(Op::BitwiseAnd, bits(x.clone()), i32_like(i32::MAX, &x));
        named("a", reinterpret(magnitude, DType::FLOAT32), |a| {
            let small = named("z", a.clone() * a.clone(), |z| {
                let p = polynomial(
                    &z,
                    &[-5.704_988_7e-3, 2.063_909e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1],
                );
                a.clone() + a.clone() * (z * p)
            });
            let one = || f32_like(1.0, &x);
            let power = exp(&(a.clone() + a.clone()));
            let large = minus(one(), Expr::binary(BinaryOp::Div, f32_like(2.0, &x), power + one()));
            let near = Expr::compare(CompareOp::Lt, a.clone(), f32_like(0.625, &x));
            let sign = both(Op::BitwiseAnd, bits(x.clone()), i32_like(i32::MIN, &x));
            let value = bits(Expr::select(near, small, large));
            reinterpret(both(Op::BitwiseOr, value, sign), DType::FLOAT32)
        })
    })
}

/// Lowers `isnan`, `isinf` and `isfinite`.
pub(super) fn test(op: Op, x: &Expr) -> Expr {
    named("x", x.clone(), |x| {
        let magnitude = || Expr::call(Op::Abs, vec![x.clone()], x.dtype);
        let infinite = Expr::float(f64::INFINITY, x.dtype);
        match op {
            Op::Isnan => Expr::compare(CompareOp::Ne, x.clone(), x.clone()),
            Op::Isinf => Expr::compare(CompareOp::Eq, magnitude(), infinite),
            _ => Expr::compare(CompareOp::Lt, magnitude(), infinite),
        }
    })
}

/// The next float value, computed on its bits. Comparisons of 16-bit types are made in float32,
/// where they are exact.
pub(super) fn next_after(x: &Expr, y: &Expr) -> Expr {
    let (dtype, lanes) = (x.dtype, x.dtype.lanes);
    let bits_type = DType { code: TypeCode::UInt, ..dtype };
    let is_half = dtype.bits == 16;
    let wide = |e: &Expr| if is_half { e.clone().cast(DType::FLOAT32.with_lanes(lanes)) } else { e.clone() };
    named("x", x.clone(), |x| {
        named("y", y.clone(), |y| {
            let (a, b) = (wide(&x), wide(&y));
            let zero = || Expr::float(0.0, a.dtype);
            let less = |p: &Expr, q: &Expr| Expr::compare(CompareOp::Lt, p.clone(), q.clone());
            let bits = Expr::call(Op::Reinterpret, vec![x.clone()], bits_type);
            let sign_bit = Expr::int(1 << (dtype.bits - 1), bits_type);
            let sign = Expr::call(
                Op::BitwiseAnd,
                vec![Expr::call(Op::Reinterpret, vec![y.clone()], bits_type), sign_bit],
                bits_type,
            );
            let one = || Expr::int(1, bits_type);
            let (up, down) = (bits.clone() + one(), minus(bits, one()));
            let rising = Expr::select(less(&a, &b), up.clone(), down.clone());
            let falling = Expr::select(less(&a, &b), down, up);
            let away = Expr::select(less(&zero(), &a), rising, falling);
            let first = Expr::compare(CompareOp::Eq, a.clone(), zero());
            let stepped = Expr::select(first, sign + one(), away);
            let stepped = Expr::call(Op::Reinterpret, vec![stepped], dtype);
            let same = Expr::compare(CompareOp::Eq, a.clone(), b.clone());
            let ordered = Expr::select(same, y.clone(), stepped);
            let nan = |e: &Expr| Expr::compare(CompareOp::Ne, e.clone(), e.clone());
            let sum = (a.clone() + b.clone()).cast(dtype);
            Expr::select(nan(&a), sum.clone(), Expr::select(nan(&b), sum, ordered))
        })
    })
}

/// `ldexp` of float32: the product in float64 is exact.
pub(super) fn ldexp_single(x: &Expr, n: &Expr) -> Expr {
    let lanes = x.dtype.lanes;
    let bound = |value: i128| Expr::int(value, n.dtype);
    let clamped =
        Expr::binary(BinaryOp::Min, Expr::binary(BinaryOp::Max, n.clone(), bound(-300)), bound(300));
    let bits_type = DType::UINT64.with_lanes(lanes);
    let biased = (clamped + bound(1023)).cast(bits_type);
    let bits = Expr::call(Op::ShiftLeft, vec![biased, Expr::int(52, bits_type)], bits_type);
    let product = x.clone().cast(DType::FLOAT64.with_lanes(lanes)) * reinterpret(bits, DType::FLOAT64);
    product.cast(x.dtype)
}
