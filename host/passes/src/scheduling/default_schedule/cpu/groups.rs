//! Groups: the channels of a grouped convolution as two axes, groups and their members.
//!
//! One operand of the product is read at `channel // members`: each group is a product of its own,
//! and the groups are a batch.

use chipdock_ir::{BinaryOp, Expr, ExprKind, Var};

use super::leaf::Leaf;
use super::product::factors;
use crate::scheduling::schedule::{Schedule, ScheduleError, Tail};

/// A nest with an axis of groups.
pub(super) struct Grouped {
    leaf: Leaf,
    /// Position of the loop, and of the axis whose values are its own.
    position: usize,
    axis: usize,
    members: i64,
}

impl Grouped {
    pub(super) fn from_leaf(leaf: Leaf) -> Option<Self> {
        let factors = factors(&leaf.block)?;
        let found = (0..leaf.heads.len()).find_map(|position| {
            let axis = leaf.axis(position).filter(|_| leaf.is_spatial(position))?;
            let extent = leaf.extent(position)?.as_int()?;
            let var = &leaf.block.iter_vars[axis].var;
            let mut divisors = factors.indices.iter().filter_map(|indices| divisor(indices, var));
            let members = divisors.next().filter(|members| extent > *members && extent % members == 0)?;
            Some((position, axis, i64::try_from(members).ok()?))
        });
        let (position, axis, members) = found.filter(|_| !leaf.is_guarded)?;
        Some(Self { leaf, position, axis, members })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let (block, loops) = self.leaf.loops(schedule)?;
        let of = loops
            .get(self.position)
            .ok_or_else(|| ScheduleError::new("a nest without the loop of its axis"))?;
        schedule.split(of, &[None, Some(self.members)], Tail::Predicate)?;
        schedule.split_axis(&block, self.axis, self.members)
    }
}

/// The number `n`, more than 1, if an operand uses an axis only as `axis // n`.
fn divisor(indices: &[Expr], var: &Var) -> Option<i128> {
    let (mut divisors, mut uses) = (Vec::new(), 0);
    for index in indices {
        index.walk(&mut |e| match &e.kind {
            ExprKind::Var(used) => uses += usize::from(used == var),
            ExprKind::Binary(BinaryOp::FloorDiv | BinaryOp::Div, a, b)
                if matches!(&a.kind, ExprKind::Var(used) if used == var) =>
            {
                divisors.push(b.as_int());
            }
            _ => {}
        });
    }
    let first = divisors.first().copied().flatten()?;
    let same = divisors.len() == uses && divisors.iter().all(|divisor| *divisor == Some(first));
    (same && first > 1).then_some(first)
}
