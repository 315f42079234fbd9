//! Integers and booleans: arithmetic that wraps, divisions that cannot fail, shifts, counts of
//! bits.
//!
//! Integers of fewer than 32 bits are computed in 32 and cut afterwards ([`Writer::wrapped`]).

use chipdock_ir::analysis::Interval;
use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op as IrOp};
use rspirv::spirv::{GlslStd450Op, Op, Word};

use super::emitter::Type;
use super::value::{Value, register};
use super::writer::Writer;

/// Returns true if an operation on uint64 operands, each a 32-bit number extended by its sign, can
/// be done in 32 bits where its result fits there. A quotient cannot: 2^64 - 1 and -1 have
/// different ones.
fn needs_no_quotient(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max)
}

impl<'a> Writer<'a> {
    /// A 32-bit result as a value of a narrower type: the low bits, extended by their sign.
    pub(super) fn wrapped(&mut self, lane: Word, dtype: DType) -> Word {
        if dtype.bits >= 32 || !dtype.is_integer() {
            return lane;
        }
        let of = Type::Int(32);
        if dtype.is_uint() {
            let mask = self.out.word((1_u32 << dtype.bits) - 1);
            return self.out.op(Op::BitwiseAnd, of, &[lane, mask]);
        }
        let (zero, width) = (self.out.word(0), self.out.word(dtype.bits.into()));
        // The sign of the result type of a bit-field extraction does not matter; the instruction
        // says which it is.
        self.out.op(Op::BitFieldSExtract, of, &[lane, zero, width])
    }

    pub(super) fn binary(&mut self, e: &'a Expr, op: BinaryOp, a: &'a Expr, b: &'a Expr) -> Value {
        let (left, right) = (self.value(a), self.value(b));
        if !self.has_type(e, right.dtype, left.dtype) || !self.has_type(e, left.dtype, e.dtype) {
            return self.placeholder(e.dtype);
        }
        if e.dtype.is_float() {
            return self.float_binary(e, op, &left, &right);
        }
        if e.dtype.is_bool() {
            return self.bool_binary(e, op, &left, &right);
        }
        if !e.dtype.is_integer() {
            return self.refuse(e, format!("has no arithmetic of {}", e.dtype));
        }
        let ranges = [self.range(a), self.range(b)];
        let fits = |(low, high): Interval| low >= i32::MIN.into() && high <= i32::MAX.into();
        if e.dtype.bits == 64
            && fits(self.range(e))
            && let (Some(mut left), Some(mut right)) = (self.narrowed(&left), self.narrowed(&right))
            && (e.dtype.is_int() || needs_no_quotient(op) || ranges.into_iter().all(fits))
        {
            if e.dtype.is_uint() && matches!(op, BinaryOp::Min | BinaryOp::Max) {
                // Numbers that are extended by their sign are in the unsigned order of what was
                // extended.
                let unsigned = DType::UINT32.with_lanes(e.dtype.lanes);
                (left.dtype, right.dtype) = (unsigned, unsigned);
            }
            let result = self.arithmetic(op, &left, &right, ranges);
            return self.map(e.dtype, &result, |w, lane| w.out.sign_extended(lane));
        }
        self.arithmetic(op, &left, &right, ranges)
    }

    /// The int32 that every lane of 64 bits is known to be, extended by its sign.
    fn narrowed(&mut self, value: &Value) -> Option<Value> {
        let lanes = value.lanes.iter().map(|lane| self.out.narrow(*lane)).collect::<Option<Vec<_>>>()?;
        Some(Value { dtype: DType::INT32.with_lanes(value.dtype.lanes), lanes })
    }

    /// Arithmetic on integers of one type; `ranges` are those of the operands.
    fn arithmetic(&mut self, op: BinaryOp, left: &Value, right: &Value, ranges: [Interval; 2]) -> Value {
        let (dtype, of) = (left.dtype, register(left.dtype));
        let instruction = match op {
            BinaryOp::Add => Op::IAdd,
            BinaryOp::Sub => Op::ISub,
            BinaryOp::Mul => Op::IMul,
            BinaryOp::Min | BinaryOp::Max => {
                let function = match (op, dtype.is_int()) {
                    (BinaryOp::Min, true) => GlslStd450Op::SMin,
                    (BinaryOp::Min, false) => GlslStd450Op::UMin,
                    (_, true) => GlslStd450Op::SMax,
                    (_, false) => GlslStd450Op::UMax,
                };
                return self.zip(dtype, left, right, |w, a, b| w.out.extended(function, of, &[a, b]));
            }
            _ => return self.zip(dtype, left, right, |w, a, b| w.division(op, dtype, a, b, ranges)),
        };
        self.zip(dtype, left, right, |w, a, b| {
            let result = w.out.op(instruction, of, &[a, b]);
            w.wrapped(result, dtype)
        })
    }

