//! Loops over threads.

use chipdock_ir::{Child, ForKind, IterKind, Stmt, StmtKind, attr};

use crate::marks::is_unmarked;
use crate::scheduling::default_schedule::host::{Head, nest};
use crate::scheduling::schedule::{LoopRef, Schedule, ScheduleError, Tail};
use crate::walk::any_stmt;
use crate::work;

/// Number of adjacent elements that one task computes at least, where a loop is split.
const ELEMENTS: i64 = 8192;
/// Number of iterations of an outer loop that are enough for threads.
const TASKS: i128 = 64;
/// Least number of innermost iterations, if known, that may be worth a second thread: two tasks of
/// [`work`].
const ITERATIONS_MIN: i128 = 16 * 1024;

/// A nest whose outer iterations may run at once.
pub(super) struct Wide {
    block: String,
    /// Number of its outer loops that are axes of the one block in it, and spatial; 0 if there is
    /// more than one block.
    spatial: usize,
    /// Extents of the loops above the first statement that is no loop.
    extents: Vec<Option<i128>>,
}

impl Wide {
    /// A nest, if its outermost loop is plain and there is enough to do.
    pub(super) fn from_stmt(stmt: &Stmt) -> Option<Self> {
        let StmtKind::For { kind: ForKind::Serial, annotations, .. } = &stmt.kind else { return None };
        let has_schedule = any_stmt(
            stmt,
            &mut |kind| matches!(kind, StmtKind::For { kind, .. } if *kind != ForKind::Serial),
        );
        (is_unmarked(annotations) && !has_schedule).then_some(())?;
        let mut heads = Vec::new();
        let inner = nest(stmt, &mut heads);
        let spatial = match &inner.kind {
            StmtKind::BlockRealize { block, iter_values, .. } => {
                let is_spatial = |head: &Head| {
                    block.iter_vars.iter().zip(iter_values).all(|(axis, value)| {
                        axis.kind == IterKind::Spatial || !crate::walk::vars_of(value).contains(&head.var)
                    })
                };
                heads.iter().take_while(|head| is_spatial(head)).count()
            }
            _ => 0,
        };
        let extents: Vec<Option<i128>> = heads
            .iter()
            .map(|head| match &head.stmt.kind {
                StmtKind::For { extent, .. } => extent.as_int(),
                _ => None,
            })
            .collect();
        let pays = iterations(stmt).is_none_or(|total| total >= ITERATIONS_MIN);
        let block = first_block(stmt)?;
        pays.then_some(Self { block, spatial, extents })
    }

    /// Runs the outer iterations on several threads; adjacent loops of few iterations are fused, a
    /// single long loop is split.
    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let block = schedule.get_sblock(&self.block)?;
        let loops = schedule.get_loops(&block)?;
        let Some(outermost) = loops.first() else { return Err(ScheduleError::new("a block without loops")) };
        let count = self.count();
        let of = match loops.get(..count) {
            Some(outer) if count > 1 => schedule.fuse(outer)?,
            Some(_) => outermost.clone(),
            None => {
                return Err(ScheduleError::new(
                    "internal error, please report it: a loop of a nest is missing",
                ));
            }
        };
        if count.max(1) == self.extents.len() && self.spatial == self.extents.len() {
            let split = schedule.split(&of, &[None, Some(ELEMENTS)], Tail::Shrink)?;
            return parallel(schedule, split.first());
        }
        parallel(schedule, Some(&of))
    }

    /// The number of outer loops to fuse.
    fn count(&self) -> usize {
        let mut total = 1_i128;
        for (index, extent) in self.extents.iter().take(self.spatial).enumerate() {
            if total >= TASKS {
                return index;
            }
            // Unknown extents are taken for long ones.
            total = total.saturating_mul(extent.unwrap_or(TASKS));
        }
        self.spatial
    }
}

/// The name of the first block that stands in no other one.
fn first_block(stmt: &Stmt) -> Option<String> {
    if let StmtKind::BlockRealize { block, .. } = &stmt.kind {
        return Some(block.name.to_string());
    }
    let mut found = None;
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(inner) = child
            && found.is_none()
        {
            found = first_block(inner);
        }
    });
    found
}

fn parallel(schedule: &mut Schedule, of: Option<&LoopRef>) -> Result<(), ScheduleError> {
    match of {
        Some(of) => threads(schedule, of),
        None => Err(ScheduleError::new("internal error, please report it: a split made no loop")),
    }
}

/// Runs the iterations of a loop on as many threads as pay.
pub(super) fn threads(schedule: &mut Schedule, of: &LoopRef) -> Result<(), ScheduleError> {
    schedule.parallel(of)?;
    schedule.annotate(of, attr::GRAIN, work::AUTO)
}

/// The number of innermost iterations of a statement; `None` if it is not constant.
fn iterations(stmt: &Stmt) -> Option<i128> {
    match &stmt.kind {
        StmtKind::For { extent, body, .. } => extent.as_int()?.checked_mul(iterations(body)?),
        StmtKind::Seq(stmts) => stmts.iter().try_fold(0_i128, |sum, stmt| sum.checked_add(iterations(stmt)?)),
        StmtKind::BlockRealize { block, .. } => iterations(&block.body),
        StmtKind::If { then, otherwise, .. } => {
            let otherwise = otherwise.as_ref().map_or(Some(0), iterations)?;
            Some(iterations(then)?.max(otherwise))
        }
        StmtKind::While { .. } => None,
        StmtKind::Attr { body, .. } => iterations(body),
        _ => Some(1),
    }
}
