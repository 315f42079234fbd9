//! Vectors of 2, 3 and 4 lanes: WGSL's own, computed lane by lane if an op has no vector form.

use chipdock_codegen_source::{
    Answer, Code, Expressions as _, Infix, Lanewise, Prelude, Vector, scalar_op, shuffled, word_of,
    word_of_comparison,
};
use chipdock_ir::{BinaryOp, DType, Op};

use super::WgslDialect;
use super::types::{call, one, scalar, short, value_type};

/// Defines a function that computes lane by lane.
fn lanewise(
    helper: Lanewise<'_>,
    prelude: &mut Prelude,
    lane: impl FnMut(&[Code], &mut Prelude) -> Answer<Code>,
) -> Answer<()> {
    helper.define(prelude, lane, |params, lanes| {
        let mut texts = Vec::with_capacity(params.len());
        for (name, dtype) in params {
            texts.push(format!("{name}: {}", value_type(*dtype)?));
        }
        let (name, ret, params) = (helper.name, value_type(helper.ret)?, texts.join(", "));
        let value = call(&ret, lanes).text;
        Ok(format!("fn {name}({params}) -> {ret} {{\n    return {value};\n}}\n"))
    })
}

impl WgslDialect {
    pub(super) fn vector_text(&self, v: Vector<'_>, dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let type_name = value_type(dtype)?;
        match v {
            Vector::Broadcast(value) => Ok(one(&type_name, &value)),
            Vector::Ramp(base, stride) => {
                let name = format!("cd_ramp_{}x{}", short(dtype), dtype.lanes);
                let params = [dtype.scalar(), dtype.scalar()];
                let mut lane = 0;
                lanewise(Lanewise { name: &name, params: &params, ret: dtype }, prelude, |args, _| {
                    let count = super::types::integer(lane, dtype.scalar())?;
                    lane += 1;
                    let step = Code::infix(Infix::Mul, &count, &args[1]);
                    Ok(super::types::cut(Code::infix(Infix::Add, &args[0], &step), dtype.scalar()))
                })?;
                Ok(call(&name, &[base, stride]))
            }
            Vector::Binary(op, a, b) => self.vector_binary(op, &a, &b, dtype, prelude),
            Vector::Compare(op, a, b, operand) if operand.is_bool() => {
                let name = format!("cd_{}_boolx{}", word_of_comparison(op), operand.lanes);
                lanewise(
                    Lanewise { name: &name, params: &[operand, operand], ret: dtype },
                    prelude,
                    |args, prelude| Ok(self.comparison(op, &args[0], &args[1], DType::BOOL, prelude)),
                )?;
                Ok(call(&name, &[a, b]))
            }
            Vector::Compare(op, a, b, operand) => Ok(self.comparison(op, &a, &b, operand, prelude)),
            Vector::And(a, b) => Ok(Code::infix(Infix::BitAnd, &a, &b)),
            Vector::Or(a, b) => Ok(Code::infix(Infix::BitOr, &a, &b)),
            Vector::Not(a) => Ok(Code::not(&a)),
            Vector::Select(condition, then, otherwise) => Ok(call("select", &[otherwise, then, condition])),
            Vector::Cast(value, from) => {
                if from == dtype {
                    return Ok(value);
                }
                let name = format!("cd_{}x{}_of_{}", short(dtype), dtype.lanes, short(from));
                lanewise(Lanewise { name: &name, params: &[from], ret: dtype }, prelude, |args, prelude| {
                    self.cast(&args[0], from.scalar(), dtype.scalar(), prelude)
                })?;
                Ok(one(&name, &value))
            }
            Vector::Shuffle(vectors, indices) => {
                shuffled(vectors, indices, dtype, |lanes| Ok(call(&value_type(dtype)?, lanes)))
            }
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
        let is_plain = scalar(dtype)? == "f32" && !super::types::is_half(dtype)
            || dtype.is_integer() && dtype.bits == 32 && op != BinaryOp::Div;
        if let (Some(infix), true) = (Infix::of(op), is_plain) {
            return Ok(Code::infix(infix, a, b));
        }
        let name = format!("cd_{}_{}x{}", word_of(op), short(dtype), dtype.lanes);
        lanewise(Lanewise { name: &name, params: &[dtype, dtype], ret: dtype }, prelude, |args, prelude| {
            let scalar = dtype.scalar();
            match Infix::of(op) {
                Some(infix) if dtype.is_float() => {
                    self.rounded(Code::infix(infix, &args[0], &args[1]), scalar, prelude)
                }
                Some(infix) if op != BinaryOp::Div && !dtype.is_bool() => {
                    Ok(super::types::cut(Code::infix(infix, &args[0], &args[1]), scalar))
                }
                _ => self.guarded(op, &args[0], &args[1], scalar, prelude),
            }
        })?;
        Ok(call(&name, &[a.clone(), b.clone()]))
    }

    fn vector_op(&self, op: Op, args: &[(Code, DType)], dtype: DType, prelude: &mut Prelude) -> Answer<Code> {
        let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
        let suffix: Vec<String> =
            types.iter().map(|dtype| format!("{}x{}", short(*dtype), dtype.lanes)).collect();
        let name = format!("cd_{}_{}_as_{}", op.name(), suffix.join("_"), short(dtype));
        lanewise(Lanewise { name: &name, params: &types, ret: dtype }, prelude, |lanes, prelude| {
            let lanes: Vec<(Code, DType)> =
                lanes.iter().cloned().zip(types.iter().map(|dtype| dtype.scalar())).collect();
            match self.own_op(op, &lanes, &[], dtype.scalar(), prelude) {
                Some(answer) => answer,
                None => scalar_op(self, op, dtype.scalar(), &lanes, &[], prelude),
            }
        })?;
        let values: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
        Ok(call(&name, &values))
    }
}
