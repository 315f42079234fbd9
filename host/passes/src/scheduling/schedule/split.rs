//! Splitting of a loop.

use chipdock_ir::subst::Substitution;
use std::sync::Arc;

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, ForKind, PrimFunc, Stmt, StmtKind, Var};

use super::args::Args;
use super::nest::{Loop, StmtPath, add_range, expect_plain, guarded};
use super::{Handle, LoopRef, Made, Schedule, ScheduleError};
use crate::simplify::{self, Ranges};

/// What a split does where the factors do not divide the extent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// The new loops overrun the old one, and predicates exclude the overrun.
    #[default]
    Predicate,
    /// The inner loop has fewer iterations in the last step of the outer loop. Only for two
    /// factors, the first of which is `None`.
    Shrink,
}

impl Schedule {
    /// Splits a loop into one loop for each factor, outermost first; one factor may be `None` and
    /// is then inferred.
    ///
    /// # Errors
    ///
    /// The loop is not serial or is annotated; a factor is less than 1; two factors are `None`;
    /// without one, the factors do not cover the extent; [`Tail::Shrink`] of other than
    /// `[None, factor]`.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.split`, which has no [`Tail::Shrink`].
    pub fn split(
        &mut self,
        of: &LoopRef,
        factors: &[Option<i64>],
        tail: Tail,
    ) -> Result<Vec<LoopRef>, ScheduleError> {
        let args = Args::new().with(of).key("factors", factors.to_vec());
        let args = if tail == Tail::Shrink { args.key("tail", "shrink") } else { args };
        self.run_loops("split", args, |function| split(function, of, factors, tail))
    }
}

fn split(function: &PrimFunc, of: &LoopRef, factors: &[Option<i64>], tail: Tail) -> Made {
    let place = StmtPath::of_loop(function, of)?;
    let old = place.as_loop()?;
    expect_plain(&old)?;
    let mut ranges = place.ranges(function);
    let extents = extents(&old, factors, tail, &ranges)?;
    let vars: Vec<Var> = (0..extents.len())
        .map(|index| Var::new(format!("{}_{index}", old.var.name), old.var.dtype))
        .collect();
    let extents = if tail == Tail::Shrink { shrunk(&old, &vars, extents, &mut ranges) } else { extents };
    for (var, extent) in vars.iter().zip(&extents) {
        add_range(&mut ranges, &Stmt::for_loop(var.clone(), extent.clone(), ForKind::Serial, Stmt::nop()));
    }
    let index = index(&vars, factors, &extents);
    let inside = Expr::compare(CompareOp::Lt, index.clone(), old.extent.clone());
    let guard = if tail == Tail::Shrink { Expr::bool(true) } else { simplify::expr_with(&inside, &ranges) };
    let value = simplify::expr_with(&old.value_at(index), &ranges);
    let body = Substitution::new().with_var(old.var, value).stmt(&guarded(old.body, &guard));
    let body = divided(&body, &ranges);
    let new = vars.iter().zip(&extents).rev().fold(body, |body, (var, extent)| {
        Stmt::for_loop(var.clone(), extent.clone(), ForKind::Serial, body).with_span(place.stmt().span)
    });
    let handles = vars.iter().map(|var| Handle::Loop(LoopRef(var.clone()))).collect();
    Ok((place.replaced(function, new), handles))
}

/// The body with the axes and the predicate of its block simplified where they divide, as those of
/// a loop that was fused: it may be split as it was.
fn divided(body: &Stmt, ranges: &Ranges) -> Stmt {
    match &body.kind {
        StmtKind::For { .. } => body.map_children(&mut Expr::clone, &mut |inner| divided(inner, ranges)),
        StmtKind::BlockRealize { iter_values, predicate, block } => {
            let simple = |value: &Expr| match divides(value) {
                true => simplify::expr_with(value, ranges),
                false => value.clone(),
            };
            let iter_values = iter_values.iter().map(simple).collect();
            let (predicate, block) = (simple(predicate), Arc::clone(block));
            Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block }).with_span(body.span)
        }
        _ => body.clone(),
    }
}

fn divides(value: &Expr) -> bool {
    let mut found = false;
    value.walk(&mut |e| {
        found |= matches!(e.kind, ExprKind::Binary(BinaryOp::FloorDiv | BinaryOp::FloorMod, ..))
    });
    found
}

