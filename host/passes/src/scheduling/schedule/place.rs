//! Moving of blocks into loops: producers to their consumers, and consumers to their producers.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{
    BinaryOp, CompareOp, Expr, ExprKind, ForKind, IterKind, PrimFunc, Stmt, StmtKind, Var,
    subst::Substitution,
};

use super::access::{Element, Facts, loads, stores};
use super::args::Args;
use super::find::{TouchedData, all_blocks};
use super::independent::{independent, may_alias, may_run_at_once};
use super::inline::{
    Uses, after, after_from, expect_unchanged, is_closed, is_intermediate, refused, without,
};
use super::nest::{Loop, Realized, StmtPath, all_of, bound_in, parts};
use super::{BlockRef, LoopRef, Made, Schedule, ScheduleError};
use crate::scheduling::default_schedule::nest::{Head, with_body};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

impl Schedule {
    /// Moves a producer into a loop that has all its consumers, where it computes what they read in
    /// an iteration.
    ///
    /// The block gets loops of its own over the region that the consumers read, clipped to the
    /// domain of its axes; along axes of which the region is not a sum of multiples of loops, it
    /// computes all.
    ///
    /// # Errors
    ///
    /// The block does not stand before the loop, or stands under a condition; it does not write an
    /// intermediate buffer at its own spatial axes, all of it, alone; a consumer is not under the
    /// loop; what it reads may be written later; a parallel loop around would compute an element
    /// twice.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.compute_at`.
    pub fn compute_at(&mut self, block: &BlockRef, of: &LoopRef) -> Result<(), ScheduleError> {
        let args = Args::new().with(block).with(of);
        self.run("compute_at", args, |function| compute_at(function, block, of)).map(|_| ())
    }

    /// Moves a consumer into a loop that has all its producers, where it runs for what an iteration
    /// has completed.
    ///
    /// # Errors
    ///
    /// The block does not stand after the loop, or stands under a condition; it has other than
    /// spatial axes, or reads what is written under the loop at other indices than axes; the
    /// elements that an iteration writes are not a dense region, or are written in several
    /// iterations; statements between touch what it writes, or write what else it reads.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.reverse_compute_at`.
    pub fn reverse_compute_at(&mut self, block: &BlockRef, of: &LoopRef) -> Result<(), ScheduleError> {
        let args = Args::new().with(block).with(of);
        self.run("reverse_compute_at", args, |function| reverse_compute_at(function, block, of)).map(|_| ())
    }
}

/// Where a block moves.
struct Move<'a> {
    function: &'a PrimFunc,
    block: &'a BlockRef,
    place: &'a StmtPath,
    outer: &'a StmtPath,
    ranges: &'a Ranges,
}

/// First and last index of a region on an axis, both included.
pub(super) type Bounds = (Expr, Expr);

