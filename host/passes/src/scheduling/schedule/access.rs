//! What a block reads and writes, and where indices lie.

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Block, Buffer, BufferRegion, Child, CompareOp, DType, Expr, ExprKind, ForKind, Range, Stmt,
    StmtKind, StorageScope, Var,
};

use super::ScheduleError;
use super::nest::{Loop, Realized, StmtPath};
use super::reduction::plain_block;
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// An element of a buffer, by indices in terms of a block's axes.
#[derive(Clone, PartialEq)]
pub(super) struct Element {
    pub(super) buffer: Buffer,
    pub(super) indices: Vec<Expr>,
}

impl Element {
    /// The indices in terms of the loops around the block.
    pub(super) fn by_loops(&self, block: &Realized<'_>, ranges: &Ranges) -> Vec<Expr> {
        let mut substitution = values_of(block);
        self.indices.iter().map(|index| simplify::expr_with(&substitution.expr(index), ranges)).collect()
    }
}

/// The values of the block's axes in place of them.
pub(super) fn values_of(block: &Realized<'_>) -> Substitution {
    let mut substitution = Substitution::new();
    for (axis, value) in block.block.iter_vars.iter().zip(block.values) {
        substitution.map_var(&axis.var, value.clone());
    }
    substitution
}

/// The loads of a statement, distinct ones in order of evaluation.
pub(super) fn loads(stmt: &Stmt) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    stmt.walk_exprs(&mut |e| {
        if let ExprKind::Load { buffer, indices, .. } = &e.kind {
            let element = Element { buffer: buffer.clone(), indices: indices.clone() };
            if !found.contains(&element) {
                found.push(element);
            }
        }
    });
    found
}

/// The stores of a statement, distinct ones in order.
pub(super) fn stores(stmt: &Stmt) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Store { buffer, indices, .. } = &stmt.kind
        {
            let element = Element { buffer: buffer.clone(), indices: indices.clone() };
            if !found.contains(&element) {
                found.push(element);
            }
        }
    });
    found
}

/// What a block reads: its loads in order of evaluation, without those of elements that it writes.
pub(super) fn reads(block: &Block) -> Vec<Element> {
    let own = stores(&block.body);
    loads(&block.body).into_iter().filter(|element| !own.contains(element)).collect()
}

/// The statement with another element in place of one, in loads and stores.
pub(super) fn with_element(stmt: &Stmt, old: &Element, new: &Element) -> Stmt {
    let stmt = stmt.map_children(&mut |e| expr_with_element(e, old, new), &mut |s| with_element(s, old, new));
    match &stmt.kind {
        StmtKind::Store { buffer, indices, value, predicate }
            if *buffer == old.buffer && *indices == old.indices =>
        {
            Stmt::new(StmtKind::Store {
                buffer: new.buffer.clone(),
                indices: new.indices.clone(),
                value: value.clone(),
                predicate: predicate.clone(),
            })
            .with_span(stmt.span)
        }
        _ => stmt,
    }
}

pub(super) fn expr_with_element(expr: &Expr, old: &Element, new: &Element) -> Expr {
    let expr = expr.map_children(&mut |e| expr_with_element(e, old, new));
    match &expr.kind {
        ExprKind::Load { buffer, indices, predicate } if *buffer == old.buffer && *indices == old.indices => {
            let (buffer, indices, predicate) = (new.buffer.clone(), new.indices.clone(), predicate.clone());
            Expr::new(ExprKind::Load { buffer, indices, predicate }, expr.dtype).with_span(expr.span)
        }
        _ => expr,
    }
}

/// Declared regions after an element has taken the place of another.
pub(super) fn redeclared(
    regions: &Option<Vec<BufferRegion>>,
    old: &Buffer,
    keeps_old: bool,
    new: &Element,
) -> Option<Vec<BufferRegion>> {
    let regions = regions.as_ref()?;
    let is_old = |region: &&BufferRegion| region.buffer == *old;
    let mut list: Vec<BufferRegion> =
        regions.iter().filter(|region| keeps_old || !is_old(region)).cloned().collect();
    if regions.iter().any(|region| is_old(&region)) {
        let range = |index: &Expr| Range { min: index.clone(), extent: Expr::int(1, index.dtype) };
        let region = new.indices.iter().map(range).collect();
        list.push(BufferRegion { buffer: new.buffer.clone(), region });
    }
    Some(list)
}

/// A loop of a nest that becomes an axis of a buffer.
pub(super) struct Axis<'a> {
    pub(super) of: Loop<'a>,
    /// The size of the axis: the loop's extent if it is known outside the nest, else the least
    /// constant that it never exceeds.
    pub(super) size: Expr,
    /// Whether a loop of a copy can have the loop's extent: it depends only on axes before this
    /// one, and on what is known outside the nest.
    pub(super) is_exact: bool,
}

