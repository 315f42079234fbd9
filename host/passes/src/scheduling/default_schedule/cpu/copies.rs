//! Copies of the operands of a product, in the order in which its tiles read them.
//!
//! | operand | order, outermost first |
//! |---|---|
//! | vector operand | panels, steps of the sum, vectors of a tile's row, elements |
//! | other | tiles of rows, steps of the sum, rows of a tile |
//! | other, whose steps are adjacent | tiles of rows, chunks of the sum, rows of a tile, steps of a chunk |
//!
//! Elements that are adjacent in the operand are copied as vectors, as far as the order allows it:
//! the vector operand's by columns, or by tiles that are transposed in registers.

use chipdock_ir::op::DotProduct;

use super::attempt;
use super::product::{Loops, Product, pair};
use crate::scheduling::schedule::{Accumulated, BlockRef, LoopRef, Packed, Schedule, ScheduleError, Tail};

/// What was made of the operands and the result.
pub(super) struct Copies {
    /// Loops of the copy of the vector operand, outermost first.
    pub(super) vector: Vec<LoopRef>,
    /// Loops of the copy of the other operand.
    pub(super) other: Vec<LoopRef>,
    /// The tile in registers.
    pub(super) made: Accumulated,
}

impl Product {
    /// Packs both operands, and keeps the tile in registers. `outer` are the loops around the steps
    /// that the copy of the vector operand has.
    pub(super) fn packed(
        &self,
        schedule: &mut Schedule,
        block: &BlockRef,
        loops: &Loops,
        (at, outer): (&LoopRef, &[LoopRef]),
    ) -> Result<Copies, ScheduleError> {
        let order = joined(&[outer, &loops.steps, &loops.tile[1..]]);
        let vector = schedule.read_at(at, block, self.vector, "global", &order, Some(0))?;
        let vector = self.widened(schedule, self.vector, vector);
        let by_row = self.is_copied_by_row(loops);
        let order = if by_row { loops.of_rows(&loops.tile[..1]) } else { loops.of_steps(&loops.tile[..1]) };
        let other = schedule.read_at(&loops.blocks, block, self.other, "global", &order, Some(0))?;
        let other = self.widened(schedule, self.other, other);
        let made = schedule.write_at(&loops.panel, block, "local", &loops.tile, true)?;
        in_registers(schedule, &loops.tile)?;
        let transposed = !self.along_columns
            && loops.has_chunks
            && attempt(schedule, |schedule| transposed(schedule, &vector, loops.lanes));
        let vector = if transposed {
            vector
        } else {
            in_registers(schedule, vector.last_chunk::<2>().map_or(&[][..], |last| last))?;
            self.by_columns(schedule, vector, loops)
        };
        if let Some(last) = other.last() {
            let as_vectors = by_row && attempt(schedule, |schedule| schedule.vectorize(last));
            if !as_vectors {
                schedule.unroll(last)?;
            }
        }
        Ok(Copies { vector, other, made })
    }

    /// The same for dot products: the elements of a group stand side by side in both copies.
    pub(super) fn packed_in_groups(
        &self,
        schedule: &mut Schedule,
        block: &BlockRef,
        loops: &Loops,
        (at, outer): (&LoopRef, &[LoopRef]),
        (group, dot): (&LoopRef, DotProduct),
    ) -> Result<Copies, ScheduleError> {
        let [row, vector_of, lane] = &loops.tile;
        let by_row = self.is_copied_by_row(loops);
        let order = if by_row || self.by_tiles {
            joined(&[&loops.of_rows(std::slice::from_ref(row)), std::slice::from_ref(group)])
        } else {
            loops.of_steps(&[row.clone(), group.clone()])
        };
        let mut other = schedule.read_at(&loops.blocks, block, self.other, "global", &order, Some(0))?.loops;
        let vector_read = |schedule: &mut Schedule, lanes: &LoopRef| {
            let order = joined(&[outer, &loops.steps, &[vector_of.clone(), lanes.clone()]]);
            schedule.read_at(at, block, self.vector, "global", &order, Some(0)).map(|copy| copy.loops)
        };
        // The products beyond the result's edge need no condition if both copies are made first; it
        // may hold for integers, where one factor is 0.
        let (made, vector, lanes) = if self.by_tiles || !dot.sum.is_integer() {
            let both = schedule.fuse(&[lane.clone(), group.clone()])?;
            let vector = vector_read(schedule, &both)?;
            let parts = schedule.split(&both, &[None, Some(dot.group.into())], Tail::Predicate)?;
            let tile = [row.clone(), vector_of.clone(), pair(&parts)?.0];
            let made = schedule.write_at(&loops.panel, block, "local", &tile, true)?;
            (made, vector, schedule.fuse(&parts)?)
        } else {
            let made = schedule.write_at(&loops.panel, block, "local", &loops.tile, true)?;
            let lanes = schedule.fuse(&[lane.clone(), group.clone()])?;
            let vector = vector_read(schedule, &lanes)?;
            (made, vector, lanes)
        };
        schedule.tensorize(&lanes, &format!("dot_{}_{}_{}", dot.a, dot.b, loops.lanes))?;
        match loops.steps.first().filter(|_| self.by_tiles) {
            Some(chunks) => schedule.tensorize(chunks, &format!("tiles_{}_{}", dot.a, dot.b))?,
            None => [row, vector_of].into_iter().try_for_each(|of| schedule.unroll(of))?,
        }
        let vector = self.by_columns(schedule, vector, loops);
        if let Some(last) = vector.last() {
            let name = format!("interleave_{}x{}", dot.group, loops.lanes);
            if !attempt(schedule, |schedule| schedule.tensorize(last, &name)) {
                let parts = schedule.split(last, &[None, Some(dot.group.into())], Tail::Predicate)?;
                schedule.unroll(&pair(&parts)?.1)?;
            }
        }
        if (by_row || self.by_tiles)
            && let Some(both) = other.last_chunk::<2>().cloned()
        {
            other.truncate(other.len() - 2);
            other.push(schedule.fuse(&both)?);
        }
        if let Some(last) = other.last() {
            schedule.vectorize(last)?;
        }
        Ok(Copies { vector, other, made })
    }

