//! A product and a sum, rounded once. Drivers may round `Fma` twice, so it is computed: in float64
//! where that is enough, and otherwise in integers, digit by digit.

use chipdock_ir::{DType, Op as IrOp};
use rspirv::spirv::{GlslStd450Op, Op, Word};

use super::emitter::Type;
use super::value::register;
use super::writer::Writer;

/// An unsigned integer of two words of a type: high, low.
type Pair = [Word; 2];

/// The parts of a float: its digits as an integer, the exponent of the last one in its biased form,
/// and its sign bit.
struct Parts {
    digits: Word,
    exponent: Word,
    sign: Word,
}

/// The integers in which a float type is computed.
#[derive(Clone, Copy)]
struct Layout {
    of: Type,
    /// Bits of the type.
    width: u32,
    /// Bits of the significand without its first digit.
    places: u32,
}

impl Layout {
    fn of(dtype: DType) -> Self {
        match dtype.bits {
            64 => Self { of: Type::Int(64), width: 64, places: 52 },
            _ => Self { of: Type::Int(32), width: 32, places: 23 },
        }
    }

    /// The largest biased exponent, that of infinities and NaNs.
    fn exponent_max(self) -> u64 {
        (1 << (self.width - 1 - self.places)) - 1
    }
}

impl<'a> Writer<'a> {
    /// `a * b + c`, rounded once.
    pub(super) fn fused(&mut self, dtype: DType, abc: [Word; 3]) -> Word {
        if dtype.bits == 32 && self.environment.has_float64 {
            return self.fused_by_double(abc);
        }
        if dtype.bits == 64 && !self.environment.has_int64 {
            let result = self.out.extended(GlslStd450Op::Fma, register(dtype), &abc);
            self.out.decorate(result, rspirv::spirv::Decoration::NoContraction, &[]);
            return result;
        }
        let [a, b, c] = abc;
        let of = register(dtype);
        let product = self.exact(Op::FMul, of, &[a, b]);
        let plain = self.exact(Op::FAdd, of, &[product, c]);
        let soft = self.fused_digits(Layout::of(dtype), dtype, abc);
        // Infinities and NaNs follow from the operations themselves; so does the sum with a product
        // of zero.
        let (a_is_zero, b_is_zero) = (self.is_zero(dtype, a), self.is_zero(dtype, b));
        let is_none = self.out.op(Op::LogicalOr, Type::Bool, &[a_is_zero, b_is_zero]);
        let mut is_plain = is_none;
        for lane in [a, b, c] {
            let is_finite = self.test(IrOp::Isfinite, dtype, lane);
            let is_not = self.out.op(Op::LogicalNot, Type::Bool, &[is_finite]);
            is_plain = self.out.op(Op::LogicalOr, Type::Bool, &[is_plain, is_not]);
        }
        // With no addend the product is rounded once, and keeps its sign where it is too small for
        // a number.
        let c_is_zero = self.is_zero(dtype, c);
        let soft = self.choose(of, c_is_zero, product, soft);
        self.choose(of, is_plain, plain, soft)
    }

    fn is_zero(&mut self, dtype: DType, lane: Word) -> Word {
        let layout = Layout::of(dtype);
        let bits = self.out.op(Op::Bitcast, layout.of, &[lane]);
        let one = self.out.constant(layout.of, 1);
        let twice = self.out.op(Op::ShiftLeftLogical, layout.of, &[bits, one]);
        let zero = self.out.constant(layout.of, 0);
        self.out.op(Op::IEqual, Type::Bool, &[twice, zero])
    }

    /// float32 in float64: the product is exact there, and the sum is rounded to odd, so that the
    /// second rounding is the only one.
    fn fused_by_double(&mut self, abc: [Word; 3]) -> Word {
        let (of, wide) = (Type::Float(32), Type::Float(64));
        let [a, b, c] = abc.map(|lane| self.out.op(Op::FConvert, wide, &[lane]));
        let product = self.exact(Op::FMul, wide, &[a, b]);
        let sum = self.exact(Op::FAdd, wide, &[product, c]);
        // The error of the sum (Knuth), which decides about its last bit.
        let back = self.exact(Op::FSub, wide, &[sum, product]);
        let rest = self.exact(Op::FSub, wide, &[sum, back]);
        let of_product = self.exact(Op::FSub, wide, &[product, rest]);
        let of_c = self.exact(Op::FSub, wide, &[c, back]);
        let error = self.exact(Op::FAdd, wide, &[of_product, of_c]);
        let odd = self.rounded_to_odd(sum, error);
        let rounded = self.out.op(Op::FConvert, of, &[odd]);
        // Infinities and NaNs have no error.
        let is_finite = self.test(IrOp::Isfinite, DType::FLOAT64, sum);
        let plain = self.out.op(Op::FConvert, of, &[sum]);
        self.choose(of, is_finite, rounded, plain)
    }