impl Move<'_> {
    fn refused<T>(&self, message: impl std::fmt::Display) -> Result<T, ScheduleError> {
        refused(self.block, message)
    }

    /// The block stands apart from the loop, before or after it, and is a function of its axes.
    fn expect_apart(&self, is_before: bool) -> Result<(), ScheduleError> {
        let block = self.place.as_block()?.block;
        let side = if is_before { "before" } else { "after" };
        let name = &self.outer.as_loop()?.var.name;
        let mut order = Vec::new();
        self.function.body.walk(&mut |child| {
            if let chipdock_ir::Child::Stmt(stmt) = child {
                order.push(stmt.address());
            }
        });
        let at = |stmt: &Stmt| order.iter().position(|address| *address == stmt.address());
        let inside = self.place.around().iter().any(|stmt| stmt.same(self.outer.stmt()));
        if inside || (at(self.place.stmt()) < at(self.outer.stmt())) != is_before {
            return self.refused(format!("does not stand {side} loop \"{name}\""));
        }
        let shared = self.place.around().iter().find(|stmt| {
            Loop::from_stmt(stmt).is_some() && self.outer.around().iter().any(|other| other.same(stmt))
        });
        if let Some(of) = shared.and_then(Loop::from_stmt).filter(|_| !is_before) {
            return self.refused(format!("shares loop \"{}\" with loop \"{name}\"", of.var.name));
        }
        let is_condition = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::If { .. } | StmtKind::While { .. });
        let mut conditions = self.place.around().iter().filter(is_condition);
        if conditions.any(|stmt| !self.outer.around().iter().any(|other| other.same(stmt))) {
            return self.refused("stands under a condition, which it would leave");
        }
        let own = block.alloc_buffers.is_empty() && block.match_buffers.is_empty();
        let shared: Vec<&Stmt> = self
            .place
            .around()
            .iter()
            .filter(|stmt| self.outer.around().iter().any(|other| other.same(stmt)))
            .collect();
        if !own || !is_closed(self.function, block, &shared) {
            return self.refused(
                "has buffers or views of its own, or uses variables of loops other than by its axes",
            );
        }
        let realized = self.place.as_block()?;
        for part in parts(realized.predicate) {
            if !is_domain(&realized, &part, self.ranges) && !self.is_fixed(&part) {
                return self.refused("has a predicate that is not only the domain of its axes");
            }
        }
        match realized.block.iter_vars.iter().zip(realized.values).find(|(_, value)| !self.counts_through(value)) {
            Some((axis, _)) => self.refused(format!(
                "has axis \"{}\", whose values are not counted by loops of its own from the first to the last",
                axis.var.name
            )),
            None => Ok(()),
        }
    }

    /// A condition that is the same everywhere in the function, such as that a reduction has steps.
    fn is_fixed(&self, part: &Expr) -> bool {
        vars_of(part).is_disjoint(&bound_in(&self.function.body)) && !depends_on_memory(part)
    }

    /// A sum of loops in which each counts where the next inner one ends.
    fn counts_through(&self, value: &Expr) -> bool {
        let loops: Vec<Loop<'_>> = self.place.around().iter().filter_map(Loop::from_stmt).collect();
        dense(value, &loops, self.ranges)
    }

    /// Whether an index in terms of the loops around is less than a limit.
    fn is_below(&self, index: &Expr, limit: &Expr) -> bool {
        let loops =
            self.outer.around().iter().chain([self.outer.stmt()]).filter_map(Loop::from_stmt).collect();
        let limit = limit.clone().cast(index.dtype);
        Facts { conditions: Vec::new(), loops, ranges: self.ranges }.is_below(index, &limit)
    }

    /// The block under new loops over a region, one for each axis, clipped to the domains of the
    /// axes.
    fn over(&self, region: &[(Var, Bounds)]) -> Result<Stmt, ScheduleError> {
        let realized = self.place.as_block()?;
        let (mut loops, mut values) = (Vec::new(), Vec::new());
        let mut guards: Vec<Expr> = parts(realized.predicate);
        guards.retain(|part| self.is_fixed(part));
        let mut ranges = self.outer.ranges(self.function);
        for (index, axis) in realized.block.iter_vars.iter().enumerate() {
            let bounds = region.iter().find(|(var, _)| *var == axis.var).map(|(_, bounds)| bounds);
            let var = Var::new(format!("ax{index}"), axis.var.dtype);
            let (first, extent) = match bounds {
                Some((low, high)) => {
                    let count = high.clone() - low.clone() + Expr::int(1, axis.var.dtype);
                    (low.clone(), simplify::expr_with(&count, self.ranges))
                }
                None => (axis.min.clone(), axis.extent.clone()),
            };
            ranges.set_loop(&var, &Expr::int(0, var.dtype), &extent, None);
            // A loop of one iteration is none.
            let is_one = extent.as_int() == Some(1);
            let value = if is_one { first } else { first + var.expr() };
            let value = simplify::expr_with(&value, &ranges);
            if let Some((_, high)) = bounds {
                let end = axis.min.clone() + axis.extent.clone();
                guards.push(simplify::expr_with(
                    &Expr::compare(CompareOp::Ge, value.clone(), axis.min.clone()),
                    &ranges,
                ));
                if !self.is_below(high, &end) {
                    guards.push(simplify::expr_with(
                        &Expr::compare(CompareOp::Lt, value.clone(), end),
                        &ranges,
                    ));
                }
            }
            if !is_one {
                loops.push((var, extent));
            }
            values.push(value);
        }
        let block = Stmt::new(StmtKind::BlockRealize {
            iter_values: values,
            predicate: all_of(guards),
            block: Arc::clone(realized.block),
        });
        Ok(loops
            .into_iter()
            .rev()
            .fold(block, |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body)))
    }

    /// The function without the block where it stood, and with a nest before or after the body of
    /// the loop.
    fn moved(&self, nest: Stmt, is_before: bool) -> Made {
        let of = LoopRef(self.outer.as_loop()?.var.clone());
        let body = without(&self.function.body, self.place.stmt());
        let removed = PrimFunc { body, ..self.function.clone() };
        let outer = StmtPath::of_loop(&removed, &of)?;
        let body = outer.as_loop()?.body.clone();
        let body = if is_before { Stmt::seq([nest, body]) } else { Stmt::seq([body, nest]) };
        let moved = outer.replaced(&removed, with_body(outer.stmt(), body, None));
        let outer = StmtPath::of_loop(&moved, &of)?;
        for stmt in outer.around().iter().chain([outer.stmt()]) {
            let Some(around) = Loop::from_stmt(stmt) else { continue };
            let place = StmtPath::of_loop(&moved, &LoopRef(around.var.clone()))?;
            let at_once = matches!(around.kind, ForKind::Parallel | ForKind::Vectorized);
            if matches!(around.kind, ForKind::ThreadBinding(_)) || at_once {
                may_run_at_once(&moved, stmt, &place.ranges(&moved)).map_err(|reason| {
                    ScheduleError::new(format!(
                        "block \"{}\" cannot move into loop \"{}\", whose iterations run at once: {reason}",
                        self.block.0, around.var.name
                    ))
                })?;
            }
        }
        Ok((moved, Vec::new()))
    }
}

