//! Conversions (rule IR-N9) and reinterpretations.

use chipdock_ir::{DType, Expr, Op as IrOp};
use rspirv::spirv::{Op, Word};

use super::emitter::Type;
use super::value::{Value, register};
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// Converts a value to a type of as many lanes.
    pub(super) fn cast(&mut self, value: &Value, to: DType) -> Value {
        let (from, scalar) = (value.dtype.scalar(), to.scalar());
        if from == scalar {
            return value.clone();
        }
        self.map(to, value, |w, lane| w.cast_lane(lane, from, scalar))
    }

    fn cast_lane(&mut self, lane: Word, from: DType, to: DType) -> Word {
        if from == DType::INT64
            && !to.is_bool()
            && let Some(narrow) = self.out.narrow(lane)
        {
            return if to.bits == 64 && to.is_integer() {
                lane
            } else {
                self.cast_lane(narrow, DType::INT32, to)
            };
        }
        let (of, into) = (register(from), register(to));
        match (from.is_float(), to.is_float()) {
            _ if from.is_bool() => {
                let [one, zero] = if to.is_float() {
                    [1.0, 0.0].map(|value| self.lane_of_float(value, to))
                } else {
                    [1, 0].map(|value| self.lane_of_integer(value, to))
                };
                self.out.op(Op::Select, into, &[lane, one, zero])
            }
            (false, false) if to.is_bool() => {
                let zero = self.lane_of_integer(0, from);
                self.out.op(Op::INotEqual, Type::Bool, &[lane, zero])
            }
            (true, false) if to.is_bool() => {
                let wide = self.wide_lane(lane, from);
                let zero = self.lane_of_float(0.0, wide.1);
                self.out.op(Op::FUnordNotEqual, Type::Bool, &[wide.0, zero])
            }
            (false, false) => self.cast_integer(lane, from, to),
            (false, true) => {
                let via = if to == DType::FLOAT16 { DType::FLOAT32 } else { to };
                let op = if from.is_int() { Op::ConvertSToF } else { Op::ConvertUToF };
                // Exact, or Mesa takes the conversion back for the integer itself.
                let float = self.exact(op, register(via), &[lane]);
                // Every integer below the least float16 that is infinite is a float32.
                self.cast_float(float, via, to)
            }
            (true, false) => {
                let (wide, dtype) = self.wide_lane(lane, from);
                self.saturated(wide, dtype, to)
            }
            (true, true) if of == into => lane,
            (true, true) => self.cast_float(lane, from, to),
        }
    }

    /// A half as float32; other floats are unchanged.
    fn wide_lane(&mut self, lane: Word, from: DType) -> (Word, DType) {
        if from == DType::FLOAT16 {
            (self.cast_float(lane, from, DType::FLOAT32), DType::FLOAT32)
        } else {
            (lane, from)
        }
    }

    fn cast_integer(&mut self, lane: Word, from: DType, to: DType) -> Word {
        match (from.bits, to.bits) {
            (64, 64) => lane,
            (64, _) => {
                let low = self.out.op(Op::UConvert, Type::Int(32), &[lane]);
                self.wrapped(low, to)
            }
            (_, 64) => {
                // A register's upper bits are the sign of its type, and an uint16 has none.
                if from == DType::UINT32 {
                    self.out.op(Op::UConvert, Type::Int(64), &[lane])
                } else {
                    self.out.sign_extended(lane)
                }
            }
            _ => {
                // The register contains the value already, if the new type contains every value of
                // the old.
                let holds = chipdock_ir::analysis::holds(to, from);
                if holds { lane } else { self.wrapped(lane, to) }
            }
        }
    }

    fn cast_float(&mut self, lane: Word, from: DType, to: DType) -> Word {
        if from == to {
            return lane;
        }
        if from == DType::FLOAT64 && to == DType::FLOAT16 {
            // Drivers round twice, by way of float32: there the last bit is made odd if the value
            // is not exact.
            let single = self.single_to_odd(lane);
            return self.out.op(Op::FConvert, Type::Float(16), &[single]);
        }
        self.out.op(Op::FConvert, register(to), &[lane])
    }

    /// A float64 as float32, rounded to odd.
    fn single_to_odd(&mut self, lane: Word) -> Word {
        let (of, wide) = (Type::Int(32), Type::Float(64));
        let single = self.out.op(Op::FConvert, Type::Float(32), &[lane]);
        let back = self.out.op(Op::FConvert, wide, &[single]);
        let (mask, one, zero) = (self.out.word(0x7fff_ffff), self.out.word(1), self.out.word(0));
        let bits = self.out.op(Op::Bitcast, of, &[single]);
        let is_finite = self.test(IrOp::Isfinite, DType::FLOAT32, single);
        let last = self.out.op(Op::BitwiseAnd, of, &[bits, one]);
        let is_even = self.out.op(Op::IEqual, Type::Bool, &[last, zero]);
        let is_inexact = self.out.op(Op::FOrdNotEqual, Type::Bool, &[back, lane]);
        let moves = self.out.op(Op::LogicalAnd, Type::Bool, &[is_even, is_inexact]);
        let moves = self.out.op(Op::LogicalAnd, Type::Bool, &[moves, is_finite]);
        let magnitude =
            |w: &mut Self, lane: Word| w.out.extended(rspirv::spirv::GlslStd450Op::FAbs, wide, &[lane]);
        let (found, exact) = (magnitude(self, back), magnitude(self, lane));
        let is_above = self.out.op(Op::FOrdGreaterThan, Type::Bool, &[found, exact]);
        let (less, more) = (self.out.op(Op::ISub, of, &[bits, one]), self.out.op(Op::IAdd, of, &[bits, one]));
        let neighbour = self.out.op(Op::Select, of, &[is_above, less, more]);
        // Nothing is less than a zero.
        let rest = self.out.op(Op::BitwiseAnd, of, &[bits, mask]);
        let is_zero = self.out.op(Op::IEqual, Type::Bool, &[rest, zero]);
        let keeps = self.out.op(Op::LogicalAnd, Type::Bool, &[is_zero, is_above]);
        let neighbour = self.out.op(Op::Select, of, &[keeps, bits, neighbour]);
        let chosen = self.out.op(Op::Select, of, &[moves, neighbour, bits]);
        self.out.op(Op::Bitcast, Type::Float(32), &[chosen])
    }

    /// A float32 or float64 as an integer: truncated and saturated, 0 of a NaN. The instruction's
    /// own result is not defined outside of the type's range, and is not chosen there.
    fn saturated(&mut self, lane: Word, from: DType, to: DType) -> Word {
        let into = register(to);
        let Some((least, most)) = to.integer_range() else { return lane };
        let op = if to.is_int() { Op::ConvertFToS } else { Op::ConvertFToU };
        let inside = self.exact(op, into, &[lane]);
        // The first float from which on the integer is the greatest: the bound itself may not be a
        // float.
        let above = self.lane_of_float((most + 1) as f64, from);
        let below = self.lane_of_float(least as f64, from);
        let (lowest, highest) = (self.lane_of_integer(least, to), self.lane_of_integer(most, to));
        let is_above = self.out.op(Op::FOrdGreaterThanEqual, Type::Bool, &[lane, above]);
        let is_below = self.out.op(Op::FOrdLessThanEqual, Type::Bool, &[lane, below]);
        let result = self.out.op(Op::Select, into, &[is_above, highest, inside]);
        let result = self.out.op(Op::Select, into, &[is_below, lowest, result]);
        let is_nan = self.test(IrOp::Isnan, from, lane);
        let zero = self.lane_of_integer(0, to);
        self.out.op(Op::Select, into, &[is_nan, zero, result])
    }

    /// Reads the bits of a value as another type of the same size.
    pub(super) fn reinterpretation(&mut self, e: &Expr, value: &Value) -> Value {
        let (from, to) = (value.dtype, e.dtype);
        let is_data = |dtype: DType| !dtype.is_bool() && !dtype.is_handle();
        if from.size_bytes() != to.size_bytes() || !is_data(from) || !is_data(to) {
            return self.refuse(e, format!("{from} cannot be read as {to}: it does not have as many bits"));
        }
        if from.bits == to.bits {
            let lanes = value.lanes.iter().map(|lane| self.as_bits(*lane, from, to)).collect();
            return Value { dtype: to, lanes };
        }
        // Lanes of another width, by way of words or of the bytes of one.
        let words = self.packed(value);
        self.unpacked(&words, to)
    }

    /// Reads the bits of a lane as a type of the same width.
    pub(super) fn as_bits(&mut self, lane: Word, from: DType, to: DType) -> Word {
        match (from.scalar() == DType::FLOAT16, to.scalar() == DType::FLOAT16) {
            (true, false) => {
                // 16 bits without a type of 16 bits: a half of a word.
                let zero = self.out.constant(Type::Float(16), 0);
                let pair_type = self.half_pair();
                let operands = [lane, zero].map(super::emitter::id).to_vec();
                let pair = self.out.compute(Op::CompositeConstruct, pair_type, operands);
                let word = self.out.op(Op::Bitcast, Type::Int(32), &[pair]);
                if to.is_int() { self.wrapped(word, to) } else { word }
            }
            (false, true) => {
                let pair_type = self.half_pair();
                let operands = vec![super::emitter::id(lane)];
                let pair = self.out.compute(Op::Bitcast, pair_type, operands);
                self.part(pair, 0, Type::Float(16))
            }
            _ => {
                let (of, into) = (register(from), register(to));
                match (of == into, to.bits < 32) {
                    (true, true) => self.wrapped(lane, to),
                    (true, false) => lane,
                    _ => self.out.op(Op::Bitcast, into, &[lane]),
                }
            }
        }
    }

    fn half_pair(&mut self) -> Word {
        self.out.type_of(Type::Halves)
    }

    /// The bits of a value as words, the first lane lowest.
    fn packed(&mut self, value: &Value) -> Vec<Word> {
        let (dtype, of) = (value.dtype.scalar(), Type::Int(32));
        if dtype.bits == 64 {
            return value.lanes.iter().flat_map(|lane| self.words_of(*lane)).collect();
        }
        let unsigned = DType { code: chipdock_ir::TypeCode::UInt, ..dtype };
        let lanes: Vec<Word> = value.lanes.iter().map(|lane| self.as_bits(*lane, dtype, unsigned)).collect();
        let in_word = usize::from(32 / dtype.bits.max(1));
        let chunks = lanes.chunks(in_word.max(1)).map(|parts| {
            let mut word = parts[0];
            for (number, part) in (1_u32..).zip(&parts[1..]) {
                let by = self.out.word(number * u32::from(dtype.bits));
                let part = self.out.op(Op::ShiftLeftLogical, of, &[*part, by]);
                word = self.out.op(Op::BitwiseOr, of, &[word, part]);
            }
            word
        });
        chunks.collect()
    }

    /// A value from words that contain its bits.
    fn unpacked(&mut self, words: &[Word], to: DType) -> Value {
        let (dtype, of) = (to.scalar(), Type::Int(32));
        let unsigned = DType { code: chipdock_ir::TypeCode::UInt, ..dtype };
        let mut lanes = Vec::with_capacity(to.lanes.into());
        for lane in 0..u32::from(to.lanes) {
            let bit = lane * u32::from(dtype.bits);
            let word = words.get((bit / 32) as usize).copied().unwrap_or_default();
            lanes.push(match dtype.bits {
                64 => {
                    let high = words.get((bit / 32 + 1) as usize).copied().unwrap_or_default();
                    self.joined_words(register(dtype), [word, high])
                }
                32 => self.as_bits(word, DType::UINT32, dtype),
                bits => {
                    let (offset, width) = (self.out.word(bit % 32), self.out.word(bits.into()));
                    let part = self.out.op(Op::BitFieldUExtract, of, &[word, offset, width]);
                    self.as_bits(part, unsigned, dtype)
                }
            });
        }
        Value { dtype: to, lanes }
    }
}