    // -- digits -----------------------------------------------------------------------------------

    fn in_words(&mut self, layout: Layout, op: Op, a: Word, b: Word) -> Word {
        self.out.op(op, layout.of, &[a, b])
    }

    fn parts(&mut self, layout: Layout, lane: Word) -> Parts {
        let bits = self.out.op(Op::Bitcast, layout.of, &[lane]);
        let [fraction, hidden, mask, places, one, zero, sign] = [
            (1 << layout.places) - 1,
            1 << layout.places,
            layout.exponent_max(),
            layout.places.into(),
            1,
            0,
            1 << (layout.width - 1),
        ]
        .map(|bits| self.out.constant(layout.of, bits));
        let low = self.in_words(layout, Op::BitwiseAnd, bits, fraction);
        let shifted = self.in_words(layout, Op::ShiftRightLogical, bits, places);
        let exponent = self.in_words(layout, Op::BitwiseAnd, shifted, mask);
        let is_normal = self.out.op(Op::INotEqual, Type::Bool, &[exponent, zero]);
        let full = self.in_words(layout, Op::BitwiseOr, low, hidden);
        Parts {
            digits: self.out.op(Op::Select, layout.of, &[is_normal, full, low]),
            exponent: self.out.op(Op::Select, layout.of, &[is_normal, exponent, one]),
            sign: self.in_words(layout, Op::BitwiseAnd, bits, sign),
        }
    }

    /// The fused operation of finite numbers that are not zero.
    fn fused_digits(&mut self, layout: Layout, dtype: DType, abc: [Word; 3]) -> Word {
        let [a, b, c] = abc.map(|lane| self.parts(layout, lane));
        let number = |w: &mut Self, value: i64| w.out.constant(layout.of, value as u64 & mask_of(layout));
        let product = self.product(layout, a.digits, b.digits);
        let zero = number(self, 0);
        // Both with their first digit in the second bit from above, and the exponent of the unit of
        // that place.
        let (product, moved) = self.raised(layout, product);
        let sum = self.in_words(layout, Op::IAdd, a.exponent, b.exponent);
        let bias = number(self, -((layout.exponent_max() / 2) as i64) - i64::from(layout.places));
        let exponent = self.in_words(layout, Op::IAdd, sum, bias);
        let exponent = self.in_words(layout, Op::ISub, exponent, moved);
        let (addend, moved) = self.raised(layout, [zero, c.digits]);
        let addend_exponent = self.in_words(layout, Op::ISub, c.exponent, moved);
        let sign = self.in_words(layout, Op::BitwiseXor, a.sign, b.sign);
        let distance = self.in_words(layout, Op::ISub, exponent, addend_exponent);
        let is_below = self.out.op(Op::SLessThan, Type::Bool, &[distance, zero]);
        let pick = |w: &mut Self, yes: Word, no: Word| w.choose(layout.of, is_below, yes, no);
        let great = [pick(self, addend[0], product[0]), pick(self, addend[1], product[1])];
        let small = [pick(self, product[0], addend[0]), pick(self, product[1], addend[1])];
        let exponent = pick(self, addend_exponent, exponent);
        let great_sign = pick(self, c.sign, sign);
        let small_sign = pick(self, sign, c.sign);
        let back = self.in_words(layout, Op::ISub, zero, distance);
        let distance = pick(self, back, distance);
        let small = self.lowered(layout, small, distance);
        let differ = self.out.op(Op::INotEqual, Type::Bool, &[great_sign, small_sign]);
        let total = self.total(layout, great, small, differ);
        // A difference may be negative where both have one exponent.
        let is_high = self.out.op(Op::SLessThan, Type::Bool, &[total[0], zero]);
        let is_negative = self.out.op(Op::LogicalAnd, Type::Bool, &[differ, is_high]);
        let yes = self.out.constant_bool(true);
        let opposite = self.total(layout, [zero, zero], total, yes);
        let total = [
            self.choose(layout.of, is_negative, opposite[0], total[0]),
            self.choose(layout.of, is_negative, opposite[1], total[1]),
        ];
        let flip = number(self, 1 << (layout.width - 1));
        let flipped = self.in_words(layout, Op::BitwiseXor, great_sign, flip);
        let sign = self.choose(layout.of, is_negative, flipped, great_sign);
        self.rounded(layout, dtype, total, exponent, sign)
    }

