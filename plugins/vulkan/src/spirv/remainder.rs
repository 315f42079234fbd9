//! The remainder of a division of floats, digit by digit: exact, unlike the driver's.

use chipdock_ir::{DType, Op as IrOp};
use rspirv::spirv::{GlslStd450Op, Op, Word};

use super::emitter::Type;
use super::value::{Value, register};
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// `fmod`, lane by lane.
    pub(super) fn remainder(&mut self, a: &Value, b: &Value) -> Value {
        let dtype = a.dtype;
        self.zip(dtype, a, b, |w, a, b| w.remainder_lane(dtype.scalar(), a, b))
    }

    fn remainder_lane(&mut self, dtype: DType, a: Word, b: Word) -> Word {
        // The bits as one integer: the width of the significand without its first digit, and the
        // exponent's mask.
        let (of, digits) = if dtype.bits == 64 { (Type::Int(64), 52_u32) } else { (Type::Int(32), 23) };
        let sign_bit = 1_u64 << (dtype.bits - 1);
        let hidden = 1_u64 << digits;
        let [sign_mask, magnitude_mask, fraction, first, zero, one, places] =
            [sign_bit, sign_bit - 1, hidden - 1, hidden, 0, 1, digits.into()]
                .map(|bits| self.out.constant(of, bits));
        let op = |w: &mut Self, op: Op, a: Word, b: Word| w.out.op(op, of, &[a, b]);
        let (a_bits, b_bits) = (self.out.op(Op::Bitcast, of, &[a]), self.out.op(Op::Bitcast, of, &[b]));
        let sign = op(self, Op::BitwiseAnd, a_bits, sign_mask);
        let (a_bits, b_bits) = (
            op(self, Op::BitwiseAnd, a_bits, magnitude_mask),
            op(self, Op::BitwiseAnd, b_bits, magnitude_mask),
        );
        // A subnormal number has the exponent 1, and no hidden digit.
        let split = |w: &mut Self, bits: Word| {
            let exponent = op(w, Op::ShiftRightLogical, bits, places);
            let low = op(w, Op::BitwiseAnd, bits, fraction);
            let is_normal = w.out.op(Op::INotEqual, Type::Bool, &[exponent, zero]);
            let full = op(w, Op::BitwiseOr, low, first);
            let digits = w.out.op(Op::Select, of, &[is_normal, full, low]);
            (w.out.op(Op::Select, of, &[is_normal, exponent, one]), digits)
        };
        let (a_exponent, a_digits) = split(self, a_bits);
        let (b_exponent, b_digits) = split(self, b_bits);
        // A divisor of 0 is replaced: its result is not chosen.
        let is_zero = self.out.op(Op::IEqual, Type::Bool, &[b_digits, zero]);
        let b_digits = self.out.op(Op::Select, of, &[is_zero, one, b_digits]);
        let rest = op(self, Op::UMod, a_digits, b_digits);
        let [_, rest] = self.repeat(
            of,
            [a_exponent, rest],
            |w, [exponent, _]| w.out.op(Op::UGreaterThan, Type::Bool, &[exponent, b_exponent]),
            |w, [exponent, rest]| {
                let twice = op(w, Op::ShiftLeftLogical, rest, one);
                let less = op(w, Op::ISub, twice, b_digits);
                let fits = w.out.op(Op::UGreaterThanEqual, Type::Bool, &[twice, b_digits]);
                [op(w, Op::ISub, exponent, one), w.out.op(Op::Select, of, &[fits, less, twice])]
            },
        );
        let result = self.normalised(dtype, of, digits, rest, b_exponent);
        let result = op(self, Op::BitwiseOr, result, sign);
        let is_none = self.out.op(Op::IEqual, Type::Bool, &[rest, zero]);
        let result = self.out.op(Op::Select, of, &[is_none, sign, result]);
        // A dividend below the divisor is the remainder itself.
        let is_below = self.out.op(Op::ULessThan, Type::Bool, &[a_bits, b_bits]);
        let itself = op(self, Op::BitwiseOr, a_bits, sign);
        let result = self.out.op(Op::Select, of, &[is_below, itself, result]);
        // A divisor of 0, an infinite dividend, a NaN.
        let is_finite = self.test(IrOp::Isfinite, dtype, a);
        let b_is_nan = self.test(IrOp::Isnan, dtype, b);
        let is_number = self.out.op(Op::LogicalNot, Type::Bool, &[b_is_nan]);
        let is_divisor = self.out.op(Op::LogicalNot, Type::Bool, &[is_zero]);
        let is_right = self.out.op(Op::LogicalAnd, Type::Bool, &[is_finite, is_number]);
        let is_right = self.out.op(Op::LogicalAnd, Type::Bool, &[is_right, is_divisor]);
        let nan = f64::NAN;
        let nan = if dtype.bits == 64 { nan.to_bits() } else { u64::from((nan as f32).to_bits()) };
        let nan = self.out.constant(of, nan & (sign_bit - 1));
        let result = self.out.op(Op::Select, of, &[is_right, result, nan]);
        self.out.op(Op::Bitcast, register(dtype), &[result])
    }

    /// The bits of a float without a sign, from digits other than 0 and the exponent of the last
    /// place.
    fn normalised(&mut self, dtype: DType, of: Type, digits: u32, rest: Word, exponent: Word) -> Word {
        let op = |w: &mut Self, op: Op, a: Word, b: Word| w.out.op(op, of, &[a, b]);
        let [fraction, first, one, places] =
            [(1_u64 << digits) - 1, 1 << digits, 1, digits.into()].map(|bits| self.out.constant(of, bits));
        // As many places as the first digit is below its own, but no fewer than to the exponent 1.
        let unsigned = DType { code: chipdock_ir::TypeCode::UInt, ..dtype };
        let zeros = self.leading_zeros(unsigned, rest);
        let zeros = if dtype.bits == 64 { self.out.op(Op::UConvert, of, &[zeros]) } else { zeros };
        let above = self.out.constant(of, u64::from(u32::from(dtype.bits) - digits - 1));
        let missing = op(self, Op::ISub, zeros, above);
        let most = op(self, Op::ISub, exponent, one);
        let by = self.out.extended(GlslStd450Op::UMin, of, &[missing, most]);
        let shifted = op(self, Op::ShiftLeftLogical, rest, by);
        let exponent = op(self, Op::ISub, exponent, by);
        let is_normal = self.out.op(Op::UGreaterThanEqual, Type::Bool, &[shifted, first]);
        let low = op(self, Op::BitwiseAnd, shifted, fraction);
        let high = op(self, Op::ShiftLeftLogical, exponent, places);
        let normal = op(self, Op::BitwiseOr, low, high);
        self.out.op(Op::Select, of, &[is_normal, normal, shifted])
    }
}
