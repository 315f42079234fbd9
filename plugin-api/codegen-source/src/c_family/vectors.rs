//! Vectors: helpers that compute lane by lane (CF7).

use chipdock_ir::{BinaryOp, DType, Op};

use super::{CFamily, casts, computed, converted, full, integers, masks, scalar, short, wrapping};
use crate::{
    Answer, Code, Expressions, Infix, Prelude, Refusal, Vector, scalar_op, word_of, word_of_comparison,
};

/// The type that stores one lane.
pub(super) fn lane<L: CFamily>(language: &L, dtype: DType) -> DType {
    let has_masks = dtype.is_bool() && language.native_vectors().is_some();
    if has_masks { DType::INT8 } else { computed(dtype).scalar() }
}

/// Converts a lane of a vector to a scalar value.
pub fn lane_value<L: CFamily>(language: &L, element: Code, dtype: DType) -> Code {
    if dtype.is_bool() && language.native_vectors().is_some() {
        return Code::infix(Infix::NotEqual, &element, &Code::primary("0"));
    }
    element
}

/// Converts a scalar value to a lane of a vector.
pub fn lane_of<L: CFamily>(language: &L, value: Code, dtype: DType) -> Code {
    if dtype.is_bool() && language.native_vectors().is_some() { Code::prefix("-", &value) } else { value }
}

/// A structure of an array, defined on first use: the default of [`CFamily::vector_type`].
pub(super) fn structure<L: CFamily>(language: &L, dtype: DType, prelude: &mut Prelude) -> Answer<String> {
    let lane = lane(language, dtype);
    if lane.is_handle() {
        return Err(Refusal::new("has no vectors of pointers"));
    }
    let name = format!("cd_{}", full(lane.with_lanes(dtype.lanes)));
    let element = scalar(language, lane)?;
    let definition = language.spellings().structures.definition;
    prelude.define(&name, |_| definition(&name, element, dtype.lanes));
    Ok(name)
}

/// A loop over lanes, indented by one level.
fn for_lanes<L: CFamily>(language: &L, lanes: u16, line: &str) -> String {
    let hint = language.spellings().structures.loop_hint;
    format!("{hint}    for (int l = 0; l < {lanes}; ++l) {{\n        {line}\n    }}\n")
}

/// The body of a function that returns a vector: the default of [`CFamily::lanes_returned`].
pub(super) fn lanes_returned<L: CFamily>(
    language: &L,
    dtype: DType,
    type_name: &str,
    prelude: &mut Prelude,
    lane: &mut dyn FnMut(&str, &mut Prelude) -> Answer<Code>,
) -> Answer<String> {
    if language.lists_lanes(dtype.lanes) {
        let mut values = Vec::with_capacity(dtype.lanes.into());
        for index in 0..dtype.lanes {
            values.push(lane(&index.to_string(), prelude)?.text);
        }
        return Ok(language.vector_returned(type_name, dtype.lanes, &values));
    }
    let member = language.spellings().structures.member;
    let value = lane("l", prelude)?.text;
    let each = for_lanes(language, dtype.lanes, &format!("r.{member}[l] = {value};"));
    Ok(format!("    {type_name} r;\n{each}    return r;\n"))
}

/// A function body with one statement per lane: the default of [`CFamily::each_lane`].
pub(super) fn each_lane<L: CFamily>(
    language: &L,
    lanes: u16,
    prelude: &mut Prelude,
    line: &mut dyn FnMut(&str, &mut Prelude) -> Answer<String>,
) -> Answer<String> {
    if !language.lists_lanes(lanes) {
        return Ok(for_lanes(language, lanes, &line("l", prelude)?));
    }
    let mut body = String::new();
    for index in 0..lanes {
        body.push_str(&format!("    {}\n", line(&index.to_string(), prelude)?));
    }
    Ok(body)
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

/// A parameter of a function, with its type.
fn parameter<L: CFamily>(
    language: &L,
    dtype: DType,
    position: usize,
    prelude: &mut Prelude,
) -> Answer<String> {
    let type_name = if dtype.is_scalar() {
        scalar(language, dtype)?.to_owned()
    } else {
        language.vector_type(dtype, prelude)?
    };
    Ok(format!("{type_name} {}", letter(position)))
}

/// Writes a lane of a helper's result from the lanes of its parameters, given the lane's number or
/// the counter of a loop.
type Lane<'l> = &'l mut dyn FnMut(&[Code], &str, &mut Prelude) -> Answer<Code>;

/// A helper that computes lane by lane.
pub(super) struct Helper<'h> {
    pub(super) name: &'h str,
    /// Parameters; a scalar is the same in all lanes.
    pub(super) params: &'h [DType],
    pub(super) ret: DType,
}

