//! Memory accesses of a loop nest, and the loops whose iterations touch different memory.

use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{Buffer, Callee, Child, Effect, Expr, ExprKind, IterKind, Op, Stmt, StmtKind, Var};

use super::nest::Head;
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// A load or a store: the indices are those of the buffer that a view refers to, in terms of loops.
pub(crate) struct Access {
    pub(crate) buffer: Buffer,
    pub(crate) indices: Vec<Expr>,
    pub(crate) writes: bool,
}

/// The memory accesses of a nest.
#[derive(Default)]
pub(crate) struct Accesses {
    pub(crate) list: Vec<Access>,
    /// Whether memory is touched in ways that are not known here.
    pub(crate) unknown: bool,
    /// Loops that appear in reduction axes or ordered axes.
    ordered: HashSet<Var>,
    /// Data variables of buffers that are allocated within the nest.
    own: HashSet<Var>,
    /// Variables that are bound within the nest, including its loops.
    pub(crate) bound: HashSet<Var>,
    pub(crate) ranges: Ranges,
    substitution: Substitution,
    /// The region of each view: the buffer, and the first index on each of its axes.
    views: HashMap<Buffer, (Buffer, Vec<Expr>)>,
}

impl Accesses {
    /// Collects the accesses of a statement within loops.
    pub(crate) fn collect(heads: &[Head], body: &Stmt) -> Self {
        let mut accesses = Self::default();
        for head in heads {
            let step = Expr::int(head.step, head.var.dtype);
            accesses.counts(&head.var, &head.min, &head.extent, Some(&step));
        }
        accesses.stmt(body);
        accesses
    }

