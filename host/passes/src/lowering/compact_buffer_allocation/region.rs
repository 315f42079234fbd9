//! The region of a buffer that iterations of the loops around all its accesses touch.

use std::collections::{BTreeSet, HashSet};

use chipdock_ir::{BinaryOp, Buffer, DType, Expr, ExprKind, ForKind, StorageRank, ThreadAxis, Var};

use super::collect::{Access, Candidate, Collected, Index};
use crate::simplify::{Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// Greatest number of elements of a buffer with strides.
const EXTENT_MAX: i128 = 1 << 28;

/// Greatest extent of an axis that is not known to be shorter than it was, and greatest product of
/// such extents: more than a thread or a block has, and less than what is known of a number by its
/// type alone.
pub(super) const UNKNOWN_EXTENT_MAX: i128 = 1 << 16;

/// The same of memory that does not need a constant size.
const GLOBAL_EXTENT_MAX: i128 = 256;

/// A sum of multiples of terms, and a constant. Casts that change no value are left out of terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) terms: Vec<(Expr, i128)>,
    pub(super) constant: i128,
}

impl Sum {
    /// The sum that a simplified integer scalar is; `None` for anything else.
    pub(super) fn of(expr: &Expr, ranges: &Ranges) -> Option<Self> {
        if !expr.dtype.is_integer() || !expr.dtype.is_scalar() {
            return None;
        }
        let mut sum = Self::default();
        sum.add(expr, 1, ranges)?;
        sum.terms.retain(|(_, factor)| *factor != 0);
        Some(sum)
    }

    fn add(&mut self, expr: &Expr, factor: i128, ranges: &Ranges) -> Option<()> {
        let linear = Linear::of(expr);
        self.constant = self.constant.checked_add(linear.constant.checked_mul(factor)?)?;
        for (term, own) in &linear.terms {
            let factor = own.checked_mul(factor)?;
            match &term.kind {
                ExprKind::Cast(inner)
                    if inner.dtype.is_integer()
                        && inner.dtype.is_scalar()
                        && ranges.exact(term).is_some()
                        && Linear::of(inner).fits(ranges) =>
                {
                    self.add(inner, factor, ranges)?;
                }
                _ => match self.terms.iter_mut().find(|(known, _)| known == term) {
                    Some((_, known)) => *known = known.checked_add(factor)?,
                    None => self.terms.push((term.clone(), factor)),
                },
            }
        }
        Some(())
    }

    /// Whether the terms are the same, in any order.
    fn is_like(&self, other: &Self) -> bool {
        self.terms.len() == other.terms.len() && self.terms.iter().all(|term| other.terms.contains(term))
    }

    /// The sum as an expression of a type.
    pub(super) fn to_expr(&self, dtype: DType) -> Expr {
        let product = |(term, factor): &(Expr, i128)| {
            let term = term.clone().cast(dtype);
            if *factor == 1 { term } else { term * Expr::int(dtype.wrap(*factor), dtype) }
        };
        let constant = || Expr::int(dtype.wrap(self.constant), dtype);
        let terms = self.terms.iter().map(product).reduce(|sum, term| sum + term);
        match terms {
            None => constant(),
            Some(terms) if self.constant == 0 => terms,
            Some(terms) => terms + constant(),
        }
    }
}

/// A part of an axis.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Whole,
    /// So many indices from the first on, in types of so many bits or more.
    Some {
        first: Sum,
        extent: i128,
        bits: u16,
    },
}

/// The region of a buffer that is in use at a time.
pub(super) struct Region {
    pub(super) parts: Vec<Part>,
    /// The loop whose iterations run at once and have a region each, so that each needs memory of
    /// its own.
    pub(super) at_once: Option<Var>,
}

/// The region of a buffer; `None` if it is all of it, or not known.
///
/// It depends on variables that are the same for all that share an instance of the memory: blocks,
/// for local memory threads, and loops around all accesses, each of whose iterations has a region
/// of its own.
pub(super) fn region(all: &Collected, of: &Candidate) -> Option<Region> {
    let first = of.accesses.first().filter(|_| !of.is_open)?;
    if of.accesses.iter().any(|access| access.launch != first.launch) {
        return None;
    }
    let mut common = first.around.as_slice();
    for access in &of.accesses {
        let count = common.iter().zip(&access.around).take_while(|(a, b)| a == b).count();
        common = common.get(..count)?;
    }
    let loops = counted(all, of, first.launch, common);
    let threads = own_threads(all, of, first.launch);
    // The more loops, the smaller the region.
    (0..=loops.len()).rev().find_map(|count| {
        let chosen = loops.get(..count)?;
        let vars: HashSet<Var> =
            chosen.iter().map(|of| of.var.clone()).chain(threads.iter().chain(&all.sizes).cloned()).collect();
        let parts: Vec<Part> = (0..of.buffer.shape.len()).map(|axis| part(all, of, axis, &vars)).collect();
        let needed = needed(chosen, &parts);
        let apart = apart(&all.ranges, needed, &parts);
        if !needed.iter().all(|of| of.is_apart || apart.contains(&of.var)) {
            return None;
        }
        let at_once = needed.iter().rfind(|of| of.is_at_once).map(|of| of.var.clone());
        Some(Region { parts, at_once })
    })
}

