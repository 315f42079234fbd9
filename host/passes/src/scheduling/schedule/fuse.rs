//! Fusion of loops.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, DType, Expr, ForKind, PrimFunc, Stmt, Var};

use super::args::Args;
use super::nest::{Loop, StmtPath, add_range, at_least_zero, expect_plain};
use super::{Handle, LoopRef, Made, Schedule, ScheduleError};
use crate::simplify::{self, Ranges};
use crate::walk::vars_of;

impl Schedule {
    /// Fuses loops, each of which is all of the body of the one before it, into one loop.
    ///
    /// It counts in int64 if the product of the extents may exceed int32.
    ///
    /// # Errors
    ///
    /// Fewer than two loops; one is not the whole body of the one before; one is not serial, is
    /// annotated, or has bounds that depend on another or on memory.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.fuse`; there the fused loop has the type of the outermost.
    pub fn fuse(&mut self, loops: &[LoopRef]) -> Result<LoopRef, ScheduleError> {
        self.run_one("fuse", Args::new().with_all(loops), |function| fuse(function, loops))
    }
}

fn fuse(function: &PrimFunc, loops: &[LoopRef]) -> Made {
    let [first, _, ..] = loops else {
        return Err(ScheduleError::new(format!("expected at least two loops, found {}", loops.len())));
    };
    let place = StmtPath::of_loop(function, first)?;
    let heads = nested(function, &place, loops)?;
    let ranges = place.ranges(function);
    // The product of two negative extents would have iterations.
    let extents: Vec<Expr> = heads.iter().map(|head| at_least_zero(head.extent, &ranges)).collect();
    let dtype = fused_type(&heads, &extents, &ranges);
    let extents: Vec<Expr> = extents.into_iter().map(|extent| extent.cast(dtype)).collect();
    let product = extents.iter().cloned().reduce(|a, b| a * b).unwrap_or_else(|| Expr::int(1, dtype));
    let product = simplify::expr_with(&product, &ranges);
    let names: Vec<&str> = heads.iter().map(|head| &*head.var.name).collect();
    let var = Var::new(format!("{}_fused", names.join("_")), dtype);
    let mut ranges = ranges;
    let empty = Stmt::for_loop(var.clone(), product.clone(), ForKind::Serial, Stmt::nop());
    add_range(&mut ranges, &empty);
    let mut substitution = Substitution::new();
    let mut rest = var.expr();
    for (index, (head, extent)) in heads.iter().zip(&extents).enumerate().rev() {
        let digit = |op, rest: &Expr| Expr::binary(op, rest.clone(), extent.clone());
        let iteration = if index == 0 { rest.clone() } else { digit(BinaryOp::FloorMod, &rest) };
        rest = simplify::expr_with(&digit(BinaryOp::FloorDiv, &rest), &ranges);
        let value = head.value_at(iteration.cast(head.var.dtype));
        substitution.map_var(head.var, simplify::expr_with(&value, &ranges));
    }
    let body = heads.last().map_or_else(Stmt::nop, |head| substitution.stmt(head.body));
    let new = Stmt::for_loop(var.clone(), product, ForKind::Serial, body).with_span(place.stmt().span);
    Ok((place.replaced(function, new), vec![Handle::Loop(LoopRef(var))]))
}

/// The loops, each the body of the one before.
fn nested<'a>(
    function: &PrimFunc,
    place: &'a StmtPath,
    loops: &[LoopRef],
) -> Result<Vec<Loop<'a>>, ScheduleError> {
    let mut heads: Vec<Loop<'a>> = Vec::new();
    let mut stmt = place.stmt();
    for wanted in loops {
        StmtPath::of_loop(function, wanted)?;
        let head = Loop::from_stmt(stmt).filter(|head| *head.var == wanted.0).ok_or_else(|| {
            let outer = heads.last().map_or("", |head| &*head.var.name);
            ScheduleError::new(format!(
                "loop \"{}\" is not the whole body of loop \"{outer}\": fuse loops that are directly nested, \
                 outermost first",
                wanted.0.name
            ))
        })?;
        expect_plain(&head)?;
        let mut used = vars_of(head.min);
        used.extend(vars_of(head.extent));
        if let Some(outer) = heads.iter().find(|outer| used.contains(outer.var)) {
            return Err(ScheduleError::new(format!(
                "the bounds of loop \"{}\" depend on loop \"{}\": such loops cannot be fused",
                head.var.name, outer.var.name
            )));
        }
        if !head.has_plain_bounds() {
            return Err(ScheduleError::new(format!("the bounds of loop \"{}\" read memory", head.var.name)));
        }
        stmt = head.body;
        heads.push(head);
    }
    Ok(heads)
}

/// int32 if all loops count in it and the product does not exceed it.
fn fused_type(heads: &[Loop<'_>], extents: &[Expr], ranges: &Ranges) -> DType {
    let most = extents.iter().try_fold(1_i128, |all, extent| all.checked_mul(ranges.of(extent).1));
    let is_small = most.is_some_and(|most| most <= i128::from(i32::MAX));
    let narrow = heads.iter().all(|head| head.var.dtype == DType::INT32) && is_small;
    if narrow { DType::INT32 } else { DType::INT64 }
}
