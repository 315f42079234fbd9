//! Vectors: GNU vector types of gcc and clang, with a power of two of lanes.
//!
//! A vector of 3 lanes is represented by one of 4 whose last lane is never stored. A computation without an operator is
//! a helper with a loop over the lanes, which compilers vectorize.

use chipdock_codegen_source::c_family::{LaneAccess, NativeVectors, computed, full, is_half, lane_of, short};
use chipdock_codegen_source::{Answer, Code, Expressions as _, Prelude, Refusal, Vector, word_of};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op, TypeCode};

use super::{CDialect, HELPER, SPELLINGS};

/// Number of lanes of the C type.
fn c_lanes(lanes: u16) -> u32 {
    u32::from(lanes).next_power_of_two()
}

/// The type that represents one lane, an 8-bit integer for booleans and float for halves, and its name.
fn lane(dtype: DType) -> Answer<(DType, &'static str)> {
    let lane = if dtype.is_bool() { DType::INT8 } else { computed(dtype).scalar() };
    let name = SPELLINGS.memory(lane).filter(|_| !lane.is_handle());
    Ok((lane, name.ok_or_else(|| Refusal::new(format!("has no vectors of {lane}")))?))
}

/// The vector type, defined on first use.
pub(super) fn vector_type(dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    let ((lane, element), lanes) = (lane(dtype)?, c_lanes(dtype.lanes));
    let name = format!("{}x{lanes}", short(lane));
    let size_bytes = lane.lane_size_bytes() * lanes as usize;
    prelude
        .define(&name, |_| format!("typedef {element} {name} __attribute__((vector_size({size_bytes})));\n"));
    Ok(name)
}

/// The same vector type in memory: aligned to an element only, and allowed to alias any type.
pub(super) fn unaligned_type(dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    let name = format!("{}_u", vector_type(dtype, prelude)?);
    let ((lane, element), lanes) = (lane(dtype)?, c_lanes(dtype.lanes) as usize);
    let (size_bytes, alignment) = (lane.lane_size_bytes() * lanes, lane.lane_size_bytes());
    prelude.define(&name, |_| {
        format!(
            "typedef {element} {name} __attribute__((vector_size({size_bytes}), aligned({alignment}), may_alias));\n"
        )
    });
    Ok(name)
}

/// Returns true if a vector has the same form in memory as in the C type.
pub(super) fn is_stored_as_held(dtype: DType) -> bool {
    !dtype.is_bool() && !is_half(dtype) && c_lanes(dtype.lanes) == u32::from(dtype.lanes)
}

/// The end of a function that returns the array `r` as a vector.
fn returned(type_name: &str) -> String {
    format!("    {type_name} v;\n    __builtin_memcpy(&v, r, sizeof(v));\n    return v;\n")
}

/// What keeps a loop over lanes from being unrolled, because gcc would not vectorize the result.
const KEPT: &str = "#pragma GCC unroll 1\n";

/// The body of a helper that loads the lanes of a vector, and no further elements.
pub(super) fn lanes_loaded(
    dialect: &CDialect,
    access: &LaneAccess<'_>,
    prelude: &mut Prelude,
) -> Answer<String> {
    let (lanes, (_, element)) = (access.dtype.lanes, lane(access.dtype)?);
    let value = lane_of(dialect, access.lane_loaded(dialect, "l", prelude), access.dtype).text;
    let condition = access.mask(dialect, "l").map_or(String::new(), |mask| format!("if ({}) ", mask.text));
    let kept = if access.is_masked { KEPT } else { "" };
    Ok(format!(
        "    {element} r[{}] = {{0}};\n{kept}    for (int l = 0; l < {lanes}; ++l) {{\n        \
         {condition}r[l] = {value};\n    }}\n{}",
        c_lanes(lanes),
        returned(access.vector)
    ))
}

/// The body of a helper that stores the lanes of a vector that its mask has.
pub(super) fn lanes_stored(dialect: &CDialect, access: &LaneAccess<'_>, prelude: &mut Prelude) -> String {
    let (lanes, line) = (access.dtype.lanes, access.lane_stored(dialect, "l", prelude));
    format!("{KEPT}    for (int l = 0; l < {lanes}; ++l) {{\n        {line}\n    }}\n")
}

/// The body of a function that computes lanes, including those that are never stored. It uses an array because gcc 12
/// turns true into -1 if the lanes of a vector are assigned in a loop of two.
pub(super) fn lanes_returned(dtype: DType, type_name: &str, value: &str) -> Answer<String> {
    let ((_, element), lanes) = (lane(dtype)?, c_lanes(dtype.lanes));
    Ok(format!(
        "    {element} r[{lanes}];\n{KEPT}    for (int l = 0; l < {lanes}; ++l) {{\n        \
         r[l] = {value};\n    }}\n{}",
        returned(type_name)
    ))
}

impl NativeVectors for CDialect {
    fn has_lanes(&self, _: u16) -> bool {
        true
    }

    fn mask_converted(&self, mask: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        let name = format!("cd_mask{}x{}_of_mask{}", to.bits, to.lanes, from.bits);
        let (from, ret) = (vector_type(from, prelude)?, vector_type(to, prelude)?);
        let body = lanes_returned(to, &ret, "a[l]")?;
        prelude.define(&name, |_| format!("{HELPER} {ret} {name}({from} a) {{\n{body}}}\n"));
        Ok(Code::call(&name, std::slice::from_ref(mask)))
    }

    fn same_bits(&self, value: &Code, type_name: &str) -> Code {
        Code::prefix(&format!("({type_name})"), value)
    }

    fn compared(&self, comparison: Code, mask: &str) -> Code {
        self.same_bits(&comparison, mask)
    }

