//! Conversions between float32 and the floats of 8 and 16 bits in integers (STORAGE-Y5, HALVES-F2):
//! a device may flush subnormals, round differently, or lack these types.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, Op, TypeCode, Var};

const FLOAT32_BITS: i128 = 32;
const FLOAT32_BIAS: i128 = 127;
const FLOAT32_MANTISSA_BITS: i128 = 23;
const FLOAT32_INFINITY: i128 = 0x7f80_0000;
const FLOAT32_NAN: i128 = 0x7fc0_0000;

/// A float format of 8 or 16 bits.
struct Format {
    /// Number of bits.
    width: i128,
    mantissa_bits: i128,
    bias: i128,
    /// The bits of the greatest finite value.
    max: i128,
    has_infinity: bool,
}

impl Format {
    const fn of(dtype: DType) -> Self {
        let (width, mantissa_bits, bias, max, has_infinity) = match dtype.code {
            TypeCode::BFloat => (16, 7, FLOAT32_BIAS, 0x7f7f, true),
            TypeCode::Float => (16, 10, 15, 0x7bff, true),
            TypeCode::Float8E5M2 => (8, 2, 15, 0x7b, true),
            _ => (8, 3, 7, 0x7e, false),
        };
        Self { width, mantissa_bits, bias, max, has_infinity }
    }

    /// The unsigned integer of as many bits.
    fn bits_type(&self, lanes: u16) -> DType {
        if self.width == 8 { DType::UINT8 } else { DType::UINT16 }.with_lanes(lanes)
    }

    /// Returns true if its exponents are those of float32: it is then the upper half of one,
    /// subnormals included.
    const fn is_upper_half(&self) -> bool {
        self.bias == FLOAT32_BIAS
    }

    /// The bits of the magnitude.
    const fn magnitude(&self) -> i128 {
        (1 << (self.width - 1)) - 1
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

/// The bits of a narrow float, an unsigned integer, as a float32: exact.
pub(crate) fn decoded(bits: Expr, dtype: DType) -> Expr {
    let format = Format::of(dtype);
    let lanes = bits.dtype.lanes;
    let bits = bits.cast(uint32(lanes));
    if format.is_upper_half() {
        return reinterpreted(pair(Op::ShiftLeft, bits, format.shift()), DType::FLOAT32);
    }
    named("bits", bits, |bits| {
        named("magnitude", and(bits.clone(), format.magnitude()), |magnitude| {
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
            let sign =
                pair(Op::ShiftLeft, and(bits.clone(), format.magnitude() + 1), FLOAT32_BITS - format.width);
            reinterpreted(or(value, sign), DType::FLOAT32)
        })
    })
}

/// A number as the bits of a narrow float, rounded once: an unsigned integer of its width.
pub(crate) fn encoded(number: Expr, dtype: DType) -> Expr {
    let format = Format::of(dtype);
    let from = number.dtype.scalar();
    // An integer that float32 rounds is greater than every value of a format with fewer exponents,
    // and so is the rounded integer.
    let is_rounded = from == DType::FLOAT64
        || (format.is_upper_half() && from.is_integer() && i128::from(from.bits) > FLOAT32_MANTISSA_BITS + 1);
    if is_rounded {
        return named("number", number, |number| from_bits(to_odd(number), &format));
    }
    let float = DType::FLOAT32.with_lanes(number.dtype.lanes);
    let float = if number.dtype == float { number } else { number.cast(float) };
    from_bits(reinterpreted(float, DType::UINT32), &format)
}

/// The bits of a float32 next to a number, with the last bit set if it is inexact: rounding that to
/// fewer bits gives the same as rounding the number once, however the device rounds to float32.
fn to_odd(number: &Expr) -> Expr {
    let near = number.clone().cast(DType::FLOAT32.with_lanes(number.dtype.lanes));
    named("near", near, |near| {
        let back = near.clone().cast(number.dtype);
        let bits = reinterpreted(near.clone(), DType::UINT32);
        let compare = |op, a: &Expr, b: &Expr| Expr::compare(op, a.clone(), b.clone());
        let above = compare(CompareOp::Gt, &back, number);
        let is_past = if number.dtype.is_uint() {
            above
        } else {
            let zero = if number.dtype.is_float() {
                Expr::float(0.0, number.dtype)
            } else {
                Expr::int(0, number.dtype.scalar()).broadcast(number.dtype.lanes)
            };
            Expr::select(compare(CompareOp::Lt, number, &zero), compare(CompareOp::Lt, &back, number), above)
        };
        let cut = Expr::select(is_past, bits.clone() - constant(1, &bits), bits.clone());
        let is_exact = compare(CompareOp::Eq, &back, number);
        Expr::select(is_exact, bits, pair(Op::BitwiseOr, cut, 1))
    })
}

/// The bits of a float32 as those of a narrow float.
fn from_bits(bits: Expr, format: &Format) -> Expr {
    let lanes = bits.dtype.lanes;
    named("bits", bits, |bits| {
        named("magnitude", and(bits.clone(), 0x7fff_ffff), |magnitude| {
            named("rounded", rounded(magnitude, format), |rounded| {
                let beyond = constant(format.max + 1, rounded);
                let beyond = if format.has_infinity {
                    let nan = constant(format.max + 1 + (1 << (format.mantissa_bits - 1)), rounded);
                    Expr::select(is(CompareOp::Gt, magnitude, FLOAT32_INFINITY), nan, beyond)
                } else {
                    beyond
                };
                let value = Expr::select(is(CompareOp::Le, rounded, format.max), rounded.clone(), beyond);
                let sign = pair(Op::ShiftRight, bits.clone(), FLOAT32_BITS - format.width);
                or(value, and(sign, format.magnitude() + 1)).cast(format.bits_type(lanes))
            })
        })
    })
}

/// The bits of the magnitude of a float32, rounded to those of a narrow float without a greatest
/// value.
fn rounded(magnitude: &Expr, format: &Format) -> Expr {
    let shift = format.shift();
    let normal = half_even(magnitude, &constant(shift, magnitude));
    if format.is_upper_half() {
        return normal;
    }
    let normal = normal - constant(format.rebias(), magnitude);
    // Below the least normal value the exponent determines how many more bits are dropped; after 31
    // none is left.
    let least = FLOAT32_BIAS - format.bias + 1;
    let exponent = pair(Op::ShiftRight, magnitude.clone(), FLOAT32_MANTISSA_BITS);
    let mantissa = pair(Op::BitwiseOr, and(magnitude.clone(), 0x7f_ffff), 0x80_0000);
    let subnormal = named("gone", constant(shift + least, magnitude) - exponent, |gone| {
        let gone = Expr::binary(BinaryOp::Min, gone.clone(), constant(31, gone));
        named("gone", gone, |gone| named("mantissa", mantissa, |mantissa| half_even(mantissa, gone)))
    });
    let is_normal = is(CompareOp::Ge, magnitude, least << FLOAT32_MANTISSA_BITS);
    Expr::select(is_normal, normal, subnormal)
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