impl Axis<'_> {
    /// The size, if it is constant.
    pub(super) fn bound(&self) -> Option<i128> {
        self.size.as_int()
    }

    /// The number of iterations before the one of the loop.
    pub(super) fn index(&self) -> Expr {
        if self.of.min.as_int() == Some(0) {
            self.of.var.expr()
        } else {
            self.of.var.expr() - self.of.min.clone()
        }
    }
}

/// The nest from below a loop down to a block, and the loops of it that become axes, in order.
pub(super) struct Nest<'a> {
    pub(super) below: Vec<Loop<'a>>,
    pub(super) axes: Vec<Axis<'a>>,
}

impl<'a> Nest<'a> {
    pub(super) fn new(
        outer: &StmtPath,
        place: &'a StmtPath,
        order: &[super::LoopRef],
        ranges: &Ranges,
    ) -> Result<Self, ScheduleError> {
        let block = &place.as_block()?.block.name;
        let outer_name = &outer.as_loop()?.var.name;
        let Some(path) = place.below(outer.stmt()) else {
            return Err(ScheduleError::new(format!("block \"{block}\" is not under loop \"{outer_name}\"")));
        };
        if path[..path.len() - 1].iter().any(|stmt| Realized::from_stmt(stmt).is_some()) {
            return Err(ScheduleError::new(format!(
                "there is another block between loop \"{outer_name}\" and block \"{block}\""
            )));
        }
        let below: Vec<Loop<'a>> = path.iter().filter_map(Loop::from_stmt).collect();
        let mut axes: Vec<Axis<'a>> = Vec::new();
        for wanted in order {
            let Some(of) = below.iter().find(|of| *of.var == wanted.0).copied() else {
                return Err(ScheduleError::new(format!(
                    "loop \"{}\" of the order is not between loop \"{outer_name}\" and block \"{block}\"",
                    wanted.0.name
                )));
            };
            if axes.iter().any(|axis| axis.of.var == of.var) {
                return Err(ScheduleError::new(format!("loop \"{}\" is twice in the order", of.var.name)));
            }
            let used = vars_of(of.extent);
            let others = || below.iter().filter(|other| used.contains(other.var));
            let is_exact = others().all(|other| axes.iter().any(|axis| axis.of.var == other.var));
            axes.push(Axis { size: size_of(&of, others().next().is_none(), ranges)?, of, is_exact });
        }
        let mut known = axes.iter().filter_map(Axis::bound);
        let size = known.try_fold(1_i128, |size, bound| size.checked_mul(bound.max(1)));
        if size.is_none_or(|size| size > SIZE_MAX) {
            return Err(ScheduleError::new(format!(
                "the loops of the order have more than {SIZE_MAX} iterations together, too many for a buffer"
            )));
        }
        let nest = Self { below, axes };
        nest.expect_bounds()?;
        Ok(nest)
    }

    /// The bounds of the axes depend only on each other and on loops outside.
    fn expect_bounds(&self) -> Result<(), ScheduleError> {
        for (index, axis) in self.axes.iter().enumerate() {
            let mut used = vars_of(axis.of.min);
            if let Some(later) = self.axes[index..].iter().find(|later| used.contains(later.of.var)) {
                return Err(ScheduleError::new(format!(
                    "the first value of loop \"{}\" depends on loop \"{}\", which comes later in the order",
                    axis.of.var.name, later.of.var.name
                )));
            }
            used.extend(vars_of(axis.of.extent));
            if let Some(other) = self.others().find(|other| used.contains(other.var)) {
                return Err(ScheduleError::new(format!(
                    "the bounds of loop \"{}\" depend on loop \"{}\", which is not in the order",
                    axis.of.var.name, other.var.name
                )));
            }
        }
        Ok(())
    }

