//! Shrinking of intermediate buffers to what an iteration of the loops around all their uses
//! touches.

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, Block, Buffer, BufferRegion, CompareOp, Expr, ExprKind, ForKind, IterKind, IterVar, PrimFunc,
    Range, Stmt, StmtKind, Var,
};

use super::access::{SIZE_MAX, loads, stores};
use super::args::Args;
use super::inline::{Uses, is_intermediate, refused};
use super::nest::{Loop, Realized, StmtPath, at_least_zero, parts};
use super::pack::at_start;
use super::place::{Accessed, Bounds, bounds, dense, elements_under, is_domain, places};
use super::{BlockRef, Made, Schedule, ScheduleError};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

impl Schedule {
    /// Shrinks the intermediate buffer that a block writes to what one iteration of the loops
    /// around all its uses touches, and allocates it there, so that iterations may run at once.
    ///
    /// Axes of the blocks that use it count from where the iteration begins: an axis whose values
    /// are `i * 16 + j`, of which only `j` counts within, becomes one of `j`.
    ///
    /// # Errors
    ///
    /// The block does not write exactly one element of an intermediate buffer, or is not the only
    /// one to write it; there is no loop around all uses; an iteration may read elements that it
    /// has not written before.
    ///
    /// # Source
    ///
    /// TVM's passes `PlanAndUpdateBufferAllocationLocation` and `CompactBufferAllocation`, here a
    /// step for one buffer.
    pub fn compact(&mut self, block: &BlockRef) -> Result<(), ScheduleError> {
        self.run("compact", Args::new().with(block), |function| compact(function, block)).map(|_| ())
    }
}

/// A buffer and what takes its place.
struct Shrunk {
    old: Buffer,
    new: Buffer,
    /// The index that is the first of the new buffer's, for each axis.
    first: Vec<Expr>,
}

fn compact(function: &PrimFunc, block: &BlockRef) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let realized = place.as_block()?;
    let all = stores(&realized.block.body);
    let [element] = all.as_slice() else { return refused(block, "does not write exactly one element") };
    let buffer = &element.buffer;
    if !is_intermediate(function, buffer) {
        return refused(
            block,
            format!("writes buffer \"{}\", which is no intermediate of the function", buffer.name),
        );
    }
    let uses = Uses::collect(function, buffer);
    if uses.otherwise || uses.writers.iter().any(|writer| *writer != block.0) {
        return refused(block, format!("is not the only one to write buffer \"{}\"", buffer.name));
    }
    let mut names = vec![Arc::clone(&block.0)];
    names.extend(uses.readers.iter().filter(|name| **name != block.0).cloned());
    let users = places(function, &names)?;
    let outer = common_loop(function, block, &users)?;
    let ranges = super::place::all_ranges(function);
    expect_written_first(function, block, &outer, &users)?;
    let region = region(block, &outer, &users, buffer, &ranges)?;
    let shrunk = shrunk(buffer, &region, &ranges);
    let body = with_blocks(&outer.as_loop()?.body.clone(), &mut |stmt| {
        let user = users.iter().find(|user| user.stmt().same(stmt))?;
        let below = user.below(outer.stmt())?;
        Some(moved(stmt, below, &shrunk, &ranges))
    });
    let new = crate::scheduling::default_schedule::nest::with_body(outer.stmt(), body, None);
    let moved = outer.replaced(function, new);
    let of = super::LoopRef(outer.as_loop()?.var.clone());
    let outer = StmtPath::of_loop(&moved, &of)?;
    let allocation =
        Stmt::new(StmtKind::AllocBuffer { buffer: shrunk.new.clone(), annotations: Attrs::new() });
    let mut moved = outer.replaced(&moved, at_start(&outer, [allocation])?);
    moved.alloc_buffers.retain(|own| own != buffer);
    Ok((moved, Vec::new()))
}

/// The innermost loop around all of these blocks.
fn common_loop(function: &PrimFunc, block: &BlockRef, users: &[StmtPath]) -> Result<StmtPath, ScheduleError> {
    let around = users.first().map_or(&[][..], StmtPath::around);
    let is_common = |stmt: &&Stmt| {
        Loop::from_stmt(stmt).is_some()
            && users.iter().all(|user| user.around().iter().any(|other| other.same(stmt)))
    };
    let Some(found) = around.iter().rfind(is_common).and_then(Loop::from_stmt) else {
        return refused(block, "has no loop around it and all that reads what it writes");
    };
    if !matches!(found.kind, ForKind::Serial | ForKind::Parallel) {
        return refused(
            block,
            format!("has the loop \"{}\" around it, which is neither serial nor parallel", found.var.name),
        );
    }
    StmtPath::of_loop(function, &super::LoopRef(found.var.clone()))
}