/// The condition says that the value of an axis is within its domain.
pub(super) fn is_domain(block: &Realized<'_>, part: &Expr, ranges: &Ranges) -> bool {
    domain_axis(block, part, ranges).is_some()
}

/// Returns the index of the axis that this condition bounds.
pub(super) fn domain_axis(block: &Realized<'_>, part: &Expr, ranges: &Ranges) -> Option<usize> {
    let ExprKind::Compare(CompareOp::Lt, a, b) = &part.kind else { return None };
    let same = |x: &Expr, y: &Expr| simplify::expr_with(x, ranges) == simplify::expr_with(y, ranges);
    let mut axes = block.block.iter_vars.iter().zip(block.values);
    axes.position(|(axis, value)| axis.min.as_int() == Some(0) && same(value, a) && same(&axis.extent, b))
}

/// Returns true if the loops make the value take every integer in its range; everything else in it
/// is fixed.
pub(super) fn dense(value: &Expr, loops: &[Loop<'_>], ranges: &Ranges) -> bool {
    let mut digits: Vec<(i128, Option<i128>)> = Vec::new();
    for (term, factor) in Linear::of(&simplify::expr_with(value, ranges)).terms {
        match loops.iter().find(|of| term == of.var.expr()) {
            Some(of) if of.step.is_none() => digits.push((factor, of.extent.as_int())),
            Some(_) => return false,
            None if loops.iter().any(|of| vars_of(&term).contains(of.var)) => return false,
            None => {}
        }
    }
    digits.sort_by_key(|(factor, _)| *factor);
    let mut weight = Some(1);
    for (factor, extent) in digits {
        if weight != Some(factor) {
            return false;
        }
        weight = extent.map(|extent| extent * factor);
    }
    true
}

/// First and last value of an index along loops; `None` if it is not a sum of multiples of them.
pub(super) fn bounds(index: &Expr, loops: &[Loop<'_>], ranges: &Ranges) -> Option<Bounds> {
    let index = simplify::expr_with(index, ranges);
    let (mut low, mut high) = (index.clone(), index);
    for of in loops.iter().rev() {
        let last = of.min.clone() + of.extent.clone() - Expr::int(1, of.var.dtype);
        (low, high) = (ended(&low, of, &last, false, ranges)?, ended(&high, of, &last, true, ranges)?);
    }
    (!depends_on_memory(&low) && !depends_on_memory(&high)).then_some((low, high))
}

fn ended(expr: &Expr, of: &Loop<'_>, last: &Expr, greatest: bool, ranges: &Ranges) -> Option<Expr> {
    if !vars_of(expr).contains(of.var) {
        return Some(expr.clone());
    }
    let mut factor = None;
    for (term, by) in Linear::of(expr).terms {
        if term == of.var.expr() {
            factor = Some(by);
        } else if vars_of(&term).contains(of.var) {
            return None;
        }
    }
    let end = if (factor? > 0) == greatest { last.clone() } else { of.min.clone() };
    if of.step.is_some() {
        return None;
    }
    Some(simplify::expr_with(&Substitution::new().with_var(of.var, end).expr(expr), ranges))
}

/// The lesser or greater of two, decided if they differ by a constant.
fn chosen(a: &Expr, b: &Expr, op: BinaryOp, ranges: &Ranges) -> Expr {
    let difference = Linear::of(a).minus(&Linear::of(b));
    if !difference.terms.is_empty() {
        return simplify::expr_with(&Expr::binary(op, a.clone(), b.clone()), ranges);
    }
    let takes_a = (difference.constant <= 0) == (op == BinaryOp::Min);
    if takes_a { a.clone() } else { b.clone() }
}

/// Indices of an element in terms of loops, and the loops between a loop and the block that
/// accesses it.
pub(super) type Accessed<'a> = (Vec<Expr>, Vec<Loop<'a>>);

/// The elements that blocks under a loop access, with the loops between the loop and each block.
pub(super) fn elements_under<'a>(
    outer: &StmtPath,
    places: &'a [StmtPath],
    pick: impl Fn(&Stmt) -> Vec<Element>,
    ranges: &Ranges,
) -> Result<Vec<Accessed<'a>>, ScheduleError> {
    let mut found = Vec::new();
    for place in places {
        let realized = place.as_block()?;
        let below = place.below(outer.stmt()).unwrap_or_default();
        let loops: Vec<Loop<'a>> = below.iter().filter_map(Loop::from_stmt).collect();
        for element in pick(&realized.block.body) {
            let indices = element.by_loops(&realized, ranges);
            found.push((indices, loops.clone()));
        }
    }
    Ok(found)
}