    /// The loops of the nest that are no axes.
    pub(super) fn others(&self) -> impl Iterator<Item = &Loop<'a>> {
        self.below.iter().filter(|of| !self.axes.iter().any(|axis| axis.of.var == of.var))
    }

    /// The first of the loops of the nest that an expression uses although it is no axis.
    pub(super) fn missing(&self, expr: &Expr) -> Option<&Loop<'a>> {
        let used = vars_of(expr);
        self.others().find(|of| used.contains(of.var))
    }

    /// A new buffer with these axes.
    pub(super) fn buffer(&self, name: &str, dtype: DType, scope: &str) -> Buffer {
        let scope = StorageScope::parse(scope);
        let shape = self.axes.iter().map(|axis| axis.size.clone()).collect();
        Buffer::new(name, shape, dtype, scope)
    }

    /// The element of such a buffer for the iterations of the nest.
    pub(super) fn element(&self, buffer: &Buffer) -> Element {
        let indices = self.axes.iter().map(Axis::index).collect();
        Element { buffer: buffer.clone(), indices }
    }

    /// Conditions under which iterations of the axes are within loops whose extents are not those
    /// of a copy's loops.
    pub(super) fn within(&self) -> Vec<Expr> {
        let loops = self.axes.iter().filter(|axis| !axis.is_exact);
        loops.map(|axis| Expr::compare(CompareOp::Lt, axis.index(), axis.of.extent.clone())).collect()
    }

    /// Loops over all of a buffer with these axes, around a block. `make` gets the substitution of
    /// the block's axes for the loops of the nest, and returns the body; `predicate` is in terms of
    /// the loops of the nest.
    pub(super) fn over(
        &self,
        name: Arc<str>,
        predicate: &Expr,
        make: impl FnOnce(&mut Substitution, Vec<Expr>) -> Stmt,
    ) -> (Stmt, Vec<Var>) {
        let (mut by_axes, mut by_loops) = (Substitution::new(), Substitution::new());
        let (mut loops, mut extents) = (Vec::new(), Vec::new());
        let (mut iter_vars, mut indices) = (Vec::new(), Vec::new());
        for axis in &self.axes {
            let (old, dtype) = (axis.of.var, axis.of.var.dtype);
            let new = Var::new(Arc::clone(&old.name), dtype);
            let var = Var::new(format!("v_{}", old.name), dtype);
            let from = |min: Expr, index: Expr| if min.as_int() == Some(0) { index } else { min + index };
            let first = by_axes.expr(axis.of.min);
            by_axes.map_var(old, from(first, var.expr()));
            extents.push(if axis.is_exact { by_loops.expr(axis.of.extent) } else { axis.size.clone() });
            let first = by_loops.expr(axis.of.min);
            by_loops.map_var(old, from(first, new.expr()));
            indices.push(var.expr());
            iter_vars.push(chipdock_ir::IterVar {
                var,
                min: Expr::int(0, dtype),
                extent: axis.size.clone(),
                kind: chipdock_ir::IterKind::Spatial,
            });
            loops.push(new);
        }
        let block = plain_block(name, iter_vars, None, make(&mut by_axes, indices));
        let realized = Stmt::new(StmtKind::BlockRealize {
            iter_values: loops.iter().map(Var::expr).collect(),
            predicate: by_loops.expr(predicate),
            block: Arc::new(block),
        });
        let nest =
            loops.iter().zip(extents).rev().fold(realized, |body, (var, extent)| {
                Stmt::for_loop(var.clone(), extent, ForKind::Serial, body)
            });
        (nest, loops)
    }
}

/// Greatest number of elements of a buffer whose axes are loops.
pub(super) const SIZE_MAX: i128 = 1 << 28;

fn size_of(of: &Loop<'_>, is_outside: bool, ranges: &Ranges) -> Result<Expr, ScheduleError> {
    let dtype = of.var.dtype;
    let (_, most) = ranges.of(of.extent);
    let steps = of.step.is_some_and(|step| step.as_int() != Some(1));
    // Bounds of what is not constant may be those of its type.
    if !steps && is_outside && of.extent.as_int().is_none() && !depends_on_memory(of.extent) {
        return Ok(Expr::binary(BinaryOp::Max, of.extent.clone().cast(dtype), Expr::int(1, dtype)));
    }
    if !steps && most <= SIZE_MAX {
        return Ok(Expr::int(most.max(1), dtype));
    }
    Err(ScheduleError::new(format!(
        "loop \"{}\" has no constant bound, or steps: split it by a constant factor first",
        of.var.name
    )))
}

/// What is known where indices are examined.
pub(super) struct Facts<'a> {
    pub(super) conditions: Vec<Expr>,
    /// The loops around, outermost first.
    pub(super) loops: Vec<Loop<'a>>,
    pub(super) ranges: &'a Ranges,
}

