//! Reordering of loops.

use std::collections::HashSet;

use chipdock_ir::{ExprKind, IterKind, PrimFunc, Stmt, Var};

use super::args::Args;
use super::independent::{by_axes, independent, only_block};
use super::nest::{Loop, Realized, StmtPath};
use super::{LoopRef, Made, Schedule, ScheduleError};
use crate::scheduling::default_schedule::nest::{Head, with_body};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::vars_of;

impl Schedule {
    /// Puts loops of one nest into another order, outermost first; the other loops of the nest stay
    /// in their places.
    ///
    /// # Errors
    ///
    /// The loops are not in one nest with nothing between them; a bound depends on a loop that
    /// would move inside; SCHED-6 does not allow the order.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.reorder`, which does not ask for dependences between blocks.
    pub fn reorder(&mut self, loops: &[LoopRef]) -> Result<(), ScheduleError> {
        self.run("reorder", Args::new().with_all(loops), |function| reorder(function, loops)).map(|_| ())
    }
}

fn reorder(function: &PrimFunc, loops: &[LoopRef]) -> Made {
    let places = loops.iter().map(|of| StmtPath::of_loop(function, of)).collect::<Result<Vec<_>, _>>()?;
    let depth = |place: &&StmtPath| place.around().len();
    let (Some(outer), Some(inner)) = (places.iter().min_by_key(depth), places.iter().max_by_key(depth))
    else {
        return Ok((function.clone(), Vec::new()));
    };
    let chain = chain(outer, inner, loops)?;
    let order = new_order(&chain, loops)?;
    expect_bounds(&order)?;
    let body = Loop::from_stmt(inner.stmt()).map_or_else(Stmt::nop, |of| of.body.clone());
    expect_legal(function, outer, &chain, &order, &body)?;
    let new = order.iter().rev().fold(body, |body, stmt| with_body(stmt, body, None));
    Ok((outer.replaced(function, new), Vec::new()))
}

/// The loops from the outermost to the innermost one.
fn chain(outer: &StmtPath, inner: &StmtPath, loops: &[LoopRef]) -> Result<Vec<Stmt>, ScheduleError> {
    let mut chain = vec![outer.stmt().clone()];
    let below = inner.below(outer.stmt());
    let below = if inner.stmt().same(outer.stmt()) { Some(&[][..]) } else { below };
    for stmt in below.unwrap_or_default() {
        if Loop::from_stmt(stmt).is_none() {
            return Err(ScheduleError::new(format!(
                "there is more than loops between loop \"{}\" and loop \"{}\": only loops that are directly nested \
                 can be reordered",
                name(outer.stmt()),
                name(inner.stmt())
            )));
        }
        chain.push(stmt.clone());
    }
    let missing = loops.iter().find(|of| !chain.iter().any(|stmt| var(stmt).is_some_and(|v| *v == of.0)));
    if let Some(of) = missing {
        return Err(ScheduleError::new(format!(
            "loop \"{}\" is not in one nest with loop \"{}\" and loop \"{}\"",
            of.0.name,
            name(outer.stmt()),
            name(inner.stmt())
        )));
    }
    Ok(chain)
}

fn var(stmt: &Stmt) -> Option<&Var> {
    Loop::from_stmt(stmt).map(|of| of.var)
}

fn name(stmt: &Stmt) -> &str {
    var(stmt).map_or("", |var| &var.name)
}

fn new_order(chain: &[Stmt], loops: &[LoopRef]) -> Result<Vec<Stmt>, ScheduleError> {
    let mut seen = HashSet::new();
    if let Some(twice) = loops.iter().find(|of| !seen.insert(of.0.clone())) {
        return Err(ScheduleError::new(format!("loop \"{}\" is given twice", twice.0.name)));
    }
    let is_given = |stmt: &&Stmt| var(stmt).is_some_and(|var| seen.contains(var));
    let mut given = loops.iter().filter_map(|of| chain.iter().find(|stmt| var(stmt) == Some(&of.0)));
    let order = chain.iter().map(|stmt| if is_given(&stmt) { given.next().unwrap_or(stmt) } else { stmt });
    Ok(order.cloned().collect())
}

