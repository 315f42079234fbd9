//! Order of the loops around a reduction: the one along memory becomes the innermost, which a
//! compiler vectorizes.

use super::leaf::Leaf;
use crate::scheduling::default_schedule::host::position;
use crate::scheduling::schedule::{Schedule, ScheduleError};

/// A nest whose last spatial loop moves inside.
pub(super) struct Inner {
    leaf: Leaf,
    /// Position of the loop.
    moved: usize,
}

impl Inner {
    /// A nest, if the move is profitable.
    pub(super) fn from_leaf(leaf: Leaf) -> Option<Self> {
        let moved = position(&leaf.heads, &leaf.values, &leaf.block)?;
        Some(Self { leaf, moved })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let (_, loops) = self.leaf.loops(schedule)?;
        let mut moved = loops.get(self.moved..).unwrap_or_default().to_vec();
        let by = 1.min(moved.len());
        moved.rotate_left(by);
        schedule.reorder(&moved)
    }
}