pub(super) fn places(function: &PrimFunc, names: &[Arc<str>]) -> Result<Vec<StmtPath>, ScheduleError> {
    let mut seen = HashSet::new();
    let names = names.iter().filter(|name| seen.insert(Arc::clone(name)));
    names.map(|name| StmtPath::of_block(function, &BlockRef(Arc::clone(name)))).collect()
}

fn compute_at(function: &PrimFunc, block: &BlockRef, of: &LoopRef) -> Made {
    let (outer, place) = (StmtPath::of_loop(function, of)?, StmtPath::of_block(function, block)?);
    let ranges = all_ranges(function);
    let this = Move { function, block, place: &place, outer: &outer, ranges: &ranges };
    this.expect_apart(true)?;
    let realized = place.as_block()?;
    let all = stores(&realized.block.body);
    let [element] = all.as_slice() else { return this.refused("does not write exactly one element") };
    let buffer = &element.buffer;
    if !is_intermediate(function, buffer) {
        return this
            .refused(format!("writes buffer \"{}\", which is no intermediate of the function", buffer.name));
    }
    let axes = own_axes(&this, &realized, element)?;
    let uses = Uses::collect(function, buffer);
    if uses.otherwise || uses.writers.iter().any(|writer| *writer != block.0) {
        return this.refused(format!("is not the only one to write buffer \"{}\"", buffer.name));
    }
    let readers: Vec<Arc<str>> = uses.readers.iter().filter(|name| **name != block.0).cloned().collect();
    let readers = places(function, &readers)?;
    if let Some(reader) = readers.iter().find(|reader| reader.below(outer.stmt()).is_none()) {
        let name = &reader.as_block()?.block.name;
        return this
            .refused(format!("has the consumer \"{name}\", which is not under loop \"{}\"", of.0.name));
    }
    let own = TouchedData::of_block(realized.block);
    let read = own.read.into_iter().filter(|data| *data != buffer.data).collect();
    expect_unchanged(function, block, &read, &after(function, &place), std::slice::from_ref(&buffer.data))?;
    let wanted = |body: &Stmt| loads(body).into_iter().filter(|load| load.buffer == *buffer).collect();
    let elements = elements_under(&outer, &readers, wanted, &ranges)?;
    let bound = bound_in(outer.as_loop()?.body);
    let mut region = Vec::new();
    for (at, axis) in axes.into_iter().enumerate() {
        let all = elements.iter().map(|(indices, loops)| bounds(&indices[at], loops, &ranges));
        let all: Option<Vec<Bounds>> = all.collect();
        let union = all.and_then(|all| {
            all.into_iter().reduce(|(a, b), (c, d)| {
                (chosen(&a, &c, BinaryOp::Min, &ranges), chosen(&b, &d, BinaryOp::Max, &ranges))
            })
        });
        let known = |e: &Expr| vars_of(e).is_disjoint(&bound);
        if let Some((low, high)) = union.filter(|(low, high)| known(low) && known(high)) {
            let dtype = axis.dtype;
            region.push((axis, (low.cast(dtype), high.cast(dtype))));
        }
    }
    this.moved(this.over(&region)?, true)
}