impl Helper<'_> {
    /// Defines the helper and returns a call of it; `lane` writes one lane from the parameters'
    /// lanes and its own number.
    pub(super) fn call<L: CFamily>(
        &self,
        language: &L,
        args: &[Code],
        prelude: &mut Prelude,
        lane: Lane<'_>,
    ) -> Answer<Code> {
        if !prelude.contains(self.name) {
            let mut params = Vec::with_capacity(self.params.len());
            for (position, dtype) in self.params.iter().enumerate() {
                params.push(parameter(language, *dtype, position, prelude)?);
            }
            let ret = language.vector_type(self.ret, prelude)?;
            let body = language.lanes_returned(self.ret, &ret, prelude, &mut |index, prelude| {
                let lane_of_param = |(position, dtype): (usize, &DType)| {
                    let name = letter(position).to_string();
                    if dtype.is_scalar() {
                        return Code::primary(name);
                    }
                    lane_value(language, Code::primary(language.lane(&name, index, dtype.lanes)), *dtype)
                };
                let values: Vec<Code> = self.params.iter().enumerate().map(lane_of_param).collect();
                Ok(lane_of(language, lane(&values, index, prelude)?, self.ret))
            })?;
            let (helper, name, params) = (language.spellings().helper, self.name, params.join(", "));
            prelude.define(name, |_| format!("{helper} {ret} {name}({params}) {{\n{body}}}\n"));
        }
        let mut settled = Vec::with_capacity(args.len());
        for (arg, dtype) in args.iter().zip(self.params) {
            settled.push(masks::settled(language, arg, *dtype, prelude)?);
        }
        Ok(Code::call(self.name, &settled))
    }
}

/// A computation on vectors.
pub(super) fn vector<L: CFamily>(
    language: &L,
    computation: Vector<'_>,
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    language.check(dtype, prelude)?;
    if let Some(answer) = language.native_vector(&computation, dtype, prelude) {
        return answer;
    }
    if let Some(answer) = masks::vector(language, &computation, dtype, prelude) {
        return answer;
    }
    let masks = DType::BOOL.with_lanes(dtype.lanes);
    let helper = |name: &str, params: &[DType], args: &[Code], prelude: &mut Prelude, lane: Lane<'_>| {
        Helper { name, params, ret: dtype }.call(language, args, prelude, lane)
    };
    let own = full(dtype);
    match computation {
        Vector::Broadcast(value) => {
            let (name, params) = (format!("cd_splat_{own}"), [dtype.scalar()]);
            helper(&name, &params, &[value], prelude, &mut |args, _, _| Ok(args[0].clone()))
        }
        Vector::Ramp(base, stride) => {
            let (name, params) = (format!("cd_ramp_{own}"), [dtype.scalar(); 2]);
            let (wide, lane) = (scalar(language, wrapping(dtype))?, scalar(language, dtype)?);
            helper(&name, &params, &[base, stride], prelude, &mut |args, index, _| {
                let bits = |code: &Code| converted(language, wide, code);
                let step = Code::infix(Infix::Mul, &bits(&Code::primary(index)), &bits(&args[1]));
                Ok(converted(language, lane, &Code::infix(Infix::Add, &bits(&args[0]), &step)))
            })
        }
        Vector::Binary(op, a, b) => binary(language, op, &[a, b], dtype, prelude),
        Vector::Compare(op, a, b, operand) => {
            let name = format!("cd_{}_{}", word_of_comparison(op), full(operand));
            let infix = Infix::of_comparison(op);
            helper(&name, &[operand; 2], &[a, b], prelude, &mut |args, _, _| {
                Ok(Code::infix(infix, &args[0], &args[1]))
            })
        }
        Vector::And(a, b) => {
            helper(&format!("cd_and_{own}"), &[masks; 2], &[a, b], prelude, &mut |args, _, _| {
                Ok(Code::infix(Infix::And, &args[0], &args[1]))
            })
        }
        Vector::Or(a, b) => {
            helper(&format!("cd_or_{own}"), &[masks; 2], &[a, b], prelude, &mut |args, _, _| {
                Ok(Code::infix(Infix::Or, &args[0], &args[1]))
            })
        }
        Vector::Not(a) => helper(&format!("cd_not_{own}"), &[masks], &[a], prelude, &mut |args, _, _| {
            Ok(Code::not(&args[0]))
        }),
        Vector::Select(condition, then, otherwise) => {
            let (params, args) = ([masks, dtype, dtype], [condition, then, otherwise]);
            helper(&format!("cd_select_{own}"), &params, &args, prelude, &mut |args, _, _| {
                Ok(Code::ternary(&args[0], &args[1], &args[2]))
            })
        }
        // The float that represents a half already has the value.
        Vector::Cast(value, from) if computed(from) == dtype => Ok(value),
        Vector::Cast(value, from) => {
            let name = format!("cd_{own}_of_{}", short(from));
            helper(&name, &[from], &[value], prelude, &mut |args, _, prelude| {
                casts::cast(language, &args[0], from.scalar(), dtype.scalar(), prelude)
            })
        }
        Vector::Shuffle(vectors, indices) => shuffle(language, vectors, indices, dtype, prelude),
        Vector::Op(op, args) => vector_op(language, op, args, dtype, prelude),
        Vector::Settle(value) => Ok(value.in_form(0)),
    }
}

