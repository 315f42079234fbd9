//! Vectors: the types of OpenCL C for 2, 3, 4, 8 and 16 lanes, a struct of an array for every other number.
//!
//! Booleans are 8-bit lanes of 0 or -1 in variables; a comparison of native vectors gives lanes as wide as its operands
//! (its [`Code::form`] is that width), which a select uses as they are. What has no operator or function is a helper that
//! computes lane by lane.

use chipdock_codegen_source::{
    Answer, Code, Dialect, Infix, OpTable, Prelude, Refusal, Spelling, Vector, scalar_op, word_of,
    word_of_comparison,
};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op};

use super::OpenClDialect;
use super::types::{computed, is_half, memory, scalar, short, unsigned};

/// True for a number of lanes of which the language has vectors.
pub(super) fn is_native(lanes: u16) -> bool {
    matches!(lanes, 2 | 3 | 4 | 8 | 16)
}

/// What holds one lane: an 8-bit integer for booleans, float for halves.
fn lane(dtype: DType) -> DType {
    if dtype.is_bool() { DType::INT8 } else { computed(dtype).scalar() }
}

/// The vector type, defined on first use where it is a struct.
pub(super) fn vector_type(dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    let (lane, lanes) = (lane(dtype), dtype.lanes);
    if lane.is_handle() {
        return Err(Refusal::new("has no vectors of pointers"));
    }
    let element = memory(lane)?;
    if is_native(lanes) {
        return Ok(format!("{element}{lanes}"));
    }
    let name = format!("cd_{}x{lanes}", short(lane));
    prelude.define(&name, |_| format!("typedef struct {{ {element} s[{lanes}]; }} {name};\n"));
    Ok(name)
}

/// The lanes of a vector, by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes(pub(super) u16);

impl Lanes {
    /// The text of a lane of a named vector; `lane` is a number, or the counter of a loop over a struct.
    pub(super) fn of(self, name: &str, lane: &str) -> String {
        if !is_native(self.0) {
            return format!("{name}.s[{lane}]");
        }
        match lane.parse::<u32>().ok().and_then(|lane| char::from_digit(lane, 16)) {
            Some(digit) => format!("{name}.s{digit}"),
            None => format!("{name}.s{lane}"),
        }
    }

    /// A body that returns a vector of that type, one text a lane.
    pub(super) fn returned(
        self,
        type_name: &str,
        text: &mut dyn FnMut(&str) -> Answer<Code>,
    ) -> Answer<String> {
        if !is_native(self.0) {
            let value = text("l")?.text;
            return Ok(format!(
                "    {type_name} r;\n    for (int l = 0; l < {}; ++l) {{\n        r.s[l] = {value};\n    }}\n    return r;\n",
                self.0
            ));
        }
        let mut values = Vec::new();
        for lane in 0..self.0 {
            values.push(text(&lane.to_string())?.text);
        }
        Ok(format!("    return ({type_name})({});\n", values.join(", ")))
    }

    /// A body of one statement a lane.
    pub(super) fn each(self, text: &mut dyn FnMut(&str) -> Answer<String>) -> Answer<String> {
        if !is_native(self.0) {
            return Ok(format!(
                "    for (int l = 0; l < {}; ++l) {{\n        {}\n    }}\n",
                self.0,
                text("l")?
            ));
        }
        let mut body = String::new();
        for lane in 0..self.0 {
            body.push_str(&format!("    {}\n", text(&lane.to_string())?));
        }
        Ok(body)
    }
}

/// A lane of a vector as a scalar value.
pub(super) fn lane_value(element: Code, dtype: DType) -> Code {
    if dtype.is_bool() { Code::infix(Infix::NotEqual, &element, &Code::primary("0")) } else { element }
}

/// A scalar value as a lane.
pub(super) fn lane_of(value: Code, dtype: DType) -> Code {
    if dtype.is_bool() { Code::prefix("-", &value) } else { value }
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

/// The mask in lanes of another width. Those of structs have 8 bits, always.
fn mask_as(mask: &Code, lanes: u16, bits: u16, prelude: &mut Prelude) -> Answer<Code> {
    let (from, to) = (mask.form.max(8), bits.max(8));
    let form = if to == 8 { 0 } else { to };
    if from == to || !is_native(lanes) {
        return Ok(mask.clone().in_form(if is_native(lanes) { form } else { 0 }));
    }
    let to = vector_type(mask_type(lanes, to), prelude)?;
    Ok(Code::call(&format!("convert_{to}"), std::slice::from_ref(mask)).in_form(form))
}

/// Writes one lane of a result from those of the operands, given its number.
type LaneText<'t> = dyn FnMut(&[Code], &str, &mut Prelude) -> Answer<Code> + 't;

/// A helper that computes lane by lane.
struct Helper<'h> {
    name: &'h str,
    /// Parameters; one lane is the same in all lanes.
    params: &'h [DType],
    ret: DType,
}

