//! Vectors of 2, 3 and 4 lanes: MSL's own, lane by lane where an op has no vector form.

use chipdock_codegen_source::{Answer, Code, Dialect, Infix, Prelude, Refusal, Vector, scalar_op};
use chipdock_ir::{BinaryOp, CompareOp, DType, Op};

use super::MslDialect;
use super::types::{one, short, value_type};

/// A function that computes lane by lane.
struct Lanewise<'a> {
    name: &'a str,
    params: &'a [DType],
    ret: DType,
}

impl Lanewise<'_> {
    fn define(
        &self,
        prelude: &mut Prelude,
        mut lane_text: impl FnMut(&[Code], &mut Prelude) -> Answer<Code>,
    ) -> Answer<()> {
        if prelude.contains(self.name) {
            return Ok(());
        }
        let letter = |index: usize| char::from(b'a' + (index % 26) as u8);
        let mut params = Vec::with_capacity(self.params.len());
        for (index, dtype) in self.params.iter().enumerate() {
            params.push(format!("{} {}", value_type(*dtype)?, letter(index)));
        }
        let mut lanes = Vec::with_capacity(self.ret.lanes.into());
        for lane in 0..self.ret.lanes {
            let args: Vec<Code> = self
                .params
                .iter()
                .enumerate()
                .map(|(index, dtype)| {
                    let letter = letter(index);
                    Code::primary(if dtype.is_scalar() {
                        letter.to_string()
                    } else {
                        format!("{letter}[{lane}]")
                    })
                })
                .collect();
            lanes.push(lane_text(&args, prelude)?);
        }
        let (ret, params) = (value_type(self.ret)?, params.join(", "));
        let value = Code::call(&ret, &lanes).text;
        let name = self.name;
        prelude
            .define(name, |_| format!("static inline {ret} {name}({params}) {{\n    return {value};\n}}\n"));
        Ok(())
    }
}

fn infix(op: BinaryOp) -> Option<Infix> {
    match op {
        BinaryOp::Add => Some(Infix::Add),
        BinaryOp::Sub => Some(Infix::Sub),
        BinaryOp::Mul => Some(Infix::Mul),
        BinaryOp::Div => Some(Infix::Div),
        _ => None,
    }
}