/// The axes that are the indices of the element that the block writes; they are all its spatial
/// ones.
fn own_axes(this: &Move<'_>, block: &Realized<'_>, element: &Element) -> Result<Vec<Var>, ScheduleError> {
    let mut axes: Vec<Var> = Vec::new();
    for index in &element.indices {
        let ExprKind::Var(var) = &index.kind else {
            return this.refused("writes at other indices than axes of its own");
        };
        let is_axis = |axis: &chipdock_ir::IterVar| axis.var == *var && axis.kind == IterKind::Spatial;
        if axes.contains(var) || !block.block.iter_vars.iter().any(is_axis) {
            return this.refused("writes at other indices than spatial axes of its own");
        }
        axes.push(var.clone());
    }
    let rest =
        block.block.iter_vars.iter().find(|axis| axis.kind != IterKind::Reduce && !axes.contains(&axis.var));
    match rest {
        Some(axis) => {
            this.refused(format!("has axis \"{}\", which is no index of its output", axis.var.name))
        }
        None => Ok(axes),
    }
}

/// Ranges of all variables of a function.
pub(super) fn all_ranges(function: &PrimFunc) -> Ranges {
    let mut ranges = super::nest::sizes(function);
    function.body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child {
            super::nest::add_range(&mut ranges, stmt);
        }
    });
    ranges
}

fn reverse_compute_at(function: &PrimFunc, block: &BlockRef, of: &LoopRef) -> Made {
    let (outer, place) = (StmtPath::of_loop(function, of)?, StmtPath::of_block(function, block)?);
    let ranges = all_ranges(function);
    let this = Move { function, block, place: &place, outer: &outer, ranges: &ranges };
    this.expect_apart(false)?;
    let realized = place.as_block()?;
    if realized.block.iter_vars.iter().any(|axis| axis.kind != IterKind::Spatial)
        || realized.block.init.is_some()
    {
        return this.refused("has axes that are not spatial");
    }
    let written = TouchedData::of_stmt(outer.as_loop()?.body).written;
    let reads: Vec<Element> =
        loads(&realized.block.body).into_iter().filter(|load| written.contains(&load.buffer.data)).collect();
    if reads.is_empty() {
        return this.refused(format!("reads nothing that is written under loop \"{}\"", of.0.name));
    }
    expect_complete(&this)?;
    let mut region: Vec<(Var, Bounds)> = Vec::new();
    for read in &reads {
        for (axis, found) in completed(&this, &realized, read)? {
            match region.iter().find(|(var, _)| *var == axis) {
                Some((_, known)) if *known != found => {
                    return this.refused(format!("reads different regions along axis \"{}\"", axis.name));
                }
                Some(_) => {}
                None => region.push((axis, found)),
            }
        }
    }
    let own = TouchedData::of_block(realized.block);
    let from: Vec<Var> = reads.iter().map(|read| read.buffer.data.clone()).collect();
    let later = without(&between(function, &outer, &place), place.stmt());
    let others = TouchedData::of_stmt(&later);
    for data in &own.written {
        let all = others.read.union(&others.written);
        if let Some(other) = all.into_iter().find(|other| may_alias(function, data, other)) {
            return this.refused(format!(
                "writes buffer \"{}\", which is, or may overlap with, buffer \"{}\" that is touched before",
                data.name, other.name
            ));
        }
    }
    let rest = own.read.into_iter().filter(|data| !from.contains(data)).collect();
    expect_unchanged(function, block, &rest, &later, &from)?;
    this.moved(this.over(&region)?, false)
}

/// The outermost loop around a loop and all that follows it, to the end of the nest of a block
/// after it.
fn between(function: &PrimFunc, outer: &StmtPath, block: &StmtPath) -> Stmt {
    let nothing = Stmt::nop();
    let top = outer.around().iter().find(|stmt| Loop::from_stmt(stmt).is_some()).unwrap_or(outer.stmt());
    let later = after_from(function, top, &nothing);
    // What follows the block in one iteration runs before it in the next.
    let repeats = block.around().iter().any(|stmt| matches!(stmt.kind, StmtKind::While { .. }));
    match &later.kind {
        StmtKind::Seq(stmts) if !repeats => {
            let is_last = |stmt: &&Stmt| block.path().iter().any(|own| own.same(stmt));
            let count = stmts.iter().position(|stmt| is_last(&stmt)).map_or(stmts.len(), |at| at + 1);
            Stmt::seq(stmts[..count].iter().cloned())
        }
        _ => later,
    }
}