/// A loop around all accesses.
struct Counted {
    var: Var,
    /// Whether memory ends with each iteration.
    is_apart: bool,
    is_at_once: bool,
}

/// The loops around all accesses, from the outermost on, of which a region may depend.
fn counted(all: &Collected, of: &Candidate, launch: Option<usize>, common: &[usize]) -> Vec<Counted> {
    let rank = of.buffer.scope.rank;
    let mut loops = Vec::new();
    for around in common.iter().filter_map(|at| all.around.get(*at)) {
        let Some(var) = &around.var else { break };
        let is_at_once = match around.kind {
            ForKind::ThreadBinding(_) => continue,
            ForKind::Vectorized => break,
            // Memory cannot be allocated within a kernel, nor be shared by iterations that may run
            // at once.
            ForKind::Parallel if launch.is_some() || around.is_in_kernel => break,
            ForKind::Serial | ForKind::Unrolled => false,
            ForKind::Parallel => true,
        };
        let is_outside = launch.is_some() && around.launch.is_none();
        // Threads may be in different iterations unless barriers come after this.
        let has_barriers = around.launch.and_then(|at| all.has_implicit_barriers.get(at));
        match rank {
            StorageRank::Local => {}
            StorageRank::Shared if has_barriers != Some(&false) => {}
            _ if around.launch.is_none() => {}
            _ => break,
        }
        // Iterations that share memory may need a barrier between them, which all threads reach.
        if rank == StorageRank::Shared && around.launch.is_some() && !around.is_uniform {
            break;
        }
        if !around.is_one {
            let is_apart = is_outside && matches!(rank, StorageRank::Shared | StorageRank::Local);
            loops.push(Counted { var: var.clone(), is_apart, is_at_once });
        }
    }
    loops
}

/// The threads that have an instance of the memory each and are bound at each access.
fn own_threads(all: &Collected, of: &Candidate, launch: Option<usize>) -> Vec<Var> {
    if launch.is_none() {
        return Vec::new();
    }
    let is_own = |axis: ThreadAxis| match of.buffer.scope.rank {
        StorageRank::Local => true,
        StorageRank::Shared | StorageRank::Warp => is_block(axis),
        StorageRank::Global | StorageRank::Other => false,
    };
    let bound = |axis: &ThreadAxis| of.accesses.iter().all(|access| access.axes.contains(axis));
    let axes: BTreeSet<ThreadAxis> = of.accesses.iter().flat_map(|access| access.axes.clone()).collect();
    let axes: BTreeSet<ThreadAxis> = axes.into_iter().filter(|axis| is_own(*axis) && bound(axis)).collect();
    all.threads.iter().filter(|(_, axis)| axes.contains(axis)).map(|(var, _)| var.clone()).collect()
}

pub(super) fn is_block(axis: ThreadAxis) -> bool {
    matches!(axis, ThreadAxis::BlockX | ThreadAxis::BlockY | ThreadAxis::BlockZ)
}

/// The part of an axis, in terms of variables that are the same for all accesses at a time.
fn part(all: &Collected, of: &Candidate, axis: usize, vars: &HashSet<Var>) -> Part {
    let mut vars = vars.clone();
    loop {
        let Some((found, differing)) = spanned(all, of, axis, &vars) else { return Part::Whole };
        if differing.is_empty() {
            return found.part(of, axis).unwrap_or(Part::Whole);
        }
        let before = vars.len();
        vars.retain(|var| !differing.contains(var));
        if vars.len() == before {
            return Part::Whole;
        }
    }
}

/// What all accesses span on one axis: a sum, and the distances from it.
struct Span {
    fixed: Sum,
    low: i128,
    high: i128,
    /// The fewest bits of an index.
    bits: u16,
    is_exact: bool,
}

