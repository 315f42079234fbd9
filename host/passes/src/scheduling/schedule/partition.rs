//! Partition of a loop into a part that needs no predicate and the rest.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, CompareOp, Expr, ExprKind, ForKind, PrimFunc, Stmt, StmtKind, Var};

use super::access::Facts;
use super::args::Args;
use super::nest::{Loop, Names, StmtPath, all_of, parts, renamed};
use super::{Handle, LoopRef, Made, Schedule, ScheduleError, Value};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// Where a loop is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After the iterations in which predicates of blocks under it hold whatever the loops within
    /// do.
    Full,
    /// After so many iterations.
    After(i64),
}

impl From<Cut> for Value {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Full => "full".into(),
            Cut::After(count) => count.into(),
        }
    }
}

impl Schedule {
    /// Runs a loop as two loops, one after the other, and returns them; a second one that is never
    /// run is left out.
    ///
    /// The first has the old body, without the predicates that then always hold; the second has a
    /// copy of it.
    ///
    /// # Errors
    ///
    /// The loop is neither serial nor parallel, or steps; with [`Cut::Full`], no predicate under it
    /// is a sum of multiples of loops that is less than a bound; with [`Cut::After`], a negative
    /// number.
    pub fn partition(&mut self, of: &LoopRef, at: Cut) -> Result<Vec<LoopRef>, ScheduleError> {
        let args = Args::new().with(of).with(Value::from(at));
        self.run_loops("partition", args, |function| partition(function, of, at))
    }
}

fn partition(function: &PrimFunc, of: &LoopRef, at: Cut) -> Made {
    let place = StmtPath::of_loop(function, of)?;
    let old = place.as_loop()?;
    let name = &old.var.name;
    if !matches!(old.kind, ForKind::Serial | ForKind::Parallel)
        || old.step.is_some()
        || !old.has_plain_bounds()
    {
        return Err(ScheduleError::new(format!(
            "loop \"{name}\": expected a serial or parallel loop without steps, whose bounds read no memory"
        )));
    }
    let mut ranges = place.ranges(function);
    let mut cuts = Vec::new();
    let mut loops = Vec::new();
    let body = without_parts(old.body, &old, &mut loops, &mut ranges, &mut cuts);
    let count = match at {
        Cut::After(count) if count < 0 => {
            return Err(ScheduleError::new(format!("expected a number that is not negative, found {count}")));
        }
        Cut::After(count) => Expr::int(count.into(), old.var.dtype),
        Cut::Full => cuts.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Min, a, b)).ok_or_else(|| {
            ScheduleError::new(format!(
                "no predicate under loop \"{name}\" can be dropped: expected a sum of multiples of loops that is less \
                 than a bound"
            ))
        })?,
    };
    let zero = Expr::int(0, old.var.dtype);
    let count = Expr::binary(BinaryOp::Max, Expr::binary(BinaryOp::Min, count, old.extent.clone()), zero);
    let count = simplify::expr_with(&count, &ranges);
    let rest = simplify::expr_with(&(old.extent.clone() - count.clone()), &ranges);
    let start = simplify::expr_with(&(old.min.clone() + count.clone()), &ranges);
    let first = if at == Cut::Full { body } else { old.body.clone() };
    let first = part(&old, old.var.clone(), old.min.clone(), count, first);
    if rest.as_int() == Some(0) {
        return Ok((place.replaced(function, first), vec![Handle::Loop(of.clone())]));
    }
    let mut names = Names::collect(function);
    let second = part(&old, old.var.clone(), start, rest, old.body.clone());
    let second = renamed(&Substitution::new().fresh().stmt(&second), &mut |name| names.fresh(name));
    let var = Loop::from_stmt(&second).map_or_else(|| old.var.clone(), |of| of.var.clone());
    let both = Stmt::seq([first, second]);
    Ok((place.replaced(function, both), vec![Handle::Loop(of.clone()), Handle::Loop(LoopRef(var))]))
}

fn part(old: &Loop<'_>, var: Var, min: Expr, extent: Expr, body: Stmt) -> Stmt {
    let (kind, annotations) = (old.kind, old.annotations.clone());
    Stmt::new(StmtKind::For { var, min, extent, kind, step: None, annotations, body })
}

/// The statement without the parts of predicates that hold in the first iterations; `cuts` gets
/// their numbers.
fn without_parts<'a>(
    stmt: &'a Stmt,
    old: &Loop<'_>,
    loops: &mut Vec<Loop<'a>>,
    ranges: &mut Ranges,
    cuts: &mut Vec<Expr>,
) -> Stmt {
    match &stmt.kind {
        StmtKind::Seq(stmts) => {
            let new: Vec<Stmt> =
                stmts.iter().map(|stmt| without_parts(stmt, old, loops, ranges, cuts)).collect();
            Stmt::seq(new).with_span(stmt.span)
        }
        StmtKind::For { body, .. } => {
            super::nest::add_range(ranges, stmt);
            loops.extend(Loop::from_stmt(stmt));
            let body = without_parts(body, old, loops, ranges, cuts);
            loops.pop();
            crate::scheduling::default_schedule::nest::with_body(stmt, body, None)
        }
        StmtKind::BlockRealize { iter_values, predicate, block } => {
            let facts = Facts { conditions: Vec::new(), loops: loops.clone(), ranges };
            let mut kept = Vec::new();
            for part in parts(predicate) {
                match holds_for(&part, old, &facts) {
                    Some(count) => cuts.push(count),
                    None => kept.push(part),
                }
            }
            let (iter_values, block) = (iter_values.clone(), std::sync::Arc::clone(block));
            Stmt::new(StmtKind::BlockRealize { iter_values, predicate: all_of(kept), block })
                .with_span(stmt.span)
        }
        _ => stmt.clone(),
    }
}

/// The number of first iterations of the loop in which `a < b` holds whatever the loops within do.
fn holds_for(part: &Expr, old: &Loop<'_>, facts: &Facts<'_>) -> Option<Expr> {
    let ExprKind::Compare(CompareOp::Lt, a, b) = &part.kind else { return None };
    let own = old.var.expr();
    let factor = Linear::of(a).terms.iter().find(|(term, _)| *term == own).map(|(_, factor)| *factor)?;
    if factor <= 0 || a.dtype != old.var.dtype || depends_on_memory(part) {
        return None;
    }
    let factor = Expr::int(factor, a.dtype);
    let rest = simplify::expr_with(&(a.clone() - own * factor.clone()), facts.ranges);
    let most = facts.greatest(&rest).into_iter().next()?;
    let left = b.clone() - Expr::int(1, a.dtype) - most - old.min.clone() * factor.clone();
    let left = simplify::expr_with(&left, facts.ranges);
    let inner = |var: &Var| var == old.var || facts.loops.iter().any(|of| of.var == var);
    if vars_of(&left).iter().any(inner) {
        return None;
    }
    let last = Expr::binary(BinaryOp::FloorDiv, left, factor);
    Some(simplify::expr_with(&(last + Expr::int(1, a.dtype)), facts.ranges))
}
