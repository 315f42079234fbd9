//! Vectors: GNU vector types, which gcc and clang have, of a power of two of lanes.
//!
//! A vector of 3 lanes is held in one of 4 whose last lane is never stored. Booleans are 8-bit lanes of 0 or -1 in
//! variables; a comparison gives lanes as wide as its operands (its [`Code::form`] is that width), which a select uses as
//! they are. Whatever has no operator is a helper with a loop over the lanes, which compilers turn into vector code.

use chipdock_codegen_source::{Answer, Code, Dialect, Infix, Prelude, Refusal, Vector, scalar_op, word_of};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op};

use super::types::{computed, is_half, memory, scalar, short};
use super::{CDialect, halves};

/// Lanes of the C type.
pub(super) fn c_lanes(lanes: u16) -> u32 {
    u32::from(lanes).next_power_of_two()
}

/// What holds one lane: an 8-bit integer for booleans, float for halves.
pub(super) fn lane(dtype: DType) -> DType {
    if dtype.is_bool() { DType::INT8 } else { computed(dtype).scalar() }
}

/// The vector type, defined on first use.
pub(super) fn vector_type(dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    let (lane, lanes) = (lane(dtype), c_lanes(dtype.lanes));
    if lane.is_handle() {
        return Err(Refusal::new("has no vectors of pointers"));
    }
    let (name, element) = (format!("{}x{lanes}", short(lane)), memory(lane)?);
    let size_bytes = lane.lane_size_bytes() * lanes as usize;
    prelude
        .define(&name, |_| format!("typedef {element} {name} __attribute__((vector_size({size_bytes})));\n"));
    Ok(name)
}

/// The same vector type in memory: aligned to an element only, and an alias of anything.
pub(super) fn unaligned_type(dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    let base = vector_type(dtype, prelude)?;
    let name = format!("{base}_u");
    let (element, lanes) = (lane(dtype), c_lanes(dtype.lanes) as usize);
    let (size_bytes, alignment) = (element.lane_size_bytes() * lanes, element.lane_size_bytes());
    let element = memory(element)?;
    prelude.define(&name, |_| {
        format!(
            "typedef {element} {name} __attribute__((vector_size({size_bytes}), aligned({alignment}), may_alias));\n"
        )
    });
    Ok(name)
}

/// Where a vector and its like lie in memory as the C type has them.
pub(super) fn is_stored_as_held(dtype: DType) -> bool {
    !dtype.is_bool() && !is_half(dtype) && c_lanes(dtype.lanes) == u32::from(dtype.lanes)
}

/// A mask of lanes of that many bits.
fn mask_type(lanes: u16, bits: u16) -> DType {
    let lane = match bits {
        16 => DType::INT16,
        32 => DType::INT32,
        64 => DType::INT64,
        _ => DType::INT8,
    };
    lane.with_lanes(lanes)
}

/// The mask in lanes of another width.
fn mask_as(mask: &Code, lanes: u16, bits: u16, prelude: &mut Prelude) -> Answer<Code> {
    let (from_bits, bits) = (mask.form.max(8), bits.max(8));
    let form = if bits == 8 { 0 } else { bits };
    if from_bits == bits {
        return Ok(mask.clone().in_form(form));
    }
    let (from, to) = (mask_type(lanes, from_bits), mask_type(lanes, bits));
    let name = format!("cd_mask{bits}x{lanes}_of_mask{from_bits}");
    let helper = Helper { name: &name, params: &[from], ret: to };
    helper.define(prelude, |args, _| Ok(args[0].clone()))?;
    Ok(Code::call(&name, std::slice::from_ref(mask)).in_form(form))
}

/// A helper that computes lane by lane.
struct Helper<'h> {
    name: &'h str,
    /// Parameters; one lane is the same in all lanes.
    params: &'h [DType],
    ret: DType,
}

impl Helper<'_> {
    /// Defines it unless it is there; `scalar` writes one lane from the parameters' lanes.
    fn define(
        &self,
        prelude: &mut Prelude,
        scalar_text: impl FnOnce(&[Code], &mut Prelude) -> Answer<Code>,
    ) -> Answer<()> {
        if prelude.contains(self.name) {
            return Ok(());
        }
        let (mut params, mut lanes) = (Vec::new(), Vec::new());
        for (index, dtype) in self.params.iter().enumerate() {
            let letter = char::from(b'a' + (index % 26) as u8);
            let (type_name, lane) = if dtype.is_scalar() {
                (scalar(*dtype)?.to_owned(), Code::primary(letter))
            } else {
                let element = Code::primary(format!("{letter}[l]"));
                (vector_type(*dtype, prelude)?, lane_value(element, *dtype))
            };
            params.push(format!("{type_name} {letter}"));
            lanes.push(lane);
        }
        let ret = vector_type(self.ret, prelude)?;
        let value = scalar_text(&lanes, prelude)?;
        let value = lane_of(value, self.ret);
        let (element, lanes) = (memory(lane(self.ret))?, c_lanes(self.ret.lanes));
        // Lanes that nobody stores are computed too: a helper serves all types that are held alike. An array, for gcc
        // 12 makes -1 of true where the lanes of a vector are assigned in a loop of two. The loop is kept from being
        // written out, or the compiler would not see vectors in it again.
        let text = format!(
            "static inline {ret} {}({}) {{\n    {element} r[{lanes}];\n#pragma GCC unroll 1\n    for (int l = 0; l < {lanes}; ++l) {{\n        \
             r[l] = {};\n    }}\n    {ret} v;\n    __builtin_memcpy(&v, r, sizeof(v));\n    return v;\n}}\n",
            self.name,
            params.join(", "),
            value.text
        );
        prelude.define(self.name, |_| text);
        Ok(())
    }
}