    /// The exact product of two integers of `places` + 1 bits.
    fn product(&mut self, layout: Layout, a: Word, b: Word) -> Pair {
        let half = layout.width / 2;
        let [by, mask] = [u64::from(half), (1 << half) - 1].map(|bits| self.out.constant(layout.of, bits));
        let split = |w: &mut Self, lane: Word| {
            [
                w.in_words(layout, Op::ShiftRightLogical, lane, by),
                w.in_words(layout, Op::BitwiseAnd, lane, mask),
            ]
        };
        let ([a_high, a_low], [b_high, b_low]) = (split(self, a), split(self, b));
        let times = |w: &mut Self, a: Word, b: Word| w.in_words(layout, Op::IMul, a, b);
        let low = times(self, a_low, b_low);
        let first = times(self, a_high, b_low);
        let second = times(self, a_low, b_high);
        let high = times(self, a_high, b_high);
        // The middle: two products of half a word each, and the carry of the lowest; it fits a
        // word, as the factors do not fill theirs.
        let carry = self.in_words(layout, Op::ShiftRightLogical, low, by);
        let middle = self.in_words(layout, Op::IAdd, first, second);
        let middle = self.in_words(layout, Op::IAdd, middle, carry);
        let rest = self.in_words(layout, Op::BitwiseAnd, low, mask);
        let up = self.in_words(layout, Op::ShiftLeftLogical, middle, by);
        let low = self.in_words(layout, Op::BitwiseOr, up, rest);
        let above = self.in_words(layout, Op::ShiftRightLogical, middle, by);
        [self.in_words(layout, Op::IAdd, high, above), low]
    }

    /// Shifts a number up until its first digit is in the second bit from above; returns the number
    /// of places too.
    fn raised(&mut self, layout: Layout, pair: Pair) -> (Pair, Word) {
        let zeros = self.zeros_above(layout, pair);
        let one = self.out.constant(layout.of, 1);
        let by = self.in_words(layout, Op::ISub, zeros, one);
        (self.shifted_up(layout, pair, by), by)
    }

    /// The number of zeros above the first digit of a number other than 0.
    fn zeros_above(&mut self, layout: Layout, [high, low]: Pair) -> Word {
        let unsigned = if layout.width == 64 { DType::UINT64 } else { DType::UINT32 };
        let count = |w: &mut Self, word: Word| {
            let zeros = w.leading_zeros(unsigned, word);
            if layout.width == 64 { w.out.op(Op::UConvert, layout.of, &[zeros]) } else { zeros }
        };
        let (in_high, in_low) = (count(self, high), count(self, low));
        let [width, zero] = [u64::from(layout.width), 0].map(|bits| self.out.constant(layout.of, bits));
        let is_empty = self.out.op(Op::IEqual, Type::Bool, &[high, zero]);
        let both = self.in_words(layout, Op::IAdd, width, in_low);
        self.choose(layout.of, is_empty, both, in_high)
    }

    /// A shift up by fewer places than two words have.
    fn shifted_up(&mut self, layout: Layout, [high, low]: Pair, by: Word) -> Pair {
        let [last, width, zero, one] = [u64::from(layout.width) - 1, layout.width.into(), 0, 1]
            .map(|bits| self.out.constant(layout.of, bits));
        let within = self.in_words(layout, Op::BitwiseAnd, by, last);
        let is_word = self.out.op(Op::UGreaterThanEqual, Type::Bool, &[by, width]);
        let up = self.in_words(layout, Op::ShiftLeftLogical, high, within);
        // A shift by the width is undefined: by one, and by the rest.
        let rest = self.in_words(layout, Op::ISub, last, within);
        let half = self.in_words(layout, Op::ShiftRightLogical, low, one);
        let over = self.in_words(layout, Op::ShiftRightLogical, half, rest);
        let joined = self.in_words(layout, Op::BitwiseOr, up, over);
        let below = self.in_words(layout, Op::ShiftLeftLogical, low, within);
        [self.choose(layout.of, is_word, below, joined), self.choose(layout.of, is_word, zero, below)]
    }

