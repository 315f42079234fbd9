//! Axes of blocks.

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, Block, Expr, IterVar, PrimFunc, Stmt, StmtKind, Var, print};

use super::args::Args;
use super::inline::{refused, tidied};
use super::nest::StmtPath;
use super::{BlockRef, Made, Schedule, ScheduleError};
use crate::simplify;

impl Schedule {
    /// Splits an axis of a block, by number, into one that counts groups of `factor` values and one
    /// that counts the values of a group; loops stay as they are (SCHED-14).
    ///
    /// Indices of the block that divide the axis by the factor then depend on the group alone, so
    /// that later steps can treat groups apart: those of a grouped convolution are a batch of
    /// products.
    ///
    /// # Errors
    ///
    /// There is no such axis; it does not begin at 0; the factor is less than 1, or its extent is
    /// not constant and a multiple of it; the block has views of its own.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.transform_block_layout`, of which this is one map; that step also makes the
    /// loops anew.
    pub fn split_axis(&mut self, block: &BlockRef, axis: usize, factor: i64) -> Result<(), ScheduleError> {
        let args = Args::new().with(block).with(axis).key("factor", factor);
        self.run("split_axis", args, |function| split_axis(function, block, axis, factor)).map(|_| ())
    }
}

fn split_axis(function: &PrimFunc, block: &BlockRef, index: usize, factor: i64) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let realized = place.as_block()?;
    let old = realized.block;
    let (Some(axis), Some(value)) = (old.iter_vars.get(index), realized.values.get(index)) else {
        return refused(block, format!("has {} axes, and none with number {index}", old.iter_vars.len()));
    };
    if !old.match_buffers.is_empty() {
        return refused(block, "has views of its own");
    }
    let extent = axis.extent.as_int().filter(|extent| factor >= 1 && extent % i128::from(factor) == 0);
    let (Some(extent), Some(0)) = (extent, axis.min.as_int()) else {
        return refused(
            block,
            format!(
                "has axis \"{}\" from {} with extent {}; expected one from 0 whose extent is a constant multiple of {factor}, \
                 and that at least 1",
                axis.var.name,
                print::expr(&axis.min),
                print::expr(&axis.extent)
            ),
        );
    };
    let (dtype, factor) = (axis.var.dtype, i128::from(factor));
    let part = |number: u8, extent: i128| IterVar {
        var: Var::new(format!("{}_{number}", axis.var.name), dtype),
        min: Expr::int(0, dtype),
        extent: Expr::int(extent, dtype),
        kind: axis.kind,
    };
    let (outer, inner) = (part(0, extent / factor), part(1, factor));
    let whole = outer.var.expr() * Expr::int(factor, dtype) + inner.var.expr();
    let ranges = place.ranges(function);
    let digit = |op: BinaryOp| {
        simplify::expr_with(&Expr::binary(op, value.clone(), Expr::int(factor, value.dtype)), &ranges)
    };
    let (mut iter_vars, mut iter_values) = (old.iter_vars.clone(), realized.values.to_vec());
    iter_values.splice(index..=index, [digit(BinaryOp::FloorDiv), digit(BinaryOp::FloorMod)]);
    let var = axis.var.clone();
    iter_vars.splice(index..=index, [outer, inner]);
    let new = Stmt::new(StmtKind::BlockRealize {
        iter_values,
        predicate: realized.predicate.clone(),
        block: Arc::new(Block { iter_vars, ..Block::clone(old) }),
    });
    let new = tidied(&Substitution::new().with_var(&var, whole).stmt(&new)).with_span(place.stmt().span);
    Ok((place.replaced(function, new), Vec::new()))
}