impl Span {
    /// The part that is spanned, if that is less than all.
    fn part(self, of: &Candidate, axis: usize) -> Option<Part> {
        let Self { mut fixed, mut low, mut high, bits, is_exact } = self;
        let extent = of.buffer.shape.get(axis).and_then(Expr::as_int);
        // Every index that is accessed lies in the buffer. An index that wraps is not where its
        // bounds are.
        if fixed.terms.is_empty() && is_exact {
            low = low.max(0);
            high = extent.map_or(high, |extent| high.min(extent - 1));
        }
        let size = high.checked_sub(low)?.checked_add(1)?;
        let most = extent.unwrap_or(match of.buffer.scope.rank {
            // An extent of any size may be less: that costs a little memory.
            StorageRank::Global => GLOBAL_EXTENT_MAX,
            _ => UNKNOWN_EXTENT_MAX,
        });
        // The distance from the first index is one of the index' type.
        let holds = 1_i128 << bits.clamp(1, 64).saturating_sub(1);
        if size < 1 || size >= most || size > holds {
            return None;
        }
        fixed.constant = low;
        Some(Part::Some { first: fixed, extent: size, bits })
    }
}

/// What all accesses span on one axis, and the variables by which their sums differ; `None` if that
/// is not known.
fn spanned(
    all: &Collected,
    of: &Candidate,
    axis: usize,
    vars: &HashSet<Var>,
) -> Option<(Span, HashSet<Var>)> {
    let mut indices = Vec::with_capacity(of.accesses.len());
    for access in &of.accesses {
        indices.push((access, access.indices.get(axis)?.as_ref()?));
    }
    let bits: BTreeSet<u16> = indices.iter().map(|(_, index)| index.bits).collect();
    let is_exact = indices.iter().all(|(_, index)| index.is_exact);
    let fewest = *bits.first()?;
    let mut found: Option<Span> = None;
    let mut differing: HashSet<Var> = HashSet::new();
    for (access, index) in indices {
        let (fixed, low, high) = split(all, access, index, vars)?;
        if bits.len() > 1 && !fits(&fixed, (low, high), fewest, &all.ranges)? {
            return None;
        }
        found = Some(match found {
            None => Span { fixed, low, high, bits: fewest, is_exact },
            Some(known) => {
                if !known.fixed.is_like(&fixed) {
                    let (a, b) = (&known.fixed.terms, &fixed.terms);
                    let only = a.iter().filter(|t| !b.contains(t)).chain(b.iter().filter(|t| !a.contains(t)));
                    only.for_each(|(term, _)| differing.extend(vars_of(term)));
                }
                Span { low: known.low.min(low), high: known.high.max(high), ..known }
            }
        });
    }
    Some((found?, differing))
}

/// Whether a sum has the same value in a type of so many bits as in a wider one; `None` if its
/// bounds are not known.
fn fits(fixed: &Sum, (low, high): (i128, i128), bits: u16, ranges: &Ranges) -> Option<bool> {
    let (mut low, mut high) = (low, high);
    for (term, factor) in &fixed.terms {
        let (least, most) = ranges.of(term);
        let (a, b) = (least.checked_mul(*factor)?, most.checked_mul(*factor)?);
        low = low.checked_add(a.min(b))?;
        high = high.checked_add(a.max(b))?;
    }
    let limit = 1_i128 << bits.clamp(1, 64).saturating_sub(1);
    Some(low >= -limit && high < limit)
}

/// Terms of a sum, each with its factor.
type Terms = Vec<(Expr, i128)>;

/// The terms that depend only on variables that are the same for all, and the bounds of the rest.
fn split(all: &Collected, access: &Access, index: &Index, vars: &HashSet<Var>) -> Option<(Sum, i128, i128)> {
    let is_fixed = |term: &Expr| !depends_on_memory(term) && vars_of(term).is_subset(vars);
    let parted =
        |sum: &Sum| -> (Terms, Terms) { sum.terms.iter().cloned().partition(|(term, _)| is_fixed(term)) };
    let (fixed, rest) = parted(&index.first);
    let mut bounds = (0_i128, 0_i128);
    for (term, factor) in &rest {
        let (low, mut high) = all.ranges.of(term);
        if let Some(most) = most_where(term, access, &all.ranges) {
            high = high.min(most);
        }
        let (a, b) = (low.checked_mul(*factor)?, high.checked_mul(*factor)?);
        bounds = (bounds.0.checked_add(a.min(b))?, bounds.1.checked_add(a.max(b))?);
    }
    let rest = Sum { terms: rest, constant: 0 };
    for (sum, end) in access.below.iter() {
        let (others, own) = parted(sum);
        if others.is_empty() && rest.is_like(&Sum { terms: own, constant: 0 }) {
            bounds.1 = bounds.1.min(end.checked_sub(1)?.checked_sub(sum.constant)?);
        }
    }
    let constant = index.first.constant;
    let low = bounds.0.checked_add(constant)?.checked_add(index.reach.0)?;
    let high = bounds.1.checked_add(constant)?.checked_add(index.reach.1)?;
    Some((Sum { terms: fixed, constant: 0 }, low, high))
}

