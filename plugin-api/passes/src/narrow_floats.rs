//! Conversions between float8 and float32 in integers (STORAGE-Y5): a device may flush subnormals, round differently,
//! or lack them.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, Op, TypeCode, Var};

const FLOAT32_BIAS: i128 = 127;
const FLOAT32_MANTISSA_BITS: i128 = 23;
const FLOAT32_INFINITY: i128 = 0x7f80_0000;
const FLOAT32_NAN: i128 = 0x7fc0_0000;

/// A float format of 8 bits.
struct Format {
    mantissa_bits: i128,
    bias: i128,
    /// The bits of the greatest finite value.
    max: i128,
    has_infinity: bool,
}

impl Format {
    const fn of(dtype: DType) -> Self {
        match dtype.code {
            TypeCode::Float8E5M2 => Self { mantissa_bits: 2, bias: 15, max: 0x7b, has_infinity: true },
            _ => Self { mantissa_bits: 3, bias: 7, max: 0x7e, has_infinity: false },
        }
    }

    /// Number of mantissa bits that a float32 has in addition.
    const fn shift(&self) -> i128 {
        FLOAT32_MANTISSA_BITS - self.mantissa_bits
    }

    /// The difference of the exponent biases, shifted to the position of this format's exponent.
    const fn rebias(&self) -> i128 {
        (FLOAT32_BIAS - self.bias) << self.mantissa_bits
    }
}

fn uint32(lanes: u16) -> DType {
    DType::UINT32.with_lanes(lanes)
}

fn constant(value: i128, like: &Expr) -> Expr {
    Expr::int(value, like.dtype.scalar()).broadcast(like.dtype.lanes)
}

fn is(op: CompareOp, a: &Expr, b: i128) -> Expr {
    Expr::compare(op, a.clone(), constant(b, a))
}

fn reinterpreted(value: Expr, scalar: DType) -> Expr {
    let dtype = scalar.with_lanes(value.dtype.lanes);
    Expr::call(Op::Reinterpret, vec![value], dtype)
}

/// The bits of a float8, uint8, as a float32: exact.
pub(crate) fn decoded(bits: Expr, dtype: DType) -> Expr {
    let format = Format::of(dtype);
    let lanes = bits.dtype.lanes;
    named("bits", bits.cast(uint32(lanes)), |bits| {
        named("magnitude", and(bits.clone(), 0x7f), |magnitude| {
            let normal =
                pair(Op::ShiftLeft, magnitude.clone() + constant(format.rebias(), magnitude), format.shift());
            // The magnitude as a multiple of the least subnormal.
            let step = 2_f64.powi(i32::try_from(1 - format.bias - format.mantissa_bits).unwrap_or(0));
            let float = DType::FLOAT32.with_lanes(lanes);
            let subnormal = magnitude.clone().cast(float) * Expr::float(step, float);
            let subnormal = reinterpreted(subnormal, DType::UINT32);
            let is_subnormal = is(CompareOp::Lt, magnitude, 1 << format.mantissa_bits);
            let finite = Expr::select(is_subnormal, subnormal, normal);
            let beyond = if format.has_infinity {
                let is_infinite = is(CompareOp::Eq, magnitude, format.max + 1);
                Expr::select(
                    is_infinite,
                    constant(FLOAT32_INFINITY, magnitude),
                    constant(FLOAT32_NAN, magnitude),
                )
            } else {
                constant(FLOAT32_NAN, magnitude)
            };
            let value = Expr::select(is(CompareOp::Le, magnitude, format.max), finite, beyond);
            let sign = pair(Op::ShiftLeft, and(bits.clone(), 0x80), 24);
            reinterpreted(or(value, sign), DType::FLOAT32)
        })
    })
}

/// A number as the bits of a float8, uint8.
pub(crate) fn encoded(number: Expr, dtype: DType) -> Expr {
    let lanes = number.dtype.lanes;
    if number.dtype.scalar() == DType::FLOAT64 {
        return named("number", number, |number| from_bits(to_odd(number), dtype));
    }
    // An integer that float32 rounds is greater than every float8, and so is the rounded value.
    let float = if number.dtype.scalar() == DType::FLOAT32 {
        number
    } else {
        number.cast(DType::FLOAT32.with_lanes(lanes))
    };
    from_bits(reinterpreted(float, DType::UINT32), dtype)
}

