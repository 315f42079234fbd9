//! Uses non-temporal stores for outputs larger than half of the last-level cache that are not read
//! again. A smaller output is still in the cache when the next kernel reads it: TOPI's maps of 4
//! MiB take twice as long with such stores.

use chipdock_ir::{Buffer, ExprKind, IterKind, Param, PrimFunc, StmtKind, attr};

use super::facts::Processor;
use super::leaf::{Leaf, leaves, loads};
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::schedule::{Schedule, ScheduleError, Tail};
use crate::walk::vars_of;

/// A nest whose stores bypass the caches.
pub(super) struct Streamed {
    leaf: Leaf,
    /// Number of elements of a vector.
    lanes: i64,
}

impl Streamed {
    /// The nests of a function that write such an output, element after element.
    pub(super) fn all(function: &PrimFunc, processor: &Processor) -> Vec<Self> {
        let pays = |leaf: Leaf| {
            let lanes = lanes(function, &leaf, processor)?;
            Some(Self { leaf, lanes })
        };
        leaves(&function.body).into_iter().filter_map(pays).collect()
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let (_, loops) = self.leaf.loops(schedule)?;
        let Some(innermost) = loops.last() else { return Ok(()) };
        let parts = schedule.split(innermost, &[None, Some(self.lanes)], Tail::Shrink)?;
        let [vectors, lanes] = parts.as_slice() else {
            return Err(ScheduleError::new("internal error, please report it: a split made no two loops"));
        };
        schedule.vectorize(lanes)?;
        schedule.annotate(vectors, attr::NONTEMPORAL, 1_i64)
    }
}

fn lanes(function: &PrimFunc, leaf: &Leaf, processor: &Processor) -> Option<i64> {
    let StmtKind::Store { buffer, indices, value, predicate: None } = &leaf.block.body.kind else {
        return None;
    };
    let spatial = leaf.block.iter_vars.iter().all(|axis| axis.kind == IterKind::Spatial);
    (spatial && leaf.block.init.is_none() && !leaf.is_guarded && is_output(function, buffer)).then_some(())?;
    let bytes = buffer.constant_size()?.checked_mul(buffer.dtype.size_bytes() as i128)?;
    let innermost = leaf.heads.len().checked_sub(1)?;
    let axis = &leaf.block.iter_vars.get(counting(leaf, innermost)?)?.var;
    let lanes = processor.lanes(buffer.dtype);
    let whole = leaf.extent(innermost)?.as_int()? % lanes == 0;
    let mut contiguous = buffer.strides.is_empty() && steps(indices, axis) == Some(true);
    value.walk(&mut |e| {
        if let ExprKind::Load { buffer, indices, predicate } = &e.kind {
            contiguous &= buffer.strides.is_empty() && steps(indices, axis).is_some() && predicate.is_none();
        }
    });
    let fits = bytes > processor.l2_bytes.max(processor.streamed_bytes)
        && lanes > 1
        && whole
        && contiguous
        && buffer.dtype.is_scalar();
    fits.then(|| i64::try_from(lanes).ok()).flatten()
}

/// The axis of the block that counts up with a loop, which alone drives it or is the inner part of
/// a split one.
fn counting(leaf: &Leaf, position: usize) -> Option<usize> {
    let head = leaf.heads.get(position)?;
    let mut driven = (0..leaf.values.len()).filter(|at| vars_of(&leaf.values[*at]).contains(&head.var));
    let axis = driven.next().filter(|_| driven.next().is_none())?;
    (steps(std::slice::from_ref(&leaf.values[axis]), &head.var) == Some(true)).then_some(axis)
}

/// Whether a buffer is a parameter that one statement writes, and none reads.
fn is_output(function: &PrimFunc, buffer: &Buffer) -> bool {
    let is_param = function.params.iter().any(|param| matches!(param, Param::Buffer(own) if own == buffer));
    let mut writes = 0;
    function.body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child
            && let StmtKind::Store { buffer: to, .. } = &stmt.kind
        {
            writes += usize::from(to.data == buffer.data);
        }
    });
    is_param && writes == 1 && loads(&function.body, buffer).is_empty()
}
