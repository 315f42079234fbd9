//! Floats: arithmetic that the driver neither fuses nor reorders, comparisons, exact functions.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op as IrOp};
use rspirv::spirv::{GlslStd450Op, Op, Word};

use super::emitter::Type;
use super::value::{Value, register};
use super::writer::Writer;

/// The parts of a float's bits, those of its upper word where it has two.
struct Bits {
    magnitude: u32,
    sign: u32,
    infinity: u32,
}

const SINGLE: Bits = Bits { magnitude: 0x7fff_ffff, sign: 0x8000_0000, infinity: 0x7f80_0000 };
const DOUBLE: Bits = Bits { infinity: 0x7ff0_0000, ..SINGLE };

impl<'a> Writer<'a> {
    /// Converts halves to float32; other values are unchanged.
    pub(super) fn widened(&mut self, value: &Value) -> Value {
        if value.dtype.scalar() == DType::FLOAT16 {
            self.cast(value, DType::FLOAT32.with_lanes(value.dtype.lanes))
        } else {
            value.clone()
        }
    }

    pub(super) fn float_binary(&mut self, e: &Expr, op: BinaryOp, a: &Value, b: &Value) -> Value {
        let instruction = match op {
            BinaryOp::Add => Op::FAdd,
            BinaryOp::Sub => Op::FSub,
            BinaryOp::Mul => Op::FMul,
            BinaryOp::Div => Op::FDiv,
            BinaryOp::Min | BinaryOp::Max => {
                let compare = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
                let is_first = self.compare(compare, a, b);
                return self.choose_lanes(&is_first, a, b);
            }
            BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => {
                return self.refuse(e, "has no such division of floats; use `/`, T.floor and T.fmod");
            }
        };
        // Halves are computed in float32 and rounded once (rule IR-N6).
        let (left, right) = (self.widened(a), self.widened(b));
        let (dtype, of) = (left.dtype, register(left.dtype));
        let result = self.zip(dtype, &left, &right, |w, a, b| {
            w.with_zero(instruction, dtype, a, b).unwrap_or_else(|| w.exact(instruction, of, &[a, b]))
        });
        self.cast(&result, e.dtype)
    }

    /// Arithmetic whose operand is a constant zero, or whose operands are the same value, without
    /// the instruction: llvmpipe folds `x * 0`, `0 / x`, `x + 0` and `x - x` whatever x is, also
    /// where it promises to preserve NaNs and signs.
    fn with_zero(&mut self, op: Op, dtype: DType, a: Word, b: Word) -> Option<Word> {
        let [zero_a, zero_b] = [a, b].map(|lane| self.out.zero_constant(lane));
        match (op, zero_a, zero_b) {
            (Op::FMul, None, Some(is_negative)) => Some(self.finite_or_nan(dtype, a, is_negative, false)),
            (Op::FMul, Some(is_negative), _) => Some(self.finite_or_nan(dtype, b, is_negative, false)),
            (Op::FDiv, Some(is_negative), _) => Some(self.finite_or_nan(dtype, b, is_negative, true)),
            (Op::FAdd, _, Some(false)) | (Op::FSub, _, Some(true)) => Some(self.plus_zero(dtype, a)),
            (Op::FAdd, Some(false), _) => Some(self.plus_zero(dtype, b)),
            (Op::FAdd | Op::FSub, _, Some(_)) => Some(a),
            (Op::FAdd, Some(true), _) => Some(b),
            (Op::FSub, ..) if a == b => {
                let difference = self.lane_of_float(0.0, dtype);
                let nan = self.lane_of_float(f64::NAN, dtype);
                let is_finite = self.test(IrOp::Isfinite, dtype, a);
                Some(self.choose(register(dtype), is_finite, difference, nan))
            }
            _ => None,
        }
    }

    /// A zero with the sign of a product or a quotient, or a NaN: of an infinity times zero, and of
    /// zero by zero.
    fn finite_or_nan(&mut self, dtype: DType, lane: Word, is_negative: bool, is_divisor: bool) -> Word {
        let (of, nan) = (register(dtype), self.lane_of_float(f64::NAN, dtype));
        let (upper, _) = self.float_words(dtype, lane);
        let sign = self.out.word(if is_negative { SINGLE.sign } else { 0 });
        let sign = self.out.op(Op::BitwiseXor, Type::Int(32), &[upper, sign]);
        let low = (dtype.bits == 64).then(|| self.out.word(0));
        let sign = self.float_of_words(sign, low);
        let plain = self.lane_of_float(0.0, dtype);
        let signed = self.with_sign(dtype, plain, sign);
        let is_number = if is_divisor {
            let is_nan = self.test(IrOp::Isnan, dtype, lane);
            let is_zero = self.exact(Op::FOrdEqual, Type::Bool, &[lane, plain]);
            let is_bad = self.out.op(Op::LogicalOr, Type::Bool, &[is_nan, is_zero]);
            self.out.op(Op::LogicalNot, Type::Bool, &[is_bad])
        } else {
            self.test(IrOp::Isfinite, dtype, lane)
        };
        self.choose(of, is_number, signed, nan)
    }

