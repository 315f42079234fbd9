//! float16 and bfloat16, which are bits in registers (rule LLVM-V4): conversions to and from
//! float32, and single rounding from wider types.

use chipdock_ir::{DType, TypeCode};

use crate::constants::{float, integer};
use crate::types::register;
use crate::value::Value;
use crate::writer::Writer;

impl Writer<'_> {
    fn bits_of(&mut self, value: &Value, to: DType) -> Value {
        self.converted("bitcast", value, to)
    }

    /// Converts a bfloat16, which is the upper half of a float32.
    pub(crate) fn single_from_bfloat16(&mut self, value: &Value) -> Value {
        let wide = DType::UINT32.with_lanes(value.dtype.lanes);
        let bits = self.converted("zext", value, wide);
        let bits = self.operation("shl", &bits, &integer(16, wide));
        self.bits_of(&bits, DType::FLOAT32.with_lanes(wide.lanes))
    }

    /// The upper half, rounded to nearest even; a quiet NaN for a NaN. Computed in integers: the
    /// instructions for it flush subnormals.
    pub(crate) fn bfloat16_from_single(&mut self, value: &Value) -> Value {
        let lanes = value.dtype.lanes;
        let wide = DType::UINT32.with_lanes(lanes);
        let bits = self.bits_of(value, wide);
        let upper = self.operation("lshr", &bits, &integer(16, wide));
        let last = self.operation("and", &upper, &integer(1, wide));
        let half = self.operation("add", &last, &integer(0x7fff, wide));
        let sum = self.operation("add", &bits, &half);
        let rounded = self.operation("lshr", &sum, &integer(16, wide));
        let quiet = self.operation("or", &upper, &integer(0x40, wide));
        let is_nan = self.fcmp("uno", value, &float(0.0, value.dtype));
        let chosen = self.choose(&is_nan, &quiet, &rounded);
        self.converted("trunc", &chosen, DType::BFLOAT16.with_lanes(lanes))
    }

    /// Converts a float16 to float32: with an instruction if the target has one, otherwise in
    /// integers.
    pub(crate) fn single_from_float16(&mut self, value: &Value) -> Value {
        let lanes = value.dtype.lanes;
        let single = DType::FLOAT32.with_lanes(lanes);
        if self.target.converts_float16() {
            let half_type = half_type(lanes);
            let half = self.instruction(format_args!("bitcast {} to {half_type}", value.typed()));
            return self.compute(single, format_args!("fpext {half_type} {half} to {}", register(single)));
        }
        let wide = DType::UINT32.with_lanes(lanes);
        let number = |value: i128| integer(value, wide);
        let bits = self.converted("zext", value, wide);
        let sign = self.operation("and", &bits, &number(0x8000));
        let sign = self.operation("shl", &sign, &number(16));
        let rest = self.operation("and", &bits, &number(0x7fff));
        let fraction = self.operation("shl", &rest, &number(13));
        // The exponent moves by 112, for infinities and NaNs by twice as much.
        let moved = self.operation("add", &fraction, &number(0x3800_0000));
        let top = self.operation("or", &fraction, &number(0x7f80_0000));
        let is_top = self.icmp("uge", &rest, &number(0x7c00));
        let normal = self.choose(&is_top, &top, &moved);
        // A subnormal is its bits times 2^-24, exact in float32.
        let count = self.converted("uitofp", &rest, single);
        let small = self.operation("fmul", &count, &float(2_f64.powi(-24), single));
        let small = self.bits_of(&small, wide);
        let is_small = self.icmp("ult", &rest, &number(0x400));
        let magnitude = self.choose(&is_small, &small, &normal);
        let signed = self.operation("or", &magnitude, &sign);
        self.bits_of(&signed, single)
    }

    /// Rounds a float32 to nearest even into float16: with an instruction if the target has one,
    /// otherwise in integers.
    pub(crate) fn float16_from_single(&mut self, value: &Value) -> Value {
        let lanes = value.dtype.lanes;
        let half = DType::FLOAT16.with_lanes(lanes);
        if self.target.converts_float16() {
            let half_type = half_type(lanes);
            let bits = self.instruction(format_args!("fptrunc {} to {half_type}", value.typed()));
            return self.compute(half, format_args!("bitcast {half_type} {bits} to {}", register(half)));
        }
        let wide = DType::UINT32.with_lanes(lanes);
        let number = |value: i128| integer(value, wide);
        let bits = self.bits_of(value, wide);
        let upper = self.operation("lshr", &bits, &number(16));
        let sign = self.operation("and", &upper, &number(0x8000));
        let magnitude = self.operation("and", &bits, &number(0x7fff_ffff));
        // Normal: the exponent moves by 112, and 13 bits are rounded away.
        let shifted = self.operation("lshr", &magnitude, &number(13));
        let last = self.operation("and", &shifted, &number(1));
        // 0xfff rounds; 0xc8000000 is minus 112 exponents.
        let rounding = self.operation("add", &last, &number(0xc800_0fff));
        let sum = self.operation("add", &magnitude, &rounding);
        let normal = self.operation("lshr", &sum, &number(13));
        // Below the least normal half: adding 0.5 leaves units of 2^-24 and rounds on the way.
        let small = self.bits_of(&magnitude, value.dtype);
        let small = self.operation("fadd", &small, &float(0.5, value.dtype));
        let small = self.bits_of(&small, wide);
        let small = self.operation("sub", &small, &number(0x3f00_0000));
        let is_small = self.icmp("ult", &magnitude, &number(0x3880_0000));
        let finite = self.choose(&is_small, &small, &normal);
        let is_large = self.icmp("uge", &magnitude, &number(0x477f_f000));
        let finite = self.choose(&is_large, &number(0x7c00), &finite);
        let payload = self.operation("and", &shifted, &number(0x1ff));
        let quiet = self.operation("or", &payload, &number(0x7e00));
        let is_nan = self.icmp("ugt", &magnitude, &number(0x7f80_0000));
        let chosen = self.choose(&is_nan, &quiet, &finite);
        let signed = self.operation("or", &chosen, &sign);
        self.converted("trunc", &signed, half)
    }

    /// Converts a float64 to float32, rounded to odd: rounding that to at most 22 bits rounds the
    /// float64 once.
    pub(crate) fn single_to_odd(&mut self, value: &Value) -> Value {
        let lanes = value.dtype.lanes;
        let (single, wide) = (DType::FLOAT32.with_lanes(lanes), DType::UINT32.with_lanes(lanes));
        let near = self.converted("fptrunc", value, single);
        let back = self.converted("fpext", &near, value.dtype);
        // Ordered: a NaN stays as it is.
        let is_inexact = self.fcmp("one", &back, value);
        let (reached, wanted) = (self.magnitude(&back), self.magnitude(value));
        let is_past = self.fcmp("ogt", &reached, &wanted);
        let bits = self.bits_of(&near, wide);
        let back_one = self.sign_extended(&is_past, wide);
        let cut = self.operation("add", &bits, &back_one);
        let odd = self.operation("or", &cut, &integer(1, wide));
        let chosen = self.choose(&is_inexact, &odd, &bits);
        self.bits_of(&chosen, single)
    }

    fn magnitude(&mut self, value: &Value) -> Value {
        self.intrinsic("fabs", "", value.dtype, std::slice::from_ref(value))
    }

    /// Rounds an integer or a boolean once into a half.
    pub(crate) fn half_from_int(&mut self, value: &Value, to: DType) -> Value {
        let (from, lanes) = (value.dtype, value.dtype.lanes);
        let (single, double) = (DType::FLOAT32.with_lanes(lanes), DType::FLOAT64.with_lanes(lanes));
        if from.is_bool() || from.bits <= 16 {
            let exact = self.cast(value, single);
            return self.cast(&exact, to);
        }
        if to.code == TypeCode::Float {
            // From 65520 on every result is infinite, and smaller values are exact in float32.
            let least = |name: &str, bound: i128, writer: &mut Self, value: &Value| {
                writer.intrinsic(name, "", from, &[value.clone(), integer(bound, from)])
            };
            let bounded = if from.is_int() {
                let bounded = least("smin", 1 << 17, self, value);
                least("smax", -(1 << 17), self, &bounded)
            } else {
                least("umin", 1 << 17, self, value)
            };
            let narrow = self.cast(&bounded, DType::INT32.with_lanes(lanes));
            let exact = self.cast(&narrow, single);
            return self.cast(&exact, to);
        }
        let value = if from.bits == 64 { self.odd_int(value) } else { value.clone() };
        let exact = self.cast(&value, double);
        self.cast(&exact, to)
    }

    /// Rounds an integer to odd so that float64 represents it: past 53 bits the low 11 cannot all
    /// be kept, and bit 11 becomes a sticky bit for them.
    fn odd_int(&mut self, value: &Value) -> Value {
        let dtype = value.dtype;
        let number = |value: i128| integer(value, dtype);
        let kept = self.operation("and", value, &number(-2048));
        let low = self.operation("and", value, &number(2047));
        let marked = self.operation("or", &kept, &number(2048));
        let is_lost = self.icmp("ne", &low, &number(0));
        // Tested as unsigned: the value is between -2^53 and 2^53 if it is in range after adding
        // 2^53.
        let is_wide = if dtype.is_int() {
            let moved = self.operation("add", value, &number(1 << 53));
            self.icmp("ugt", &moved, &number(1 << 54))
        } else {
            self.icmp("ugt", value, &number(1 << 53))
        };
        let both = self.operation("and", &is_wide, &is_lost);
        self.choose(&both, &marked, value)
    }
}

fn half_type(lanes: u16) -> String {
    if lanes == 1 { "half".to_owned() } else { format!("<{lanes} x half>") }
}