    fn counts(&mut self, var: &Var, min: &Expr, extent: &Expr, step: Option<&Expr>) {
        let (min, extent) = (self.substitution.expr(min), self.substitution.expr(extent));
        self.bound.insert(var.clone());
        self.ranges.set_loop(var, &min, &extent, step);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Bind { var, value } => {
                self.expr(value);
                if !depends_on_memory(value) && value.dtype.is_integer() && value.dtype.is_scalar() {
                    let value = self.substitution.expr(value);
                    self.substitution.map_var(var, value);
                } else {
                    self.bound.insert(var.clone());
                }
                return;
            }
            StmtKind::Store { buffer, indices, .. } => self.access(buffer, indices, true),
            StmtKind::AllocBuffer { buffer, .. } => {
                self.own.insert(buffer.data.clone());
            }
            StmtKind::DeclBuffer { data: Some(_), .. } if stmt.as_constant().is_none() => self.unknown = true,
            StmtKind::For { var, min, extent, step, .. } => self.counts(var, min, extent, step.as_ref()),
            StmtKind::LaunchThread { .. } => self.unknown = true,
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.expr(predicate);
                for (axis, value) in block.iter_vars.iter().zip(iter_values) {
                    self.expr(value);
                    let value = self.substitution.expr(value);
                    if matches!(axis.kind, IterKind::Reduce | IterKind::Ordered) {
                        self.ordered.extend(vars_of(&value));
                    }
                    self.substitution.map_var(&axis.var, value);
                }
                self.own.extend(block.alloc_buffers.iter().map(|buffer| buffer.data.clone()));
                for view in &block.match_buffers {
                    let mins: Vec<Expr> = view.source.region.iter().map(|range| range.min.clone()).collect();
                    let (source, mins) = self.source(&view.source.buffer, &mins);
                    if self.own.contains(&source.data) {
                        self.own.insert(view.buffer.data.clone());
                    }
                    self.views.insert(view.buffer.clone(), (source, mins));
                }
                block.init.iter().chain([&block.body]).for_each(|stmt| self.stmt(stmt));
                return;
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => self.stmt(stmt),
            Child::Expr(expr) => self.expr(expr),
        });
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Load { buffer, indices, .. } => self.access(buffer, indices, false),
            ExprKind::Var(var) => self.unknown |= var.dtype.is_handle(),
            ExprKind::Let { var, .. } => {
                self.bound.insert(var.clone());
            }
            ExprKind::Call { callee: Callee::Op(op), .. } => {
                self.unknown |= op.effect() != Effect::Pure || *op == Op::AddressOf;
            }
            ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => self.unknown |= !pure,
            // Its arguments show which memory a call can touch: pointers, which are variables or
            // addresses.
            _ => {}
        });
    }

    /// Translates an element of a buffer to the element of the buffer that it is a view of.
    fn source(&mut self, buffer: &Buffer, indices: &[Expr]) -> (Buffer, Vec<Expr>) {
        let indices: Vec<Expr> = indices.iter().map(|index| self.substitution.expr(index)).collect();
        let Some((source, mins)) = self.views.get(buffer) else { return (buffer.clone(), indices) };
        let leading = mins.len().saturating_sub(indices.len());
        let places = mins.iter().enumerate().map(|(axis, min)| {
            match axis.checked_sub(leading).and_then(|axis| indices.get(axis)) {
                // The start of a region may have another integer type than the indices of its view.
                Some(index) => min.clone() + index.clone().cast(min.dtype.with_lanes(index.dtype.lanes)),
                None => min.clone(),
            }
        });
        (source.clone(), places.collect())
    }

    fn access(&mut self, buffer: &Buffer, indices: &[Expr], writes: bool) {
        let (buffer, indices) = self.source(buffer, indices);
        if !self.own.contains(&buffer.data) {
            let indices = indices.iter().map(|index| simplify::expr_with(index, &self.ranges)).collect();
            self.list.push(Access { buffer, indices, writes });
        }
    }

    /// Data variables of the memory that is written.
    fn written(&self) -> HashSet<&Var> {
        let written = self.list.iter().filter(|access| access.writes);
        written.map(|access| &access.buffer.data).collect()
    }

    /// Returns true if memory of `params` is written and other memory of `params` is touched.
    pub(crate) fn may_overlap(&self, params: &HashSet<Var>) -> bool {
        let written = self.written();
        let others = |own: &Var| {
            let mut touched = self.list.iter().map(|access| &access.buffer.data);
            touched.any(|other| other != own && params.contains(other))
        };
        written.into_iter().any(|own| params.contains(own) && others(own))
    }

    /// The loops among `heads` of which any two different iterations, with all other loops fixed,
    /// touch different elements of all memory that is written.
    pub(super) fn independent(&self, heads: &[Head]) -> HashSet<Var> {
        let mut loops: HashSet<Var> =
            heads.iter().map(|head| head.var.clone()).filter(|var| !self.ordered.contains(var)).collect();
        if self.unknown {
            return HashSet::new();
        }
        let written = self.written();
        loop {
            let mut fine = loops.clone();
            for data in &written {
                let resolved = self.resolved(data, &fine, heads);
                fine.retain(|var| resolved.contains(var));
            }
            if fine.len() == loops.len() {
                return loops;
            }
            loops = fine;
        }
    }

    /// Returns true if two accesses to one buffer touch different elements whatever the iterations
    /// are.
    fn never_meet(&self, a: &Access, b: &Access, loops: &HashSet<Var>) -> bool {
        let none = HashSet::new();
        let apart = |(a, b): (&Expr, &Expr)| {
            let (Some(a), Some(b)) =
                (IndexTerms::split(self, a, loops, &none), IndexTerms::split(self, b, loops, &none))
            else {
                return false;
            };
            let alone = a.loops.is_empty() && b.loops.is_empty();
            alone && a.has_same_terms(&b) && (a.rest.1 < b.rest.0 || b.rest.1 < a.rest.0)
        };
        a.buffer == b.buffer && a.indices.iter().zip(&b.indices).any(apart)
    }

    /// The loops whose iteration is determined by an element of this memory, whichever access
    /// touches it.
    fn resolved(&self, data: &Var, loops: &HashSet<Var>, heads: &[Head]) -> HashSet<Var> {
        let mut known = HashSet::new();
        let accesses: Vec<&Access> = self.list.iter().filter(|access| access.buffer.data == *data).collect();
        let writes: Vec<&Access> = accesses.iter().filter(|access| access.writes).copied().collect();
        let meets = |access: &&Access| {
            access.writes || !writes.iter().all(|write| self.never_meet(write, access, loops))
        };
        let accesses: Vec<&Access> = accesses.into_iter().filter(meets).collect();
        let Some(first) = accesses.first() else { return known };
        if accesses.iter().any(|access| access.buffer != first.buffer) || !first.buffer.strides.is_empty() {
            return known;
        }
        loop {
            let n_known = known.len();
            for axis in 0..first.indices.len() {
                let places: Option<Vec<IndexTerms>> = accesses
                    .iter()
                    .map(|access| IndexTerms::split(self, access.indices.get(axis)?, loops, &known))
                    .collect();
                if let Some(places) = places {
                    known.extend(digits(&places, heads));
                }
            }
            if known.len() == n_known {
                return known;
            }
        }
    }
}

