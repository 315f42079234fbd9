//! Vectors: structures of as many lanes, which the compiler keeps in registers. Whatever is computed on them is a helper
//! with a loop over the lanes that is written out.

use chipdock_codegen_source::{
    Answer, Code, Dialect, Infix, Prelude, Refusal, Vector, scalar_op, word_of, word_of_comparison,
};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op};

use super::CudaDialect;
use super::access::for_lanes;
use super::types::{HELPER, computed, scalar, short, unsigned};

/// The vector type, defined on first use. Halves are held in floats.
pub(super) fn vector_type(dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    if dtype.is_handle() {
        return Err(Refusal::new("has no vectors of pointers"));
    }
    let lane = computed(dtype.scalar());
    let (name, element, lanes) = (format!("cd_{}x{}", short(lane), dtype.lanes), scalar(lane)?, dtype.lanes);
    prelude.define(&name, |_| format!("struct {name} {{\n    {element} v[{lanes}];\n}};\n"));
    Ok(name)
}

/// A helper that computes lane by lane.
struct Helper<'h> {
    name: &'h str,
    /// Parameters; one lane is the same in all lanes.
    params: &'h [DType],
    ret: DType,
}

impl Helper<'_> {
    /// The call, once it is defined; `lane` writes one lane from the parameters' lanes.
    fn call(
        &self,
        args: &[Code],
        prelude: &mut Prelude,
        lane: impl FnOnce(&[Code], &mut Prelude) -> Answer<Code>,
    ) -> Answer<Code> {
        if !prelude.contains(self.name) {
            let (mut params, mut lanes) = (Vec::new(), Vec::new());
            for (index, dtype) in self.params.iter().enumerate() {
                let letter = char::from(b'a' + (index % 26) as u8);
                let type_name = if dtype.is_scalar() {
                    lanes.push(Code::primary(letter));
                    scalar(*dtype)?.to_owned()
                } else {
                    lanes.push(Code::primary(format!("{letter}.v[l]")));
                    vector_type(*dtype, prelude)?
                };
                params.push(format!("{type_name} {letter}"));
            }
            let ret = vector_type(self.ret, prelude)?;
            let value = lane(&lanes, prelude)?.text;
            let (name, params) = (self.name, params.join(", "));
            let each = for_lanes(1, self.ret.lanes, &format!("r.v[l] = {value};"));
            prelude.define(name, |_| {
                format!("{HELPER} {ret} {name}({params}) {{\n    {ret} r;\n{each}    return r;\n}}\n")
            });
        }
        Ok(Code::call(self.name, args))
    }
}

impl CudaDialect {
    pub(super) fn vector_text(&self, v: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let bool_lanes = DType::BOOL.with_lanes(dtype.lanes);
        match v {
            Vector::Broadcast(value) => {
                let name = format!("cd_splat_{}x{}", short(computed(dtype)), dtype.lanes);
                let helper = Helper { name: &name, params: &[dtype.scalar()], ret: dtype };
                helper.call(&[value], prelude, |args, _| Ok(args[0].clone()))
            }
            Vector::Ramp(base, stride) => {
                let name = format!("cd_ramp_{}x{}", short(dtype), dtype.lanes);
                let helper = Helper { name: &name, params: &[dtype.scalar(), dtype.scalar()], ret: dtype };
                let (unsigned, lane) = (unsigned(dtype), scalar(dtype.scalar())?);
                helper.call(&[base, stride], prelude, |_, _| {
                    Ok(Code::primary(format!("({lane})(({unsigned})a + ({unsigned})l * ({unsigned})b)")))
                })
            }
            Vector::Binary(op, a, b) => self.vector_binary(op, &[a, b], dtype, prelude),
            Vector::Compare(op, a, b, operand) => compare(op, &[a, b], operand, prelude),
            Vector::And(a, b) => {
                let name = format!("cd_and_{}", dtype.lanes);
                let helper = Helper { name: &name, params: &[bool_lanes, bool_lanes], ret: dtype };
                helper.call(&[a, b], prelude, |args, _| Ok(Code::infix(Infix::And, &args[0], &args[1])))
            }
            Vector::Or(a, b) => {
                let name = format!("cd_or_{}", dtype.lanes);
                let helper = Helper { name: &name, params: &[bool_lanes, bool_lanes], ret: dtype };
                helper.call(&[a, b], prelude, |args, _| Ok(Code::infix(Infix::Or, &args[0], &args[1])))
            }
            Vector::Not(a) => {
                let name = format!("cd_not_{}", dtype.lanes);
                let helper = Helper { name: &name, params: &[bool_lanes], ret: dtype };
                helper.call(&[a], prelude, |args, _| Ok(Code::not(&args[0])))
            }
            Vector::Select(condition, then, otherwise) => {
                let name = format!("cd_select_{}x{}", short(computed(dtype)), dtype.lanes);
                let helper = Helper { name: &name, params: &[bool_lanes, dtype, dtype], ret: dtype };
                helper.call(&[condition, then, otherwise], prelude, |args, _| {
                    Ok(Code::ternary(&args[0], &args[1], &args[2]))
                })
            }
            Vector::Cast(value, from) => {
                let name = format!("cd_{}x{}_of_{}", short(dtype), dtype.lanes, short(from));
                let helper = Helper { name: &name, params: &[from], ret: dtype };
                helper.call(&[value], prelude, |args, prelude| {
                    self.cast(&args[0], from.scalar(), dtype.scalar(), prelude)
                })
            }
            Vector::Shuffle(vectors, indices) => shuffle(vectors, indices, dtype, prelude),
            Vector::Op(op, args) => self.vector_op(op, args, dtype, prelude),
            Vector::Settle(value) => Ok(value.in_form(0)),
        }
    }