/// A lane of a vector as a scalar value.
fn lane_value(element: Code, dtype: DType) -> Code {
    if dtype.is_bool() { Code::infix(Infix::NotEqual, &element, &Code::primary("0")) } else { element }
}

/// A scalar value as a lane.
fn lane_of(value: Code, dtype: DType) -> Code {
    if dtype.is_bool() { Code::prefix("-", &value) } else { value }
}

impl CDialect {
    pub(super) fn vector_text(&self, v: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        match v {
            Vector::Broadcast(value) => broadcast(&value, dtype, prelude),
            Vector::Ramp(base, stride) => {
                let name = format!("cd_ramp_{}", vector_type(dtype, prelude)?);
                let helper = Helper { name: &name, params: &[dtype.scalar(), dtype.scalar()], ret: dtype };
                let unsigned = if dtype.bits > 32 { "uint64_t" } else { "uint32_t" };
                let lane = memory(dtype)?;
                helper.define(prelude, |_, _| {
                    Ok(Code::primary(format!("({lane})(({unsigned})a + ({unsigned})l * ({unsigned})b)")))
                })?;
                Ok(Code::call(&name, &[base, stride]))
            }
            Vector::Binary(op, a, b) => self.vector_binary(op, &a, &b, dtype, prelude),
            Vector::Compare(op, a, b, operand) => compare(op, &a, &b, operand, prelude),
            Vector::And(a, b) => masks(Infix::BitAnd, &a, &b, dtype, prelude),
            Vector::Or(a, b) => masks(Infix::BitOr, &a, &b, dtype, prelude),
            Vector::Not(a) => Ok(Code::prefix("~", &a).in_form(a.form)),
            Vector::Select(condition, then, otherwise) => {
                select(&condition, &then, &otherwise, dtype, prelude)
            }
            Vector::Cast(value, from) => self.vector_cast(&value, from, dtype, prelude),
            Vector::Shuffle(vectors, indices) => shuffle(vectors, indices, dtype, prelude),
            Vector::Op(op, args) => self.vector_op(op, args, dtype, prelude),
            Vector::Settle(value) if dtype.is_bool() => mask_as(&value, dtype.lanes, 8, prelude),
            Vector::Settle(value) => Ok(value.in_form(0)),
        }
    }

    fn vector_binary(
        &self,
        op: BinaryOp,
        a: &Code,
        b: &Code,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code> {
        let infix = match op {
            BinaryOp::Add => Some(Infix::Add),
            BinaryOp::Sub => Some(Infix::Sub),
            BinaryOp::Mul => Some(Infix::Mul),
            BinaryOp::Div if dtype.is_float() => Some(Infix::Div),
            _ => None,
        };
        let name = vector_type(dtype, prelude)?;
        match infix {
            Some(infix) if dtype.is_int() => {
                let unsigned = vector_type(unsigned(dtype), prelude)?;
                let bits = |code| Code::prefix(&format!("({unsigned})"), code);
                Ok(Code::prefix(&format!("({name})"), &Code::infix(infix, &bits(a), &bits(b))))
            }
            Some(infix) if is_half(dtype) => round(&Code::infix(infix, a, b), dtype, prelude),
            Some(infix) if !dtype.is_bool() => Ok(Code::infix(infix, a, b)),
            _ if matches!(op, BinaryOp::Min | BinaryOp::Max) && !dtype.is_bool() => {
                extreme(op, a, b, dtype, prelude)
            }
            _ => {
                let helper_name = format!("cd_{}_{name}", word_of(op));
                let helper_name = if dtype.is_bool() {
                    format!("cd_{}_boolx{}", word_of(op), dtype.lanes)
                } else {
                    helper_name
                };
                let helper = Helper { name: &helper_name, params: &[dtype, dtype], ret: dtype };
                helper.define(prelude, |args, prelude| {
                    self.guarded(op, &args[0], &args[1], dtype.scalar(), prelude)
                })?;
                let settle = |code: &Code, prelude: &mut Prelude| {
                    if dtype.is_bool() { mask_as(code, dtype.lanes, 8, prelude) } else { Ok(code.clone()) }
                };
                let args = [settle(a, prelude)?, settle(b, prelude)?];
                Ok(Code::call(&helper_name, &args))
            }
        }
    }

    fn vector_cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        if to.is_bool() && !from.is_bool() {
            let zero = Code::primary(format!("({}){{0}}", vector_type(from, prelude)?));
            return compare(CompareOp::Ne, value, &zero, from, prelude);
        }
        if computed(from) == to {
            return Ok(value.clone());
        }
        let value = if from.is_bool() { mask_as(value, from.lanes, 8, prelude)? } else { value.clone() };
        let name = format!("cd_{}x{}_of_{}", short(to), to.lanes, short(from));
        let helper = Helper { name: &name, params: &[from], ret: to };
        helper.define(prelude, |args, prelude| self.cast(&args[0], from.scalar(), to.scalar(), prelude))?;
        Ok(Code::call(&name, &[value]))
    }

