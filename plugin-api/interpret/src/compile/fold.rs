//! Compiles what a block's reduction stores, with the bound of any association (INT-B3).

use std::collections::HashMap;

use chipdock_ir::{BinaryOp, Buffer, Expr, ExprKind, Stmt, StmtKind, Var};

use super::{Compiled, Compiler};
use crate::code::{Fold, FoldKind, Inst, NONE, Reg};
use crate::kernels;

/// The new value of an element, bound to a name before it is stored.
pub(super) struct NamedSum {
    buffer: Buffer,
    indices: Vec<Expr>,
    /// Its fold, once it is bound to a combination with the previous value.
    fold: Option<u32>,
}

impl Compiler<'_, '_> {
    /// Notes the names that the body of a block of reductions stores, if it uses them for nothing
    /// else.
    pub(super) fn name_sums(&mut self, body: &Stmt) {
        let StmtKind::Seq(stmts) = &body.kind else { return };
        if !self.reduces {
            return;
        }
        let mut uses: HashMap<Var, usize> = HashMap::new();
        body.walk_exprs(&mut |e| {
            if let ExprKind::Var(var) = &e.kind {
                *uses.entry(var.clone()).or_default() += 1;
            }
        });
        for stmt in stmts {
            if let StmtKind::Store { buffer, indices, value, predicate: None } = &stmt.kind
                && let ExprKind::Var(var) = &value.kind
                && uses.get(var) == Some(&1)
            {
                let sum = NamedSum { buffer: buffer.clone(), indices: indices.clone(), fold: None };
                self.sums.insert(var.clone(), sum);
            }
        }
    }

    /// Compiles the value of a name, which may be the new value of an element.
    pub(super) fn named(&mut self, var: &Var, value: &Expr) -> Compiled<Reg> {
        let Some(NamedSum { buffer, indices, .. }) = self.sums.get(var) else { return self.expr(value) };
        let (buffer, indices) = (buffer.clone(), indices.clone());
        let (reg, fold) = self.stored(&buffer, &indices, value)?;
        if let Some(sum) = self.sums.get_mut(var) {
            sum.fold = (fold != NONE).then_some(fold);
        }
        Ok(reg)
    }

    /// Compiles the value to be stored; returns its fold too, if it is combined with the previous
    /// value by a reduction.
    pub(super) fn stored(&mut self, buffer: &Buffer, indices: &[Expr], value: &Expr) -> Compiled<(Reg, u32)> {
        let is_own = |operand: &Expr| {
            matches!(&operand.kind, ExprKind::Load { buffer: from, indices: at, predicate: None }
                if from == buffer && at == indices)
        };
        if let ExprKind::Var(var) = &value.kind
            && let Some(NamedSum { fold: Some(fold), .. }) =
                self.sums.get(var).filter(|sum| sum.buffer == *buffer && sum.indices == indices)
        {
            let fold = *fold;
            return Ok((self.expr(value)?, fold));
        }
        let pattern = match &value.kind {
            ExprKind::Binary(op, a, b) if self.reduces && value.dtype.is_float() => {
                let kind = match op {
                    BinaryOp::Add | BinaryOp::Sub => Some(FoldKind::Sum),
                    BinaryOp::Mul => Some(FoldKind::Product),
                    BinaryOp::Min | BinaryOp::Max => Some(FoldKind::Extreme),
                    BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => None,
                };
                let order = if is_own(a) { Some((a, b, true)) } else { None };
                let order = order.or((is_own(b) && *op != BinaryOp::Sub).then_some((b, a, false)));
                kind.zip(order).map(|(kind, (old, term, old_first))| (kind, *op, old, term, old_first))
            }
            _ => None,
        };
        let Some((kind, op, old, term, old_first)) = pattern else { return Ok((self.expr(value)?, NONE)) };
        let is_typed = old.dtype == value.dtype && term.dtype == value.dtype;
        let kernel = kernels::binary(op, self.lane(value.dtype)?);
        let (Some(kernel), true) = (kernel, is_typed) else { return Ok((self.expr(value)?, NONE)) };
        let (old, term) = (self.expr(old)?, self.expr(term)?);
        let dst = self.reserve(value.dtype.lanes)?;
        let (a, b) = if old_first { (old, term) } else { (term, old) };
        self.emit(Inst::Binary { op: kernel, dst, a, b, lanes: value.dtype.lanes.into() })?;
        let fold = self.out.folds.len() as u32;
        self.out.folds.push(Fold { kind, old, term });
        Ok((dst, fold))
    }
}