/// The greatest value of a quotient where its dividend is bounded: `x // 8` is at most 9 where
/// `x < 80`.
fn most_where(term: &Expr, access: &Access, ranges: &Ranges) -> Option<i128> {
    let ExprKind::Binary(BinaryOp::FloorDiv, dividend, divisor) = &term.kind else { return None };
    let by = divisor.as_int().filter(|by| *by > 0)?;
    let sum = Sum::of(dividend, ranges)?;
    let bounded = access.below.iter().filter(|(below, _)| sum.is_like(below));
    let most = bounded
        .filter_map(|(below, end)| end.checked_sub(1)?.checked_sub(below.constant)?.checked_add(sum.constant))
        .min()?;
    Some(most.div_euclid(by))
}

/// The loops that the region depends on, and those around them.
fn needed<'a>(loops: &'a [Counted], parts: &[Part]) -> &'a [Counted] {
    let is_used = |of: &Counted| {
        parts.iter().any(|part| match part {
            Part::Whole => false,
            Part::Some { first, .. } => first.terms.iter().any(|(term, _)| vars_of(term).contains(&of.var)),
        })
    };
    let count = loops.iter().rposition(is_used).map_or(0, |at| at + 1);
    loops.get(..count).unwrap_or(loops)
}

/// The loops of which no two iterations have an element in common, whatever the iterations of the
/// others are: along some axis, their regions do not overlap.
fn apart(ranges: &Ranges, loops: &[Counted], parts: &[Part]) -> HashSet<Var> {
    let mut result = HashSet::new();
    for part in parts {
        let Part::Some { first, extent, bits } = part else { continue };
        let mut steps: Vec<(i128, Var)> = Vec::new();
        let mut is_plain = true;
        for (term, factor) in &first.terms {
            let used = vars_of(term);
            match &term.kind {
                ExprKind::Var(var) if loops.iter().any(|of| of.var == *var) => {
                    steps.push((factor.abs(), var.clone()));
                }
                _ => is_plain &= loops.iter().all(|of| !used.contains(&of.var)),
            }
        }
        steps.sort_by_key(|(factor, _)| *factor);
        let mut reach = *extent;
        for (factor, var) in &steps {
            let (low, high) = ranges.of(&var.expr());
            is_plain &= *factor >= reach;
            reach = high.saturating_sub(low).saturating_mul(*factor).saturating_add(reach);
        }
        // Where indices wrap, distances do too.
        if is_plain && reach <= 1 << (*bits).min(64) {
            result.extend(steps.into_iter().map(|(_, var)| var));
        }
    }
    result
}

/// Strides of a buffer of this shape, in which some axes are aligned; none if they are those of a
/// compact one.
pub(super) fn strides(shape: &[Expr], buffer: &Buffer, alignment: &[(usize, i128, i128)]) -> Vec<Expr> {
    let mut stride = 1_i128;
    let mut strides = Vec::new();
    let mut is_compact = true;
    for (axis, extent) in shape.iter().enumerate().rev() {
        if let Some((_, factor, offset)) = alignment.iter().find(|(of, ..)| *of == axis) {
            let more = (factor + offset - stride.rem_euclid(*factor)).rem_euclid(*factor);
            is_compact &= more == 0;
            stride += more;
        }
        if stride > EXTENT_MAX {
            return Vec::new();
        }
        let dtype = buffer.shape.first().map_or(DType::INT32, |extent| extent.dtype);
        strides.push(Expr::int(stride, dtype));
        // The outermost extent may be any.
        let size = extent.as_int().or((axis == 0).then_some(1));
        let Some(next) = size.and_then(|size| stride.checked_mul(size)).filter(|next| *next <= EXTENT_MAX)
        else {
            return Vec::new();
        };
        stride = next;
    }
    strides.reverse();
    if is_compact { Vec::new() } else { strides }
}
