//! What languages without an operator for it compute lane by lane.

use chipdock_ir::{BinaryOp, CompareOp, DType};

use crate::{Answer, Code, Prelude, Refusal};

/// A helper of the text that computes each lane of a vector from the same lanes of its parameters `a`, `b`, ….
#[derive(Clone, Copy, Debug)]
pub struct Lanewise<'a> {
    /// The helper's name.
    pub name: &'a str,
    /// Types of its parameters; a scalar serves all lanes.
    pub params: &'a [DType],
    /// The type of the result.
    pub ret: DType,
}

impl Lanewise<'_> {
    /// Defines it, unless it is there. `lane` is the text of one lane, from those of the parameters, first lane first;
    /// `text` is the helper's own, from names of the parameters and the lanes.
    ///
    /// # Errors
    ///
    /// What one of both refuses.
    pub fn define(
        &self,
        prelude: &mut Prelude,
        mut lane: impl FnMut(&[Code], &mut Prelude) -> Answer<Code>,
        text: impl FnOnce(&[(char, DType)], &[Code]) -> Answer<String>,
    ) -> Answer<()> {
        if prelude.contains(self.name) {
            return Ok(());
        }
        let params: Vec<(char, DType)> = ('a'..='z').cycle().zip(self.params.iter().copied()).collect();
        let mut lanes = Vec::with_capacity(self.ret.lanes.into());
        for index in 0..self.ret.lanes {
            let arg = |(name, dtype): &(char, DType)| {
                let text = if dtype.is_scalar() { name.to_string() } else { format!("{name}[{index}]") };
                Code::primary(text)
            };
            let args: Vec<Code> = params.iter().map(arg).collect();
            lanes.push(lane(&args, prelude)?);
        }
        let text = text(&params, &lanes)?;
        prelude.define(self.name, |_| text);
        Ok(())
    }
}

/// Lanes picked out of vectors and scalars, one after the other: one lane as it is, several by `vector`.
///
/// # Errors
///
/// A lane that is not there, another number of lanes than `dtype` has, and what `vector` refuses.
pub fn shuffled(
    vectors: &[(Code, DType)],
    indices: &[u16],
    dtype: DType,
    vector: impl FnOnce(&[Code]) -> Answer<Code>,
) -> Answer<Code> {
    match picked_lanes(vectors, indices)?.as_slice() {
        [lane] if dtype.is_scalar() => Ok(lane.clone()),
        picked if picked.len() != usize::from(dtype.lanes) => {
            Err(Refusal::new(format!("a shuffle of {} lanes gives {dtype}", picked.len())))
        }
        picked => vector(picked),
    }
}

fn picked_lanes(vectors: &[(Code, DType)], indices: &[u16]) -> Answer<Vec<Code>> {
    let lanes_of = |(code, from): &(Code, DType)| -> Vec<Code> {
        if from.is_scalar() {
            return vec![code.clone()];
        }
        (0..from.lanes).map(|lane| Code::primary(format!("{}[{lane}]", code.operand()))).collect()
    };
    let all: Vec<Code> = vectors.iter().flat_map(lanes_of).collect();
    let picked = indices.iter().map(|index| {
        let lane = all.get(usize::from(*index)).cloned();
        lane.ok_or_else(|| Refusal::new(format!("a shuffle picks lane {index} of {}", all.len())))
    });
    picked.collect()
}

/// A word for an operator, for names of helpers.
#[must_use]
pub fn word_of(op: BinaryOp) -> &'static str {
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

/// A word for a comparison, for names of helpers.
#[must_use]
pub fn word_of_comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
    }
}
