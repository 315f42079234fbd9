//! Vectors: the types of OpenCL C for 2, 3, 4, 8 and 16 lanes, a structure of an array for other
//! numbers.

use chipdock_codegen_source::c_family::{NativeVectors, computed, full, is_half, mask_as, scalar};
use chipdock_codegen_source::{Answer, Code, Prelude, Refusal, Spelling, Vector};
use chipdock_ir::{DType, Op};

use super::{OpenClDialect, SPELLINGS};

/// Returns true for a number of lanes for which the language has vectors.
fn is_native(lanes: u16) -> bool {
    matches!(lanes, 2 | 3 | 4 | 8 | 16)
}

/// Returns true if a vector has the same form in memory as in variables.
pub(super) fn is_stored_as_held(dtype: DType) -> bool {
    is_native(dtype.lanes) && !dtype.is_bool() && !is_half(dtype)
}

/// A lane of a named vector; `lane` is a number, or the counter of a loop over a structure.
pub(super) fn lane(name: &str, lane: &str, lanes: u16) -> String {
    if !is_native(lanes) {
        return format!("{name}.s[{lane}]");
    }
    match lane.parse::<u32>().ok().and_then(|lane| char::from_digit(lane, 16)) {
        Some(digit) => format!("{name}.s{digit}"),
        None => format!("{name}.s{lane}"),
    }
}

impl NativeVectors for OpenClDialect {
    fn has_lanes(&self, lanes: u16) -> bool {
        is_native(lanes)
    }

    fn mask_converted(&self, mask: &Code, _: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        let to = self.vector_name(to, prelude)?;
        Ok(Code::call(&format!("convert_{to}"), std::slice::from_ref(mask)))
    }

    fn same_bits(&self, value: &Code, type_name: &str) -> Code {
        Code::call(&format!("as_{type_name}"), std::slice::from_ref(value))
    }

    fn select(&self, [mask, then, otherwise]: [Code; 3], _: [&str; 2], _: &mut Prelude) -> Code {
        Code::call("select", &[otherwise, then, mask])
    }
}

impl OpenClDialect {
    /// The vector type, defined on first use where it is a structure.
    pub(super) fn vector_name(&self, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
        let lane = if dtype.is_bool() { DType::INT8 } else { computed(dtype).scalar() };
        if lane.is_handle() {
            return Err(Refusal::new("has no vectors of pointers"));
        }
        let (element, lanes) = (scalar(self, lane)?, dtype.lanes);
        if is_native(lanes) {
            return Ok(format!("{element}{lanes}"));
        }
        let name = format!("cd_{}", full(lane.with_lanes(lanes)));
        prelude.define(&name, |_| (SPELLINGS.structures.definition)(&name, element, lanes));
        Ok(name)
    }

    /// A computation that the language supports on its own vectors; `None` for others.
    pub(super) fn own_vector(
        &self,
        computation: &Vector<'_>,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        if !is_native(dtype.lanes) {
            return None;
        }
        match computation {
            Vector::Broadcast(value) => Some(self.vector_name(dtype, prelude).map(|type_name| {
                let value = if dtype.is_bool() { Code::prefix("-", value) } else { value.clone() };
                Code::prefix(&format!("({type_name})"), &Code::primary(format!("({})", value.text)))
            })),
            Vector::Cast(value, from) if !dtype.is_bool() && computed(*from) != dtype => {
                let is_plain = !(is_half(dtype) || from.is_float() && dtype.is_integer());
                is_plain.then(|| self.converted(value, *from, dtype, prelude))
            }
            Vector::Op(op, args) => {
                let is_alike = args.iter().all(|(_, other)| *other == dtype);
                let values: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
                let function = if is_alike && !is_half(dtype) { function(*op, dtype) } else { None };
                function.map(|function| Ok(Code::call(function, &values)))
            }
            _ => None,
        }
    }

    fn converted(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        let value = if from.is_bool() {
            Code::prefix("-", &mask_as(self, value, from.lanes, 8, prelude)?)
        } else {
            value.clone()
        };
        Ok(Code::call(&format!("convert_{}", self.vector_name(to, prelude)?), &[value]))
    }
}

/// The function for an op that takes vectors as it takes scalars.
fn function(op: Op, dtype: DType) -> Option<&'static str> {
    if op == Op::Popcount && dtype.is_integer() && dtype.bits >= 32 {
        return Some("popcount");
    }
    match SPELLINGS.ops.row(op, dtype.scalar())?.spelling {
        Spelling::Call(function) => Some(function),
        _ => None,
    }
}