    /// A sum with zero: the value itself, but that a negative zero becomes a positive one.
    fn plus_zero(&mut self, dtype: DType, lane: Word) -> Word {
        let zero = self.lane_of_float(0.0, dtype);
        let is_zero = self.exact(Op::FOrdEqual, Type::Bool, &[lane, zero]);
        self.choose(register(dtype), is_zero, zero, lane)
    }

    /// An op on floats.
    pub(super) fn float_op(&mut self, e: &Expr, op: IrOp, args: &[Value]) -> Value {
        let wide: Vec<Value> = args.iter().map(|arg| self.widened(arg)).collect();
        let [a, rest @ ..] = wide.as_slice() else {
            return self.refuse(e, format!("has no {} without arguments", op.name()));
        };
        let (dtype, of) = (a.dtype, register(a.dtype));
        if let (IrOp::Trunc | IrOp::Nearbyint | IrOp::Round, true) = (op, dtype.bits == 64) {
            return self.map(dtype, a, |w, lane| w.whole_double(op, lane));
        }
        let function = match (op, rest) {
            (IrOp::Sqrt, []) => GlslStd450Op::Sqrt,
            (IrOp::Floor, []) => GlslStd450Op::Floor,
            (IrOp::Ceil, []) => GlslStd450Op::Ceil,
            (IrOp::Trunc, []) => GlslStd450Op::Trunc,
            (IrOp::Nearbyint | IrOp::Round, []) => GlslStd450Op::RoundEven,
            (IrOp::Abs, []) => GlslStd450Op::FAbs,
            (IrOp::Copysign, [b]) => {
                let result = self.zip(dtype, a, b, |w, a, b| w.with_sign(dtype, a, b));
                return self.cast(&result, e.dtype);
            }
            (IrOp::Fma, [b, c]) => {
                let lanes = a.lanes.iter().zip(&b.lanes).zip(&c.lanes);
                let lanes: Vec<[Word; 3]> = lanes.map(|((a, b), c)| [*a, *b, *c]).collect();
                let lanes = lanes.into_iter().map(|abc| self.fused(dtype, abc)).collect();
                let result = Value { dtype, lanes };
                return self.cast(&result, e.dtype);
            }
            (IrOp::Fmod, [b]) => {
                let result = self.remainder(a, b);
                return self.cast(&result, e.dtype);
            }
            (IrOp::Isnan | IrOp::Isinf | IrOp::Isfinite, []) => {
                return self.map(e.dtype, a, |w, lane| w.test(op, dtype, lane));
            }
            _ => return self.refuse(e, format!("has no {} of {}", op.name(), args[0].dtype)),
        };
        let result = self.map(dtype, a, |w, lane| w.out.extended(function, of, &[lane]));
        self.cast(&result, e.dtype)
    }

    /// A float64 without its fraction, truncated or rounded to nearest even: llvmpipe's own are
    /// wrong on processors without AVX-512 (Mesa 22.3.6).
    fn whole_double(&mut self, op: IrOp, lane: Word) -> Word {
        let of = Type::Float(64);
        // From 2^52 on there are no fractions, so that a sum with it is rounded to a whole number.
        let large = self.lane_of_float(f64::from(1_u32 << 26).powi(2), DType::FLOAT64);
        let magnitude = self.out.extended(GlslStd450Op::FAbs, of, &[lane]);
        let sum = self.exact(Op::FAdd, of, &[magnitude, large]);
        let mut whole = self.exact(Op::FSub, of, &[sum, large]);
        if op == IrOp::Trunc {
            let one = self.lane_of_float(1.0, DType::FLOAT64);
            let is_above = self.exact(Op::FOrdGreaterThan, Type::Bool, &[whole, magnitude]);
            let below = self.exact(Op::FSub, of, &[whole, one]);
            whole = self.choose(of, is_above, below, whole);
        }
        let signed = self.with_sign(DType::FLOAT64, whole, lane);
        // Neither is a NaN, which stays as it is.
        let is_small = self.exact(Op::FOrdLessThan, Type::Bool, &[magnitude, large]);
        self.choose(of, is_small, signed, lane)
    }

    /// The upper word of a float's bits, and the lower one where it has two.
    pub(super) fn float_words(&mut self, dtype: DType, lane: Word) -> (Word, Option<Word>) {
        if dtype.bits == 64 {
            let [low, high] = self.words_of(lane);
            return (high, Some(low));
        }
        (self.out.op(Op::Bitcast, Type::Int(32), &[lane]), None)
    }

