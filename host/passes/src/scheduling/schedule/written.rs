//! The elements that a block writes, all loops around it together.

use std::collections::HashSet;

use chipdock_ir::{BinaryOp, Buffer, CompareOp, Expr, ExprKind, IterKind, PrimFunc, Stmt, StmtKind, Var};

use super::access::{Element, loads, stores};
use super::find::TouchedData;
use super::inline::refused;
use super::nest::{Loop, Realized, StmtPath, all_of, bound_in, parts};
use super::place::{Bounds, bounds, dense, domain_axis};
use super::{BlockRef, ScheduleError};
use crate::simplify::{self, Ranges, leaves_loop, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// A region of a buffer, and when a block writes it: all of it where the condition holds, and
/// nothing where not.
pub(super) struct Written {
    /// First index and number of indices, for each axis.
    pub(super) region: Vec<(Expr, Expr)>,
    pub(super) guard: Expr,
}

impl Written {
    /// All of a buffer.
    pub(super) fn whole(buffer: &Buffer) -> Self {
        let axis = |extent: &Expr| (Expr::int(0, extent.dtype), extent.clone());
        Self { region: buffer.shape.iter().map(axis).collect(), guard: Expr::bool(true) }
    }

    /// Whether the region is all of the buffer.
    pub(super) fn covers(&self, buffer: &Buffer) -> bool {
        let is_axis =
            |((first, count), extent): (&(Expr, Expr), &Expr)| first.as_int() == Some(0) && count == extent;
        self.region.iter().zip(&buffer.shape).all(is_axis)
    }

    /// Whether this is written wherever the other is, of which nothing is known if it is `None`.
    pub(super) fn runs_with(&self, other: Option<&Self>) -> bool {
        let known = other.map(|other| parts(&other.guard)).unwrap_or_default();
        parts(&self.guard).iter().all(|part| known.contains(part))
    }

    /// What a block under a statement, the outermost of a nest, writes of a buffer.
    pub(super) fn by_block(
        function: &PrimFunc,
        block: &BlockRef,
        top: &StmtPath,
        buffer: &Buffer,
    ) -> Result<Self, ScheduleError> {
        let place = StmtPath::of_block(function, block)?;
        let ranges = place.ranges(function);
        let writer = Writer::new(function, block, top, &place, buffer, &ranges)?;
        let clips = writer.clips()?;
        let mut region = Vec::new();
        for (at, index) in writer.indices.iter().enumerate() {
            region.push(writer.axis(at, index, &clips[at])?);
        }
        Ok(Self { region, guard: writer.guard()? })
    }

    /// Refuses a block that reads what it writes where it has not written it: what was there before
    /// the nest.
    pub(super) fn expect_first(
        function: &PrimFunc,
        block: &BlockRef,
        top: &StmtPath,
        buffer: &Buffer,
    ) -> Result<(), ScheduleError> {
        let place = StmtPath::of_block(function, block)?;
        let ranges = place.ranges(function);
        Writer::new(function, block, top, &place, buffer, &ranges)?.expect_first()
    }
}

/// A block with the loops around it, and the element that it writes.
struct Writer<'a> {
    block: &'a BlockRef,
    realized: Realized<'a>,
    element: Element,
    /// The indices of the element in terms of the loops.
    indices: Vec<Expr>,
    loops: Vec<Loop<'a>>,
    /// What the function binds other than around the nest.
    bound: HashSet<Var>,
    ranges: &'a Ranges,
}

impl<'a> Writer<'a> {
    fn new(
        function: &PrimFunc,
        block: &'a BlockRef,
        top: &StmtPath,
        place: &'a StmtPath,
        buffer: &Buffer,
        ranges: &'a Ranges,
    ) -> Result<Self, ScheduleError> {
        let realized = place.as_block()?;
        let around = top.around().len();
        let path = &place.path()[around..];
        let is_nest = |stmt: &Stmt| match &stmt.kind {
            StmtKind::For { body, .. } => !leaves_loop(body),
            StmtKind::Seq(_) | StmtKind::Attr { .. } => true,
            _ => stmt.same(place.stmt()),
        };
        if !path.iter().all(is_nest) {
            return refused(
                block,
                "stands within another block, under a condition, or in a loop that is left before its end: expected \
                 loops alone",
            );
        }
        let element = element(block, &realized, buffer)?;
        let loops: Vec<Loop<'a>> = path.iter().filter_map(Loop::from_stmt).collect();
        let indices = element.by_loops(&realized, ranges);
        let shared = loops
            .iter()
            .find(|of| indices.iter().filter(|index| vars_of(index).contains(of.var)).count() > 1);
        if let Some(of) = shared {
            return refused(
                block,
                format!(
                    "writes elements of buffer \"{}\" that are no region: several of their indices depend on loop \"{}\"",
                    buffer.name, of.var.name
                ),
            );
        }
        let mut bound = bound_in(&function.body);
        for stmt in top.around() {
            if let StmtKind::For { var, .. } | StmtKind::LaunchThread { var, .. } = &stmt.kind {
                bound.remove(var);
            }
            for axis in Realized::from_stmt(stmt).iter().flat_map(|outer| &outer.block.iter_vars) {
                bound.remove(&axis.var);
            }
        }
        Ok(Self { block, realized, element, indices, loops, bound, ranges })
    }