impl MslDialect {
    pub(super) fn vector_text(&self, v: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let type_name = value_type(dtype)?;
        match v {
            Vector::Broadcast(value) => Ok(one(&type_name, &value)),
            Vector::Ramp(base, stride) => {
                let name = format!("cd_ramp_{}x{}", short(dtype), dtype.lanes);
                let params = [dtype.scalar(), dtype.scalar()];
                let mut lane = 0;
                Lanewise { name: &name, params: &params, ret: dtype }.define(prelude, |args, _| {
                    let (held, wide) = (super::types::value_type(dtype.scalar())?, wide(dtype));
                    lane += 1;
                    Ok(Code::primary(format!(
                        "{held}({wide}(a) + {wide}({}) * {wide}({}))",
                        lane - 1,
                        args[1].text
                    )))
                })?;
                Ok(Code::call(&name, &[base, stride]))
            }
            Vector::Binary(op, a, b) => self.vector_binary(op, &a, &b, dtype, prelude),
            Vector::Compare(op, a, b, operand) if operand.is_bool() => {
                let name = format!("cd_{}_boolx{}", compare_name(op), operand.lanes);
                Lanewise { name: &name, params: &[operand, operand], ret: dtype }
                    .define(prelude, |args, _| Ok(self.comparison(op, &args[0], &args[1], DType::BOOL)))?;
                Ok(Code::call(&name, &[a, b]))
            }
            Vector::Compare(op, a, b, operand) => Ok(self.comparison(op, &a, &b, operand)),
            Vector::And(a, b) => Ok(Code::infix(Infix::And, &a, &b)),
            Vector::Or(a, b) => Ok(Code::infix(Infix::Or, &a, &b)),
            Vector::Not(a) => Ok(Code::not(&a)),
            Vector::Select(condition, then, otherwise) => {
                Ok(Code::call("select", &[otherwise, then, condition]))
            }
            Vector::Cast(value, from) => {
                if from == dtype {
                    return Ok(value);
                }
                let name = format!("cd_{}x{}_of_{}", short(dtype), dtype.lanes, short(from));
                Lanewise { name: &name, params: &[from], ret: dtype }.define(prelude, |args, prelude| {
                    self.cast(&args[0], from.scalar(), dtype.scalar(), prelude)
                })?;
                Ok(one(&name, &value))
            }
            Vector::Shuffle(vectors, indices) => shuffle(vectors, indices, dtype),
            Vector::Op(op, args) => self.vector_op(op, args, dtype, prelude),
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
        if let (Some(infix), true) = (infix(op), dtype.scalar() == DType::FLOAT32) {
            return Ok(Code::infix(infix, a, b));
        }
        let name = format!("cd_{}_{}x{}", op_name(op), short(dtype), dtype.lanes);
        Lanewise { name: &name, params: &[dtype, dtype], ret: dtype }.define(prelude, |args, prelude| {
            let scalar = dtype.scalar();
            match infix(op) {
                Some(infix) if dtype.is_float() => {
                    self.rounded(Code::infix(infix, &args[0], &args[1]), scalar, prelude)
                }
                Some(infix) if op != BinaryOp::Div && dtype.is_integer() && !dtype.is_bool() => {
                    let bits = |code: &Code| one(wide(dtype), code);
                    Ok(one(&value_type(scalar)?, &Code::infix(infix, &bits(&args[0]), &bits(&args[1]))))
                }
                _ => self.guarded(op, &args[0], &args[1], scalar, prelude),
            }
        })?;
        Ok(Code::call(&name, &[a.clone(), b.clone()]))
    }

    fn vector_op(&self, op: Op, args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
        let suffix: Vec<String> =
            types.iter().map(|dtype| format!("{}x{}", short(*dtype), dtype.lanes)).collect();
        let name = format!("cd_{}_{}_as_{}", op.name(), suffix.join("_"), short(dtype));
        Lanewise { name: &name, params: &types, ret: dtype }.define(prelude, |lanes, prelude| {
            let lanes: Vec<(Code, DType)> =
                lanes.iter().cloned().zip(types.iter().map(|dtype| dtype.scalar())).collect();
            match self.own_op(op, &lanes, dtype.scalar(), prelude) {
                Some(answer) => answer,
                None => scalar_op(self, op, dtype.scalar(), &lanes, &[], prelude),
            }
        })?;
        let values: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
        Ok(Code::call(&name, &values))
    }
}

/// The unsigned type in which sums of a type wrap.
fn wide(dtype: DType) -> &'static str {
    if dtype.bits > 32 { "ulong" } else { "uint" }
}

pub(super) fn op_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::Div => "div",
        BinaryOp::Mod => "mod",
        BinaryOp::FloorDiv => "floordiv",
        BinaryOp::FloorMod => "floormod",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
    }
}

fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
    }
}

/// Lanes picked out of vectors and scalars.
fn shuffle(vectors: &[(Code, DType)], indices: &[u16], dtype: DType) -> Answer<Code> {
    let mut places = Vec::new();
    for (code, from) in vectors {
        for lane in 0..from.lanes {
            let text =
                if from.is_scalar() { code.text.clone() } else { format!("{}[{lane}]", code.operand()) };
            places.push(Code::new(
                text,
                if from.is_scalar() { code.precedence } else { chipdock_codegen_source::Precedence::Primary },
            ));
        }
    }
    let mut picked = Vec::with_capacity(indices.len());
    for index in indices {
        let place = places.get(usize::from(*index)).cloned();
        picked.push(
            place.ok_or_else(|| Refusal::new(format!("a shuffle picks lane {index} of {}", places.len())))?,
        );
    }
    match picked.as_slice() {
        [lane] if dtype.is_scalar() => Ok(lane.clone()),
        _ if picked.len() != usize::from(dtype.lanes) => {
            Err(Refusal::new(format!("a shuffle of {} lanes gives {dtype}", picked.len())))
        }
        _ => Ok(Code::call(&value_type(dtype)?, &picked)),
    }
}
