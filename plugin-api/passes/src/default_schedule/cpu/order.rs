//! Order of the loops around a reduction: the one along memory becomes the innermost, which a compiler vectorizes.

use chipdock_ir::{Stmt, StmtKind};

use crate::default_schedule::host::{nest, position};
use crate::schedule::{Schedule, ScheduleError};

/// A nest whose last spatial loop moves inside.
pub(super) struct Inner {
    block: String,
    /// Position of the loop.
    moved: usize,
}

impl Inner {
    /// A nest, if the move is profitable.
    pub(super) fn of(stmt: &Stmt) -> Option<Self> {
        let mut heads = Vec::new();
        let inner = nest(stmt, &mut heads);
        let StmtKind::BlockRealize { iter_values, block, .. } = &inner.kind else { return None };
        Some(Self { block: block.name.to_string(), moved: position(&heads, iter_values, block)? })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let block = schedule.get_sblock(&self.block)?;
        let mut loops = schedule.get_loops(&block)?.split_off(self.moved);
        loops.rotate_left(1);
        schedule.reorder(&loops)
    }
}