/// Bounds depend only on loops that are outside.
fn expect_bounds(order: &[Stmt]) -> Result<(), ScheduleError> {
    for (index, stmt) in order.iter().enumerate() {
        let Some(of) = Loop::from_stmt(stmt) else { continue };
        let mut used = vars_of(of.min);
        used.extend(vars_of(of.extent));
        if let Some(inner) = order[index..].iter().filter_map(var).find(|var| used.contains(*var)) {
            return Err(ScheduleError::new(format!(
                "the bounds of loop \"{}\" depend on loop \"{}\", which would move inside it",
                of.var.name, inner.name
            )));
        }
    }
    Ok(())
}

fn expect_legal(
    function: &PrimFunc,
    outer: &StmtPath,
    chain: &[Stmt],
    order: &[Stmt],
    body: &Stmt,
) -> Result<(), ScheduleError> {
    let heads: Vec<Head> =
        chain.iter().filter_map(|stmt| Head::from_stmt(stmt).map(|(head, _)| head)).collect();
    if heads.len() < chain.len() {
        let of = chain.iter().find(|stmt| Head::from_stmt(stmt).is_none()).map_or("", name);
        return Err(ScheduleError::new(format!(
            "the bounds of loop \"{of}\" read memory, or it is bound to a thread axis"
        )));
    }
    let ranges = outer.ranges(function);
    let reason = match only_block(body) {
        Some(block) => match block_allows(&block, &heads, body, &ranges) {
            Ok(()) => return Ok(()),
            Err(reason) => reason,
        },
        None => "there are several statements under them, and".to_owned(),
    };
    let free = independent(function, &heads, body, &ranges);
    let fixed = |list: &[Stmt]| -> Vec<Var> {
        list.iter().filter_map(var).filter(|var| !free.contains(*var)).cloned().collect()
    };
    let (before, after) = (fixed(chain), fixed(order));
    if before == after {
        return Ok(());
    }
    let names: Vec<String> = before.iter().map(|var| format!("\"{}\"", var.name)).collect();
    Err(ScheduleError::new(format!(
        "{reason} two iterations of each of the loops {} may access one element, so that these stay in order",
        names.join(", ")
    )))
}

/// A block alone allows any order of loops that drive only its spatial axes or only its reduction
/// axes.
fn block_allows(block: &Realized<'_>, heads: &[Head], body: &Stmt, ranges: &Ranges) -> Result<(), String> {
    let name = &block.block.name;
    let axes = || block.block.iter_vars.iter().zip(block.values);
    let has_init = block.block.init.is_some();
    let determined = by_axes(heads, body, block, ranges);
    for head in heads {
        let driven: Vec<IterKind> = axes()
            .filter(|(_, value)| vars_of(value).contains(&head.var))
            .map(|(axis, _)| axis.kind)
            .collect();
        let only = |kind| driven.iter().all(|driven| *driven == kind);
        let what = if head.extent.as_int() == Some(1) || (!driven.is_empty() && only(IterKind::Reduce)) {
            continue;
        } else if driven.is_empty() {
            "drives no axis"
        } else if !only(IterKind::Spatial) {
            "drives axes of several kinds, or axes whose iterations have an order,"
        } else if has_init && !determined.contains(&head.var) {
            "does not follow from the spatial axes"
        } else {
            continue;
        };
        return Err(format!("loop \"{}\" {what} of block \"{name}\";", head.var.name));
    }
    for (axis, value) in axes().filter(|(axis, _)| has_init && axis.kind == IterKind::Reduce) {
        let offset = simplify::expr_with(&(value.clone() - axis.min.clone()), ranges);
        if !counts_up(&offset, heads) {
            let axis = &axis.var.name;
            return Err(format!("axis \"{axis}\" of block \"{name}\" does not count up along the loops;"));
        }
    }
    Ok(())
}

/// The least value comes first in any order of the loops: a sum of positive multiples of them.
fn counts_up(offset: &chipdock_ir::Expr, heads: &[Head]) -> bool {
    Linear::of(offset).terms.iter().all(|(term, factor)| {
        let inner = match &term.kind {
            ExprKind::Cast(inner) if inner.dtype.is_int() => inner,
            _ => term,
        };
        match &inner.kind {
            ExprKind::Var(_) => *factor > 0,
            _ => !heads.iter().any(|head| vars_of(term).contains(&head.var)),
        }
    })
}
