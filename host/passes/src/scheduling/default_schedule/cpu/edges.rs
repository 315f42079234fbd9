//! Edges: a loop along which conditions change at known places, such as the edges of a padded
//! image, runs in parts without the conditions.

use chipdock_ir::{BinaryOp, Callee, CompareOp, Expr, ExprKind, IterKind, StmtKind, Var, op::Op};

use super::leaf::Leaf;
use crate::scheduling::schedule::{Cut, Schedule, ScheduleError};
use crate::simplify::linear::Linear;

/// Greatest number of loops that run in parts, and of places where one is cut: each part is a copy
/// of the nest.
const LOOPS_MAX: usize = 2;
const CUTS_MAX: usize = 2;
/// Least number of iterations of a nest that is worth its copies.
const ITERATIONS_MIN: i128 = 256;

/// A nest with its cuts.
pub(super) struct Edges {
    leaf: Leaf,
    /// The position of a loop, and the iterations before which it is cut, in order; inner loops
    /// first.
    cuts: Vec<(usize, Vec<i128>)>,
}

impl Edges {
    /// A nest of spatial loops whose value depends on conditions on one loop each.
    pub(super) fn from_leaf(leaf: Leaf) -> Option<Self> {
        let StmtKind::Store { value, predicate: None, .. } = &leaf.block.body.kind else { return None };
        let spatial = leaf.block.iter_vars.iter().all(|axis| axis.kind == IterKind::Spatial);
        let is_long =
            leaf.iterations(0..leaf.heads.len()).is_some_and(|iterations| iterations >= ITERATIONS_MIN);
        (spatial && is_long && leaf.block.init.is_none() && !leaf.is_guarded).then_some(())?;
        let mut found: Vec<(Var, i128)> = Vec::new();
        value.walk(&mut |e| match &e.kind {
            ExprKind::Call { callee: Callee::Op(Op::IfThenElse), args } => {
                args.iter().take(1).for_each(|condition| places(condition, &mut found));
            }
            ExprKind::Select(condition, ..) => places(condition, &mut found),
            _ => {}
        });
        let mut cuts = Vec::new();
        for position in (0..leaf.heads.len()).rev() {
            let (Some(axis), Some(extent)) = (leaf.axis(position), leaf.extent(position)) else { continue };
            let (var, extent) = (&leaf.block.iter_vars[axis].var, extent.as_int()?);
            let inside = found.iter().filter(|(of, at)| of == var && (1..extent).contains(at));
            let mut of_loop: Vec<i128> = inside.map(|(_, at)| *at).collect();
            of_loop.sort_unstable();
            of_loop.dedup();
            if (1..=CUTS_MAX).contains(&of_loop.len()) && cuts.len() < LOOPS_MAX {
                cuts.push((position, of_loop));
            }
        }
        (!cuts.is_empty()).then_some(Self { leaf, cuts })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let (_, loops) = self.leaf.loops(schedule)?;
        for (position, cuts) in &self.cuts {
            let mut rest = loops.get(*position).cloned();
            let mut done = 0;
            for cut in cuts {
                let Some(of) = rest else { break };
                let count = i64::try_from(cut - done).unwrap_or(i64::MAX);
                rest = schedule.partition(&of, Cut::After(count))?.into_iter().nth(1);
                done = *cut;
            }
        }
        Ok(())
    }
}

/// Collects the variables of a condition, with values at which its parts change.
fn places(condition: &Expr, found: &mut Vec<(Var, i128)>) {
    match &condition.kind {
        ExprKind::And(a, b) | ExprKind::Or(a, b) => {
            places(a, found);
            places(b, found);
        }
        ExprKind::Not(a) => places(a, found),
        ExprKind::Compare(op, a, b) if a.dtype.is_integer() => {
            let difference = Linear::of(&Expr::binary(BinaryOp::Sub, a.clone(), b.clone()));
            let [(term, factor)] = difference.terms.as_slice() else { return };
            let ExprKind::Var(var) = &term.kind else { return };
            // The value at which the difference is 0, and how many values belong below the cut.
            let zero = match factor {
                1 => difference.constant.checked_neg(),
                -1 => Some(difference.constant),
                _ => None,
            };
            let Some(zero) = zero else { return };
            let below = match (op, factor) {
                (CompareOp::Lt | CompareOp::Ge, 1) | (CompareOp::Gt | CompareOp::Le, -1) => vec![0],
                (CompareOp::Eq | CompareOp::Ne, _) => vec![0, 1],
                _ => vec![1],
            };
            found.extend(below.into_iter().map(|more| (var.clone(), zero.saturating_add(more))));
        }
        _ => {}
    }
}