    /// A shift down by any number of places; the last bit is set if a digit is lost.
    fn lowered(&mut self, layout: Layout, [high, low]: Pair, by: Word) -> Pair {
        let [last, width, most, zero, one] =
            [u64::from(layout.width) - 1, layout.width.into(), u64::from(layout.width) * 2 - 1, 0, 1]
                .map(|bits| self.out.constant(layout.of, bits));
        let by = self.out.extended(GlslStd450Op::UMin, layout.of, &[by, most]);
        let within = self.in_words(layout, Op::BitwiseAnd, by, last);
        let is_word = self.out.op(Op::UGreaterThanEqual, Type::Bool, &[by, width]);
        let down = self.in_words(layout, Op::ShiftRightLogical, low, within);
        let rest = self.in_words(layout, Op::ISub, last, within);
        let twice = self.in_words(layout, Op::ShiftLeftLogical, high, one);
        let over = self.in_words(layout, Op::ShiftLeftLogical, twice, rest);
        let joined = self.in_words(layout, Op::BitwiseOr, down, over);
        let above = self.in_words(layout, Op::ShiftRightLogical, high, within);
        let new_high = self.choose(layout.of, is_word, zero, above);
        let new_low = self.choose(layout.of, is_word, above, joined);
        // What was lost: the digits that a shift back does not restore.
        let [back_high, back_low] = self.shifted_up(layout, [new_high, new_low], by);
        let lost_high = self.in_words(layout, Op::BitwiseXor, back_high, high);
        let lost_low = self.in_words(layout, Op::BitwiseXor, back_low, low);
        let lost = self.in_words(layout, Op::BitwiseOr, lost_high, lost_low);
        let is_lost = self.out.op(Op::INotEqual, Type::Bool, &[lost, zero]);
        let marked = self.in_words(layout, Op::BitwiseOr, new_low, one);
        [new_high, self.choose(layout.of, is_lost, marked, new_low)]
    }

    /// The sum of two numbers, or their difference, of two words.
    fn total(&mut self, layout: Layout, a: Pair, b: Pair, differ: Word) -> Pair {
        let [zero, one] = [0, 1].map(|bits| self.out.constant(layout.of, bits));
        let sum = self.in_words(layout, Op::IAdd, a[1], b[1]);
        let carries = self.out.op(Op::ULessThan, Type::Bool, &[sum, a[1]]);
        let carry = self.choose(layout.of, carries, one, zero);
        let high = self.in_words(layout, Op::IAdd, a[0], b[0]);
        let high = self.in_words(layout, Op::IAdd, high, carry);
        let less = self.in_words(layout, Op::ISub, a[1], b[1]);
        let borrows = self.out.op(Op::ULessThan, Type::Bool, &[a[1], b[1]]);
        let borrow = self.choose(layout.of, borrows, one, zero);
        let rest = self.in_words(layout, Op::ISub, a[0], b[0]);
        let rest = self.in_words(layout, Op::ISub, rest, borrow);
        [self.choose(layout.of, differ, rest, high), self.choose(layout.of, differ, less, sum)]
    }