    fn select(&self, args: [Code; 3], [own, mask]: [&str; 2], prelude: &mut Prelude) -> Code {
        let name = format!("cd_select_{own}");
        prelude.define(&name, |_| {
            format!(
                "{HELPER} {own} {name}({mask} m, {own} a, {own} b) {{\n    \
                 return ({own})((m & ({mask})a) | (~m & ({mask})b));\n}}\n"
            )
        });
        Code::call(&name, &args)
    }
}

impl CDialect {
    /// A computation that is better not written lane by lane; `None` for others.
    pub(super) fn own_vector(
        &self,
        computation: &Vector<'_>,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Option<Answer<Code>> {
        match computation {
            Vector::Broadcast(value) => Some(broadcast(value, dtype, prelude)),
            Vector::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) if !dtype.is_bool() => {
                Some(self.extreme(*op, a, b, dtype, prelude))
            }
            Vector::Cast(value, from) if is_converted(*from, dtype) => Some(converted(value, dtype, prelude)),
            Vector::Op(op, args) => own_op(*op, args, dtype, prelude),
            _ => None,
        }
    }

    /// Minimum or maximum by comparison and selection: gcc compiles a loop over the lanes to one instruction per lane.
    fn extreme(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let type_name = vector_type(dtype, prelude)?;
        let name = format!("cd_{}_{}", word_of(op), full(dtype));
        if !prelude.contains(&name) {
            let (x, y) = (Code::primary("a"), Code::primary("b"));
            let order = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
            let less = Vector::Compare(order, x.clone(), y.clone(), dtype);
            let mask = self.vector(less, DType::BOOL.with_lanes(dtype.lanes), prelude)?;
            let value = self.vector(Vector::Select(mask, x, y), dtype, prelude)?.text;
            prelude.define(&name, |_| {
                format!(
                    "{HELPER} {type_name} {name}({type_name} a, {type_name} b) {{\n    return {value};\n}}\n"
                )
            });
        }
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
    }
}

/// Returns true if a conversion of a vector has the IR's meaning where the compiler's own has one.
fn is_converted(from: DType, to: DType) -> bool {
    let is_number = |dtype: DType| !dtype.is_bool() && !is_half(dtype) && !dtype.is_handle();
    is_number(from) && is_number(to) && !(from.is_float() && to.is_integer())
}

fn converted(value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let type_name = Code::primary(vector_type(dtype, prelude)?);
    Ok(Code::call("__builtin_convertvector", &[value.clone(), type_name]))
}

/// Ops on the bits of numbers, with operators: an array in between costs a passage through memory if its elements are not
/// written by as many at a time as they are read by.
fn own_op(op: Op, args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Option<Answer<Code>> {
    let is_number = |dtype: DType| !dtype.is_bool() && !is_half(dtype) && !dtype.is_handle();
    if !is_number(dtype) || args.iter().any(|(_, from)| !is_number(*from) || from.lanes != dtype.lanes) {
        return None;
    }
    let codes: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
    match (op, args) {
        (Op::Reinterpret, [(value, from)]) if from.bits == dtype.bits => {
            Some(vector_type(dtype, prelude).map(|to| Code::prefix(&format!("({to})"), value)))
        }
        (Op::Abs, [_]) | (Op::Copysign, [_, _]) if dtype.is_float() => Some(signed(&codes, dtype, prelude)),
        (Op::ShiftLeft | Op::ShiftRight, [(_, from), (_, count)])
            if dtype.is_uint() && *from == dtype && *count == dtype =>
        {
            Some(shifted(op, &codes, dtype, prelude))
        }
        _ => None,
    }
}

/// The magnitude of a vector of floats, with the signs of another if there is one.
fn signed(args: &[Code], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let own = vector_type(dtype, prelude)?;
    let bits = vector_type(DType { code: TypeCode::UInt, ..dtype }, prelude)?;
    let sign = if dtype.bits == 64 { "0x8000000000000000ULL" } else { "0x80000000u" };
    let has_sign = args.len() > 1;
    let name = format!("cd_{}_{own}", if has_sign { "copysign" } else { "abs" });
    prelude.define(&name, |_| {
        let (param, more) = if has_sign {
            (format!(", {own} b"), format!(" | (({bits})b & {sign})"))
        } else {
            Default::default()
        };
        format!(
            "{HELPER} {own} {name}({own} a{param}) {{\n    return ({own})((({bits})a & ~{sign}){more});\n}}\n"
        )
    });
    Ok(Code::call(&name, args))
}

fn shifted(op: Op, args: &[Code], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let own = vector_type(dtype, prelude)?;
    let (name, operator) = (format!("cd_{}_{own}", op.name()), if op == Op::ShiftLeft { "<<" } else { ">>" });
    let last = dtype.bits - 1;
    prelude.define(&name, |_| {
        format!("{HELPER} {own} {name}({own} a, {own} b) {{\n    return a {operator} (b & {last});\n}}\n")
    });
    Ok(Code::call(&name, args))
}

fn broadcast(value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let type_name = vector_type(dtype, prelude)?;
    if matches!(value.text.as_str(), "0" | "0u" | "0LL" | "0ULL" | "0.0" | "0.0f" | "false") {
        return Ok(Code::primary(format!("({type_name}){{0}}")));
    }
    let name = format!("cd_splat_{type_name}");
    let ((_, element), lanes) = (lane(dtype)?, c_lanes(dtype.lanes) as usize);
    prelude.define(&name, |_| {
        let all = vec!["x"; lanes].join(", ");
        format!("{HELPER} {type_name} {name}({element} x) {{\n    return ({type_name}){{{all}}};\n}}\n")
    });
    let value = if dtype.is_bool() { Code::prefix("-", value) } else { value.clone() };
    Ok(Code::call(&name, &[value]))
}