    fn vector_binary(
        &self,
        op: BinaryOp,
        args: &[Code; 2],
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
        let lane = dtype.scalar();
        let name = format!("cd_{}_{}x{}", word_of(op), short(lane), dtype.lanes);
        let helper = Helper { name: &name, params: &[dtype, dtype], ret: dtype };
        helper.call(args, prelude, |args, prelude| match infix {
            Some(infix) if dtype.is_float() => {
                self.rounded(Code::infix(infix, &args[0], &args[1]), lane, prelude)
            }
            Some(infix) => {
                let bits = |code| Code::prefix(&format!("({})", unsigned(lane)), code);
                let sum = Code::infix(infix, &bits(&args[0]), &bits(&args[1]));
                Ok(Code::prefix(&format!("({})", scalar(lane)?), &sum))
            }
            None => self.guarded(op, &args[0], &args[1], lane, prelude),
        })
    }

    fn vector_op(&self, op: Op, args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
        let values: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
        let suffix: Vec<String> =
            types.iter().map(|dtype| format!("{}x{}", short(*dtype), dtype.lanes)).collect();
        let name = format!("cd_{}_{}", op.name(), suffix.join("_"));
        let name = if op == Op::Reinterpret { format!("{name}_as_{}", short(dtype)) } else { name };
        let helper = Helper { name: &name, params: &types, ret: dtype };
        helper.call(&values, prelude, |lanes, prelude| {
            let lanes: Vec<(Code, DType)> =
                lanes.iter().cloned().zip(types.iter().map(|dtype| dtype.scalar())).collect();
            match self.special_op(op, &lanes, dtype.scalar(), prelude) {
                Some(answer) => answer,
                None => scalar_op(self, op, dtype.scalar(), &lanes, &[], prelude),
            }
        })
    }
}

fn compare(op: CompareOp, args: &[Code; 2], operand: DType, prelude: &mut Prelude) -> Answer<Code> {
    let (infix, word) = (Infix::of_comparison(op), word_of_comparison(op));
    let name = format!("cd_{word}_{}x{}", short(computed(operand)), operand.lanes);
    let ret = DType::BOOL.with_lanes(operand.lanes);
    let helper = Helper { name: &name, params: &[operand, operand], ret };
    helper.call(args, prelude, |args, _| Ok(Code::infix(infix, &args[0], &args[1])))
}

/// Lanes picked out of vectors and scalars.
fn shuffle(vectors: &[(Code, DType)], indices: &[u16], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
    if vectors.len() > 26 {
        return Err(Refusal::new(format!(
            "a shuffle of {} vectors; at most 26 are supported",
            vectors.len()
        )));
    }
    let mut places = Vec::new();
    for (position, (_, from)) in vectors.iter().enumerate() {
        let letter = char::from(b'a' + position as u8);
        for lane in 0..from.lanes {
            let text = if from.is_scalar() { letter.to_string() } else { format!("{letter}.v[{lane}]") };
            places.push((position, lane, text));
        }
    }
    let mut picked = Vec::with_capacity(indices.len());
    for index in indices {
        let place = places.get(usize::from(*index));
        let place =
            place.ok_or_else(|| Refusal::new(format!("a shuffle picks lane {index} of {}", places.len())))?;
        picked.push(place);
    }
    if let (true, [(position, lane, _)]) = (dtype.is_scalar(), picked.as_slice()) {
        let (code, from) = &vectors[*position];
        let element = format!("{}.v[{lane}]", code.operand());
        return Ok(if from.is_scalar() { code.clone() } else { Code::primary(element) });
    }
    let type_name = vector_type(dtype, prelude)?;
    let (mut params, mut name) = (Vec::new(), format!("cd_shuffle_{}", dtype.lanes));
    for (position, (_, from)) in vectors.iter().enumerate() {
        let letter = char::from(b'a' + position as u8);
        let from_type =
            if from.is_scalar() { scalar(*from)?.to_owned() } else { vector_type(*from, prelude)? };
        name.push_str(&format!("_{}x{}", short(computed(*from)), from.lanes));
        params.push(format!("{from_type} {letter}"));
    }
    for index in indices {
        name.push_str(&format!("_{index}"));
    }
    prelude.define(&name, |_| {
        let lanes: Vec<String> = (0_u16..)
            .zip(&picked)
            .map(|(lane, (_, _, text))| format!("    r.v[{lane}] = {text};\n"))
            .collect();
        let (params, lanes) = (params.join(", "), lanes.concat());
        format!("{HELPER} {type_name} {name}({params}) {{\n    {type_name} r;\n{lanes}    return r;\n}}\n")
    });
    let args: Vec<Code> = vectors.iter().map(|(code, _)| code.clone()).collect();
    Ok(Code::call(&name, &args))
}