impl Helper<'_> {
    /// Calls it, and defines it unless it is there.
    fn call(&self, args: &[Code], prelude: &mut Prelude, text: &mut LaneText<'_>) -> Answer<Code> {
        if !prelude.contains(self.name) {
            let mut params = Vec::new();
            for (index, dtype) in self.params.iter().enumerate() {
                let type_name = if dtype.is_scalar() {
                    scalar(*dtype)?.to_owned()
                } else {
                    vector_type(*dtype, prelude)?
                };
                params.push(format!("{type_name} {}", letter(index)));
            }
            let (ret, lanes) = (vector_type(self.ret, prelude)?, Lanes(self.ret.lanes));
            let body = lanes.returned(&ret, &mut |lane: &str| {
                let lane_of_param = |(index, dtype): (usize, &DType)| {
                    let name = letter(index).to_string();
                    if dtype.is_scalar() {
                        return Code::primary(name);
                    }
                    lane_value(Code::primary(lanes.of(&name, lane)), *dtype)
                };
                let values: Vec<Code> = self.params.iter().enumerate().map(lane_of_param).collect();
                Ok(lane_of(text(&values, lane, prelude)?, self.ret))
            })?;
            prelude.define(self.name, |_| {
                format!("static inline {ret} {}({}) {{\n{body}}}\n", self.name, params.join(", "))
            });
        }
        Ok(Code::call(self.name, args))
    }
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

fn full(dtype: DType) -> String {
    format!("{}x{}", short(dtype), dtype.lanes)
}

impl OpenClDialect {
    pub(super) fn vector_text(&self, v: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        match v {
            Vector::Broadcast(value) => broadcast(&value, dtype, prelude),
            Vector::Ramp(base, stride) => ramp(&base, &stride, dtype, prelude),
            Vector::Binary(op, a, b) => self.vector_binary(op, &a, &b, dtype, prelude),
            Vector::Compare(op, a, b, operand) => compare(op, &a, &b, operand, prelude),
            Vector::And(a, b) => masks(Infix::BitAnd, &a, &b, dtype, prelude),
            Vector::Or(a, b) => masks(Infix::BitOr, &a, &b, dtype, prelude),
            Vector::Not(a) if is_native(dtype.lanes) => Ok(Code::prefix("~", &a).in_form(a.form)),
            Vector::Not(a) => {
                let name = format!("cd_not_{}", full(dtype));
                let helper = Helper { name: &name, params: &[dtype], ret: dtype };
                helper.call(&[a], prelude, &mut |args, _, _| Ok(Code::not(&args[0])))
            }
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
            BinaryOp::Div if dtype.is_float() && self.features.divides => Some(Infix::Div),
            _ => None,
        };
        let is_plain = is_native(dtype.lanes) && !is_half(dtype) && !dtype.is_bool();
        match infix {
            Some(infix) if is_plain && dtype.is_int() => {
                let to = vector_type(unsigned(dtype), prelude)?;
                let bits = |code: &Code| Code::call(&format!("as_{to}"), std::slice::from_ref(code));
                let sum = Code::infix(infix, &bits(a), &bits(b));
                Ok(Code::call(&format!("as_{}", vector_type(dtype, prelude)?), &[sum]))
            }
            Some(infix) if is_plain => Ok(Code::infix(infix, a, b)),
            _ => {
                let settle = |code: &Code, prelude: &mut Prelude| {
                    if dtype.is_bool() { mask_as(code, dtype.lanes, 8, prelude) } else { Ok(code.clone()) }
                };
                let args = [settle(a, prelude)?, settle(b, prelude)?];
                let name = format!("cd_{}_{}", word_of(op), full(dtype));
                let helper = Helper { name: &name, params: &[dtype, dtype], ret: dtype };
                let of = dtype.scalar();
                helper.call(&args, prelude, &mut |args, _, prelude| match (infix, op) {
                    (None, BinaryOp::Div) if of.is_float() => self.quotient(&args[0], &args[1], of, prelude),
                    (None, _) => self.guarded(op, &args[0], &args[1], of, prelude),
                    (Some(infix), _) if of.is_float() => {
                        self.rounded(Code::infix(infix, &args[0], &args[1]), of, prelude)
                    }
                    (Some(infix), _) => {
                        let wide = if of.bits > 32 { "(ulong)" } else { "(uint)" };
                        let (a, b) = (Code::prefix(wide, &args[0]), Code::prefix(wide, &args[1]));
                        Ok(Code::prefix(&format!("({})", scalar(of)?), &Code::infix(infix, &a, &b)))
                    }
                })
            }
        }
    }

