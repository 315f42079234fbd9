//! Which loops carry no dependence (SCHED-6, SCHED-7).

use std::collections::HashSet;

use chipdock_ir::{
    AttrValue, BinaryOp, Expr, ExprKind, IterKind, Param, PrimFunc, Stmt, StmtKind, Var, attr,
};

use super::find::all_blocks;
use super::nest::{Loop, Realized, add_range};
use crate::scheduling::default_schedule::access::Accesses;
use crate::scheduling::default_schedule::nest::Head;
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{any_stmt, depends_on_memory, vars_of};

/// Data variables of the function's tensor parameters.
pub(super) fn parameters(function: &PrimFunc) -> HashSet<Var> {
    let data = function.params.iter().filter_map(|param| match param {
        Param::Buffer(buffer) => Some(buffer.data.clone()),
        Param::Var(_) => None,
    });
    data.collect()
}

/// Whether parameters of the function are promised not to overlap.
pub(super) fn has_noalias(function: &PrimFunc) -> bool {
    function.attrs.get(attr::NOALIAS) == Some(&AttrValue::Bool(true))
}

/// Whether two memories may overlap (SCHED-10).
pub(super) fn may_alias(function: &PrimFunc, a: &Var, b: &Var) -> bool {
    let params = parameters(function);
    a == b || (params.contains(a) && params.contains(b) && !has_noalias(function))
}

/// The loops among `heads`, one within the other around `body`, whose iteration is determined by
/// the element of every access to memory that is written.
pub(super) fn independent(function: &PrimFunc, heads: &[Head], body: &Stmt, around: &Ranges) -> HashSet<Var> {
    let none = HashSet::new();
    let accesses = Accesses::collect(heads, body);
    if accesses.unknown {
        return none;
    }
    let promised =
        all_blocks(body).iter().any(|block| block.iter_vars.iter().any(|a| a.kind == IterKind::Spatial));
    if !promised && !has_noalias(function) && accesses.may_overlap(&parameters(function)) {
        return none;
    }
    let mut loops: HashSet<Var> = heads.iter().map(|head| head.var.clone()).collect();
    let candidates = loops.clone();
    let ranges = inner_ranges(heads, body, around);
    let written: HashSet<&Var> =
        accesses.list.iter().filter(|access| access.writes).map(|access| &access.buffer.data).collect();
    for data in written {
        let same: Vec<_> = accesses.list.iter().filter(|access| access.buffer.data == *data).collect();
        let Some(first) = same.first() else { continue };
        if !first.buffer.strides.is_empty() || same.iter().any(|access| access.buffer != first.buffer) {
            return none;
        }
        let places: Vec<Vec<Expr>> = same.iter().map(|access| access.indices.clone()).collect();
        let known =
            Solver { candidates: &candidates, bound: &accesses.bound, ranges: &ranges }.solve(&places);
        loops.retain(|var| known.contains(&var.expr()));
    }
    loops
}

/// Ranges of everything that is bound in the nest.
fn inner_ranges(heads: &[Head], body: &Stmt, around: &Ranges) -> Ranges {
    let mut ranges = around.clone();
    for head in heads {
        add_range(&mut ranges, &head.around(Stmt::nop()));
    }
    body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child {
            add_range(&mut ranges, stmt);
        }
    });
    ranges
}

/// The only block of a nest of loops; `None` if there is something else.
pub(super) fn only_block(stmt: &Stmt) -> Option<Realized<'_>> {
    match &stmt.kind {
        StmtKind::For { body, .. } => only_block(body),
        StmtKind::BlockRealize { .. } => Realized::from_stmt(stmt),
        _ => None,
    }
}

/// The loops, of those around a block from `heads` on, that the values of its spatial axes
/// determine.
pub(super) fn by_axes(heads: &[Head], body: &Stmt, block: &Realized<'_>, around: &Ranges) -> HashSet<Var> {
    let mut bound: HashSet<Var> = heads.iter().map(|head| head.var.clone()).collect();
    let mut inner = body;
    while let Some(of) = Loop::from_stmt(inner) {
        bound.insert(of.var.clone());
        inner = of.body;
    }
    let axes = block.block.iter_vars.iter().zip(block.values);
    let ranges = inner_ranges(heads, body, around);
    let spatial = axes.filter(|(axis, _)| axis.kind == IterKind::Spatial);
    let values: Vec<Expr> = spatial.map(|(_, value)| simplify::expr_with(value, &ranges)).collect();
    let known = Solver { candidates: &bound, bound: &bound, ranges: &ranges }.solve(&[values]);
    bound.into_iter().filter(|var| known.contains(&var.expr())).collect()
}

/// Whether iterations of a loop may run at once. The error says why not.
pub(super) fn may_run_at_once(function: &PrimFunc, stmt: &Stmt, around: &Ranges) -> Result<(), String> {
    let Some((head, body)) = Head::from_stmt(stmt) else {
        return Err("its bounds read memory, or it is bound to a thread axis".to_owned());
    };
    let var = head.var.clone();
    let heads = [head];
    if independent(function, &heads, body, around).contains(&var) {
        return Ok(());
    }
    let Some(block) = only_block(body) else {
        let only_blocks = !any_stmt(body, &mut |kind| matches!(kind, StmtKind::While { .. }));
        let what = if only_blocks { "the statements under it" } else { "a loop under it" };
        return Err(format!("{what} may access one element in two iterations, one of which writes it"));
    };
    let name = &block.block.name;
    for (axis, value) in block.block.iter_vars.iter().zip(block.values) {
        if axis.kind != IterKind::Spatial && vars_of(value).contains(&var) {
            return Err(format!(
                "it drives axis \"{}\" of block \"{name}\", which is not spatial: its iterations combine into the \
                 same elements; see rfactor",
                axis.var.name
            ));
        }
    }
    if by_axes(&heads, body, &block, around).contains(&var) {
        return Ok(());
    }
    Err(format!("two of its iterations may run block \"{name}\" for the same values of its spatial axes"))
}

