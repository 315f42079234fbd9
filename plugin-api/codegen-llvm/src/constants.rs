//! Constants, spelled so that LLVM reads the exact bits.

use chipdock_ir::{DType, Expr, ExprKind, TypeCode, number};
use half::{bf16, f16};

use crate::types;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// An integer, boolean, float or null pointer; for a vector, the same value in each lane.
    pub(crate) fn constant(&mut self, e: &'a Expr) -> Value {
        match &e.kind {
            ExprKind::Int(0) if e.dtype.is_handle() => Value::new("null", e.dtype),
            ExprKind::Int(value) if e.dtype.integer_range().is_some() => integer(*value, e.dtype),
            ExprKind::Float(value) if e.dtype.is_float() => float(value.value(), e.dtype),
            _ => self.refuse(e, format!("has no such constant of type {}", e.dtype)),
        }
    }
}

/// An integer or a boolean, wrapped into its type, in every lane.
pub(crate) fn integer(value: i128, dtype: DType) -> Value {
    let value = dtype.scalar().wrap(value);
    let text = match (dtype.is_bool(), value) {
        (true, 0) => "false".to_owned(),
        (true, _) => "true".to_owned(),
        (false, _) => value.to_string(),
    };
    every_lane(&text, dtype)
}

/// A float, rounded into its type, in every lane; halves are represented by the integers of their
/// bits (rule LLVM-V4).
pub(crate) fn float(value: f64, dtype: DType) -> Value {
    let value = number::round_to(value, dtype.scalar());
    let text = match (dtype.code, dtype.bits) {
        (TypeCode::BFloat, _) => bf16::from_f64(value).to_bits().to_string(),
        (_, 16) => f16::from_f64(value).to_bits().to_string(),
        // LLVM writes a float32 as the bits of the float64 that has its value.
        _ => format!("0x{:016X}", value.to_bits()),
    };
    every_lane(&text, dtype)
}

/// The value whose bits are all zero: 0, false, +0.0, null.
pub(crate) fn zero(dtype: DType) -> &'static str {
    match dtype.code {
        _ if dtype.lanes != 1 => "zeroinitializer",
        TypeCode::Bool => "false",
        TypeCode::Handle => "null",
        TypeCode::Float if dtype.bits > 16 => "0.0",
        _ => "0",
    }
}

/// An operand with a scalar constant in every lane.
pub(crate) fn every_lane(text: &str, dtype: DType) -> Value {
    if dtype.lanes == 1 {
        return Value::new(text, dtype);
    }
    Value::new(format!("splat ({} {text})", types::register(dtype.scalar())), dtype)
}

/// A vector constant with the given lanes.
pub(crate) fn vector(lanes: impl IntoIterator<Item = i128>, dtype: DType) -> Value {
    let scalar = dtype.scalar();
    let lanes: Vec<String> = lanes.into_iter().map(|lane| integer(lane, scalar).typed()).collect();
    Value::new(format!("<{}>", lanes.join(", ")), dtype)
}

/// Returns true if the operand is a constant.
pub(crate) fn is_constant(value: &Value) -> bool {
    !value.text.starts_with('%') && value.text != "poison"
}