    fn refused<T>(&self, message: impl std::fmt::Display) -> Result<T, ScheduleError> {
        refused(self.block, message)
    }

    /// The same in all iterations of the nest, and known before it.
    fn is_fixed(&self, expr: &Expr) -> bool {
        vars_of(expr).is_disjoint(&self.bound) && !depends_on_memory(expr)
    }

    fn is_index(&self, of: &Loop<'_>) -> bool {
        self.indices.iter().any(|index| vars_of(index).contains(of.var))
    }

    /// The loops that no index depends on: each of their iterations writes the same elements.
    fn others(&self) -> impl Iterator<Item = &Loop<'a>> {
        self.loops.iter().filter(|of| !self.is_index(of))
    }

    /// The parts of the predicate that are the domain of an index, by the index.
    fn clips(&self) -> Result<Vec<Option<Expr>>, ScheduleError> {
        let mut clips: Vec<Option<Expr>> = vec![None; self.indices.len()];
        for part in parts(self.realized.predicate) {
            let Some(axis) = domain_axis(&self.realized, &part, self.ranges) else { continue };
            let axis = &self.realized.block.iter_vars[axis];
            let at = self.element.indices.iter().position(|index| *index == axis.var.expr());
            if let Some(at) = at.filter(|_| self.is_fixed(&axis.extent)) {
                clips[at] = Some(axis.extent.clone());
            }
        }
        Ok(clips)
    }

    /// First index and number of indices along an axis of the buffer.
    fn axis(&self, at: usize, index: &Expr, clip: &Option<Expr>) -> Result<(Expr, Expr), ScheduleError> {
        let extent = &self.element.buffer.shape[at];
        let region = dense(index, &self.loops, self.ranges).then(|| bounds(index, &self.loops, self.ranges));
        let known = |(low, high): &Bounds| self.is_fixed(low) && self.is_fixed(high);
        let Some((low, high)) = region.flatten().filter(known) else {
            return self.refused(format!(
                "does not write a dense region of buffer \"{}\" along axis {at}, whose bounds are known before the nest",
                self.element.buffer.name
            ));
        };
        let low = low.cast(extent.dtype);
        let mut end = high.cast(extent.dtype) + Expr::int(1, extent.dtype);
        if let Some(clip) = clip {
            let clip = clip.clone().cast(extent.dtype);
            end = if self.reaches(&end, &clip) { clip } else { Expr::binary(BinaryOp::Min, end, clip) };
        }
        let count = simplify::expr_with(&(end - low.clone()), self.ranges);
        let is_extent = count == simplify::expr_with(extent, self.ranges);
        Ok((simplify::expr_with(&low, self.ranges), if is_extent { extent.clone() } else { count }))
    }

    /// Whether one value is known to be at least another, where it is a sum with quotients rounded
    /// down.
    fn reaches(&self, value: &Expr, limit: &Expr) -> bool {
        let simple = |expr: &Expr| Linear::of(&simplify::expr_with(expr, self.ranges));
        let mut rest = simple(value).minus(&simple(limit));
        // `x // c * c` is at least `x - (c - 1)`; each step leaves one division less.
        for _ in 0..DIVISIONS_MAX {
            let found = rest.terms.iter().enumerate().find_map(|(at, (term, factor))| {
                let ExprKind::Binary(BinaryOp::FloorDiv, whole, divisor) = &term.kind else { return None };
                let divisor = divisor.as_int().filter(|divisor| *divisor >= 1 && factor % divisor == 0)?;
                (*factor > 0).then(|| (at, whole.clone(), divisor, factor / divisor))
            });
            let Some((at, whole, divisor, factor)) = found else { break };
            rest.terms.remove(at);
            rest.constant -= factor * (divisor - 1);
            let mut scaled = simple(&whole);
            scaled.constant *= -factor;
            scaled.terms.iter_mut().for_each(|(_, own)| *own *= -factor);
            rest = rest.minus(&scaled);
        }
        rest.exact(self.ranges).is_some_and(|(low, _)| low >= 0)
    }

    /// The condition that the block runs at all for an element of the region.
    fn guard(&self) -> Result<Expr, ScheduleError> {
        let mut guards = Vec::new();
        for of in self.others() {
            let some = Expr::compare(CompareOp::Gt, of.extent.clone(), Expr::int(0, of.extent.dtype));
            guards.push(some);
        }
        for part in parts(self.realized.predicate) {
            guards.extend(self.guard_of(&part)?);
        }
        let guards: Vec<Expr> = guards.iter().map(|part| simplify::expr_with(part, self.ranges)).collect();
        match guards.iter().find(|part| !self.is_fixed(part)) {
            Some(part) => self.refused(format!(
                "writes buffer \"{}\" where `{}` holds, which is not known before the nest",
                self.element.buffer.name,
                chipdock_ir::print::expr(part)
            )),
            None => Ok(all_of(guards)),
        }
    }

    /// What a part of the predicate means for all iterations together; nothing if it is the domain
    /// of an index.
    fn guard_of(&self, part: &Expr) -> Result<Option<Expr>, ScheduleError> {
        if self.is_fixed(part) {
            return Ok(Some(part.clone()));
        }
        if let Some(at) = domain_axis(&self.realized, part, self.ranges) {
            let (axis, value) = (&self.realized.block.iter_vars[at], &self.realized.values[at]);
            if self.element.indices.contains(&axis.var.expr()) && self.is_fixed(&axis.extent) {
                return Ok(None);
            }
            // The value counts up: it is in the domain in the first iteration, or never.
            let used = vars_of(value);
            let apart = !self.loops.iter().any(|of| used.contains(of.var) && self.is_index(of));
            if apart && dense(value, &self.loops, self.ranges) {
                let first = self.at_first(value);
                let extent = axis.extent.clone().cast(first.dtype);
                return Ok(Some(Expr::compare(CompareOp::Lt, first, extent)));
            }
        }
        self.refused(format!(
            "has the predicate `{}`, which is not only the domain of its axes",
            chipdock_ir::print::expr(part)
        ))
    }

    /// A value in the first iteration of the loops that no index depends on.
    fn at_first(&self, value: &Expr) -> Expr {
        let mut substitution = chipdock_ir::subst::Substitution::new();
        for of in self.others() {
            substitution.map_var(of.var, of.min.clone());
        }
        simplify::expr_with(&substitution.expr(value), self.ranges)
    }

    fn expect_first(&self) -> Result<(), ScheduleError> {
        let (block, data) = (self.realized.block, &self.element.buffer.data);
        let name = &self.element.buffer.name;
        if block.init.iter().any(|init| TouchedData::of_stmt(init).read.contains(data)) {
            return self.refused(format!("reads buffer \"{name}\" in its init"));
        }
        if is_first(&block.body, data) {
            return Ok(());
        }
        let own = loads(&block.body).into_iter().filter(|load| load.buffer.data == *data);
        let mut others = own.filter(|load| *load != self.element);
        if others.next().is_some() {
            return self.refused(format!("reads other elements of buffer \"{name}\" than it writes"));
        }
        if !block.init.as_ref().is_some_and(|init| always_writes(init, data)) {
            return self.refused(format!(
                "reads what it writes of buffer \"{name}\", and has no init: its first value is what was there before"
            ));
        }
        for (axis, value) in block.iter_vars.iter().zip(self.realized.values) {
            let first = simplify::expr_with(&axis.min, self.ranges);
            if axis.kind == IterKind::Reduce && self.at_first(value) != first {
                return self.refused(format!(
                    "may not begin with the first value of its reduction \"{}\", where its init runs",
                    axis.var.name
                ));
            }
        }
        Ok(())
    }
}