    fn vector_cast(&self, value: &Code, from: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        if to.is_bool() && !from.is_bool() {
            let zero = if from.is_float() { "0.0f" } else { "0" };
            let zero = broadcast(&Code::primary(zero), from, prelude)?;
            return compare(CompareOp::Ne, value, &zero, from, prelude);
        }
        if computed(from) == to {
            return Ok(value.clone());
        }
        let value = if from.is_bool() { mask_as(value, from.lanes, 8, prelude)? } else { value.clone() };
        let is_plain = is_native(to.lanes) && !is_half(to) && !(from.is_float() && to.is_integer());
        if is_plain {
            let value = if from.is_bool() { Code::prefix("-", &value) } else { value };
            return Ok(Code::call(&format!("convert_{}", vector_type(to, prelude)?), &[value]));
        }
        let name = format!("cd_{}_of_{}", full(to), short(from));
        let helper = Helper { name: &name, params: &[from], ret: to };
        helper.call(&[value], prelude, &mut |args, _, prelude| {
            self.cast(&args[0], from.scalar(), to.scalar(), prelude)
        })
    }

    fn vector_op(&self, op: Op, args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let mut values = Vec::with_capacity(args.len());
        for (value, dtype) in args {
            let is_mask = dtype.is_bool() && !dtype.is_scalar();
            values.push(if is_mask { mask_as(value, dtype.lanes, 8, prelude)? } else { value.clone() });
        }
        let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
        if let Some(code) = native_op(self.ops(), op, &values, &types, dtype) {
            return Ok(code);
        }
        let suffix: Vec<String> = types.iter().map(|dtype| full(*dtype)).collect();
        let mut name = format!("cd_{}_{}", op.name(), suffix.join("_"));
        if op == Op::Reinterpret {
            name.push_str(&format!("_as_{}", short(dtype)));
        }
        let helper = Helper { name: &name, params: &types, ret: dtype };
        helper.call(&values, prelude, &mut |lanes, _, prelude| {
            let lanes: Vec<(Code, DType)> =
                lanes.iter().cloned().zip(types.iter().map(|dtype| dtype.scalar())).collect();
            match self.special_op(op, &lanes, dtype.scalar(), prelude) {
                Some(answer) => answer,
                None => scalar_op(self, op, dtype.scalar(), &lanes, &[], prelude),
            }
        })
    }
}

/// An op that the language has for its vectors as for its scalars.
fn native_op(ops: &OpTable, op: Op, values: &[Code], types: &[DType], dtype: DType) -> Option<Code> {
    let is_alike = types.iter().all(|other| *other == dtype);
    if !is_native(dtype.lanes) || !is_alike || is_half(dtype) {
        return None;
    }
    match (op, values) {
        (Op::BitwiseAnd, [a, b]) => Some(Code::infix(Infix::BitAnd, a, b)),
        (Op::BitwiseOr, [a, b]) => Some(Code::infix(Infix::BitOr, a, b)),
        (Op::BitwiseXor, [a, b]) => Some(Code::infix(Infix::BitXor, a, b)),
        (Op::BitwiseNot, [a]) => Some(Code::prefix("~", a)),
        _ => match ops.row(op, dtype.scalar())?.spelling {
            Spelling::Call(function) => Some(Code::call(function, values)),
            _ => None,
        },
    }
}

fn broadcast(value: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let type_name = vector_type(dtype, prelude)?;
    if is_native(dtype.lanes) {
        let value = if dtype.is_bool() { Code::prefix("-", value) } else { value.clone() };
        return Ok(Code::prefix(&format!("({type_name})"), &Code::primary(format!("({})", value.text))));
    }
    let name = format!("cd_splat_{}", full(dtype));
    let helper = Helper { name: &name, params: &[dtype.scalar()], ret: dtype };
    helper.call(std::slice::from_ref(value), prelude, &mut |args, _, _| Ok(args[0].clone()))
}

fn ramp(base: &Code, stride: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let name = format!("cd_ramp_{}", full(dtype));
    let helper = Helper { name: &name, params: &[dtype.scalar(), dtype.scalar()], ret: dtype };
    let wide = if dtype.bits > 32 { "ulong" } else { "uint" };
    let element = memory(lane(dtype))?;
    helper.call(&[base.clone(), stride.clone()], prelude, &mut |_, lane, _| {
        Ok(Code::primary(format!("({element})(({wide})a + ({wide}){lane} * ({wide})b)")))
    })
}

