//! Elementwise intermediate results that are computed where they are read.

use std::sync::Arc;

use chipdock_ir::{Buffer, Expr, ExprKind, IterKind, PrimFunc, StmtKind};

use super::leaf::{Leaf, leaves, loads};
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::schedule::{Schedule, ScheduleError};
use crate::simplify::{self, Ranges};
use crate::walk::vars_of;

/// Greatest number of operations of a value that is computed several times in one place.
const CHEAP: usize = 8;

/// A block to inline.
pub(super) struct Inlined(Arc<str>);

impl Inlined {
    /// The blocks of a function whose results one other block reads, each element once.
    pub(super) fn all(function: &PrimFunc) -> Vec<Self> {
        let leaves = leaves(&function.body);
        let pays = |leaf: &&Leaf| pays(function, leaf, &leaves) == Some(true);
        leaves.iter().filter(pays).map(|leaf| Self(Arc::clone(&leaf.block.name))).collect()
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let block = schedule.get_sblock(&self.0)?;
        schedule.compute_inline(&block)
    }
}

fn pays(function: &PrimFunc, leaf: &Leaf, all: &[Leaf]) -> Option<bool> {
    let StmtKind::Store { buffer, value, .. } = &leaf.block.body.kind else { return None };
    let spatial = leaf.block.iter_vars.iter().all(|axis| axis.kind == IterKind::Spatial);
    (function.alloc_buffers.contains(buffer) && spatial && leaf.block.init.is_none()).then_some(())?;
    let found: Vec<(&Leaf, Vec<Vec<Expr>>)> = all
        .iter()
        .map(|other| (other, loads(&other.stmt, buffer)))
        .filter(|(_, loads)| !loads.is_empty())
        .collect();
    let (_, first) = found.first()?;
    let reads_one = |(_, loads): &(&Leaf, Vec<Vec<Expr>>)| loads.iter().all(|other| *other == loads[0]);
    let is_once = |(reader, loads): &(&Leaf, Vec<Vec<Expr>>)| is_once(reader, &loads[0], buffer);
    (found.iter().all(reads_one) && found.iter().all(is_once)).then_some(())?;
    let (one_reader, one_load) = (found.len() == 1, first.len() == 1);
    Some(one_reader && (one_load || operations(value) <= CHEAP) || is_view(leaf, value))
}

/// Whether a block reads each element at most once.
fn is_once(reader: &Leaf, indices: &[Expr], buffer: &Buffer) -> bool {
    let used = reader.block.iter_vars.iter().all(|axis| {
        axis.extent.as_int() == Some(1) || indices.iter().any(|index| vars_of(index).contains(&axis.var))
    });
    let reads = reader.iterations(0..reader.heads.len());
    let elements = buffer.constant_size();
    used && match (reads, elements) {
        (Some(reads), Some(elements)) => reads <= elements,
        // A window, such as `i + di`, reads elements several times.
        _ => !indices.iter().any(|index| is_window(reader, index)),
    }
}

/// Whether an index is a sum over a spatial axis and one of a reduction.
fn is_window(reader: &Leaf, index: &Expr) -> bool {
    let used = vars_of(index);
    let has = |kind| reader.block.iter_vars.iter().any(|axis| axis.kind == kind && used.contains(&axis.var));
    has(IterKind::Spatial) && has(IterKind::Reduce)
}

/// Whether a value is an element of another buffer, and the next one for the next element.
fn is_view(leaf: &Leaf, value: &Expr) -> bool {
    let ExprKind::Load { buffer, indices, predicate: None } = &value.kind else { return false };
    let mut ranges = Ranges::new();
    for axis in &leaf.block.iter_vars {
        ranges.set_loop(&axis.var, &axis.min, &axis.extent, None);
    }
    let indices: Vec<Expr> = indices.iter().map(|index| simplify::expr_with(index, &ranges)).collect();
    let last = leaf.block.iter_vars.last();
    buffer.strides.is_empty() && last.is_some_and(|axis| steps(&indices, &axis.var) == Some(true))
}

/// The number of operations of an expression; a call counts as many.
fn operations(value: &Expr) -> usize {
    let mut count = 0;
    value.walk(&mut |e| {
        count += match &e.kind {
            ExprKind::Call { .. } => CHEAP + 1,
            ExprKind::Binary(..) | ExprKind::Cast(_) | ExprKind::Select(..) | ExprKind::Compare(..) => 1,
            _ => 0,
        };
    });
    count
}
