//! Elementwise intermediate results that are computed where they are read.

use std::sync::Arc;

use chipdock_ir::{Expr, ExprKind, IterKind, PrimFunc, StmtKind};

use super::leaf::{Leaf, leaves, loads};
use crate::schedule::{Schedule, ScheduleError};
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
    let mut readers = all.iter().filter(|other| !loads(&other.stmt, buffer).is_empty());
    let (reader, None) = (readers.next()?, readers.next()) else { return None };
    let found = loads(&reader.block.body, buffer);
    let (indices, others) = found.split_first()?;
    others.iter().all(|other| other == indices).then_some(())?;
    let once = reader.block.iter_vars.iter().all(|axis| {
        axis.extent.as_int() == Some(1) || indices.iter().any(|index| vars_of(index).contains(&axis.var))
    });
    Some(once && (others.is_empty() || operations(value) <= CHEAP))
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
