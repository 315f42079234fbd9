//! Conversions between the IR's types, of any number of lanes (rule IR-N9).

use chipdock_ir::{DType, Expr, TypeCode};

use crate::constants::{float, integer, zero};
use crate::types::{is_half, mangled, register};
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    pub(crate) fn conversion(&mut self, e: &'a Expr, value: &'a Expr) -> Value {
        let operand = self.value(value);
        if operand.dtype.lanes != e.dtype.lanes {
            return self.refuse(e, format!("a cast of {} to {}", operand.dtype, e.dtype));
        }
        if operand.dtype.is_float() && e.dtype.is_handle() || operand.dtype.is_handle() && e.dtype.is_float()
        {
            return self.refuse(e, format!("has no conversion from {} to {}", operand.dtype, e.dtype));
        }
        if operand.dtype.is_int() && e.dtype.is_integer() && e.dtype.bits > operand.dtype.bits {
            // A value known not to be negative may be extended either way.
            if self.range(value).0 >= 0 {
                return self.converted("zext nneg", &operand, e.dtype);
            }
        }
        if operand.dtype.is_float() && e.dtype.is_integer() && self.truncates(value, e.dtype) {
            let operand = self.widened(&operand);
            return self.converted(if e.dtype.is_int() { "fptosi" } else { "fptoui" }, &operand, e.dtype);
        }
        self.cast(&operand, e.dtype)
    }

    /// Returns true if a float is known to be within an integer type when it is truncated.
    fn truncates(&mut self, value: &'a Expr, to: DType) -> bool {
        self.diagnostics.is_empty() && self.ranges.truncates_into(value, to)
    }

    /// Converts a value to another type with as many lanes.
    pub(crate) fn cast(&mut self, value: &Value, to: DType) -> Value {
        let from = value.dtype;
        if from == to {
            return value.clone();
        }
        if from.is_handle() || to.is_handle() {
            return self.pointer_cast(value, to);
        }
        match (from.is_float(), to.is_float()) {
            (false, false) => self.int_to_int(value, to),
            (false, true) => self.int_to_float(value, to),
            (true, false) => self.float_to_int(value, to),
            (true, true) => self.float_to_float(value, to),
        }
    }

    /// A conversion with a single instruction.
    pub(crate) fn converted(&mut self, name: &str, value: &Value, to: DType) -> Value {
        self.compute(to, format_args!("{name} {} to {}", value.typed(), register(to)))
    }

    fn pointer_cast(&mut self, value: &Value, to: DType) -> Value {
        match (value.dtype.is_handle(), to.is_handle()) {
            (true, true) => value.clone(),
            (true, false) if to.is_bool() => self.icmp("ne", value, &Value::new("null", value.dtype)),
            (true, false) => self.converted("ptrtoint", value, to),
            (false, _) => self.converted("inttoptr", value, to),
        }
    }

    fn int_to_int(&mut self, value: &Value, to: DType) -> Value {
        let from = value.dtype;
        if to.is_bool() {
            return self.icmp("ne", value, &Value::new(zero(from), from));
        }
        let bits = if from.is_bool() { 1 } else { from.bits };
        match to.bits.cmp(&bits) {
            std::cmp::Ordering::Equal => Value::new(value.text.clone(), to),
            std::cmp::Ordering::Less => self.converted("trunc", value, to),
            std::cmp::Ordering::Greater if from.is_int() => self.converted("sext", value, to),
            std::cmp::Ordering::Greater => self.converted("zext", value, to),
        }
    }

    fn int_to_float(&mut self, value: &Value, to: DType) -> Value {
        if is_half(to) {
            return self.half_from_int(value, to);
        }
        self.converted(if value.dtype.is_int() { "sitofp" } else { "uitofp" }, value, to)
    }

    /// Truncates and saturates, with 0 for a NaN; a conversion to a boolean is `!= 0`, which is
    /// true for a NaN.
    fn float_to_int(&mut self, value: &Value, to: DType) -> Value {
        let value = self.widened(value);
        let from = value.dtype;
        if to.is_bool() {
            return self.fcmp("une", &value, &float(0.0, from));
        }
        let name = if to.is_int() { "fptosi" } else { "fptoui" };
        if self.target.saturates() {
            let name = format!("llvm.{name}.sat.{}.{}", mangled(to), mangled(from));
            let callee = self.declare(&register(to), &name, &register(from));
            return self.compute(to, format_args!("call {} {callee}({})", register(to), value.typed()));
        }
        self.saturated(name, &value, to)
    }

    /// Clamps a float to the range of an integer type and converts it. The ends of the range are
    /// powers of two, or one less, which the float represents if it is wide enough; if it is not,
    /// its values from the upper end on are selected.
    fn saturated(&mut self, name: &str, value: &Value, to: DType) -> Value {
        let from = value.dtype;
        let (low, high) = to.integer_range().unwrap_or((0, 0));
        let number = |value: i128| float(value as f64, from);
        let is_number = self.fcmp("ord", value, &number(0));
        let held = self.choose(&is_number, value, &number(0));
        let is_above = self.fcmp("ogt", &held, &number(low));
        let held = self.choose(&is_above, &held, &number(low));
        let precision = if from.bits == 64 { 53 } else { 24 };
        if to.bits <= precision {
            let is_below = self.fcmp("olt", &held, &number(high));
            let held = self.choose(&is_below, &held, &number(high));
            return self.converted(name, &held, to);
        }
        let is_past = self.fcmp("oge", &held, &number(high + 1));
        // Past the end the conversion is poison, which must not reach the selection.
        let converted = self.converted(name, &held, to);
        let settled = self.compute(to, format_args!("freeze {}", converted.typed()));
        self.choose(&is_past, &integer(high, to), &settled)
    }

    fn float_to_float(&mut self, value: &Value, to: DType) -> Value {
        let from = value.dtype;
        let single = DType::FLOAT32.with_lanes(from.lanes);
        match (is_half(from), is_half(to)) {
            (true, _) => {
                let value = if from.code == TypeCode::BFloat {
                    self.single_from_bfloat16(value)
                } else {
                    self.single_from_float16(value)
                };
                self.cast(&value, to)
            }
            (false, true) if from == single => {
                if to.code == TypeCode::BFloat {
                    self.bfloat16_from_single(value)
                } else {
                    self.float16_from_single(value)
                }
            }
            (false, true) => {
                let odd = self.single_to_odd(value);
                self.cast(&odd, to)
            }
            (false, false) => {
                self.converted(if to.bits > from.bits { "fpext" } else { "fptrunc" }, value, to)
            }
        }
    }
}
