//! Prints literals: numbers that read back to the same value, strings, types, values of attributes.

use std::fmt::Write;

use serde_json::Value;

use super::Printer;
use crate::number::{float_bits, float_of_bits, round_to};
use crate::{AttrValue, Attrs, ConstantData, DType, Expr, ExprKind, Var};

/// Returns the shortest decimal text that gives `value` if it is read as a float64 and rounded to
/// `dtype`. Finite values only.
pub(crate) fn decimal(value: f64, dtype: DType) -> String {
    if dtype.bits < 64 {
        for digits in 0..17 {
            let text = format!("{value:.digits$e}");
            if let Ok(read) = text.parse::<f64>()
                && round_to(read, dtype).to_bits() == value.to_bits()
                // TVM refuses a text above the greatest value, even if it rounds down to it.
                && (read.abs() <= value.abs() || round_to(value.abs() * 1.0625, dtype).is_finite())
            {
                return format!("{read:?}");
            }
        }
    }
    format!("{value:?}")
}

/// Returns a Python string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => {
                // Writing into a string does not fail.
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            // Control and line-breaking characters would be lost or end the line in an editor.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a type as a value's annotation: `T.int32`, `T.handle("float32", "global")`.
pub(super) fn var_type(var: &Var) -> String {
    match &var.pointer {
        Some(pointer) => {
            format!("T.handle(\"{}\", {})", pointer.element, quoted(&pointer.scope.to_string()))
        }
        None => format!("T.{}", var.dtype),
    }
}

impl Printer {
    pub(super) fn int(&mut self, value: i128, dtype: DType) {
        let _ = match dtype {
            DType::INT32 => write!(self.out, "{value}"),
            DType::BOOL => write!(self.out, "T.bool({})", if value == 0 { "False" } else { "True" }),
            // TVM prints `T.int4(3)` and cannot read it.
            _ if dtype.is_sub_byte() => write!(self.out, "T.IntImm(\"{dtype}\", {value})"),
            _ => write!(self.out, "T.{dtype}({value})"),
        };
    }

    pub(super) fn float(&mut self, value: f64, dtype: DType) {
        let _ = if value.is_finite() {
            write!(self.out, "T.{dtype}({})", decimal(value, dtype))
        } else {
            write!(self.out, "T.{dtype}(\"{}\")", non_finite(value))
        };
    }

    /// Prints the bytes of a constant with the elements of the buffer that is being declared.
    pub(super) fn constant_data(&mut self, data: &ConstantData) {
        let dtype = self.elements.unwrap_or(DType::UINT8);
        let (lane, lanes) = (dtype.scalar(), usize::from(dtype.lanes.max(1)));
        // The elements that the bytes hold: of those that share a byte, as many as the buffer has.
        let held = data.bytes().len().saturating_mul(8) / usize::from(dtype.bits.max(1)) / lanes;
        let count = self.extent.map_or(held, |extent| extent.min(held));
        let of = |index: usize| data.lane(lane, index);
        self.out.push_str("T.allocate_const(");
        if (0..count * lanes).any(|index| is_odd_nan(of(index), lane)) {
            let digits: String = data.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = write!(self.out, "\"{digits}\"");
        } else {
            self.out.push('[');
            for index in 0..count * lanes {
                if self.out.len() > self.limit {
                    self.out.push_str("...");
                    break;
                }
                self.out.push_str(if index > 0 { ", " } else { "" });
                self.lane(of(index), lane);
            }
            self.out.push(']');
        }
        let _ = write!(self.out, ", \"{dtype}\", [{count}])");
    }

    fn lane(&mut self, bits: u64, dtype: DType) {
        let _ = if dtype.is_float() || dtype.is_float8() {
            let value = float_of_bits(bits, dtype);
            match value.is_finite() {
                true => write!(self.out, "{}", decimal(value, dtype)),
                false => write!(self.out, "float(\"{}\")", non_finite(value)),
            }
        } else if dtype.is_bool() {
            write!(self.out, "{}", if bits == 0 { "False" } else { "True" })
        } else {
            write!(self.out, "{}", dtype.wrap(bits.into()))
        };
    }

    pub(super) fn attrs(&mut self, attrs: &Attrs) {
        self.out.push('{');
        self.list(attrs, |p, (key, value)| {
            p.out.push_str(&quoted(key));
            p.out.push_str(": ");
            p.attr_value(value);
        });
        self.out.push('}');
    }

    pub(super) fn attr_value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::None => self.out.push_str("None"),
            AttrValue::Bool(value) => self.out.push_str(if *value { "True" } else { "False" }),
            AttrValue::Int(value) => {
                let _ = write!(self.out, "{value}");
            }
            AttrValue::Float(bits) if bits.value().is_finite() => {
                let _ = write!(self.out, "{:?}", bits.value());
            }
            AttrValue::Float(bits) => {
                let _ = write!(self.out, "float(\"{}\")", non_finite(bits.value()));
            }
            AttrValue::Str(text) => self.out.push_str(&quoted(text)),
            AttrValue::List(items) => self.deeper(|p| {
                p.out.push('[');
                p.list(items, |p, item| p.attr_value(item));
                p.out.push(']');
            }),
            AttrValue::Map(map) => self.deeper(|p| p.attrs(map)),
            AttrValue::Target(target) => {
                self.out.push_str("T.target(");
                self.json(&target.to_json());
                self.out.push(')');
            }
            AttrValue::Expr(expr) => self.attr_expr(expr),
        }
    }

    /// Prints an expression as an attribute: a constant has its type, so that it is not read as a
    /// plain value.
    fn attr_expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(value) if expr.dtype == DType::INT32 => {
                let _ = write!(self.out, "T.int32({value})");
            }
            ExprKind::Str(text) => {
                let _ = write!(self.out, "T.StringImm({})", quoted(text));
            }
            // A buffer's own pointer is printed as the buffer.
            ExprKind::Var(var) => {
                let name = self.names.var(var);
                self.out.push_str(name.strip_suffix(".data").unwrap_or(&name));
            }
            _ => self.expr(expr),
        }
    }

    /// Prints JSON as a Python literal, keys of objects in order.
    fn json(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("None"),
            Value::Bool(value) => self.out.push_str(if *value { "True" } else { "False" }),
            Value::Number(number) => self.out.push_str(&number.to_string()),
            Value::String(text) => self.out.push_str(&quoted(text)),
            Value::Array(items) => self.deeper(|p| {
                p.out.push('[');
                p.list(items, |p, item| p.json(item));
                p.out.push(']');
            }),
            Value::Object(map) => self.deeper(|p| {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                p.out.push('{');
                p.list(entries, |p, (key, value)| {
                    p.out.push_str(&quoted(key));
                    p.out.push_str(": ");
                    p.json(value);
                });
                p.out.push('}');
            }),
        }
    }
}

/// Returns true for the bits of a NaN other than the one that [`float_bits`] gives.
fn is_odd_nan(bits: u64, dtype: DType) -> bool {
    (dtype.is_float() || dtype.is_float8())
        && float_of_bits(bits, dtype).is_nan()
        && bits != float_bits(f64::NAN, dtype)
}

fn non_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    }
}
