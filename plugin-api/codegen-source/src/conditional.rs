//! Loads under a condition: hoisted above the condition if they are in bounds, recorded if that is
//! not known.
//!
//! A compiler that turns branches into masks may miscompile such loads (see
//! [`crate::Dialect::branches_kept`]). A load that was hoisted above its condition is an ordinary
//! load, and a choice between two loaded values is not a branch.

use chipdock_ir::{Buffer, Callee, Child, Expr, ExprKind, ForKind, Op, Stmt, StmtKind};

use crate::expression::place_of;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// Hoists the loads of an expression that stands under a condition above that condition, if
    /// each is in bounds whatever the condition is, or if `is_eager`, which says that the
    /// expression is evaluated anyway.
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
            // The variable that it binds is not known out here.
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

    /// Returns true if the ranges of variables show that the indices lie within a buffer of
    /// constant extents.
    fn is_in_bounds(&mut self, buffer: &Buffer, indices: &[Expr]) -> bool {
        let shape = buffer.shape.iter();
        indices.len() == buffer.shape.len()
            && shape.zip(indices).all(|(extent, index)| {
                let Some(extent) = extent.as_int() else { return false };
                // Integers are computed without faults (rule of the IR: IR-E3); memory and calls
                // are another matter.
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

    /// Writes the body of a loop. Compilers make masks only in innermost loops, after unrolling
    /// short ones.
    pub(crate) fn loop_body(&mut self, stays: bool, body: &'a Stmt) {
        if !self.dialect.keeps_branches() {
            return self.stmt(body);
        }
        let outer = (self.conditions, self.may_be_masked, std::mem::take(&mut self.has_masked_loads));
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
        let mark = self.text.mark();
        self.stmt(body);
        if self.has_masked_loads {
            let line = self.dialect.branches_kept(&mut self.prelude);
            let lines = self.text.take_from(mark);
            self.text.line(line);
            self.text.put(lines);
        }
        (self.conditions, self.may_be_masked, self.has_masked_loads) = outer;
    }

    /// Records a written load: if it stands under a condition that may become a mask, its loop must
    /// keep its branches.
    pub(crate) fn note_load(&mut self, is_predicated: bool) {
        self.has_masked_loads |= self.may_be_masked && (self.conditions > 0 || is_predicated);
    }
}

/// Returns true if the loop remains a loop in the compiled code: compilers unroll loops with few
/// iterations, gcc up to 16.
pub(crate) fn stays_a_loop(kind: ForKind, extent: &Expr) -> bool {
    const SHORT_MAX: i128 = 64;
    kind != ForKind::Unrolled && extent.as_int().is_none_or(|extent| extent > SHORT_MAX)
}

/// Returns true if not all operands of the expression are evaluated.
fn is_lazy(e: &Expr) -> bool {
    let is_choice = matches!(e.kind, ExprKind::Call { callee: Callee::Op(Op::IfThenElse), .. });
    is_choice || matches!(e.kind, ExprKind::And(..) | ExprKind::Or(..))
}

/// Returns true if the operand is a place whose address is taken, so that nothing is loaded from
/// it.
fn is_place(e: &Expr, operand: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call { callee: Callee::Op(op), .. } if place_of(*op, operand).is_some())
}