/// In each iteration the writer stands before the readers, completes what it writes, and has no
/// condition.
fn expect_written_first(
    function: &PrimFunc,
    block: &BlockRef,
    outer: &StmtPath,
    users: &[StmtPath],
) -> Result<(), ScheduleError> {
    let mut order = Vec::new();
    function.body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child {
            order.push(stmt.address());
        }
    });
    let at = |place: &StmtPath| order.iter().position(|address| *address == place.stmt().address());
    let Some((writer, readers)) = users.split_first() else { return Ok(()) };
    for user in users {
        let below = user.below(outer.stmt()).unwrap_or_default();
        let others = below.iter().filter(|stmt| {
            !matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Seq(_)) && !stmt.same(user.stmt())
        });
        if others.count() > 0 {
            let name = &user.as_block()?.block.name;
            let message = format!(
                "writes a buffer that block \"{name}\" uses within another block or under a condition: expected loops alone"
            );
            return refused(block, message);
        }
    }
    if let Some(reader) = readers.iter().find(|reader| at(reader) < at(writer)) {
        let name = &reader.as_block()?.block.name;
        return refused(block, format!("stands after block \"{name}\", which reads what it writes"));
    }
    let realized = writer.as_block()?;
    let ranges = writer.ranges(function);
    let own = stores(&realized.block.body);
    let indices: Vec<Expr> = own.iter().flat_map(|store| store.by_loops(&realized, &ranges)).collect();
    // The same in every iteration that would write the element.
    let bound = super::nest::bound_in(&function.body);
    let is_of_element = |part: &Expr| match &part.kind {
        ExprKind::Compare(CompareOp::Lt | CompareOp::Ge, a, b) => {
            indices.contains(&simplify::expr_with(a, &ranges)) && vars_of(b).is_disjoint(&bound)
        }
        _ => vars_of(part).is_disjoint(&bound) && !depends_on_memory(part),
    };
    let fine = |part: &Expr| is_of_element(part) || is_domain(&realized, part, &ranges);
    if let Some(part) = parts(realized.predicate).iter().find(|part| !fine(part)) {
        let part = chipdock_ir::print::expr(part);
        return refused(
            block,
            format!("has the predicate `{part}`, which does not depend on the element alone"),
        );
    }
    if realized.block.init.is_none() && loads(&realized.block.body).iter().any(|load| own.contains(load)) {
        return refused(block, "reads what it writes, and has no init");
    }
    let below: Vec<Loop<'_>> =
        writer.below(outer.stmt()).unwrap_or_default().iter().filter_map(Loop::from_stmt).collect();
    for (axis, value) in realized.block.iter_vars.iter().zip(realized.values) {
        let within = vars_of(value).iter().all(|var| below.iter().any(|of| of.var == var));
        if axis.kind != IterKind::Spatial && !within {
            return refused(
                block,
                format!("goes on with its reduction \"{}\" outside of the common loop", axis.var.name),
            );
        }
    }
    Ok(())
}