/// An index split into its terms.
struct IndexTerms {
    /// Loops among those examined, with their factors.
    loops: Vec<(Var, i128)>,
    /// Terms that are the same in every iteration.
    fixed: Vec<(Expr, i128)>,
    /// Bounds of the remaining terms.
    rest: (i128, i128),
}

impl IndexTerms {
    fn split(accesses: &Accesses, index: &Expr, loops: &HashSet<Var>, known: &HashSet<Var>) -> Option<Self> {
        let (index, lanes) = match &index.kind {
            ExprKind::Ramp { base, stride, lanes } => {
                (base, stride.as_int()?.checked_mul(i128::from(*lanes) - 1)?)
            }
            _ => (index, 0),
        };
        if !index.dtype.is_scalar() || !index.dtype.is_integer() {
            return None;
        }
        let sum = Linear::of(index);
        let constant = (sum.constant.checked_add(lanes.min(0))?, sum.constant.checked_add(lanes.max(0))?);
        let mut place = Self { loops: Vec::new(), fixed: Vec::new(), rest: constant };
        for (term, coefficient) in &sum.terms {
            let bare = match &term.kind {
                ExprKind::Cast(inner) if inner.dtype.is_int() && term.dtype.is_int() => inner,
                _ => term,
            };
            match &bare.kind {
                ExprKind::Var(var) if loops.contains(var) && !known.contains(var) => {
                    place.loops.push((var.clone(), *coefficient));
                }
                _ if depends_on_memory(term) => return None,
                _ => {
                    let vars = vars_of(term);
                    if vars.iter().all(|var| !accesses.bound.contains(var) || known.contains(var)) {
                        place.fixed.push((term.clone(), *coefficient));
                        continue;
                    }
                    let (low, high) = accesses.ranges.of(term);
                    let (a, b) = (low.checked_mul(*coefficient)?, high.checked_mul(*coefficient)?);
                    place.rest = (place.rest.0.checked_add(a.min(b))?, place.rest.1.checked_add(a.max(b))?);
                }
            }
        }
        Some(place)
    }
}

impl IndexTerms {
    /// Returns true if both differ only in the remaining terms.
    fn has_same_terms(&self, other: &Self) -> bool {
        self.loops.len() == other.loops.len()
            && self.loops.iter().all(|digit| other.loops.contains(digit))
            && self.fixed.len() == other.fixed.len()
            && self.fixed.iter().all(|term| other.fixed.contains(term))
    }
}

/// The loops that are digits of one number in all places, from the most significant down.
fn digits(places: &[IndexTerms], heads: &[Head]) -> Vec<Var> {
    let Some(first) = places.first() else { return Vec::new() };
    if !places.iter().all(|place| first.has_same_terms(place)) {
        return Vec::new();
    }
    let low = places.iter().map(|place| place.rest.0).min().unwrap_or(0);
    let high = places.iter().map(|place| place.rest.1).max().unwrap_or(0);
    let mut sorted: Vec<(&Var, i128, Option<i128>)> = Vec::new();
    for (var, coefficient) in &first.loops {
        let Some(head) = heads.iter().find(|head| head.var == *var) else { return Vec::new() };
        let Some(weight) = coefficient.abs().checked_mul(head.step) else { return Vec::new() };
        sorted.push((var, weight, head.extent.as_int()));
    }
    sorted.sort_by_key(|(_, weight, _)| *weight);
    // Range of the terms below each digit; `None` if it is not known.
    let mut below = Some(high - low);
    let mut separated = Vec::new();
    for (var, weight, extent) in sorted {
        separated.push((var, below.is_some_and(|below| weight > below)));
        let reach = extent.and_then(|extent| weight.checked_mul((extent - 1).max(0)));
        below = below.zip(reach).and_then(|(below, reach)| below.checked_add(reach));
    }
    separated
        .into_iter()
        .rev()
        .take_while(|(_, is_separate)| *is_separate)
        .map(|(var, _)| var.clone())
        .collect()
}