/// The bits of the float32 nearest to a float64, with the last bit set if it is inexact: rounding that to fewer bits
/// gives the same as rounding the float64 once.
fn to_odd(number: &Expr) -> Expr {
    let near = number.clone().cast(DType::FLOAT32.with_lanes(number.dtype.lanes));
    named("near", near, |near| {
        let back = near.clone().cast(number.dtype);
        let magnitude = |e: &Expr| Expr::call(Op::Abs, vec![e.clone()], e.dtype);
        let bits = reinterpreted(near.clone(), DType::UINT32);
        let is_past = Expr::compare(CompareOp::Gt, magnitude(&back), magnitude(number));
        let cut = Expr::select(is_past, bits.clone() - constant(1, &bits), bits.clone());
        let is_exact = Expr::compare(CompareOp::Eq, back, number.clone());
        Expr::select(is_exact, bits, pair(Op::BitwiseOr, cut, 1))
    })
}

/// The bits of a float32 as those of a float8, uint8.
fn from_bits(bits: Expr, dtype: DType) -> Expr {
    let format = Format::of(dtype);
    let lanes = bits.dtype.lanes;
    named("bits", bits, |bits| {
        named("magnitude", and(bits.clone(), 0x7fff_ffff), |magnitude| {
            let shift = format.shift();
            let exponent = pair(Op::ShiftRight, magnitude.clone(), FLOAT32_MANTISSA_BITS);
            let normal =
                half_even(magnitude, &constant(shift, magnitude)) - constant(format.rebias(), magnitude);
            // Below the least normal value the exponent determines how many more bits are dropped; after 31 none is
            // left.
            let least = FLOAT32_BIAS - format.bias + 1;
            let mantissa = pair(Op::BitwiseOr, and(magnitude.clone(), 0x7f_ffff), 0x80_0000);
            let subnormal = named("gone", constant(shift + least, magnitude) - exponent.clone(), |gone| {
                let gone = Expr::binary(BinaryOp::Min, gone.clone(), constant(31, gone));
                named("gone", gone, |gone| named("mantissa", mantissa, |mantissa| half_even(mantissa, gone)))
            });
            let is_normal = is(CompareOp::Ge, magnitude, least << FLOAT32_MANTISSA_BITS);
            named("rounded", Expr::select(is_normal, normal, subnormal), |rounded| {
                let beyond = constant(format.max + 1, rounded);
                let beyond = if format.has_infinity {
                    let nan = constant(format.max + 3, rounded);
                    Expr::select(is(CompareOp::Gt, magnitude, FLOAT32_INFINITY), nan, beyond)
                } else {
                    beyond
                };
                let value = Expr::select(is(CompareOp::Le, rounded, format.max), rounded.clone(), beyond);
                let sign = and(pair(Op::ShiftRight, bits.clone(), 24), 0x80);
                or(value, sign).cast(DType::UINT8.with_lanes(lanes))
            })
        })
    })
}

/// The integer divided by two to the power of `gone`, rounded to nearest, ties to even.
fn half_even(value: &Expr, gone: &Expr) -> Expr {
    let shifted = |op: Op, a: Expr, by: Expr| {
        let dtype = a.dtype;
        Expr::call(op, vec![a, by], dtype)
    };
    let below_half =
        shifted(Op::ShiftLeft, constant(1, gone), gone.clone() - constant(1, gone)) - constant(1, gone);
    let is_odd = and(shifted(Op::ShiftRight, value.clone(), gone.clone()), 1);
    shifted(Op::ShiftRight, value.clone() + below_half + is_odd, gone.clone())
}

/// An operation with a constant.
pub(crate) fn pair(op: Op, a: Expr, b: i128) -> Expr {
    let dtype = a.dtype;
    let b = Expr::int(b, dtype.scalar()).broadcast(dtype.lanes);
    Expr::call(op, vec![a, b], dtype)
}

pub(crate) fn and(a: Expr, mask: i128) -> Expr {
    pair(Op::BitwiseAnd, a, mask)
}

pub(crate) fn or(a: Expr, b: Expr) -> Expr {
    let dtype = a.dtype;
    Expr::call(Op::BitwiseOr, vec![a, b], dtype)
}

/// Binds the value to a name that `body` may use more than once.
pub(crate) fn named(name: &str, value: Expr, body: impl FnOnce(&Expr) -> Expr) -> Expr {
    if matches!(value.kind, ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_)) {
        return body(&value);
    }
    let var = Var::new(name, value.dtype);
    let body = body(&var.expr());
    let dtype = body.dtype;
    Expr::new(ExprKind::Let { var, value, body }, dtype)
}