/// The extents of the new loops, where the factors cover the old extent.
fn extents(
    old: &Loop<'_>,
    factors: &[Option<i64>],
    tail: Tail,
    ranges: &Ranges,
) -> Result<Vec<Expr>, ScheduleError> {
    let (name, dtype) = (&old.var.name, old.var.dtype);
    let product = factors.iter().flatten().try_fold(1_i128, |all, factor| {
        let all = (*factor >= 1).then(|| all.checked_mul(i128::from(*factor))).flatten()?;
        dtype.integer_range().is_some_and(|(_, most)| all <= most).then_some(all)
    });
    let n_inferred = factors.iter().filter(|factor| factor.is_none()).count();
    let Some(product) = product.filter(|_| !factors.is_empty() && n_inferred <= 1) else {
        return Err(ScheduleError::new(format!(
            "loop \"{name}\": expected at least one factor, each at least 1 with a product in range of {dtype}, and at \
             most one None, found {factors:?}"
        )));
    };
    if tail == Tail::Shrink && !matches!(factors, [None, Some(_)]) {
        return Err(ScheduleError::new(format!(
            "loop \"{name}\": the tail \"shrink\" needs the factors [None, factor], found {factors:?}"
        )));
    }
    if n_inferred == 0 && ranges.of(old.extent).1 > product {
        return Err(ScheduleError::new(format!(
            "loop \"{name}\": the product of the factors is {product}, which may be less than the extent; make one \
             factor None"
        )));
    }
    let rest = ceil_div(old.extent, product, dtype, ranges);
    let extent = |factor: &Option<i64>| factor.map_or(rest.clone(), |factor| Expr::int(factor.into(), dtype));
    Ok(factors.iter().map(extent).collect())
}

/// The quotient rounded up, without a sum that may wrap.
fn ceil_div(extent: &Expr, divisor: i128, dtype: DType, ranges: &Ranges) -> Expr {
    let one = || Expr::int(1, dtype);
    let quotient =
        Expr::binary(BinaryOp::FloorDiv, extent.clone() - one(), Expr::int(divisor, dtype)) + one();
    let exact = Expr::binary(BinaryOp::FloorMod, extent.clone(), Expr::int(divisor, dtype));
    // `n * 4` in steps of 4 is n.
    if simplify::expr_with(&exact, ranges).as_int() == Some(0) {
        let whole = Expr::binary(BinaryOp::FloorDiv, extent.clone(), Expr::int(divisor, dtype));
        return simplify::expr_with(&whole, ranges);
    }
    simplify::expr_with(&quotient, ranges)
}

/// The extents of two loops, the inner of which ends where the old one does.
fn shrunk(old: &Loop<'_>, vars: &[Var], extents: Vec<Expr>, ranges: &mut Ranges) -> Vec<Expr> {
    let ([outer_var, _], [outer, factor]) = (vars, extents.as_slice()) else { return extents };
    let head = Stmt::for_loop(outer_var.clone(), outer.clone(), ForKind::Serial, Stmt::nop());
    add_range(ranges, &head);
    let left = old.extent.clone() - outer_var.expr() * factor.clone();
    let inner = simplify::expr_with(&Expr::binary(BinaryOp::Min, factor.clone(), left), ranges);
    let divides = Expr::binary(BinaryOp::FloorMod, old.extent.clone(), factor.clone());
    let is_exact = simplify::expr_with(&divides, ranges).as_int() == Some(0);
    vec![outer.clone(), if is_exact { factor.clone() } else { inner }]
}

/// The number of iterations of the old loop before this one.
fn index(vars: &[Var], factors: &[Option<i64>], extents: &[Expr]) -> Expr {
    let mut sum: Option<Expr> = None;
    for ((var, factor), extent) in vars.iter().zip(factors).zip(extents) {
        let extent = factor.map_or_else(|| extent.clone(), |factor| Expr::int(factor.into(), var.dtype));
        sum = Some(match sum {
            None => var.expr(),
            Some(sum) => sum * extent + var.expr(),
        });
    }
    sum.unwrap_or_else(|| Expr::i32(0))
}