fn binary<L: CFamily>(
    language: &L,
    op: BinaryOp,
    args: &[Code; 2],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let (of, name) = (dtype.scalar(), format!("cd_{}_{}", word_of(op), full(dtype)));
    let helper = Helper { name: &name, params: &[dtype, dtype], ret: dtype };
    helper.call(language, args, prelude, &mut |args, _, prelude| match (Infix::of(op), op) {
        (Some(_), BinaryOp::Div) if of.is_float() => language.quotient(&args[0], &args[1], of, prelude),
        (Some(infix), _) if of.is_float() => {
            language.rounded(Code::infix(infix, &args[0], &args[1]), of, prelude)
        }
        (Some(infix), BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) if of.is_integer() => {
            let wide = scalar(language, wrapping(of))?;
            let (a, b) = (converted(language, wide, &args[0]), converted(language, wide, &args[1]));
            Ok(converted(language, scalar(language, of)?, &Code::infix(infix, &a, &b)))
        }
        _ => integers::guarded(language, op, [&args[0], &args[1]], of, prelude),
    })
}

/// An op computed lane by lane, each lane as on scalars.
fn vector_op<L: CFamily>(
    language: &L,
    op: Op,
    args: &[(Code, DType)],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let types: Vec<DType> = args.iter().map(|(_, dtype)| *dtype).collect();
    let values: Vec<Code> = args.iter().map(|(code, _)| code.clone()).collect();
    let suffix: Vec<String> = types.iter().map(|dtype| full(*dtype)).collect();
    let mut name = format!("cd_{}_{}", op.name(), suffix.join("_"));
    if op == Op::Reinterpret {
        name.push_str(&format!("_as_{}", short(dtype)));
    }
    let helper = Helper { name: &name, params: &types, ret: dtype };
    helper.call(language, &values, prelude, &mut |lanes, _, prelude| {
        let lanes: Vec<(Code, DType)> =
            lanes.iter().cloned().zip(types.iter().map(|dtype| dtype.scalar())).collect();
        match super::language::special(language, op, &lanes, dtype.scalar(), prelude) {
            Some(answer) => answer,
            None => scalar_op(language, op, dtype.scalar(), &lanes, &[], prelude),
        }
    })
}

/// A vector of lanes picked from vectors and scalars.
fn shuffle<L: CFamily>(
    language: &L,
    vectors: &[(Code, DType)],
    indices: &[u16],
    dtype: DType,
    prelude: &mut Prelude,
) -> Answer<Code> {
    let lanes_of = |(position, (_, from)): (usize, &(Code, DType))| {
        (0..from.lanes).map(move |lane| (position, lane)).collect::<Vec<_>>()
    };
    let places: Vec<(usize, u16)> = vectors.iter().enumerate().flat_map(lanes_of).collect();
    let mut picked = Vec::with_capacity(indices.len());
    for index in indices {
        let place = places.get(usize::from(*index)).copied();
        picked.push(
            place.ok_or_else(|| Refusal::new(format!("a shuffle picks lane {index} of {}", places.len())))?,
        );
    }
    let element = |name: &str, from: DType, lane: u16| {
        if from.is_scalar() {
            return Code::primary(name);
        }
        lane_value(language, Code::primary(language.lane(name, &lane.to_string(), from.lanes)), from)
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
    let (type_name, mut params) = (language.vector_type(dtype, prelude)?, Vec::new());
    let mut name = format!("cd_shuffle_{}", full(dtype));
    for (position, (_, from)) in vectors.iter().enumerate() {
        name.push_str(&format!("_{}", full(*from)));
        params.push(parameter(language, *from, position, prelude)?);
    }
    for index in indices {
        name.push_str(&format!("_{index}"));
    }
    let lane = |(position, lane): &(usize, u16)| {
        let from = vectors[*position].1;
        lane_of(language, element(&letter(*position).to_string(), from, *lane), dtype).text
    };
    let values: Vec<String> = picked.iter().map(lane).collect();
    let (helper, params) = (language.spellings().helper, params.join(", "));
    let body = language.vector_returned(&type_name, dtype.lanes, &values);
    prelude.define(&name, |_| format!("{helper} {type_name} {name}({params}) {{\n{body}}}\n"));
    let mut args = Vec::with_capacity(vectors.len());
    for (code, from) in vectors {
        args.push(masks::settled(language, code, *from, prelude)?);
    }
    Ok(Code::call(&name, &args))
}