impl Facts<'_> {
    /// Conditions under which the element exists, without those that are known.
    pub(super) fn missing(&self, buffer: &Buffer, indices: &[Expr]) -> Vec<Expr> {
        let mut missing = Vec::new();
        for (index, extent) in indices.iter().zip(&buffer.shape) {
            let index = index.clone().cast(wider(index.dtype, extent.dtype));
            let extent = extent.clone().cast(index.dtype);
            let from = Expr::compare(CompareOp::Ge, index.clone(), Expr::int(0, index.dtype));
            let from = simplify::expr_with(&from, self.ranges);
            if from.as_int() != Some(1) && !self.conditions.contains(&from) {
                missing.push(from);
            }
            if !self.is_below(&index, &extent) {
                missing.push(Expr::compare(CompareOp::Lt, index, extent));
            }
        }
        missing
    }

    /// Whether an index is known to be less than a limit.
    pub(super) fn is_below(&self, index: &Expr, limit: &Expr) -> bool {
        if let ExprKind::Binary(BinaryOp::Max, a, b) = &limit.kind {
            return self.is_below(index, a) || self.is_below(index, b);
        }
        let is_end = |of: &Loop<'_>| {
            *index == of.var.expr() && of.min.as_int() == Some(0) && of.step.is_none() && of.extent == limit
        };
        if self.loops.iter().any(is_end) {
            return true;
        }
        let below = Expr::compare(CompareOp::Lt, index.clone(), limit.clone());
        simplify::expr_with(&below, self.ranges).as_int() == Some(1)
            || self.conditions.iter().any(|known| self.implies(known, index, limit))
            || self.greatest(index).iter().any(|most| self.is_positive(&(limit.clone() - most.clone())))
    }

    pub(super) fn is_positive(&self, value: &Expr) -> bool {
        if self.ranges.exact(&simplify::expr_with(value, self.ranges)).is_some_and(|(low, _)| low >= 1) {
            return true;
        }
        match &value.kind {
            ExprKind::Binary(BinaryOp::Min, a, b) => self.is_positive(a) && self.is_positive(b),
            _ => self.is_rest(value),
        }
    }

    /// Whether a value is `total - i * factor` for a loop `i` of `(total - 1) // factor + 1`
    /// iterations.
    fn is_rest(&self, value: &Expr) -> bool {
        let sum = Linear::of(value);
        sum.terms.iter().any(|(term, factor)| {
            let Some(of) = self.loops.iter().find(|of| term == &of.var.expr()) else { return false };
            if *factor >= 0 || of.min.as_int() != Some(0) {
                return false;
            }
            let step = Expr::int(-factor, term.dtype);
            let total = value.clone() + term.clone() * step.clone();
            let last = Expr::binary(BinaryOp::FloorDiv, total - Expr::int(1, term.dtype), step);
            let count = simplify::expr_with(&(last + Expr::int(1, term.dtype)), self.ranges);
            count == *of.extent
        })
    }

    /// Values that an expression never exceeds, with the last value in place of each loop; none if
    /// it is not a sum of multiples of loops.
    pub(super) fn greatest(&self, expr: &Expr) -> Vec<Expr> {
        let mut forms = vec![simplify::expr_with(expr, self.ranges)];
        for of in self.loops.iter().rev() {
            let mut next = Vec::new();
            for form in forms.iter().take(FORMS_MAX) {
                self.at_end(form, of, &mut next);
            }
            forms = next;
        }
        forms
    }

    /// Whether `index < limit` follows from a condition `a < b`: by as much as the index may be
    /// greater than `a`, the limit is greater than `b`.
    fn implies(&self, known: &Expr, index: &Expr, limit: &Expr) -> bool {
        let ExprKind::Compare(CompareOp::Lt, a, b) = &known.kind else { return false };
        if a.dtype != index.dtype || b.dtype != limit.dtype {
            return false;
        }
        let (over, room) = (index.clone() - a.clone(), limit.clone() - b.clone() + Expr::int(1, b.dtype));
        let over = simplify::expr_with(&over, self.ranges).cast(room.dtype);
        self.greatest(&over).iter().any(|most| self.is_positive(&(room.clone() - most.clone())))
    }

    fn at_end(&self, form: &Expr, of: &Loop<'_>, next: &mut Vec<Expr>) {
        if !vars_of(form).contains(of.var) {
            next.push(form.clone());
            return;
        }
        let sum = Linear::of(form);
        let bare = of.var.expr();
        let mut factor = None;
        for (term, by) in &sum.terms {
            if *term == bare {
                factor = Some(*by);
            } else if vars_of(term).contains(of.var) {
                return;
            }
        }
        let extents = match &of.extent.kind {
            ExprKind::Binary(BinaryOp::Min, a, b) => vec![b, a],
            _ => vec![of.extent],
        };
        let ends: Vec<Expr> = match factor {
            Some(factor) if factor > 0 => extents
                .into_iter()
                .map(|extent| of.min.clone() + extent.clone() - Expr::int(1, of.var.dtype))
                .collect(),
            Some(_) => vec![of.min.clone()],
            None => return,
        };
        for end in ends {
            let form = Substitution::new().with_var(of.var, end).expr(form);
            next.push(simplify::expr_with(&form, self.ranges));
        }
    }
}

/// Forms of a bound that are tried: each loop that ends at the lesser of two values doubles them.
const FORMS_MAX: usize = 16;

fn wider(a: DType, b: DType) -> DType {
    if a.bits >= b.bits { a } else { b }
}
