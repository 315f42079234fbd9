//! Values: the ids of a value's lanes, and the types that hold them in registers.

use chipdock_ir::{DType, TypeCode};
use rspirv::spirv::Word;

use super::emitter::Type;

/// A value: one id for each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) dtype: DType,
    pub(super) lanes: Vec<Word>,
}

impl Value {
    pub(super) fn one(dtype: DType, lane: Word) -> Self {
        Self { dtype, lanes: vec![lane] }
    }

    /// The only lane of a scalar, or the first one.
    pub(super) fn first(&self) -> Word {
        self.lanes.first().copied().unwrap_or_default()
    }
}

/// The type that holds a lane in a register: integers of fewer than 32 bits are held in 32,
/// extended by their sign.
pub(super) fn register(dtype: DType) -> Type {
    match (dtype.code, dtype.bits) {
        (TypeCode::Bool, _) => Type::Bool,
        (TypeCode::Float, bits @ (16 | 32 | 64)) => Type::Float(bits.into()),
        (TypeCode::Int | TypeCode::UInt, 64) => Type::Int(64),
        _ => Type::Int(32),
    }
}

/// The type of a scalar that this generator computes with.
pub(super) fn is_known(dtype: DType) -> bool {
    DType::SCALARS.contains(&dtype.scalar()) && dtype.scalar() != DType::BFLOAT16
}
