//! Transpositions: copies whose source is contiguous along another loop than their destination run
//! by tiles in registers.

use chipdock_ir::{Expr, ExprKind, IterKind, StmtKind, Var};

use super::facts::Processor;
use super::leaf::Leaf;
use super::product::pair;
use super::spread::threads;
use crate::scheduling::schedule::{Cut, Schedule, ScheduleError, Tail};
use crate::walk::vars_of;

/// Greatest number of rows of a tile: a tile's vectors twice are what the registers hold.
const ROWS_MAX: i128 = 16;
/// Number of adjacent bytes of the destination that are written one tile after the other: with rows
/// of 16 KiB, as many tiles in turn were 1.5 times as fast as whole rows of the destination on a
/// Zen 5, whose pages were hardly used before they were left.
const RUN_BYTES: i64 = 512;
/// Number of adjacent bytes of the source that are read while they are in the first cache.
const LINE_BYTES: i64 = 64;

/// A copy by tiles.
pub(super) struct Transposed {
    leaf: Leaf,
    /// The loop along which the source is contiguous.
    rows: usize,
    /// The loop along which the destination is contiguous.
    columns: usize,
    size: i64,
    /// Size of a row of a tile in bytes.
    row_bytes: i64,
}

impl Transposed {
    pub(super) fn from_leaf(leaf: Leaf, processor: &Processor) -> Option<Self> {
        let StmtKind::Store { buffer, indices, value, predicate: None } = &leaf.block.body.kind else {
            return None;
        };
        let ExprKind::Load { buffer: from, indices: read, predicate: None } = &value.kind else {
            return None;
        };
        let spatial = leaf.block.iter_vars.iter().all(|axis| axis.kind == IterKind::Spatial);
        let plain = spatial && leaf.block.init.is_none() && !leaf.is_guarded && value.dtype.is_scalar();
        (plain && from.data != buffer.data && value.dtype.bits >= 8).then_some(())?;
        let (columns, rows) = (position(&leaf, last(indices)?)?, position(&leaf, last(read)?)?);
        let size = processor.lanes(value.dtype).clamp(4, ROWS_MAX);
        let is_long =
            |at: usize| leaf.extent(at).is_some_and(|e| e.as_int().is_none_or(|extent| extent >= size));
        (rows != columns && is_long(rows) && is_long(columns)).then_some(())?;
        let size = i64::try_from(size).ok()?;
        let row_bytes = size.checked_mul(i64::try_from(value.dtype.size_bytes()).ok()?)?;
        Some(Self { leaf, rows, columns, size, row_bytes })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let (_, loops) = self.leaf.loops(schedule)?;
        let missing = || ScheduleError::new("internal error, please report it: a loop of a nest is missing");
        let split = |schedule: &mut Schedule, at: usize| {
            let of = loops.get(at).ok_or_else(missing)?;
            schedule.split(of, &[None, Some(self.size)], Tail::Predicate)
        };
        let rows = split(schedule, self.rows)?;
        let columns = split(schedule, self.columns)?;
        let ([row, row_in], [column, column_in]) = (rows.as_slice(), columns.as_slice()) else {
            return Err(missing());
        };
        let mut order: Vec<_> = (0..loops.len())
            .filter(|at| *at != self.rows && *at != self.columns)
            .map(|at| loops[at].clone())
            .collect();
        let outer = order.clone();
        order.extend([row, column, row_in, column_in].map(Clone::clone));
        schedule.reorder(&order)?;
        let whole = |extent: Option<&Expr>| {
            extent.and_then(Expr::as_int).is_some_and(|extent| extent % i128::from(self.size) == 0)
        };
        if !whole(self.leaf.extent(self.rows)) {
            schedule.partition(row, Cut::Full)?;
        }
        schedule.reorder(&[column.clone(), row.clone()])?;
        if !whole(self.leaf.extent(self.columns)) {
            schedule.partition(column, Cut::Full)?;
        }
        let (run, line) = (RUN_BYTES / self.row_bytes, LINE_BYTES / self.row_bytes);
        let (column, tile_column) =
            pair(&schedule.split(column, &[None, Some(run.max(1))], Tail::Shrink)?)?;
        let (row, tile_row) = pair(&schedule.split(row, &[None, Some(line.max(1))], Tail::Shrink)?)?;
        schedule.reorder(&[column.clone(), row.clone(), tile_column, tile_row])?;
        if !self.leaf.is_inside {
            let all = match outer.first() {
                Some(outermost) => outermost.clone(),
                None => schedule.fuse(&[column, row])?,
            };
            threads(schedule, &all)?;
        }
        schedule.tensorize(row_in, &format!("transpose_{0}x{0}", self.size))
    }
}

fn last(indices: &[Expr]) -> Option<&Var> {
    let (last, others) = indices.split_last()?;
    let ExprKind::Var(var) = &last.kind else { return None };
    (!others.iter().any(|index| vars_of(index).contains(var))).then_some(var)
}

/// The position of the loop that is an axis.
fn position(leaf: &Leaf, axis: &Var) -> Option<usize> {
    (0..leaf.heads.len())
        .find(|at| leaf.axis(*at).is_some_and(|found| leaf.block.iter_vars[found].var == *axis))
}
