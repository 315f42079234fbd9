//! Vectors: GNU vector types of gcc and clang, with a power of two of lanes.
//!
//! A vector of 3 lanes is represented by one of 4 whose last lane is never stored. A computation
//! without an operator is a helper with a loop over the lanes, which compilers vectorize.

use chipdock_codegen_source::c_family::{LaneAccess, NativeVectors, computed, full, is_half, lane_of, short};
use chipdock_codegen_source::{Answer, Code, Expressions as _, Prelude, Refusal, Vector, word_of};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op, TypeCode};

use super::{CDialect, HELPER, SPELLINGS, dots, halves, shuffles};

/// Number of lanes of the C type.
fn c_lanes(lanes: u16) -> u32 {
    u32::from(lanes).next_power_of_two()
}

/// The type that represents one lane, an 8-bit integer for booleans and float for halves, and its
/// name.
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

/// Loads a vector of halves.
pub(super) fn halves_loaded(pointer: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let memory = unaligned_type(DType::UINT16.with_lanes(dtype.lanes), prelude)?;
    let bits = Code::prefix("*", &Code::prefix(&format!("(const {memory}*)"), pointer));
    Ok(Code::call(&halves::vector_helper(dtype, false, prelude)?, &[bits]))
}

/// Stores a vector of halves, rounded.
pub(super) fn halves_stored(
    pointer: &Code,
    value: &Code,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<String> {
    let memory = unaligned_type(DType::UINT16.with_lanes(dtype.lanes), prelude)?;
    let place = Code::prefix("*", &Code::prefix(&format!("({memory}*)"), pointer));
    let bits = Code::call(&halves::vector_helper(dtype, true, prelude)?, std::slice::from_ref(value));
    Ok(format!("{} = {};", place.text, bits.text))
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
    let line = format!("{condition}r[l] = {value};");
    let (start, end) = (format!("    {element} r[{}] = {{0}};\n", c_lanes(lanes)), returned(access.vector));
    let Some(words) = Words::from_access(access) else {
        let kept = if access.is_masked { KEPT } else { "" };
        return Ok(format!(
            "{start}{kept}    for (int l = 0; l < {lanes}; ++l) {{\n        {line}\n    }}\n{end}"
        ));
    };
    let memory = unaligned_type(access.dtype, prelude)?;
    let whole = format!("return *(const {memory}*)p;");
    Ok(format!("{}{start}{}{end}", words.whole(&whole), words.others("r + l, p + l", &line)))
}

/// The body of a helper that stores the lanes of a vector that its mask has.
pub(super) fn lanes_stored(
    dialect: &CDialect,
    access: &LaneAccess<'_>,
    prelude: &mut Prelude,
) -> Answer<String> {
    let (lanes, line) = (access.dtype.lanes, access.lane_stored(dialect, "l", prelude));
    let Some(words) = Words::from_access(access) else {
        return Ok(format!("{KEPT}    for (int l = 0; l < {lanes}; ++l) {{\n        {line}\n    }}\n"));
    };
    let memory = unaligned_type(access.dtype, prelude)?;
    let whole = format!("{{\n        *({memory}*)p = x;\n        return;\n    }}");
    Ok(format!("{}{}", words.whole(&whole), words.others("p + l, (const char*)&x + l * sizeof(*p)", &line)))
}

/// The mask of adjacent elements as words: most masks have all lanes, and most of the others all
/// lanes of each word or none.
struct Words {
    /// The number of words, and of lanes of each.
    count: u16,
    lanes: u16,
}

impl Words {
    fn from_access(access: &LaneAccess<'_>) -> Option<Self> {
        let lanes = access.dtype.lanes;
        let fits = access.is_masked && access.index.is_none() && is_stored_as_held(access.dtype);
        (fits && (2..=64).contains(&lanes)).then(|| Self { count: (lanes / 8).max(1), lanes: lanes.min(8) })
    }

    /// What is done if the mask has all lanes.
    fn whole(&self, action: &str) -> String {
        let (count, bits) = (self.count, self.lanes * 8);
        let all: Vec<String> = (0..count).map(|word| format!("words[{word}]")).collect();
        format!(
            "    uint{bits}_t words[{count}];\n    __builtin_memcpy(words, &mask, sizeof(words));\n    \
             if (({}) == UINT{bits}_MAX) {action}\n",
            all.join(" & ")
        )
    }

    /// What is done with the lanes of each word otherwise.
    fn others(&self, copied: &str, line: &str) -> String {
        let (count, lanes, bits) = (self.count, self.lanes, self.lanes * 8);
        if count == 1 {
            return format!("{KEPT}    for (int l = 0; l < {lanes}; ++l) {{\n        {line}\n    }}\n");
        }
        format!(
            "    for (int word = 0; word < {count}; ++word) {{\n        int l = word * {lanes};\n        \
             if (words[word] == UINT{bits}_MAX) {{\n            \
             __builtin_memcpy({copied}, {lanes} * sizeof(*p));\n        \
             }} else if (words[word] != 0) {{\n{KEPT}            \
             for (; l < word * {lanes} + {lanes}; ++l) {{\n                {line}\n            }}\n        \
             }}\n    }}\n"
        )
    }
}

/// The body of a function that computes lanes, including those that are never stored. It uses an
/// array because gcc 12 turns true into -1 if the lanes of a vector are assigned in a loop of two.
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
        converted(mask, from, to, prelude)
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
            Vector::Cast(value, from) if is_converted(*from, dtype) => {
                Some(converted(value, *from, dtype, prelude))
            }
            Vector::Shuffle(vectors, indices) => shuffles::own(vectors, indices, dtype, prelude),
            Vector::Op(Op::DotAdd, args) => Some(dots::add(args, dtype, prelude)),
            Vector::Op(op, args) => own_op(*op, args, dtype, prelude),
            _ => None,
        }
    }

    /// Minimum or maximum by comparison and selection: gcc compiles a loop over the lanes to one
    /// instruction per lane. It compiles that to three, one after the other, where x86 has one.
    fn extreme(&self, op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let type_name = vector_type(dtype, prelude)?;
        let name = format!("cd_{}_{}", word_of(op), full(dtype));
        if !prelude.contains(&name) {
            let (x, y) = (Code::primary("a"), Code::primary("b"));
            let order = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
            let less = Vector::Compare(order, x.clone(), y.clone(), dtype);
            let mask = self.vector(less, DType::BOOL.with_lanes(dtype.lanes), prelude)?;
            let value = self.vector(Vector::Select(mask, x, y), dtype, prelude)?.text;
            let plain = format!("    return {value};\n");
            let body = match extreme_of_x86(op, dtype) {
                Some((condition, instruction)) => format!(
                    "#if {condition}\n    {type_name} r;\n    \
                     __asm__(\"{instruction} %2, %1, %0\" : \"=v\"(r) : \"v\"(a), \"v\"(b));\n    return r;\n\
                     #else\n{plain}#endif\n"
                ),
                None => plain,
            };
            prelude.define(&name, |_| {
                format!("{HELPER} {type_name} {name}({type_name} a, {type_name} b) {{\n{body}}}\n")
            });
        }
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
    }
}