    /// A float from the upper word of its bits and the lower one.
    fn float_of_words(&mut self, upper: Word, lower: Option<Word>) -> Word {
        match lower {
            Some(lower) => self.joined_words(Type::Float(64), [lower, upper]),
            None => self.out.op(Op::Bitcast, Type::Float(32), &[upper]),
        }
    }

    fn with_sign(&mut self, dtype: DType, a: Word, b: Word) -> Word {
        let ((upper, lower), (sign_of, _)) = (self.float_words(dtype, a), self.float_words(dtype, b));
        let of = Type::Int(32);
        let (magnitude, sign) = (self.out.word(SINGLE.magnitude), self.out.word(SINGLE.sign));
        let magnitude = self.out.op(Op::BitwiseAnd, of, &[upper, magnitude]);
        let sign = self.out.op(Op::BitwiseAnd, of, &[sign_of, sign]);
        let upper = self.out.op(Op::BitwiseOr, of, &[magnitude, sign]);
        self.float_of_words(upper, lower)
    }

    /// A test for a NaN, an infinity, or neither, on bits: a driver may assume that there are none.
    pub(super) fn test(&mut self, op: IrOp, dtype: DType, lane: Word) -> Word {
        let (upper, lower) = self.float_words(dtype, lane);
        let bits = if lower.is_some() { &DOUBLE } else { &SINGLE };
        let (mask, infinity) = (self.out.word(bits.magnitude), self.out.word(bits.infinity));
        let upper = self.out.op(Op::BitwiseAnd, Type::Int(32), &[upper, mask]);
        let zero = self.out.word(0);
        match op {
            IrOp::Isfinite => self.out.op(Op::ULessThan, Type::Bool, &[upper, infinity]),
            IrOp::Isinf => {
                let is_upper = self.out.op(Op::IEqual, Type::Bool, &[upper, infinity]);
                let Some(lower) = lower else { return is_upper };
                let is_lower = self.out.op(Op::IEqual, Type::Bool, &[lower, zero]);
                self.out.op(Op::LogicalAnd, Type::Bool, &[is_upper, is_lower])
            }
            _ => {
                let is_above = self.out.op(Op::UGreaterThan, Type::Bool, &[upper, infinity]);
                let Some(lower) = lower else { return is_above };
                let is_upper = self.out.op(Op::IEqual, Type::Bool, &[upper, infinity]);
                let is_lower = self.out.op(Op::INotEqual, Type::Bool, &[lower, zero]);
                let is_both = self.out.op(Op::LogicalAnd, Type::Bool, &[is_upper, is_lower]);
                self.out.op(Op::LogicalOr, Type::Bool, &[is_above, is_both])
            }
        }
    }

    /// A float64 with an error, rounded to odd: if the error is not 0 and the last bit is even, the
    /// neighbour on the error's side, whose last bit is odd.
    pub(super) fn rounded_to_odd(&mut self, sum: Word, error: Word) -> Word {
        let [low, high] = self.words_of(sum);
        let [error_low, error_high] = self.words_of(error);
        let (of, zero, one) = (Type::Int(32), self.out.word(0), self.out.word(1));
        let mask = self.out.word(SINGLE.magnitude);
        let magnitude = self.out.op(Op::BitwiseAnd, of, &[error_high, mask]);
        let any = self.out.op(Op::BitwiseOr, of, &[magnitude, error_low]);
        let is_inexact = self.out.op(Op::INotEqual, Type::Bool, &[any, zero]);
        let last = self.out.op(Op::BitwiseAnd, of, &[low, one]);
        let is_even = self.out.op(Op::IEqual, Type::Bool, &[last, zero]);
        let moves = self.out.op(Op::LogicalAnd, Type::Bool, &[is_inexact, is_even]);
        let signs = self.out.op(Op::BitwiseXor, of, &[high, error_high]);
        let towards_zero = self.out.op(Op::SLessThan, Type::Bool, &[signs, zero]);
        // Towards zero, an even number's neighbour borrows from the upper word where the lower is
        // 0.
        let less = self.out.op(Op::ISub, of, &[low, one]);
        let more = self.out.op(Op::IAdd, of, &[low, one]);
        let new_low = self.out.op(Op::Select, of, &[towards_zero, less, more]);
        let is_none = self.out.op(Op::IEqual, Type::Bool, &[low, zero]);
        let borrows = self.out.op(Op::LogicalAnd, Type::Bool, &[towards_zero, is_none]);
        let below = self.out.op(Op::ISub, of, &[high, one]);
        let new_high = self.out.op(Op::Select, of, &[borrows, below, high]);
        let low = self.out.op(Op::Select, of, &[moves, new_low, low]);
        let high = self.out.op(Op::Select, of, &[moves, new_high, high]);
        self.joined_words(Type::Float(64), [low, high])
    }
}
