//! The rotation: every op, comparison and cast on every type, one for each seed.

use chipdock_ir::build::Body;
use chipdock_ir::op::{Class, Gives};
use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op, Signature};

use super::body::Target;
use super::facts::{Scope, Size, Val};
use super::loops::Nest;
use super::value::{ARITHMETIC, COMPARES, N_FLOAT_ARITHMETIC};
use super::{Generator, op};
use crate::Options;

/// Feature that the program of a seed must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Binary(BinaryOp, DType),
    Compare(CompareOp, DType),
    Cast(DType, DType),
    Call(Op, DType),
    Logic(usize),
}

/// Returns the number of consecutive seeds that cover every op, comparison and cast on every type
/// of the options.
#[must_use]
pub fn turns(options: &Options) -> u64 {
    list(options).len() as u64
}

fn list(options: &Options) -> Vec<Turn> {
    let mut turns: Vec<Turn> = (0..3).map(Turn::Logic).collect();
    for &dtype in &options.types {
        let n = match dtype {
            _ if dtype.is_float() => N_FLOAT_ARITHMETIC,
            _ if dtype.is_integer() => ARITHMETIC.len(),
            _ => 0,
        };
        turns.extend(ARITHMETIC[..n].iter().map(|op| Turn::Binary(*op, dtype)));
        turns.extend(COMPARES.iter().map(|op| Turn::Compare(*op, dtype)));
        let ops = options.ops.iter().filter(|op| takes(**op, dtype) && options.has(**op, dtype));
        let ops = ops.filter(|op| op::is_stated(**op));
        turns.extend(ops.map(|op| Turn::Call(*op, dtype)));
        let others = options.types.iter().filter(|other| **other != dtype);
        turns.extend(others.map(|other| Turn::Cast(dtype, *other)));
    }
    turns
}

/// Returns true if an op accepts a first operand of a type.
pub(crate) fn takes(op: Op, dtype: DType) -> bool {
    match op {
        // The first operand counted here is the chosen value, not the condition.
        Op::IfThenElse => true,
        Op::Reinterpret => dtype.is_integer() || dtype.is_float(),
        Op::Dp4a => dtype == DType::INT8 || dtype == DType::UINT8,
        Op::DotAdd => dtype == DType::INT32,
        _ => op.info().class == Class::Value && op.takes_first(dtype),
    }
}

/// Returns the result type of an op for a first operand of a type.
fn result(op: Op, dtype: DType) -> DType {
    match op.info().gives {
        _ if op == Op::Dp4a => sum_of(dtype),
        Gives::LanesOf(_, result) => result,
        _ => dtype,
    }
}

/// Returns the accumulator type of a sum of four products of a type.
pub(crate) fn sum_of(dtype: DType) -> DType {
    if dtype == DType::INT8 { DType::INT32 } else { DType::UINT32 }
}

impl Generator<'_> {
    /// Appends a stage that applies the seed's feature to elements of inputs of its type.
    pub(crate) fn turn(&mut self, f: &mut Body, seed: u64) {
        let turns = list(self.options);
        let turn = turns[(seed % turns.len() as u64) as usize];
        let dtype = match turn {
            Turn::Binary(_, dtype)
            | Turn::Compare(_, dtype)
            | Turn::Cast(dtype, _)
            | Turn::Call(_, dtype) => dtype,
            Turn::Logic(_) => DType::BOOL,
        };
        for at in 0..2 {
            self.input(format!("X{at}"), vec![Size::N], dtype);
        }
        let inputs: Vec<_> = self.tensors.iter().rev().take(2).cloned().collect();
        let result = match turn {
            Turn::Compare(..) | Turn::Logic(_) => DType::BOOL,
            Turn::Cast(_, to) => to,
            Turn::Call(op, dtype) => result(op, dtype),
            Turn::Binary(..) => dtype,
        };
        self.written = None;
        let shape = vec![Size::N];
        let to = self.output("Y".to_owned(), &shape, result);
        let nest = Nest { ordered: false, straight: true, block: self.in_block() };
        self.nest(f, &shape, nest, &Scope::default(), &mut |this, f, scope| {
            let at: Vec<Expr> = scope.at.iter().map(|(_, index)| index.clone()).collect();
            let element = |which: usize| {
                let tensor = &inputs[which];
                Val::new(Expr::load(&tensor.buffer, at.clone()), tensor.lo, tensor.hi, true)
            };
            let [a, b] = [element(0), element(1)];
            let value = this.show(turn, a, b, scope);
            let target = Target { buffer: to.clone(), at: at.clone() };
            this.store(f, &target, value);
        });
        self.finish_stage(to, shape);
    }

    fn show(&mut self, turn: Turn, a: Val, b: Val, scope: &Scope) -> Val {
        match turn {
            Turn::Binary(op, _) => op::binary(op, a, b),
            Turn::Compare(op, _) => op::compare(op, a, b),
            Turn::Cast(_, to) => Val { exact: true, ..op::convert(a, to, &mut self.random) },
            Turn::Logic(0) => Val::any(a.expr.and(b.expr)),
            Turn::Logic(1) => Val::any(a.expr.or(b.expr)),
            Turn::Logic(_) => Val::any(a.expr.logical_not()),
            Turn::Call(Op::IfThenElse, dtype) => {
                let condition = self.condition(1, scope, 1);
                let call = Expr::call(Op::IfThenElse, vec![condition, a.expr, b.expr], dtype);
                Val { expr: call, ..a }
            }
            Turn::Call(op, _) if op.signature() == Signature::FloatTernary => op::op3(op, a.clone(), b, a),
            Turn::Call(Op::QMultiplyShift | Op::QMultiplyShiftPerAxis, _) => {
                let per_axis = matches!(turn, Turn::Call(Op::QMultiplyShiftPerAxis, _));
                self.quantised(per_axis, a, b)
            }
            Turn::Call(Op::Dp4a, dtype) => self.dot(dtype, scope, 1),
            Turn::Call(Op::DotAdd, dtype) => self.dot_add(dtype, scope, 1),
            Turn::Call(Op::ThreadInvariant, dtype) => {
                Val { expr: Expr::call(Op::ThreadInvariant, vec![a.expr], dtype), ..a }
            }
            Turn::Call(Op::Ldexp, _) => {
                let power = self.leaf(DType::INT32, scope);
                op::op2(Op::Ldexp, a, power)
            }
            Turn::Call(Op::Reinterpret, _) => self.reinterpret(a),
            Turn::Call(Op::Likely, dtype) => Val::any(Expr::call(Op::Likely, vec![a.expr], dtype)),
            Turn::Call(op, _) if op.arity() == 2 => op::op2(op, a, b),
            Turn::Call(op, _) => op::op1(op, a),
        }
    }
}
