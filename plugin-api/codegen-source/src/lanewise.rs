//! Computations lane by lane, for languages without an operator for them.

use chipdock_ir::{BinaryOp, CompareOp, DType};

use crate::{Answer, Code, Prelude, Refusal};

/// A helper of the text that computes each lane of a vector from the same lanes of its parameters
/// `a`, `b`, ….
#[derive(Clone, Copy, Debug)]
pub struct Lanewise<'a> {
    /// The helper's name.
    pub name: &'a str,
    /// Types of the parameters; a scalar is used for all lanes.
    pub params: &'a [DType],
    /// The type of the result.
    pub ret: DType,
}

impl Lanewise<'_> {
    /// Defines the helper, unless it is defined already. `lane` writes the text of one lane from
    /// those of the parameters, first lane first; `text` writes the text of the helper from the
    /// names of the parameters and the lanes.
    ///
    /// # Errors
    ///
    /// Any refusal of `lane` or `text`.
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

/// Picks lanes from vectors and scalars, in order: a single lane as it is, several through
/// `vector`.
///
/// # Errors
///
/// A lane that does not exist, a number of lanes other than that of `dtype`, and any refusal of
/// `vector`.
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

/// A word for an operator, used in names of helpers.
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

/// A word for a comparison, used in names of helpers.
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