    /// Arithmetic on booleans as in the interpreter: every result other than 0 is true.
    fn bool_binary(&mut self, e: &Expr, op: BinaryOp, a: &Value, b: &Value) -> Value {
        let instruction = match op {
            BinaryOp::Add | BinaryOp::Max => Op::LogicalOr,
            BinaryOp::Mul | BinaryOp::Min => Op::LogicalAnd,
            BinaryOp::Sub => Op::LogicalNotEqual,
            _ => return self.refuse(e, "has no division of booleans; cast them to an integer type"),
        };
        self.zip(e.dtype, a, b, |w, a, b| w.out.op(instruction, Type::Bool, &[a, b]))
    }

    /// A division or its remainder (rules IR-N2 and IR-N3).
    fn division(&mut self, op: BinaryOp, dtype: DType, a: Word, b: Word, ranges: [Interval; 2]) -> Word {
        let of = register(dtype);
        let is_quotient = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv);
        let [(least, _), (divisor_least, _)] = ranges;
        let is_positive = divisor_least >= 1;
        if dtype.is_uint() || least >= 0 && is_positive {
            let b = if is_positive { b } else { self.not_zero(dtype, b) };
            let instruction = if is_quotient { Op::UDiv } else { Op::UMod };
            return self.out.op(instruction, of, &[a, b]);
        }
        let divisor = if is_positive { b } else { self.safe_divisor(dtype, a, b) };
        // OpSRem and OpSMod are undefined in Vulkan's drivers where an operand is negative: the
        // remainder is a difference.
        let quotient = self.out.op(Op::SDiv, of, &[a, divisor]);
        let quotient = if matches!(op, BinaryOp::FloorDiv | BinaryOp::FloorMod) {
            self.rounded_down(of, dtype, quotient, a, divisor)
        } else {
            quotient
        };
        if is_quotient {
            // The least integer divided by -1 was divided by 1: it is itself.
            return quotient;
        }
        let product = self.out.op(Op::IMul, of, &[quotient, divisor]);
        self.out.op(Op::ISub, of, &[a, product])
    }

    /// A quotient that was rounded towards zero, rounded down.
    fn rounded_down(&mut self, of: Type, dtype: DType, quotient: Word, a: Word, divisor: Word) -> Word {
        let product = self.out.op(Op::IMul, of, &[quotient, divisor]);
        let rest = self.out.op(Op::ISub, of, &[a, product]);
        let zero = self.lane_of_integer(0, dtype);
        let one = self.lane_of_integer(1, dtype);
        let signs = self.out.op(Op::BitwiseXor, of, &[rest, divisor]);
        let differ = self.out.op(Op::SLessThan, Type::Bool, &[signs, zero]);
        let is_inexact = self.out.op(Op::INotEqual, Type::Bool, &[rest, zero]);
        let is_above = self.out.op(Op::LogicalAnd, Type::Bool, &[differ, is_inexact]);
        let excess = self.out.op(Op::Select, of, &[is_above, one, zero]);
        self.out.op(Op::ISub, of, &[quotient, excess])
    }

    /// 1 in place of a divisor of 0.
    fn not_zero(&mut self, dtype: DType, b: Word) -> Word {
        let (zero, one) = (self.lane_of_integer(0, dtype), self.lane_of_integer(1, dtype));
        let is_zero = self.out.op(Op::IEqual, Type::Bool, &[b, zero]);
        self.out.op(Op::Select, register(dtype), &[is_zero, one, b])
    }

    /// 1 in place of a divisor with which the quotient is the dividend: 0, and -1 of the least
    /// integer.
    fn safe_divisor(&mut self, dtype: DType, a: Word, b: Word) -> Word {
        let least = dtype.integer_range().map_or(0, |range| range.0);
        let (zero, one) = (self.lane_of_integer(0, dtype), self.lane_of_integer(1, dtype));
        let (minus_one, least) = (self.lane_of_integer(-1, dtype), self.lane_of_integer(least, dtype));
        let is_zero = self.out.op(Op::IEqual, Type::Bool, &[b, zero]);
        let is_minus_one = self.out.op(Op::IEqual, Type::Bool, &[b, minus_one]);
        let is_least = self.out.op(Op::IEqual, Type::Bool, &[a, least]);
        let overflows = self.out.op(Op::LogicalAnd, Type::Bool, &[is_minus_one, is_least]);
        let is_bad = self.out.op(Op::LogicalOr, Type::Bool, &[is_zero, overflows]);
        self.out.op(Op::Select, register(dtype), &[is_bad, one, b])
    }

    /// A comparison, false for a NaN except for `!=`.
    pub(super) fn compare(&mut self, op: CompareOp, a: &Value, b: &Value) -> Value {
        let dtype = DType::BOOL.with_lanes(a.dtype.lanes);
        if a.dtype.is_float() {
            let instruction = match op {
                CompareOp::Eq => Op::FOrdEqual,
                CompareOp::Ne => Op::FUnordNotEqual,
                CompareOp::Lt => Op::FOrdLessThan,
                CompareOp::Le => Op::FOrdLessThanEqual,
                CompareOp::Gt => Op::FOrdGreaterThan,
                CompareOp::Ge => Op::FOrdGreaterThanEqual,
            };
            let (a, b) = (self.widened(a), self.widened(b));
            // Exact, or Mesa turns `a < b ? a : b` into an instruction that drops a NaN on either
            // side.
            return self.zip(dtype, &a, &b, |w, a, b| w.exact(instruction, Type::Bool, &[a, b]));
        }
        if a.dtype.is_bool() {
            return self.zip(dtype, a, b, |w, a, b| w.compare_bools(op, a, b));
        }
        let instruction = match (op, a.dtype.is_int()) {
            (CompareOp::Eq, _) => Op::IEqual,
            (CompareOp::Ne, _) => Op::INotEqual,
            (CompareOp::Lt, true) => Op::SLessThan,
            (CompareOp::Le, true) => Op::SLessThanEqual,
            (CompareOp::Gt, true) => Op::SGreaterThan,
            (CompareOp::Ge, true) => Op::SGreaterThanEqual,
            (CompareOp::Lt, false) => Op::ULessThan,
            (CompareOp::Le, false) => Op::ULessThanEqual,
            (CompareOp::Gt, false) => Op::UGreaterThan,
            (CompareOp::Ge, false) => Op::UGreaterThanEqual,
        };
        if a.dtype.is_int()
            && a.dtype.bits == 64
            && let (Some(a), Some(b)) = (self.narrowed(a), self.narrowed(b))
        {
            return self.zip(dtype, &a, &b, |w, a, b| w.out.op(instruction, Type::Bool, &[a, b]));
        }
        let is_signed_order = a.dtype.is_int() && !matches!(op, CompareOp::Eq | CompareOp::Ne);
        if is_signed_order && a.dtype.bits == 64 {
            return self.zip(dtype, a, b, |w, a, b| w.long_order(instruction, a, b));
        }
        self.zip(dtype, a, b, |w, a, b| w.out.op(instruction, Type::Bool, &[a, b]))
    }

    /// A signed order of 64-bit integers (SPV-12).
    ///
    /// Mesa (22.3 at least) takes an int32 that is extended for greater than every constant: so
    /// integers that are extended are compared in 32 bits, and others, which may turn out to be
    /// some, in an unsigned order, in which Mesa does not look.
    pub(super) fn long_order(&mut self, instruction: Op, a: Word, b: Word) -> Word {
        if let (Some(a), Some(b)) = (self.out.narrow(a), self.out.narrow(b)) {
            return self.out.op(instruction, Type::Bool, &[a, b]);
        }
        let instruction = match instruction {
            Op::SLessThan => Op::ULessThan,
            Op::SLessThanEqual => Op::ULessThanEqual,
            Op::SGreaterThan => Op::UGreaterThan,
            _ => Op::UGreaterThanEqual,
        };
        let of = Type::Int(64);
        let sign = self.out.constant(of, 1 << 63);
        let [a, b] = [a, b].map(|lane| self.out.op(Op::BitwiseXor, of, &[lane, sign]));
        self.out.op(instruction, Type::Bool, &[a, b])
    }

    /// A comparison of booleans: false is below true.
    fn compare_bools(&mut self, op: CompareOp, a: Word, b: Word) -> Word {
        let (left, right, instruction) = match op {
            CompareOp::Eq => return self.out.op(Op::LogicalEqual, Type::Bool, &[a, b]),
            CompareOp::Ne => return self.out.op(Op::LogicalNotEqual, Type::Bool, &[a, b]),
            CompareOp::Lt => (a, b, Op::LogicalAnd),
            CompareOp::Le => (a, b, Op::LogicalOr),
            CompareOp::Gt => (b, a, Op::LogicalAnd),
            CompareOp::Ge => (b, a, Op::LogicalOr),
        };
        let not = self.out.op(Op::LogicalNot, Type::Bool, &[left]);
        self.out.op(instruction, Type::Bool, &[not, right])
    }

    /// A shift by an amount modulo the width (rule IR-N4).
    pub(super) fn shift(&mut self, e: &'a Expr, op: IrOp, a: &'a Expr, b: &'a Expr) -> Value {
        let (value, amount) = (self.value(a), self.value(b));
        if !self.has_type(e, value.dtype, e.dtype) || !self.has_type(e, amount.dtype, e.dtype) {
            return self.placeholder(e.dtype);
        }
        if !e.dtype.is_integer() {
            return self.refuse(e, format!("has no {} of {}", op.name(), e.dtype));
        }
        let (dtype, of, width) = (e.dtype, register(e.dtype), i128::from(e.dtype.bits));
        let constant = constant_of(b).map(|amount| self.lane_of_integer(amount.rem_euclid(width), dtype));
        let last = self.lane_of_integer(width - 1, dtype);
        let instruction = match op {
            IrOp::ShiftLeft => Op::ShiftLeftLogical,
            _ if dtype.is_int() => Op::ShiftRightArithmetic,
            _ => Op::ShiftRightLogical,
        };
        self.zip(dtype, &value, &amount, |w, value, amount| {
            let amount = constant.unwrap_or_else(|| w.out.op(Op::BitwiseAnd, of, &[amount, last]));
            let result = w.out.op(instruction, of, &[value, amount]);
            if op == IrOp::ShiftLeft { w.wrapped(result, dtype) } else { result }
        })
    }

    /// An op on integers or booleans.
    pub(super) fn int_op(&mut self, e: &Expr, op: IrOp, args: &[Value]) -> Value {
        let Some(first) = args.first() else { return self.refuse(e, format!("has no {}", op.name())) };
        let (dtype, of) = (first.dtype, register(first.dtype));
        if dtype.is_bool() {
            return self.bool_op(e, op, args);
        }
        match (op, args) {
            (IrOp::Abs, [a]) if dtype.is_uint() => a.clone(),
            (IrOp::Abs, [a]) => self.map(dtype, a, |w, lane| {
                let result = w.out.extended(GlslStd450Op::SAbs, of, &[lane]);
                w.wrapped(result, dtype)
            }),
            (IrOp::BitwiseNot, [a]) => self.map(dtype, a, |w, lane| {
                let result = w.out.op(Op::Not, of, &[lane]);
                w.wrapped(result, dtype)
            }),
            (IrOp::BitwiseAnd | IrOp::BitwiseOr | IrOp::BitwiseXor, [a, b]) => {
                let instruction = match op {
                    IrOp::BitwiseAnd => Op::BitwiseAnd,
                    IrOp::BitwiseOr => Op::BitwiseOr,
                    _ => Op::BitwiseXor,
                };
                self.zip(dtype, a, b, |w, a, b| w.out.op(instruction, of, &[a, b]))
            }
            (IrOp::Popcount, [a]) => self.map(dtype, a, |w, lane| {
                let count =
                    w.by_halves(dtype, lane, |w, bits| w.out.op(Op::BitCount, Type::Int(32), &[bits]));
                if dtype.bits == 64 { w.out.op(Op::UConvert, Type::Int(64), &[count]) } else { count }
            }),
            (IrOp::Clz, [a]) => {
                let counts = DType::INT32.with_lanes(dtype.lanes);
                self.map(counts, a, |w, lane| w.leading_zeros(dtype, lane))
            }
            _ => self.refuse(e, format!("has no {} of {dtype}", op.name())),
        }
    }

    fn bool_op(&mut self, e: &Expr, op: IrOp, args: &[Value]) -> Value {
        let instruction = match op {
            IrOp::BitwiseAnd => Op::LogicalAnd,
            IrOp::BitwiseOr => Op::LogicalOr,
            IrOp::BitwiseXor => Op::LogicalNotEqual,
            IrOp::BitwiseNot => {
                return self.map(e.dtype, &args[0], |w, a| w.out.op(Op::LogicalNot, Type::Bool, &[a]));
            }
            IrOp::Popcount | IrOp::Abs => return args[0].clone(),
            IrOp::Clz => {
                let dtype = DType::BOOL.with_lanes(e.dtype.lanes);
                let none = self.map(dtype, &args[0], |w, a| w.out.op(Op::LogicalNot, Type::Bool, &[a]));
                return self.cast(&none, e.dtype);
            }
            _ => return self.refuse(e, format!("has no {} of {}", op.name(), args[0].dtype)),
        };
        match args {
            [a, b] => self.zip(e.dtype, a, b, |w, a, b| w.out.op(instruction, Type::Bool, &[a, b])),
            _ => self.refuse(e, format!("has no {} of {} arguments", op.name(), args.len())),
        }
    }

    /// The bits of an integer as its type has them: without those that a sign extends.
    fn own_bits(&mut self, dtype: DType, lane: Word) -> Word {
        if dtype.is_int() && dtype.bits < 32 {
            let mask = self.out.word((1_u32 << dtype.bits) - 1);
            return self.out.op(Op::BitwiseAnd, Type::Int(32), &[lane, mask]);
        }
        lane
    }

    /// The sum of a count of the bits in each word of an integer.
    fn by_halves(&mut self, dtype: DType, lane: Word, count: impl Fn(&mut Self, Word) -> Word) -> Word {
        if dtype.bits < 64 {
            let bits = self.own_bits(dtype, lane);
            return count(self, bits);
        }
        let [low, high] = self.words_of(lane);
        let (low, high) = (count(self, low), count(self, high));
        self.out.op(Op::IAdd, Type::Int(32), &[low, high])
    }

    /// The number of leading zeros; of 0, the width (rule IR-N5).
    pub(super) fn leading_zeros(&mut self, dtype: DType, lane: Word) -> Word {
        // FindUMsb is the position of the highest one, and -1 of 0.
        let of = Type::Int(32);
        if dtype.bits < 64 {
            let bits = self.own_bits(dtype, lane);
            let highest = self.out.extended(GlslStd450Op::FindUMsb, of, &[bits]);
            let last = self.out.word(u32::from(dtype.bits) - 1);
            return self.out.op(Op::ISub, of, &[last, highest]);
        }
        let [low, high] = self.words_of(lane);
        let in_low = self.out.extended(GlslStd450Op::FindUMsb, of, &[low]);
        let in_high = self.out.extended(GlslStd450Op::FindUMsb, of, &[high]);
        let (zero, last, first) = (self.out.word(0), self.out.word(63), self.out.word(31));
        let after_low = self.out.op(Op::ISub, of, &[last, in_low]);
        let after_high = self.out.op(Op::ISub, of, &[first, in_high]);
        let is_low = self.out.op(Op::IEqual, Type::Bool, &[high, zero]);
        self.out.op(Op::Select, of, &[is_low, after_low, after_high])
    }

    /// The two words of a value of 64 bits, the low one first.
    pub(super) fn words_of(&mut self, lane: Word) -> [Word; 2] {
        let pair = self.out.op(Op::Bitcast, Type::Words(2), &[lane]);
        [0, 1].map(|word| self.part(pair, word, Type::Int(32)))
    }

    /// A value of 64 bits from its words, the low one first.
    pub(super) fn joined_words(&mut self, of: Type, words: [Word; 2]) -> Word {
        let pair = self.out.op(Op::CompositeConstruct, Type::Words(2), &words);
        self.out.op(Op::Bitcast, of, &[pair])
    }

    /// A member of a composite value.
    pub(super) fn part(&mut self, composite: Word, member: u32, of: Type) -> Word {
        let of = self.out.type_of(of);
        let operands = vec![super::emitter::id(composite), rspirv::dr::Operand::LiteralBit32(member)];
        self.out.compute(Op::CompositeExtract, of, operands)
    }
}

/// The value of an integer constant, or of a vector of one.
pub(super) fn constant_of(e: &Expr) -> Option<i128> {
    match &e.kind {
        chipdock_ir::ExprKind::Broadcast { value, .. } => value.as_int(),
        _ => e.as_int(),
    }
}