/// Divisions by which loops are split several times.
const DIVISIONS_MAX: usize = 16;

/// The one element of the buffer that a block writes, in every run.
fn element(block: &BlockRef, realized: &Realized<'_>, buffer: &Buffer) -> Result<Element, ScheduleError> {
    let (init, body) = (&realized.block.init, &realized.block.body);
    let bodies = || init.iter().chain([body]);
    let all: Vec<Element> =
        bodies().flat_map(stores).filter(|store| store.buffer.data == buffer.data).collect();
    let [first, others @ ..] = all.as_slice() else {
        return refused(block, format!("does not write buffer \"{}\" by elements", buffer.name));
    };
    let inner: HashSet<Var> = bodies().flat_map(bound_in).collect();
    let is_plain = first.buffer == *buffer
        && others.iter().all(|other| other == first)
        && first.indices.iter().all(|index| index.dtype.is_scalar() && vars_of(index).is_disjoint(&inner));
    if !is_plain || !bodies().any(|body| always_writes(body, &buffer.data)) {
        return refused(
            block,
            format!("does not write one element of buffer \"{}\" in every run", buffer.name),
        );
    }
    Ok(first.clone())
}

/// Whether a statement stores to memory unconditionally.
fn always_writes(stmt: &Stmt, data: &Var) -> bool {
    match &stmt.kind {
        StmtKind::Store { buffer, predicate, .. } => buffer.data == *data && predicate.is_none(),
        StmtKind::Seq(stmts) => stmts.iter().any(|stmt| always_writes(stmt, data)),
        _ => false,
    }
}

/// Whether a body stores to memory unconditionally before it reads it.
fn is_first(body: &Stmt, data: &Var) -> bool {
    let stmts = match &body.kind {
        StmtKind::Seq(stmts) => stmts.as_slice(),
        _ => std::slice::from_ref(body),
    };
    for stmt in stmts {
        if TouchedData::of_stmt(stmt).read.contains(data) {
            return false;
        }
        if always_writes(stmt, data) {
            return true;
        }
    }
    true
}
