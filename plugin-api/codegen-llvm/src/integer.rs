//! Integers: wrapping sums, guarded divisions, and operations on bits (rules LLVM-V2, IR-N1–IR-N5).

use chipdock_ir::analysis::Interval;
use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, Op};

use crate::constants::{integer, is_constant, zero};
use crate::value::Value;
use crate::writer::Writer;

/// A division or a remainder, with the ranges of its operands.
struct Division {
    op: BinaryOp,
    a: Value,
    b: Value,
    dividend: Interval,
    divisor: Interval,
}

impl<'a> Writer<'a> {
    /// A binary operator; operators on floats are written elsewhere.
    pub(crate) fn binary(&mut self, e: &'a Expr, op: BinaryOp, a: &'a Expr, b: &'a Expr) -> Value {
        let (left, right) = (self.value(a), self.value(b));
        if !self.has_type(e, left.dtype, e.dtype) || !self.has_type(e, right.dtype, e.dtype) {
            return Value::new("poison", e.dtype);
        }
        if e.dtype.is_float() {
            return self.float_binary(e, op, &left, &right);
        }
        match op {
            _ if e.dtype.is_bool() => self.bool_binary(e, op, &left, &right),
            _ if !e.dtype.is_integer() => self.refuse(e, format!("has no arithmetic of {}", e.dtype)),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                let wrap = if self.is_exact(e) { no_wrap(e.dtype) } else { "" };
                self.operation(&format!("{}{wrap}", sum_name(op)), &left, &right)
            }
            BinaryOp::Min | BinaryOp::Max => {
                let name = extreme_name(op, e.dtype);
                self.intrinsic(name, "", e.dtype, &[left, right])
            }
            BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => {
                let (dividend, divisor) = (self.range(a), self.range(b));
                self.division(Division { op, a: left, b: right, dividend, divisor })
            }
        }
    }

    /// An instruction with two operands of one type, which is also the result's.
    pub(crate) fn operation(&mut self, name: &str, a: &Value, b: &Value) -> Value {
        self.compute(a.dtype, format_args!("{name} {}, {}", a.typed(), b.text))
    }

    /// Selects `then` if a boolean, or a lane of a vector of booleans, is true, otherwise
    /// `otherwise`.
    pub(crate) fn choose(&mut self, condition: &Value, then: &Value, otherwise: &Value) -> Value {
        self.compute(
            then.dtype,
            format_args!("select {}, {}, {}", condition.typed(), then.typed(), otherwise.typed()),
        )
    }

    /// A comparison of integers, booleans or pointers: `icmp("slt", a, b)`.
    pub(crate) fn icmp(&mut self, predicate: &str, a: &Value, b: &Value) -> Value {
        let dtype = DType::BOOL.with_lanes(a.dtype.lanes);
        self.compute(dtype, format_args!("icmp {predicate} {}, {}", a.typed(), b.text))
    }

    /// Arithmetic on booleans as in the interpreter: every result other than 0 is true.
    fn bool_binary(&mut self, e: &Expr, op: BinaryOp, a: &Value, b: &Value) -> Value {
        match op {
            BinaryOp::Add | BinaryOp::Max => self.operation("or", a, b),
            BinaryOp::Mul | BinaryOp::Min => self.operation("and", a, b),
            BinaryOp::Sub => self.operation("xor", a, b),
            _ => self.refuse(e, "has no division of booleans; cast them to an integer type"),
        }
    }

    // -- division ---------------------------------------------------------------------------------

    fn division(&mut self, d: Division) -> Value {
        let is_quotient = matches!(d.op, BinaryOp::Div | BinaryOp::FloorDiv);
        let is_floor = matches!(d.op, BinaryOp::FloorDiv | BinaryOp::FloorMod);
        let dtype = d.a.dtype;
        if dtype.is_uint() || d.dividend.0 >= 0 && d.divisor.0 >= 1 {
            let b = if d.divisor.0 >= 1 { d.b.clone() } else { self.at_least_one(&d.b) };
            return self.quotient(is_quotient, false, &d.a, &b);
        }
        if is_floor && d.divisor.0 >= 1 {
            return self.floor_by_positive(is_quotient, &d);
        }
        let b = self.safe_divisor(&d);
        if !is_floor {
            return self.quotient(is_quotient, true, &d.a, &b);
        }
        // Rounded down if the remainder and the divisor differ in sign.
        let remainder = self.quotient(false, true, &d.a, &b);
        let signs = self.operation("xor", &remainder, &b);
        let none = Value::new(zero(dtype), dtype);
        let differ = self.icmp("slt", &signs, &none);
        let rest = self.icmp("ne", &remainder, &none);
        let is_below = self.operation("and", &differ, &rest);
        if !is_quotient && !dtype.is_scalar() {
            let correction = self.choose(&is_below, &b, &none);
            return self.operation("add", &remainder, &correction);
        }
        let quotient = self.quotient(true, true, &d.a, &b);
        let one = self.sign_extended(&is_below, dtype);
        let quotient = self.operation("add", &quotient, &one);
        if is_quotient {
            return quotient;
        }
        // Not with a select: for unpredictable signs, LLVM would turn it into a jump.
        let product = self.operation("mul", &quotient, &b);
        self.operation("sub", &d.a, &product)
    }

    /// Division by a positive divisor, rounded down: `~(~a / b)` for a negative dividend, without a
    /// remainder.
    fn floor_by_positive(&mut self, is_quotient: bool, d: &Division) -> Value {
        let dtype = d.a.dtype;
        let is_power = d.divisor.0 == d.divisor.1 && (d.divisor.0 & (d.divisor.0 - 1)) == 0;
        if is_power && is_quotient {
            let shift = integer(d.divisor.0.trailing_zeros().into(), dtype);
            return self.operation("ashr", &d.a, &shift);
        }
        if is_power {
            let mask = integer(d.divisor.0 - 1, dtype);
            return self.operation("and", &d.a, &mask);
        }
        let sign = self.operation("ashr", &d.a, &integer(i128::from(dtype.bits) - 1, dtype));
        let folded = self.operation("xor", &d.a, &sign);
        let quotient = self.quotient(true, false, &folded, &d.b);
        let quotient = self.operation("xor", &quotient, &sign);
        if is_quotient {
            return quotient;
        }
        let product = self.operation("mul", &quotient, &d.b);
        self.operation("sub", &d.a, &product)
    }

    /// A divisor that cannot fail: 1 if the quotient is the dividend (rule IR-N2). The remainder
    /// uses the same one, so that both need only one division.
    fn safe_divisor(&mut self, d: &Division) -> Value {
        let dtype = d.a.dtype;
        let least = dtype.integer_range().map_or(0, |range| range.0);
        let may_be_zero = d.divisor.0 <= 0 && d.divisor.1 >= 0;
        let may_overflow = d.divisor.0 <= -1 && d.divisor.1 >= -1 && d.dividend.0 <= least;
        let (none, one) = (integer(0, dtype), integer(1, dtype));
        let mut bad = may_be_zero.then(|| self.icmp("eq", &d.b, &none));
        if may_overflow {
            let (negative, lowest) = (integer(-1, dtype), integer(least, dtype));
            let (by, of) = (self.icmp("eq", &d.b, &negative), self.icmp("eq", &d.a, &lowest));
            let overflow = self.operation("and", &by, &of);
            bad = Some(match bad {
                Some(zero) => self.operation("or", &zero, &overflow),
                None => overflow,
            });
        }
        let Some(bad) = bad else { return d.b.clone() };
        self.choose(&bad, &one, &d.b)
    }

    fn at_least_one(&mut self, b: &Value) -> Value {
        self.intrinsic("umax", "", b.dtype, &[b.clone(), integer(1, b.dtype)])
    }

    /// A division that cannot fail.
    fn quotient(&mut self, is_quotient: bool, is_signed: bool, a: &Value, b: &Value) -> Value {
        if a.dtype.lanes > 1 && a.dtype.bits <= 32 && !is_constant(b) {
            let quotient = self.quotient_by_floats(a, b);
            if is_quotient {
                return quotient;
            }
            let product = self.operation("mul", &quotient, b);
            return self.operation("sub", a, &product);
        }
        let name = match (is_quotient, is_signed) {
            (true, true) => "sdiv",
            (true, false) => "udiv",
            (false, true) => "srem",
            (false, false) => "urem",
        };
        self.operation(name, a, b)
    }

    /// Divides vectors of integers as floats, for which processors have vector instructions. For
    /// n-bit integers a quotient that is not whole differs from the next whole number by more than
    /// 2^-n of itself, so that a float of more than n bits does not round it to that number.
    fn quotient_by_floats(&mut self, a: &Value, b: &Value) -> Value {
        let scalar = if a.dtype.bits <= 16 { DType::FLOAT32 } else { DType::FLOAT64 };
        let wide = scalar.with_lanes(a.dtype.lanes);
        let (dividend, divisor) = (self.cast(a, wide), self.cast(b, wide));
        let quotient = self.operation("fdiv", &dividend, &divisor);
        self.converted(if a.dtype.is_int() { "fptosi" } else { "fptoui" }, &quotient, a.dtype)
    }

    // -- bits -------------------------------------------------------------------------------------

    /// A shift by an amount modulo the width (rule IR-N4).
    pub(crate) fn shift(&mut self, e: &'a Expr, op: Op, a: &'a Expr, b: &'a Expr) -> Value {
        let (value, mut amount) = (self.value(a), self.value(b));
        if !self.has_type(e, value.dtype, e.dtype) || !self.has_type(e, amount.dtype, e.dtype) {
            return Value::new("poison", e.dtype);
        }
        if !e.dtype.is_integer() {
            return self.refuse(e, format!("has no {} of {}", op.name(), e.dtype));
        }
        let (width, range) = (i128::from(e.dtype.bits), self.range(b));
        if range.0 == range.1 {
            amount = integer(range.0.rem_euclid(width), e.dtype);
        } else if range.0 < 0 || range.1 >= width {
            amount = self.operation("and", &amount, &integer(width - 1, e.dtype));
        }
        let name = match op {
            Op::ShiftLeft => "shl",
            _ if e.dtype.is_int() => "ashr",
            _ => "lshr",
        };
        self.operation(name, &value, &amount)
    }

    /// The absolute value; for the least integer, itself (rule IR-N5).
    pub(crate) fn int_abs(&mut self, value: Value) -> Value {
        if !value.dtype.is_int() {
            return value;
        }
        self.with_flag("abs", &value)
    }

    /// Number of leading zeros as int32; for 0, the width.
    pub(crate) fn leading_zeros(&mut self, value: &Value) -> Value {
        if value.dtype.is_bool() {
            let none = self.operation("xor", value, &integer(1, value.dtype));
            return self.cast(&none, DType::INT32.with_lanes(value.dtype.lanes));
        }
        let count = self.with_flag("ctlz", value);
        // A count is not negative, whatever the type of the counted value.
        let unsigned = Value::new(count.text, unsigned(count.dtype));
        self.cast(&unsigned, DType::INT32.with_lanes(value.dtype.lanes))
    }

    /// Calls an intrinsic whose second argument makes one special value poison; that is not used
    /// here.
    fn with_flag(&mut self, name: &str, value: &Value) -> Value {
        let llvm_type = crate::types::register(value.dtype);
        let name = format!("llvm.{name}.{}", crate::types::mangled(value.dtype));
        let callee = self.declare(&llvm_type, &name, &format!("{llvm_type}, i1 immarg"));
        self.compute(value.dtype, format_args!("call {llvm_type} {callee}({}, i1 false)", value.typed()))
    }

    // -- positions --------------------------------------------------------------------------------

    /// An index as an exact int64 (rule LLVM-V3); for a vector, one for each lane.
    pub(crate) fn position(&mut self, e: &'a Expr) -> Value {
        let wide = DType::INT64.with_lanes(e.dtype.lanes);
        if !e.dtype.is_integer() || e.dtype == wide && !self.is_position(e) {
            return self.position_of_value(e, wide);
        }
        let key = (e.address(), true);
        if let Some(known) = self.known(key) {
            return known;
        }
        let before = self.effects;
        self.depth += 1;
        let value = self.exact(e, wide);
        self.depth -= 1;
        if self.effects == before && self.depth <= crate::DEPTH_MAX {
            self.remember(key, &value);
        }
        value
    }

    fn is_position(&mut self, e: &'a Expr) -> bool {
        self.diagnostics.is_empty() && self.positions.contains(e)
    }

    fn exact(&mut self, e: &'a Expr, wide: DType) -> Value {
        if self.depth > crate::DEPTH_MAX {
            return self.position_of_value(e, wide);
        }
        match &e.kind {
            ExprKind::Int(value) => integer(*value, wide),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b)
                if a.dtype == e.dtype && b.dtype == e.dtype && (self.is_exact(e) || self.is_position(e)) =>
            {
                let (a, b) = (self.position(a), self.position(b));
                self.operation(&format!("{} nsw", sum_name(*op)), &a, &b)
            }
            ExprKind::Cast(value)
                if chipdock_ir::analysis::holds(e.dtype, value.dtype)
                    && value.dtype.is_integer()
                    && value.dtype.lanes == e.dtype.lanes =>
            {
                self.position(value)
            }
            ExprKind::Broadcast { value, .. } if value.dtype == e.dtype.scalar() => {
                let value = self.position(value);
                self.in_every_lane(&value, wide)
            }
            ExprKind::Ramp { base, stride, lanes }
                if base.dtype == e.dtype.scalar()
                    && stride.dtype == base.dtype
                    && *lanes == e.dtype.lanes
                    && (self.is_exact(e) || self.is_position(base) && self.is_position(stride)) =>
            {
                let (base, stride) = (self.position(base), self.position(stride));
                self.steps(&base, &stride, wide, true)
            }
            _ => self.position_of_value(e, wide),
        }
    }

    /// The value as the IR defines it, extended to the wide type.
    fn position_of_value(&mut self, e: &'a Expr, wide: DType) -> Value {
        let value = self.value(e);
        if value.dtype == wide {
            return value;
        }
        if !e.dtype.is_integer() {
            return self.refuse_index(e, wide);
        }
        let is_low = self.range(e).0 >= 0 && !matches!(e.kind, ExprKind::Var(_));
        match (e.dtype.bits, e.dtype.is_uint()) {
            (64, _) => Value::new(value.text, wide),
            (_, true) => self.widen("zext", &value, wide),
            (_, false) if is_low => self.widen("zext nneg", &value, wide),
            _ => self.widen("sext", &value, wide),
        }
    }

    fn refuse_index(&mut self, e: &Expr, wide: DType) -> Value {
        self.refuse(e, format!("expected an integer as an index, found {}", e.dtype));
        Value::new("poison", wide)
    }

    fn widen(&mut self, name: &str, value: &Value, wide: DType) -> Value {
        self.compute(wide, format_args!("{name} {} to {}", value.typed(), crate::types::register(wide)))
    }

    // -- comparisons ------------------------------------------------------------------------------

    /// A comparison of integers, booleans or pointers.
    pub(crate) fn int_compare(&mut self, op: CompareOp, a: &Value, b: &Value) -> Value {
        let is_signed = a.dtype.is_int();
        let predicate = match (op, is_signed) {
            (CompareOp::Eq, _) => "eq",
            (CompareOp::Ne, _) => "ne",
            (CompareOp::Lt, true) => "slt",
            (CompareOp::Le, true) => "sle",
            (CompareOp::Gt, true) => "sgt",
            (CompareOp::Ge, true) => "sge",
            (CompareOp::Lt, false) => "ult",
            (CompareOp::Le, false) => "ule",
            (CompareOp::Gt, false) => "ugt",
            (CompareOp::Ge, false) => "uge",
        };
        self.icmp(predicate, a, b)
    }
}

/// The unsigned type of a width.
pub(crate) fn unsigned(dtype: DType) -> DType {
    DType { code: chipdock_ir::TypeCode::UInt, ..dtype }
}

fn sum_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        _ => "add",
    }
}

/// The flag for a sum that does not wrap.
pub(crate) fn no_wrap(dtype: DType) -> &'static str {
    if dtype.is_int() { " nsw" } else { " nuw" }
}

fn extreme_name(op: BinaryOp, dtype: DType) -> &'static str {
    match (op, dtype.is_int()) {
        (BinaryOp::Min, true) => "smin",
        (BinaryOp::Min, false) => "umin",
        (_, true) => "smax",
        (_, false) => "umax",
    }
}