    fn vector_op(&self, op: Op, args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let mut values = Vec::with_capacity(args.len());
        for (value, dtype) in args {
            let is_mask = dtype.is_bool() && !dtype.is_scalar();
            values.push(if is_mask { mask_as(value, dtype.lanes, 8, prelude)? } else { value.clone() });
        }
        let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
        if let (Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor, [a, b]) = (op, values.as_slice()) {
            let infix = match op {
                Op::BitwiseAnd => Infix::BitAnd,
                Op::BitwiseOr => Infix::BitOr,
                _ => Infix::BitXor,
            };
            return Ok(Code::infix(infix, a, b));
        }
        let suffix: Vec<String> =
            types.iter().map(|dtype| format!("{}x{}", short(*dtype), dtype.lanes)).collect();
        let name = format!("cd_{}_{}", op.name(), suffix.join("_"));
        let name = if op == Op::Reinterpret { format!("{name}_as_{}", short(dtype)) } else { name };
        let helper = Helper { name: &name, params: &types, ret: dtype };
        helper.define(prelude, |lanes, prelude| {
            let lanes: Vec<(Code, DType)> =
                lanes.iter().cloned().zip(types.iter().map(|dtype| dtype.scalar())).collect();
            match self.special_op(op, &lanes, dtype.scalar(), prelude) {
                Some(answer) => answer,
                None => scalar_op(self, op, dtype.scalar(), &lanes, &[], prelude),
            }
        })?;
        Ok(Code::call(&name, &values))
    }
}

/// Minimum or maximum by comparison and selection: of a loop over the lanes gcc makes one instruction a lane.
fn extreme(op: BinaryOp, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let type_name = vector_type(dtype, prelude)?;
    let name = format!("cd_{}_{type_name}", word_of(op));
    if !prelude.contains(&name) {
        let (x, y) = (Code::primary("a"), Code::primary("b"));
        let order = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
        let mask = compare(order, &x, &y, dtype, prelude)?;
        let value = select(&mask, &x, &y, dtype, prelude)?.text;
        prelude.define(&name, |_| {
            format!(
                "static inline {type_name} {name}({type_name} a, {type_name} b) {{\n    return {value};\n}}\n"
            )
        });
    }
    Ok(Code::call(&name, &[a.clone(), b.clone()]))
}

fn unsigned(dtype: DType) -> DType {
    let scalar = match dtype.bits {
        8 => DType::UINT8,
        16 => DType::UINT16,
        32 => DType::UINT32,
        _ => DType::UINT64,
    };
    scalar.with_lanes(dtype.lanes)
}

fn round(value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let name = format!("cd_round_{}x{}", short(dtype), dtype.lanes);
    let helper = Helper { name: &name, params: &[computed(dtype)], ret: dtype };
    helper.define(prelude, |args, prelude| Ok(halves::round(&args[0], dtype, prelude)))?;
    Ok(Code::call(&name, std::slice::from_ref(value)))
}

fn broadcast(value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let type_name = vector_type(dtype, prelude)?;
    if matches!(value.text.as_str(), "0" | "0u" | "0LL" | "0ULL" | "0.0" | "0.0f" | "false") {
        return Ok(Code::primary(format!("({type_name}){{0}}")));
    }
    let name = format!("cd_splat_{type_name}");
    let (element, lanes) = (scalar(lane(dtype))?, c_lanes(dtype.lanes) as usize);
    prelude.define(&name, |_| {
        let all = vec!["x"; lanes].join(", ");
        format!("static inline {type_name} {name}({element} x) {{\n    return ({type_name}){{{all}}};\n}}\n")
    });
    let value = if dtype.is_bool() { Code::prefix("-", value) } else { value.clone() };
    Ok(Code::call(&name, &[value]))
}