/// The instruction of x86 that is `a < b ? a : b`, or `a > b ? a : b`, for vectors of a register,
/// NaN and zeros included, and the condition under which a compiler may use it.
fn extreme_of_x86(op: BinaryOp, dtype: DType) -> Option<(&'static str, &'static str)> {
    let condition = match usize::from(dtype.bits) * usize::from(dtype.lanes) {
        512 => "defined(__AVX512F__)",
        128 | 256 => "defined(__AVX__)",
        _ => return None,
    };
    let instruction = match (op == BinaryOp::Min, dtype.scalar()) {
        (true, DType::FLOAT32) => "vminps",
        (true, DType::FLOAT64) => "vminpd",
        (false, DType::FLOAT32) => "vmaxps",
        (false, DType::FLOAT64) => "vmaxpd",
        _ => return None,
    };
    Some((condition, instruction))
}

/// Returns true if a conversion of a vector has the IR's meaning where the compiler's own has one.
fn is_converted(from: DType, to: DType) -> bool {
    let is_number = |dtype: DType| !dtype.is_bool() && !is_half(dtype) && !dtype.is_handle();
    is_number(from) && is_number(to) && !(from.is_float() && to.is_integer())
}

/// A conversion by the compiler's own, of integers by steps of half or twice the size: gcc 12 makes
/// one instruction per lane of larger ones.
pub(super) fn converted(value: &Code, from: DType, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let (from, to) = (lane(from)?.0, lane(dtype)?.0);
    let by_steps = from.is_integer() && (to.is_integer() || from.bits < to.bits);
    let mut types = Vec::new();
    let mut bits = from.bits;
    while by_steps && bits != to.bits {
        bits = if bits < to.bits { bits * 2 } else { bits / 2 };
        // An integer that was widened is not negative as a signed one either.
        let code = if bits == to.bits { TypeCode::Int } else { from.code };
        if bits != to.bits || to.is_float() {
            types.push(DType { code, bits, ..dtype });
        }
    }
    let mut value = value.clone();
    for dtype in types.into_iter().chain([dtype]) {
        let type_name = Code::primary(vector_type(dtype, prelude)?);
        value = Code::call("__builtin_convertvector", &[value, type_name]);
    }
    Ok(value)
}

/// Ops on the bits of numbers, with operators: an array in between costs a passage through memory
/// if its elements are not written by as many at a time as they are read by.
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
