//! Loads that stand under a condition: made before it where they are in bounds, and noted where that is not known.
//!
//! A compiler that turns branches into masks may get such loads wrong (see [`crate::Dialect::branches_kept`]). What is
//! loaded before its condition is an ordinary load, and the choice between two values is no branch.

use chipdock_ir::{Buffer, Callee, Child, Expr, ExprKind, ForKind, Op, Stmt, StmtKind};

use crate::expression::place_of;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// Makes the loads of an expression that stands under a condition now, before the condition decides, where each is in bounds
    /// whatever the condition is, or `is_eager` says that the expression is evaluated anyway.
    pub(crate) fn load_before_condition(&mut self, e: &'a Expr, is_eager: bool) {
        if !self.dialect.keeps_branches() || self.depth > crate::DEPTH_MAX {
            return;
        }
        match &e.kind {
            ExprKind::Load { buffer, indices, predicate: None } if e.dtype.is_scalar() => {
                let is_known = self.shared_name((e.address(), false)).is_some();
                if !is_known && (is_eager || self.is_in_bounds(buffer, indices)) {
                    let code = self.node(e);
                    let name = self.bind_temporary("t", e, code);
                    self.loaded.insert(e.address());
                    self.share((e.address(), false), &name);
                }
            }
            // What it binds is not known out here.
            ExprKind::Let { .. } => {}
            _ if !self.looked.insert((e.address(), is_eager)) => {}
            _ => {
                self.depth += 1;
                let is_eager = is_eager && !is_lazy(e);
                e.for_each_child(&mut |child| {
                    if !is_place(e, child) {
                        self.load_before_condition(child, is_eager);
                    }
                });
                self.depth -= 1;
            }
        }
    }

    /// Whether indices lie within a buffer of constant extents, as far as the ranges of variables show.
    fn is_in_bounds(&mut self, buffer: &Buffer, indices: &[Expr]) -> bool {
        let shape = buffer.shape.iter();
        indices.len() == buffer.shape.len()
            && shape.zip(indices).all(|(extent, index)| {
                let Some(extent) = extent.as_int() else { return false };
                // Integers are computed without faults (rule of the IR: IR-E3); memory and calls are another matter.
                let mut is_arithmetic = index.dtype.is_scalar();
                index.walk(&mut |e| {
                    is_arithmetic &= !matches!(
                        e.kind,
                        ExprKind::Load { .. } | ExprKind::Call { .. } | ExprKind::Let { .. }
                    );
                });
                let (low, high) = self.ranges.of(index);
                is_arithmetic && low >= 0 && high < extent
            })
    }

    /// Writes the body of a loop. Compilers make masks only in innermost loops, once they unrolled what is short.
    pub(crate) fn loop_body(&mut self, stays: bool, body: &'a Stmt) {
        if !self.dialect.keeps_branches() {
            return self.stmt(body);
        }
        let outer = (self.conditions, self.may_be_masked);
        if stays {
            self.conditions = 0;
        }
        let mut is_innermost = true;
        body.walk(&mut |child| {
            let Child::Stmt(s) = child else { return };
            is_innermost &= match &s.kind {
                StmtKind::For { kind, extent, .. } => !stays_a_loop(*kind, extent),
                kind => !matches!(kind, StmtKind::While { .. }),
            };
        });
        self.may_be_masked = is_innermost;
        self.stmt(body);
        (self.conditions, self.may_be_masked) = outer;
    }

    /// Notes a load that is written: under a condition that may become a mask, its function is to keep its branches.
    pub(crate) fn note_load(&mut self, is_predicated: bool) {
        self.has_masked_loads |= self.may_be_masked && (self.conditions > 0 || is_predicated);
    }

    /// Puts what the dialect says of a function with such loads in front of its text, which begins at the mark.
    pub(crate) fn keep_branches(&mut self, mark: usize) {
        if !(self.dialect.keeps_branches() && self.has_masked_loads) {
            return;
        }
        let line = self.dialect.branches_kept(&mut self.prelude);
        let lines = self.text.take_from(mark);
        self.text.line(line);
        self.text.put(lines);
    }
}

/// Whether a loop is one in what compilers make of it: they unroll those with few iterations, gcc up to 16.
pub(crate) fn stays_a_loop(kind: ForKind, extent: &Expr) -> bool {
    const SHORT_MAX: i128 = 64;
    kind != ForKind::Unrolled && extent.as_int().is_none_or(|extent| extent > SHORT_MAX)
}

/// Whether not all of its operands are evaluated.
fn is_lazy(e: &Expr) -> bool {
    let is_choice = matches!(e.kind, ExprKind::Call { callee: Callee::Op(Op::IfThenElse), .. });
    is_choice || matches!(e.kind, ExprKind::And(..) | ExprKind::Or(..))
}

/// Whether an operand is a place, of which nothing is loaded.
fn is_place(e: &Expr, operand: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call { callee: Callee::Op(op), .. } if place_of(*op, operand).is_some())
}
