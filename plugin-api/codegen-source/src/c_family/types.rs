//! Types: their representation and their spellings.

use chipdock_ir::{DType, TypeCode};

use super::{CFamily, Spellings};
use crate::Answer;

/// The abbreviation of a scalar type in names of helpers: `i32`, `bf16`.
#[must_use]
pub fn short(dtype: DType) -> &'static str {
    match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => "bool",
        (TypeCode::Int, 8) => "i8",
        (TypeCode::Int, 16) => "i16",
        (TypeCode::Int, 32) => "i32",
        (TypeCode::Int, _) => "i64",
        (TypeCode::UInt, 8) => "u8",
        (TypeCode::UInt, 16) => "u16",
        (TypeCode::UInt, 32) => "u32",
        (TypeCode::UInt, _) => "u64",
        (TypeCode::Float, 64) => "f64",
        (TypeCode::Float, 16) => "f16",
        (TypeCode::BFloat, _) => "bf16",
        (TypeCode::Float, _) => "f32",
        // Lowered before code generation.
        (TypeCode::Float8E4M3Fn | TypeCode::Float8E5M2, _) => "f8",
        (TypeCode::Handle, _) => "ptr",
    }
}

/// The abbreviation of a vector type in names of helpers: `i32x4`.
#[must_use]
pub fn full(dtype: DType) -> String {
    format!("{}x{}", short(dtype), dtype.lanes)
}

/// Returns true for floats of 16 bits, which are represented by floats of 32.
#[must_use]
pub fn is_half(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits == 16
}

/// The type in which a value is represented and computed: float32 for halves.
#[must_use]
pub fn computed(dtype: DType) -> DType {
    if is_half(dtype) { DType::FLOAT32.with_lanes(dtype.lanes) } else { dtype }
}

/// The unsigned integer type with as many bits and lanes.
#[must_use]
pub fn unsigned(dtype: DType) -> DType {
    let scalar = match dtype.bits {
        8 => DType::UINT8,
        16 => DType::UINT16,
        32 => DType::UINT32,
        _ => DType::UINT64,
    };
    scalar.with_lanes(dtype.lanes)
}

/// The unsigned type in which sums of scalars of a type wrap: at least 32 bits, since narrower
/// types are promoted to `int`.
#[must_use]
pub fn wrapping(dtype: DType) -> DType {
    crate::ops::unsigned_of(dtype)
}

impl Spellings {
    /// The type of an element in memory; `None` if it is not supported. Halves are unsigned
    /// integers.
    #[must_use]
    pub fn memory(&self, dtype: DType) -> Option<&'static str> {
        let place = match dtype.bits {
            8 => 0,
            16 => 1,
            32 => 2,
            _ => 3,
        };
        match (dtype.code, dtype.bits) {
            (TypeCode::Bool, _) => Some(self.unsigned[0]),
            (TypeCode::Float | TypeCode::BFloat, 16) => Some(self.unsigned[1]),
            (TypeCode::UInt, 8 | 16 | 32 | 64) => Some(self.unsigned[place]),
            (TypeCode::Int, 8 | 16 | 32 | 64) => Some(self.signed[place]),
            (TypeCode::Float, 32) => Some("float"),
            (TypeCode::Float, 64) => self.float64,
            (TypeCode::Handle, _) => self.handle,
            _ => None,
        }
    }
}

/// The type of a scalar in variables and expressions.
///
/// # Errors
///
/// A type that the language does not support.
pub fn scalar<L: CFamily>(language: &L, dtype: DType) -> Answer<&'static str> {
    match dtype.code {
        TypeCode::Bool => Ok("bool"),
        _ if is_half(dtype) => Ok("float"),
        _ => language.memory_type(dtype.scalar()),
    }
}
