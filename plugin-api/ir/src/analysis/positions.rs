//! Analysis of the integers that are positions.

use std::collections::{HashMap, HashSet};

use super::holds;
use crate::{BinaryOp, Callee, Expr, ExprKind, Op, Var};

/// Signed integers made of loop variables, parameters and constants by sums and products. These are
/// positions: they do not wrap in a program that stays within its buffers.
#[derive(Debug, Default)]
pub struct Positions {
    vars: HashSet<usize>,
    known: HashMap<usize, bool>,
}

impl Positions {
    /// Records that a variable is a loop variable, a parameter, or bound to a position.
    pub fn bind(&mut self, var: &Var) {
        self.vars.insert(var.address());
    }

    /// Returns true for a scalar signed integer that is a position.
    pub fn contains(&mut self, e: &Expr) -> bool {
        if !e.dtype.is_int() || !e.dtype.is_scalar() {
            return false;
        }
        if let Some(known) = self.known.get(&e.address()) {
            return *known;
        }
        let is_position = match &e.kind {
            ExprKind::Int(_) => true,
            ExprKind::Var(var) => self.vars.contains(&var.address()),
            ExprKind::Binary(op, a, b) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => {
                    self.contains(a) && self.contains(b)
                }
                _ => b.as_int().is_some_and(|b| b > 0) && self.contains(a),
            },
            ExprKind::Cast(value) => holds(e.dtype, value.dtype) && self.contains(value),
            ExprKind::Call { callee: Callee::Op(Op::ShiftLeft | Op::ShiftRight | Op::BitwiseAnd), args } => {
                args.iter().all(|arg| self.contains(arg))
            }
            _ => false,
        };
        self.known.insert(e.address(), is_position);
        is_position
    }
}