fn compare(op: CompareOp, a: &Code, b: &Code, operand: DType, prelude: &mut Prelude) -> Answer<Code> {
    let infix = Infix::of_comparison(op);
    let (lanes, bits) = (operand.lanes, u16::from(lane(operand).bits));
    let (a, b) = if operand.is_bool() {
        // Lanes are 0 and -1: as 0 and 1 they compare the right way round.
        let ones = |code: &Code, prelude: &mut Prelude| {
            mask_as(code, lanes, 8, prelude).map(|mask| Code::prefix("-", &mask))
        };
        (ones(a, prelude)?, ones(b, prelude)?)
    } else {
        (a.clone(), b.clone())
    };
    let mask = vector_type(mask_type(lanes, bits), prelude)?;
    let code = Code::prefix(&format!("({mask})"), &Code::infix(infix, &a, &b));
    Ok(code.in_form(if bits == 8 { 0 } else { bits }))
}

fn masks(infix: Infix, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let bits = a.form.max(b.form).max(8);
    let (a, b) = (mask_as(a, dtype.lanes, bits, prelude)?, mask_as(b, dtype.lanes, bits, prelude)?);
    Ok(Code::infix(infix, &a, &b).in_form(a.form))
}

fn select(
    condition: &Code,
    then: &Code,
    otherwise: &Code,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let bits = u16::from(lane(dtype).bits);
    let condition = mask_as(condition, dtype.lanes, bits, prelude)?;
    let (type_name, mask) =
        (vector_type(dtype, prelude)?, vector_type(mask_type(dtype.lanes, bits), prelude)?);
    let settle = |code: &Code, prelude: &mut Prelude| {
        if dtype.is_bool() { mask_as(code, dtype.lanes, 8, prelude) } else { Ok(code.clone()) }
    };
    let args = [condition, settle(then, prelude)?, settle(otherwise, prelude)?];
    let name = format!("cd_select_{type_name}");
    prelude.define(&name, |_| {
        format!(
            "static inline {type_name} {name}({mask} m, {type_name} a, {type_name} b) {{\n    \
             return ({type_name})((m & ({mask})a) | (~m & ({mask})b));\n}}\n"
        )
    });
    Ok(Code::call(&name, &args))
}

/// Lanes picked out of vectors and scalars.
fn shuffle(vectors: &[(Code, DType)], indices: &[u16], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let mut places = Vec::new();
    for (position, (_, from)) in vectors.iter().enumerate() {
        let letter = char::from(b'a' + (position % 26) as u8);
        for lane in 0..from.lanes {
            let text = if from.is_scalar() { letter.to_string() } else { format!("{letter}[{lane}]") };
            let text = if from.is_bool() && from.is_scalar() { format!("-{text}") } else { text };
            places.push((position, lane, text));
        }
    }
    let mut picked = Vec::with_capacity(indices.len());
    for index in indices {
        let place = places
            .get(usize::from(*index))
            .ok_or_else(|| Refusal::new(format!("a shuffle picks lane {index} of {}", places.len())))?;
        picked.push(place);
    }
    if let (true, [(position, lane, _)]) = (dtype.is_scalar(), picked.as_slice()) {
        let (code, from) = &vectors[*position];
        let element = if from.is_scalar() {
            code.clone()
        } else {
            Code::primary(format!("{}[{lane}]", code.operand()))
        };
        return Ok(if from.is_scalar() { element } else { lane_value(element, *from) });
    }
    if vectors.len() > 26 {
        return Err(Refusal::new(format!(
            "a shuffle of {} vectors; at most 26 are supported",
            vectors.len()
        )));
    }
    let type_name = vector_type(dtype, prelude)?;
    let mut params = Vec::new();
    let mut name = format!("cd_shuffle_{type_name}");
    for (position, (_, from)) in vectors.iter().enumerate() {
        let letter = char::from(b'a' + position as u8);
        let from_type =
            if from.is_scalar() { scalar(*from)?.to_owned() } else { vector_type(*from, prelude)? };
        name.push_str(&format!("_{}", from_type.trim_end_matches('*')));
        params.push(format!("{from_type} {letter}"));
    }
    for index in indices {
        name.push_str(&format!("_{index}"));
    }
    prelude.define(&name, |_| {
        let lanes: Vec<&str> = picked.iter().map(|(_, _, text)| text.as_str()).collect();
        format!(
            "static inline {type_name} {name}({}) {{\n    return ({type_name}){{{}}};\n}}\n",
            params.join(", "),
            lanes.join(", ")
        )
    });
    let args: Vec<Code> = vectors.iter().map(|(code, _)| code.clone()).collect();
    Ok(Code::call(&name, &args))
}
