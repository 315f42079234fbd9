//! Reductions to few results, in parts on several threads.

use chipdock_ir::{IterKind, StmtKind};

use super::leaf::Leaf;
use super::spread::threads;
use crate::scheduling::schedule::{Schedule, ScheduleError, Tail};

/// Greatest number of results: with more, each is a task.
const RESULTS_MAX: i128 = 8;
/// Number of elements of a part. Parts are the same on every machine, and so are the results.
const PART: i64 = 16 * 1024;
/// Least number of elements that are worth parts.
const ELEMENTS_MIN: i128 = 4 * PART as i128;

/// A reduction in parts.
pub(super) struct Sum {
    leaf: Leaf,
    /// The number of outer loops over results.
    results: usize,
}

impl Sum {
    pub(super) fn from_leaf(leaf: Leaf) -> Option<Self> {
        let StmtKind::Store { buffer, predicate: None, .. } = &leaf.block.body.kind else { return None };
        let fine =
            !leaf.is_inside && !leaf.is_guarded && leaf.block.init.is_some() && buffer.strides.is_empty();
        fine.then_some(())?;
        let count = leaf.heads.len();
        let results = (0..count).take_while(|at| leaf.is_spatial(*at)).count();
        let is_reduction =
            |at: usize| leaf.axis(at).is_some_and(|axis| leaf.block.iter_vars[axis].kind == IterKind::Reduce);
        let rest = results..count;
        let shape = !rest.is_empty() && rest.clone().all(is_reduction);
        let few = leaf.iterations(0..results).is_some_and(|results| results <= RESULTS_MAX);
        let long = leaf.iterations(rest).is_none_or(|elements| elements >= ELEMENTS_MIN);
        (shape && few && long).then_some(Self { leaf, results })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let (_, mut loops) = self.leaf.loops(schedule)?;
        let rest = loops.split_off(self.results);
        // Of several loops, parts are whole iterations of the outermost.
        let inner = self.leaf.iterations(self.results + 1..self.leaf.heads.len());
        let inner = inner.and_then(|inner| i64::try_from(inner).ok());
        let (Some(first), Some(inner)) = (rest.first(), inner) else {
            return Err(ScheduleError::new("the size of an inner loop is not known"));
        };
        let parts = schedule.split(first, &[None, Some((PART / inner.max(1)).max(1))], Tail::Shrink)?;
        let [part, element] = parts.as_slice() else {
            return Err(ScheduleError::new("a split made no parts"));
        };
        let block = schedule.rfactor(part, 0)?;
        let around = schedule.get_loops(&block)?;
        let inner = around.iter().filter(|of| *of != part && *of != element && !rest.contains(of));
        let mut order = vec![part.clone()];
        order.extend(inner.cloned());
        order.push(element.clone());
        order.extend(rest.iter().skip(1).cloned());
        schedule.reorder(&order)?;
        threads(schedule, part)
    }
}
