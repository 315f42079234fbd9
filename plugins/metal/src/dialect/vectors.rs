//! Vectors of 2, 3 and 4 lanes, with MSL's operators and functions.

use chipdock_codegen_source::c_family::{CFamily as _, scalar};
use chipdock_codegen_source::{Answer, Code, Infix, Refusal, Vector, shuffled};
use chipdock_ir::{DType, StorageScope};

use super::{MslDialect, one};

/// Returns true for types with packed vectors in MSL, whose values have the same form as memory.
pub(super) fn is_packed(dtype: DType) -> bool {
    matches!(dtype.lanes, 2..=4)
        && (dtype.is_integer() && dtype.bits <= 32 || dtype.scalar() == DType::FLOAT32)
}

impl MslDialect {
    /// The type of a value with a number of lanes that MSL supports.
    pub(super) fn vector_name(&self, dtype: DType) -> Answer<String> {
        let scalar = scalar(self, dtype)?;
        match dtype.lanes {
            1 => Ok(scalar.to_owned()),
            lanes @ 2..=4 => Ok(format!("{scalar}{lanes}")),
            lanes => {
                Err(Refusal::new(format!("has no vectors of {lanes} lanes ({dtype}); it has 2, 3 and 4")))
            }
        }
    }

    /// A computation that the language supports on vectors; `None` for others, which are computed
    /// lane by lane.
    pub(super) fn own_vector(&self, computation: &Vector<'_>, dtype: DType) -> Option<Answer<Code>> {
        let type_name = match self.vector_name(dtype) {
            Ok(type_name) => type_name,
            Err(refusal) => return Some(Err(refusal)),
        };
        Some(Ok(match computation {
            Vector::Broadcast(value) => one(&type_name, value),
            Vector::Binary(op, a, b) if dtype.scalar() == DType::FLOAT32 => {
                Code::infix(Infix::of(*op)?, a, b)
            }
            Vector::Compare(op, a, b, operand) if !operand.is_bool() => {
                Code::infix(Infix::of_comparison(*op), a, b)
            }
            Vector::And(a, b) => Code::infix(Infix::And, a, b),
            Vector::Or(a, b) => Code::infix(Infix::Or, a, b),
            Vector::Not(a) => Code::not(a),
            Vector::Select(condition, then, otherwise) => {
                Code::call("select", &[otherwise.clone(), then.clone(), condition.clone()])
            }
            Vector::Cast(value, from) if *from == dtype => value.clone(),
            Vector::Shuffle(vectors, indices) => {
                return Some(shuffled(vectors, indices, dtype, |lanes| Ok(Code::call(&type_name, lanes))));
            }
            _ => return None,
        }))
    }

    pub(super) fn packed_load(&self, pointer: &Code, dtype: DType, scope: &StorageScope) -> Answer<Code> {
        let (space, vector) = (self.space(scope)?, self.vector_name(dtype)?);
        let pointer = Code::prefix(&format!("(const {space} packed_{vector}*)"), pointer);
        Ok(one(&vector, &Code::prefix("*", &pointer)))
    }

    pub(super) fn packed_store(
        &self,
        pointer: &Code,
        value: &Code,
        dtype: DType,
        scope: &StorageScope,
    ) -> Answer<String> {
        let (space, packed) = (self.space(scope)?, format!("packed_{}", self.vector_name(dtype)?));
        let pointer = Code::prefix(&format!("({space} {packed}*)"), pointer);
        Ok(format!("{} = {packed}({});", Code::prefix("*", &pointer).text, value.text))
    }
}