/// No element is written in two iterations of the loop or of those around it.
fn expect_complete(this: &Move<'_>) -> Result<(), ScheduleError> {
    let stmts: Vec<&Stmt> = this
        .outer
        .around()
        .iter()
        .chain([this.outer.stmt()])
        .filter(|stmt| Loop::from_stmt(stmt).is_some())
        .collect();
    let heads: Vec<Head> =
        stmts.iter().filter_map(|stmt| Head::from_stmt(stmt).map(|(head, _)| head)).collect();
    let none = super::nest::sizes(this.function);
    let free = independent(this.function, &heads, this.outer.as_loop()?.body, &none);
    let several = |stmt: &&&Stmt| {
        Loop::from_stmt(stmt).is_some_and(|of| !free.contains(of.var) && of.extent.as_int() != Some(1))
    };
    match stmts.iter().find(several).and_then(|stmt| Loop::from_stmt(stmt)) {
        Some(of) => this.refused(format!(
            "would run before its input is complete: iterations of loop \"{}\" may write one element",
            of.var.name
        )),
        None => Ok(()),
    }
}

/// The region of what the block reads that an iteration of the loop writes, by the block's axes.
fn completed(
    this: &Move<'_>,
    block: &Realized<'_>,
    read: &Element,
) -> Result<Vec<(Var, Bounds)>, ScheduleError> {
    let buffer = &read.buffer;
    if !is_intermediate(this.function, buffer) {
        return this
            .refused(format!("reads buffer \"{}\", which is no intermediate of the function", buffer.name));
    }
    let writers: Vec<Arc<str>> = all_blocks(&this.function.body)
        .into_iter()
        .filter(|other| stores(&other.body).iter().any(|store| store.buffer.data == buffer.data))
        .map(|other| Arc::clone(&other.name))
        .collect();
    let writers = places(this.function, &writers)?;
    if writers.iter().any(|writer| writer.below(this.outer.stmt()).is_none())
        || Uses::collect(this.function, buffer).otherwise
    {
        return this.refused(format!("reads buffer \"{}\", which is written elsewhere too", buffer.name));
    }
    let picked = |body: &Stmt| stores(body).into_iter().filter(|store| store.buffer == *buffer).collect();
    let elements = elements_under(this.outer, &writers, picked, this.ranges)?;
    let bound = bound_in(this.outer.as_loop()?.body);
    let mut region = Vec::new();
    for (at, index) in read.indices.iter().enumerate() {
        let ExprKind::Var(axis) = &index.kind else {
            return this.refused(format!("reads buffer \"{}\" at other indices than axes", buffer.name));
        };
        let whole = |own: &chipdock_ir::IterVar| {
            own.var == *axis && own.min.as_int() == Some(0) && own.extent == buffer.shape[at]
        };
        if !block.block.iter_vars.iter().any(whole)
            || region.iter().any(|(var, _): &(Var, Bounds)| var == axis)
        {
            return this.refused(format!("does not read all of buffer \"{}\" along axis {at}", buffer.name));
        }
        let all: Option<Vec<Bounds>> = elements
            .iter()
            .map(|(indices, loops)| {
                dense(&indices[at], loops, this.ranges)
                    .then(|| bounds(&indices[at], loops, this.ranges))
                    .flatten()
            })
            .collect();
        let known = |e: &Expr| vars_of(e).is_disjoint(&bound);
        let first =
            all.as_ref().and_then(|all| all.first()).filter(|(low, high)| known(low) && known(high)).cloned();
        match (first, all) {
            (Some(first), Some(all)) if all.iter().all(|other| *other == first) => {
                region.push((axis.clone(), (first.0.cast(axis.dtype), first.1.cast(axis.dtype))));
            }
            _ => {
                return this.refused(format!(
                    "reads buffer \"{}\", of which an iteration of the loop does not write a dense region along axis {at}",
                    buffer.name
                ));
            }
        }
    }
    Ok(region)
}