/// First and last index that an iteration writes, for each axis of the buffer.
fn region(
    block: &BlockRef,
    outer: &StmtPath,
    users: &[StmtPath],
    buffer: &Buffer,
    ranges: &Ranges,
) -> Result<Vec<Bounds>, ScheduleError> {
    let picked = |body: &Stmt| stores(body).into_iter().filter(|store| store.buffer == *buffer).collect();
    let (writer, readers) = users.split_at(1.min(users.len()));
    let written = elements_under(outer, writer, picked, ranges)?;
    let read = |body: &Stmt| loads(body).into_iter().filter(|load| load.buffer == *buffer).collect();
    let read = elements_under(outer, readers, read, ranges)?;
    let bound = super::nest::bound_in(outer.as_loop()?.body);
    let mut region = Vec::new();
    for at in 0..buffer.shape.len() {
        let known =
            |(low, high): &Bounds| vars_of(low).is_disjoint(&bound) && vars_of(high).is_disjoint(&bound);
        let own = written.first().filter(|(indices, loops)| dense(&indices[at], loops, ranges));
        let own = own.and_then(|(indices, loops)| bounds(&indices[at], loops, ranges)).filter(known);
        let Some(own) = own else {
            return refused(
                block,
                format!("does not write a dense region along axis {at} in each iteration"),
            );
        };
        let covers = |found: &Bounds| {
            let from = Linear::of(&found.0).minus(&Linear::of(&own.0));
            let to = Linear::of(&own.1).minus(&Linear::of(&found.1));
            from.terms.is_empty() && from.constant >= 0 && to.terms.is_empty() && to.constant >= 0
        };
        let fine = |(indices, loops): &Accessed<'_>| {
            bounds(&indices[at], loops, ranges).is_some_and(|found| covers(&found))
        };
        if !read.iter().all(fine) {
            return refused(
                block,
                format!("may not write in each iteration all that is read along axis {at} of its buffer"),
            );
        }
        region.push(own);
    }
    Ok(region)
}

fn shrunk(old: &Buffer, region: &[Bounds], ranges: &Ranges) -> Shrunk {
    let mut first = Vec::new();
    let mut shape = Vec::new();
    for ((low, high), extent) in region.iter().zip(&old.shape) {
        let size = count(low, high, ranges);
        let whole =
            low.as_int() == Some(0) && simplify::expr_with(extent, ranges) == size.clone().cast(extent.dtype);
        shape.push(if whole { extent.clone() } else { size });
        first.push(low.clone());
    }
    let new = Buffer::new(&*old.name, shape, old.dtype, old.scope.clone());
    Shrunk { old: old.clone(), new, first }
}

/// The number of indices from a first to a last one; a loop without iterations between them may
/// make the last one less.
fn count(low: &Expr, high: &Expr, ranges: &Ranges) -> Expr {
    let size = simplify::expr_with(&(high.clone() - low.clone() + Expr::int(1, low.dtype)), ranges);
    at_least_zero(&constant_or(&size, ranges), ranges)
}

/// A constant that is at least as great, if there is one.
fn constant_or(size: &Expr, ranges: &Ranges) -> Expr {
    let (_, most) = ranges.of(size);
    if size.as_int().is_none() && !vars_of(size).is_empty() && most <= SIZE_MAX {
        return Expr::int(most.max(1), size.dtype);
    }
    size.clone()
}

/// The statement with some blocks replaced.
fn with_blocks(stmt: &Stmt, replace: &mut dyn FnMut(&Stmt) -> Option<Stmt>) -> Stmt {
    if Realized::from_stmt(stmt).is_some() {
        return replace(stmt).unwrap_or_else(|| stmt.clone());
    }
    stmt.map_children(&mut Expr::clone, &mut |s| with_blocks(s, replace))
}

/// The block with the new buffer, its axes as far as loops of the iteration count them.
fn moved(stmt: &Stmt, below: &[Stmt], shrunk: &Shrunk, ranges: &Ranges) -> Stmt {
    let Some(realized) = Realized::from_stmt(stmt) else { return stmt.clone() };
    let loops: Vec<Loop<'_>> = below.iter().filter_map(Loop::from_stmt).collect();
    let mut substitution = Substitution::new();
    let mut ranges = ranges.clone();
    let (mut iter_vars, mut values) = (Vec::new(), Vec::new());
    for (axis, value) in realized.block.iter_vars.iter().zip(realized.values) {
        match local(axis, value, &loops, &mut ranges) {
            Some((outer, None)) => substitution.map_var(&axis.var, outer),
            Some((outer, Some((own, inner)))) => {
                substitution.map_var(&axis.var, outer + own.var.expr());
                iter_vars.push(own);
                values.push(inner);
            }
            None => {
                iter_vars.push(axis.clone());
                values.push(value.clone());
            }
        }
    }
    let old = realized.block;
    let mut map = |stmt: &Stmt| with_buffer(&substitution.stmt(stmt), shrunk, &ranges);
    let body = map(&old.body);
    let init = old.init.as_ref().map(&mut map);
    let mut regions = |list: &Option<Vec<BufferRegion>>| {
        list.as_ref().map(|list| {
            list.iter().map(|region| in_region(substitution.region(region), shrunk, &ranges)).collect()
        })
    };
    let (reads, writes) = (regions(&old.reads), regions(&old.writes));
    let block = Block { iter_vars, reads, writes, init, body, ..Block::clone(old) };
    let realize = StmtKind::BlockRealize {
        iter_values: values,
        predicate: realized.predicate.clone(),
        block: Arc::new(block),
    };
    Stmt::new(realize).with_span(stmt.span)
}