fn compare(op: CompareOp, a: &Code, b: &Code, operand: DType, prelude: &mut Prelude) -> Answer<Code> {
    let infix = Infix::of_comparison(op);
    let lanes = operand.lanes;
    let mut args = [a.clone(), b.clone()];
    if operand.is_bool() {
        args = [mask_as(a, lanes, 8, prelude)?, mask_as(b, lanes, 8, prelude)?];
    }
    if !is_native(lanes) {
        let name = format!("cd_{}_{}", word_of_comparison(op), full(operand));
        let (params, ret) = ([operand, operand], DType::BOOL.with_lanes(lanes));
        let helper = Helper { name: &name, params: &params, ret };
        return helper.call(&args, prelude, &mut |args, _, _| Ok(Code::infix(infix, &args[0], &args[1])));
    }
    let bits = u16::from(lane(operand).bits);
    // Lanes of booleans are 0 and -1: as 0 and 1 they compare the right way round.
    let args = if operand.is_bool() { args.map(|mask| Code::prefix("-", &mask)) } else { args };
    Ok(Code::infix(infix, &args[0], &args[1]).in_form(if bits == 8 { 0 } else { bits }))
}

fn masks(infix: Infix, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    if !is_native(dtype.lanes) {
        let name = format!("cd_{}_{}", if infix == Infix::BitAnd { "and" } else { "or" }, full(dtype));
        let helper = Helper { name: &name, params: &[dtype, dtype], ret: dtype };
        let infix = if infix == Infix::BitAnd { Infix::And } else { Infix::Or };
        let args = [a.clone(), b.clone()];
        return helper.call(&args, prelude, &mut |args, _, _| Ok(Code::infix(infix, &args[0], &args[1])));
    }
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
    let settle = |code: &Code, prelude: &mut Prelude| {
        if dtype.is_bool() { mask_as(code, dtype.lanes, 8, prelude) } else { Ok(code.clone()) }
    };
    let (then, otherwise) = (settle(then, prelude)?, settle(otherwise, prelude)?);
    if is_native(dtype.lanes) {
        return Ok(Code::call("select", &[otherwise, then, condition]));
    }
    let name = format!("cd_select_{}", full(dtype));
    let params = [DType::BOOL.with_lanes(dtype.lanes), dtype, dtype];
    let helper = Helper { name: &name, params: &params, ret: dtype };
    helper.call(&[condition, then, otherwise], prelude, &mut |args, _, _| {
        Ok(Code::ternary(&args[0], &args[1], &args[2]))
    })
}

/// Lanes picked out of vectors and scalars.
fn shuffle(vectors: &[(Code, DType)], indices: &[u16], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    let mut places = Vec::new();
    for (position, (_, from)) in vectors.iter().enumerate() {
        for lane in 0..from.lanes {
            places.push((position, lane));
        }
    }
    let mut picked = Vec::with_capacity(indices.len());
    for index in indices {
        let place = places
            .get(usize::from(*index))
            .ok_or_else(|| Refusal::new(format!("a shuffle picks lane {index} of {}", places.len())))?;
        picked.push(*place);
    }
    let element = |name: &str, from: DType, lane: u16| {
        if from.is_scalar() {
            return Code::primary(name);
        }
        lane_value(Code::primary(Lanes(from.lanes).of(name, &lane.to_string())), from)
    };
    if let (true, [(position, lane)]) = (dtype.is_scalar(), picked.as_slice()) {
        let (code, from) = &vectors[*position];
        return Ok(if from.is_scalar() { code.clone() } else { element(&code.operand(), *from, *lane) });
    }
    if vectors.len() > 26 || picked.len() != usize::from(dtype.lanes) {
        return Err(Refusal::new(format!(
            "a shuffle of {} vectors into {} lanes; at most 26 vectors are supported",
            vectors.len(),
            dtype.lanes
        )));
    }
    let (type_name, mut params) = (vector_type(dtype, prelude)?, Vec::new());
    let mut name = format!("cd_shuffle_{}", full(dtype));
    for (position, (_, from)) in vectors.iter().enumerate() {
        let from_type =
            if from.is_scalar() { scalar(*from)?.to_owned() } else { vector_type(*from, prelude)? };
        name.push_str(&format!("_{}", full(*from)));
        params.push(format!("{from_type} {}", letter(position)));
    }
    for index in indices {
        name.push_str(&format!("_{index}"));
    }
    let lanes: Vec<String> = picked
        .iter()
        .map(|(position, lane)| {
            let from = vectors[*position].1;
            lane_of(element(&letter(*position).to_string(), from, *lane), dtype).text
        })
        .collect();
    let lanes = lanes.join(", ");
    let value = if is_native(dtype.lanes) {
        format!("    return ({type_name})({lanes});\n")
    } else {
        format!("    {type_name} r = {{{{{lanes}}}}};\n    return r;\n")
    };
    prelude.define(&name, |_| {
        format!("static inline {type_name} {name}({}) {{\n{value}}}\n", params.join(", "))
    });
    let args: Vec<Code> = vectors.iter().map(|(code, _)| code.clone()).collect();
    Ok(Code::call(&name, &args))
}