    /// Whether chunks of a row of the other operand, along the sum, are copied as vectors.
    fn is_copied_by_row(&self, loops: &Loops) -> bool {
        let [_, other] = self.along_sum;
        loops.has_chunks && other
    }

    /// Casts the elements of an operand as they are copied, and not each time that they are
    /// multiplied; returns the copy's loops.
    fn widened(&self, schedule: &mut Schedule, side: usize, copy: Packed) -> Vec<LoopRef> {
        if self.dtypes.get(side).is_some_and(|dtype| *dtype != self.dtype) {
            attempt(schedule, |schedule| schedule.set_dtype(&copy.block, self.dtype));
        }
        copy.loops
    }

    /// Runs the copy of the vector operand step by step of the sum, if adjacent columns are
    /// adjacent in memory: its rows are read whole, over all panels.
    fn by_columns(&self, schedule: &mut Schedule, vector: Vec<LoopRef>, loops: &Loops) -> Vec<LoopRef> {
        let end = vector.len().saturating_sub(2);
        let Some(panel) = end.checked_sub(loops.steps.len() + 1).filter(|_| self.along_columns) else {
            return vector;
        };
        let mut order = vector.clone();
        order[panel..end].rotate_left(1);
        let moved = attempt(schedule, |schedule| schedule.reorder(&order[panel..end]));
        if moved { order } else { vector }
    }
}

impl Loops {
    /// The order of the other operand's copy in which the rows of a tile, the last loops, are
    /// adjacent.
    fn of_steps(&self, rows: &[LoopRef]) -> Vec<LoopRef> {
        joined(&[&self.rows, std::slice::from_ref(&self.row), &self.steps, rows])
    }

    /// The order in which the steps of a chunk are adjacent.
    fn of_rows(&self, rows: &[LoopRef]) -> Vec<LoopRef> {
        let (chunk, steps) = self.steps.split_at(self.steps.len().saturating_sub(1));
        joined(&[&self.rows, std::slice::from_ref(&self.row), chunk, rows, steps])
    }
}

/// Copies tiles whose source is adjacent along the sum.
fn transposed(schedule: &mut Schedule, copy: &[LoopRef], lanes: i64) -> Result<(), ScheduleError> {
    let Some([chunk, vectors, lane]) = copy.last_chunk::<3>() else {
        return Err(ScheduleError::new("a copy without loops"));
    };
    schedule.reorder(&[vectors.clone(), chunk.clone(), lane.clone()])?;
    schedule.tensorize(chunk, &format!("transpose_{lanes}x{lanes}"))
}

pub(super) fn joined(parts: &[&[LoopRef]]) -> Vec<LoopRef> {
    parts.iter().flat_map(|part| part.iter().cloned()).collect()
}

/// Makes the last loop vectors, and writes the others out, so that a compiler keeps what they touch
/// in registers.
pub(super) fn in_registers(schedule: &mut Schedule, loops: &[LoopRef]) -> Result<(), ScheduleError> {
    if let Some((lanes, others)) = loops.split_last() {
        schedule.vectorize(lanes)?;
        for unrolled in others {
            schedule.unroll(unrolled)?;
        }
    }
    Ok(())
}