/// A spatial axis in two parts: what is the same in an iteration, and an axis for the rest with its
/// value, if there is one. `None` if the axis stays as it is.
fn local(
    axis: &IterVar,
    value: &Expr,
    loops: &[Loop<'_>],
    ranges: &mut Ranges,
) -> Option<(Expr, Option<(IterVar, Expr)>)> {
    let sum = Linear::of(&simplify::expr_with(value, ranges));
    let is_inner = |term: &Expr| loops.iter().any(|of| vars_of(term).contains(of.var));
    let (inner, outer): (Vec<_>, Vec<_>) = sum.terms.iter().cloned().partition(|(term, _)| is_inner(term));
    if axis.kind != IterKind::Spatial || (outer.is_empty() && sum.constant == 0 && !inner.is_empty()) {
        return None;
    }
    let outer =
        Linear { dtype: sum.dtype, terms: outer, constant: sum.constant }.to_expr().cast(axis.var.dtype);
    if inner.is_empty() {
        return Some((outer, None));
    }
    let inner = Linear { dtype: sum.dtype, terms: inner, constant: 0 }.to_expr().cast(axis.var.dtype);
    let (low, high) = bounds(&inner, loops, ranges)?;
    (low.as_int() == Some(0)).then_some(())?;
    let extent = count(&low, &high, ranges).cast(axis.var.dtype);
    let var = Var::new(Arc::clone(&axis.var.name), axis.var.dtype);
    let own = IterVar { var, min: Expr::int(0, axis.var.dtype), extent, kind: axis.kind };
    ranges.set_loop(&own.var, &own.min, &own.extent, None);
    Some((outer, Some((own, inner))))
}

fn indices(old: &[Expr], shrunk: &Shrunk, ranges: &Ranges) -> Vec<Expr> {
    let from = |(index, first): (&Expr, &Expr)| {
        if first.as_int() == Some(0) {
            return simplify::expr_with(index, ranges);
        }
        simplify::expr_with(&(index.clone() - first.clone().cast(index.dtype)), ranges)
    };
    old.iter().zip(&shrunk.first).map(from).collect()
}

fn in_region(region: BufferRegion, shrunk: &Shrunk, ranges: &Ranges) -> BufferRegion {
    if region.buffer != shrunk.old {
        return region;
    }
    let first: Vec<Expr> = region.region.iter().map(|range| range.min.clone()).collect();
    let first = indices(&first, shrunk, ranges);
    let region = first.into_iter().zip(region.region).map(|(min, range)| Range { min, extent: range.extent });
    BufferRegion { buffer: shrunk.new.clone(), region: region.collect() }
}

fn with_buffer(stmt: &Stmt, shrunk: &Shrunk, ranges: &Ranges) -> Stmt {
    let stmt = stmt
        .map_children(&mut |e| expr_with_buffer(e, shrunk, ranges), &mut |s| with_buffer(s, shrunk, ranges));
    match &stmt.kind {
        StmtKind::Store { buffer, indices: old, value, predicate } if *buffer == shrunk.old => {
            let (buffer, indices) = (shrunk.new.clone(), indices(old, shrunk, ranges));
            let (value, predicate) = (value.clone(), predicate.clone());
            Stmt::new(StmtKind::Store { buffer, indices, value, predicate }).with_span(stmt.span)
        }
        _ => stmt,
    }
}

fn expr_with_buffer(expr: &Expr, shrunk: &Shrunk, ranges: &Ranges) -> Expr {
    let expr = expr.map_children(&mut |e| expr_with_buffer(e, shrunk, ranges));
    match &expr.kind {
        ExprKind::Load { buffer, indices: old, predicate } if *buffer == shrunk.old => {
            let (buffer, indices) = (shrunk.new.clone(), indices(old, shrunk, ranges));
            let predicate = predicate.clone();
            Expr::new(ExprKind::Load { buffer, indices, predicate }, expr.dtype).with_span(expr.span)
        }
        _ => expr,
    }
}