    /// The float nearest to a number of two words, given the exponent of its unit: ties to even,
    /// subnormals, infinities.
    fn rounded(&mut self, layout: Layout, dtype: DType, total: Pair, exponent: Word, sign: Word) -> Word {
        let number = |w: &mut Self, value: i64| w.out.constant(layout.of, value as u64 & mask_of(layout));
        let (zero, one) = (number(self, 0), number(self, 1));
        let any = self.in_words(layout, Op::BitwiseOr, total[0], total[1]);
        let is_none = self.out.op(Op::IEqual, Type::Bool, &[any, zero]);
        // The exponent with the first digit in its place of the significand.
        let zeros = self.zeros_above(layout, total);
        let top = number(self, i64::from(layout.width) * 2 - 1 - i64::from(layout.places));
        let exponent = self.in_words(layout, Op::IAdd, exponent, top);
        let exponent = self.in_words(layout, Op::ISub, exponent, zeros);
        // So many places to the right that `places` + 1 digits and one more are left, or fewer
        // digits of a subnormal number.
        let kept = number(self, i64::from(layout.width) * 2 - 2 - i64::from(layout.places));
        let by = self.in_words(layout, Op::ISub, kept, zeros);
        let missing = self.in_words(layout, Op::ISub, one, exponent);
        let missing = self.out.extended(GlslStd450Op::SMax, layout.of, &[missing, zero]);
        let most = number(self, i64::from(layout.width));
        let missing = self.out.extended(GlslStd450Op::SMin, layout.of, &[missing, most]);
        let by = self.in_words(layout, Op::IAdd, by, missing);
        // At least one digit is lost to the last bit, so that a tie differs from what lies above
        // it.
        let is_up = self.out.op(Op::SLessThan, Type::Bool, &[by, one]);
        let up = self.in_words(layout, Op::ISub, one, by);
        let raised = self.shifted_up(layout, total, up);
        let by_down = self.out.extended(GlslStd450Op::SMax, layout.of, &[by, one]);
        let before = self.in_words(layout, Op::ISub, by_down, one);
        let lowered = self.lowered(layout, total, before);
        let digits = self.choose(layout.of, is_up, raised[1], lowered[1]);
        self.assembled(layout, dtype, digits, exponent, sign, is_none)
    }

    /// Rounds digits of which the last two lie below the significand, and puts the float together.
    fn assembled(
        &mut self,
        layout: Layout,
        dtype: DType,
        digits: Word,
        exponent: Word,
        sign: Word,
        is_none: Word,
    ) -> Word {
        let number = |w: &mut Self, value: i64| w.out.constant(layout.of, value as u64 & mask_of(layout));
        let [zero, one, two, three] = [0, 1, 2, 3].map(|value| number(self, value));
        // Two bits below the significand: the half, and whether anything lies below it.
        let below = self.in_words(layout, Op::BitwiseAnd, digits, three);
        let kept = self.in_words(layout, Op::ShiftRightLogical, digits, two);
        let is_above = self.out.op(Op::UGreaterThan, Type::Bool, &[below, two]);
        let is_tie = self.out.op(Op::IEqual, Type::Bool, &[below, two]);
        let last = self.in_words(layout, Op::BitwiseAnd, kept, one);
        let is_odd = self.out.op(Op::IEqual, Type::Bool, &[last, one]);
        let ties_up = self.out.op(Op::LogicalAnd, Type::Bool, &[is_tie, is_odd]);
        let goes_up = self.out.op(Op::LogicalOr, Type::Bool, &[is_above, ties_up]);
        let more = self.choose(layout.of, goes_up, one, zero);
        // A carry into the exponent is what the next float has: the digits are added to the
        // exponent less one.
        let base = self.in_words(layout, Op::ISub, exponent, one);
        let base = self.out.extended(GlslStd450Op::SMax, layout.of, &[base, zero]);
        let places = number(self, layout.places.into());
        let base = self.in_words(layout, Op::ShiftLeftLogical, base, places);
        let bits = self.in_words(layout, Op::IAdd, base, kept);
        let bits = self.in_words(layout, Op::IAdd, bits, more);
        let most = number(self, layout.exponent_max() as i64);
        let infinity = number(self, (layout.exponent_max() << layout.places) as i64);
        let is_beyond = self.out.op(Op::SGreaterThanEqual, Type::Bool, &[exponent, most]);
        let bits = self.choose(layout.of, is_beyond, infinity, bits);
        let bits = self.in_words(layout, Op::BitwiseOr, bits, sign);
        // A difference of equal numbers is a positive zero.
        let bits = self.choose(layout.of, is_none, zero, bits);
        self.out.op(Op::Bitcast, register(dtype), &[bits])
    }
}

fn mask_of(layout: Layout) -> u64 {
    if layout.width == 64 { u64::MAX } else { u32::MAX.into() }
}