/// What is known if the values of some expressions are.
struct Solver<'a> {
    /// Variables to solve for.
    candidates: &'a HashSet<Var>,
    /// Variables that vary.
    bound: &'a HashSet<Var>,
    ranges: &'a Ranges,
}

/// Terms of a sum, each with its factor.
type Terms = Vec<(Expr, i128)>;

/// A sum: terms to solve for, terms that are known, and bounds of the others.
struct Sum {
    wanted: Terms,
    fixed: Terms,
    rest: (i128, i128),
}

impl Solver<'_> {
    /// Expressions that follow from each place, a list of values that are the same in all places.
    fn solve(&self, places: &[Vec<Expr>]) -> HashSet<Expr> {
        let mut known: HashSet<Expr> = HashSet::new();
        let n_axes = places.iter().map(Vec::len).min().unwrap_or(0);
        loop {
            let n_known = known.len();
            for axis in 0..n_axes {
                let values: Vec<&Expr> = places.iter().map(|place| &place[axis]).collect();
                let found = self.upper_digits(&values, &known);
                known.extend(found);
            }
            for value in known.clone() {
                let found = self.upper_digits(&[&value], &known);
                known.extend(found);
                known.extend(self.joined(&value, &known));
            }
            if known.len() == n_known {
                return known;
            }
        }
    }

    /// From a remainder and its quotient follows the dividend.
    fn joined(&self, rest: &Expr, known: &HashSet<Expr>) -> Option<Expr> {
        let ExprKind::Binary(op, whole, divisor) = &rest.kind else { return None };
        let quotient = match op {
            BinaryOp::FloorMod => BinaryOp::FloorDiv,
            BinaryOp::Mod => BinaryOp::Div,
            _ => return None,
        };
        let quotient = Expr::binary(quotient, whole.clone(), divisor.clone());
        let quotient = simplify::expr_with(&quotient, self.ranges);
        self.is_known(&quotient, known).then(|| whole.clone())
    }

    fn is_known(&self, expr: &Expr, known: &HashSet<Expr>) -> bool {
        let is_fixed = |var: &Var| !self.bound.contains(var) || known.contains(&var.expr());
        known.contains(expr) || (!depends_on_memory(expr) && vars_of(expr).iter().all(is_fixed))
    }

    fn sum(&self, value: &Expr, known: &HashSet<Expr>) -> Option<Sum> {
        let (base, lanes) = match &value.kind {
            ExprKind::Ramp { base, stride, lanes } => (base, stride.as_int()? * (i128::from(*lanes) - 1)),
            _ => (value, 0),
        };
        if !base.dtype.is_scalar() || !base.dtype.is_integer() {
            return None;
        }
        let linear = Linear::of(base);
        let (low, high) = (linear.constant + lanes.min(0), linear.constant + lanes.max(0));
        let mut sum = Sum { wanted: Vec::new(), fixed: Vec::new(), rest: (low, high) };
        for (term, factor) in linear.terms {
            let term = match &term.kind {
                ExprKind::Cast(inner) if inner.dtype.is_int() && term.dtype.is_int() => inner.clone(),
                _ => term,
            };
            if self.is_known(&term, known) {
                sum.fixed.push((term, factor));
            } else if depends_on_memory(&term) {
                return None;
            } else if vars_of(&term).iter().any(|var| self.candidates.contains(var)) {
                sum.wanted.push((term, factor));
            } else {
                let (low, high) = self.ranges.of(&term);
                let (a, b) = (low.checked_mul(factor)?, high.checked_mul(factor)?);
                sum.rest = (sum.rest.0.checked_add(a.min(b))?, sum.rest.1.checked_add(a.max(b))?);
            }
        }
        Some(sum)
    }

    /// Terms that are digits of one number, from the most significant one on.
    fn upper_digits(&self, values: &[&Expr], known: &HashSet<Expr>) -> Vec<Expr> {
        let sums: Option<Vec<Sum>> = values.iter().map(|value| self.sum(value, known)).collect();
        let Some(sums) = sums else { return Vec::new() };
        let Some(first) = sums.first() else { return Vec::new() };
        let same = |a: &Terms, b: &Terms| a.len() == b.len() && a.iter().all(|term| b.contains(term));
        if !sums.iter().all(|sum| same(&sum.wanted, &first.wanted) && same(&sum.fixed, &first.fixed)) {
            return Vec::new();
        }
        let low = sums.iter().map(|sum| sum.rest.0).min().unwrap_or(0);
        let high = sums.iter().map(|sum| sum.rest.1).max().unwrap_or(0);
        let mut digits: Vec<(&Expr, i128)> =
            first.wanted.iter().map(|(term, factor)| (term, factor.abs())).collect();
        // A term that has one value has no weight of its own.
        let span = |term: &Expr| {
            let (low, high) = self.ranges.of(term);
            high.saturating_sub(low)
        };
        digits.sort_by_key(|(term, weight)| (*weight, span(term)));
        let mut below = high.checked_sub(low);
        let mut separated = Vec::new();
        for (term, weight) in digits {
            separated.push((term, below.is_some_and(|below| weight > below)));
            let (low, high) = self.ranges.of(term);
            let reach = (high - low).checked_mul(weight);
            below = below.zip(reach).and_then(|(below, reach)| below.checked_add(reach));
        }
        let upper = separated.into_iter().rev().take_while(|(_, is_separate)| *is_separate);
        upper.map(|(term, _)| term.clone()).collect()
    }
}
