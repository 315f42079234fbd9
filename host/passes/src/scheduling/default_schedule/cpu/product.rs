//! Products: sums of products of two operands, such as matrix products in every layout, batched
//! ones, and convolutions.
//!
//! Each axis of the block belongs to one group, by the operands whose indices use it:
//!
//! | group | result | vector operand | other operand |
//! |---|---|---|---|
//! | batch | yes | yes | yes |
//! | columns | yes | yes | no |
//! | rows | yes | no | yes |
//! | sum | no | perhaps | perhaps |
//!
//! The *vector operand* is the one that the result's adjacent elements depend on. The schedule is
//! the usual one: both operands are packed block by block of the sum, so that a tile of the result
//! lives in registers while the sum runs through memory that is read in order.

use std::sync::Arc;

use chipdock_ir::analysis::TILE_SIDE;
use chipdock_ir::op::DotProduct;
use chipdock_ir::{BinaryOp, Block, Buffer, DType, Expr, ExprKind, IterKind, StmtKind, Var};

use super::attempt;
use super::copies::{Copies, in_registers, joined};
use super::facts::Processor;
use super::leaf::{Leaf, innermost};
use super::magnitudes::Guarded;
use super::spread::threads;
use super::tile::{Tile, sum_block};
use crate::scheduling::default_schedule::host::{Head, steps};
use crate::scheduling::schedule::{BlockRef, LoopRef, Schedule, ScheduleError, Tail};
use crate::simplify::is_pure;
use crate::walk::{depends_on_memory, vars_of};

/// Least number of multiplications: a smaller product may not be worth its copies. Chosen, not
/// measured.
const PRODUCTS_MIN: i128 = 24 * 24 * 24;
/// Least number of rows, and of columns.
const SIDE_MIN: i128 = 4;
/// Least number of steps of the sum.
const STEPS_MIN: i128 = 8;
/// Least number of iterations of a loop over batches or columns that is run by the threads instead
/// of the rows.
const TASKS_MIN: i128 = 8;

/// An axis of the block, by its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    /// Position of its loop in the nest.
    position: usize,
    /// Number of iterations, if known.
    extent: Option<i128>,
}

/// A product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Product {
    block: Arc<str>,
    pub(super) dtype: DType,
    /// Size in bytes of an element of the larger operand.
    element_bytes: i128,
    /// Types of the elements of the two operands, in order of evaluation.
    pub(super) dtypes: [DType; 2],
    /// Where the operands are in memory.
    operands: [Var; 2],
    /// The numbers of rows and of columns of the axes `row` and `column`.
    sides: [Expr; 2],
    /// Whether the sum starts at 0.
    from_zero: bool,
    /// The dot product of vectors that it is computed by, if it is.
    dot: Option<DotProduct>,
    /// Whether these are computed by tiles.
    pub(super) by_tiles: bool,
    /// Positions of the operands among the loads of the block's body.
    pub(super) vector: usize,
    pub(super) other: usize,
    batch: Vec<Axis>,
    /// The column that adjacent elements of the result differ in.
    column: Axis,
    columns: Vec<Axis>,
    row: Axis,
    rows: Vec<Axis>,
    sum: Vec<Axis>,
    /// Whether the elements of an operand that adjacent steps of the sum read are adjacent: the
    /// vector operand's, the other's.
    pub(super) along_sum: [bool; 2],
    /// Whether those of the vector operand are that adjacent columns read.
    pub(super) along_columns: bool,
    /// Number of loops of the nest.
    n_loops: usize,
    /// Whether a parallel loop is around it.
    is_inside: bool,
}

/// The two factors of the term, in order of evaluation: their indices, and the types of their
/// elements.
pub(super) struct Factors<'a> {
    pub(super) indices: [&'a [Expr]; 2],
    buffers: [&'a Buffer; 2],
    /// Whether the sum starts at 0.
    from_zero: bool,
}

/// The loops of the schedule, outermost first.
pub(super) struct Loops {
    batch: Vec<LoopRef>,
    /// Over blocks of the sum.
    pub(super) blocks: LoopRef,
    columns: Vec<LoopRef>,
    /// Over as many panels as the second cache holds, if there are more.
    panels: Option<LoopRef>,
    pub(super) rows: Vec<LoopRef>,
    /// Over tiles along the rows.
    pub(super) row: LoopRef,
    /// Over tiles along the columns.
    pub(super) panel: LoopRef,
    /// Over the steps of a block of the sum.
    pub(super) steps: Vec<LoopRef>,
    /// Whether the last of them has as many iterations as a vector has elements.
    pub(super) has_chunks: bool,
    /// Over the rows of a tile, its vectors, and their elements.
    pub(super) tile: [LoopRef; 3],
    /// Over the products of a dot product.
    group: Option<LoopRef>,
    /// Number of elements of a vector.
    pub(super) lanes: i64,
}

impl Loops {
    fn in_order(&self) -> Vec<LoopRef> {
        joined(&[
            &self.batch,
            std::slice::from_ref(&self.blocks),
            &self.columns,
            self.panels.as_slice(),
            &self.rows,
            &[self.row.clone(), self.panel.clone()],
            &self.steps,
            &self.tile,
            self.group.as_slice(),
        ])
    }
}

impl Product {
    /// The product that a nest computes, if its loops are plain and the schedule pays.
    pub(super) fn from_leaf(leaf: &Leaf) -> Option<Self> {
        let Leaf { heads, values: iter_values, block, .. } = leaf;
        (!leaf.is_guarded && iter_values.len() == heads.len()).then_some(())?;
        let StmtKind::Store { buffer, indices, .. } = &block.body.kind else { return None };
        let factors = factors(block)?;
        let extents = extents(heads, iter_values, block)?;
        let (mut batch, mut columns, mut rows, mut sum) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let along = block.iter_vars.iter().position(|axis| steps(indices, &axis.var) == Some(true))?;
        let uses =
            |side: usize, var: &Var| factors.indices[side].iter().any(|index| vars_of(index).contains(var));
        let vector = usize::from(uses(1, &block.iter_vars.get(along)?.var));
        for (iter, axis) in block.iter_vars.iter().zip(&extents) {
            let (a, b) = (uses(vector, &iter.var), uses(1 - vector, &iter.var));
            match (iter.kind, a, b) {
                (IterKind::Spatial, true, true) => batch.push(*axis),
                (IterKind::Spatial, true, false) => columns.push(*axis),
                (IterKind::Spatial, false, true) => rows.push(*axis),
                (IterKind::Reduce, true, _) | (IterKind::Reduce, _, true) => sum.push(*axis),
                _ => return None,
            }
        }
        let column = *extents.get(along)?;
        let place = columns.iter().position(|axis| *axis == column)?;
        columns.remove(place);
        let adjacent = |side: usize, axis: &Axis| {
            let iter = extents.iter().position(|of| of == axis).and_then(|at| block.iter_vars.get(at));
            iter.is_some_and(|iter| steps(factors.indices[side], &iter.var) == Some(true))
        };
        let along_sum = [vector, 1 - vector].map(|side| sum.last().is_some_and(|axis| adjacent(side, axis)));
        let along_columns = adjacent(vector, &column);
        let longest = |axis: &(usize, &Axis)| axis.1.extent.unwrap_or(i128::MAX);
        let (place, row) = rows.iter().enumerate().max_by_key(longest)?;
        let row = *row;
        rows.remove(place);
        let dtypes = factors.buffers.map(|buffer| buffer.dtype);
        let sizes = dtypes.iter().chain([&buffer.dtype]).map(|dtype| dtype.size_bytes());
        let element_bytes = sizes.max().unwrap_or(1) as i128;
        let sides = [leaf.extent(row.position)?.clone(), leaf.extent(column.position)?.clone()];
        let (block, dtype) = (Arc::clone(&block.name), buffer.dtype);
        let product = Self {
            block,
            dtype,
            element_bytes,
            dtypes,
            operands: factors.buffers.map(|buffer| buffer.data.clone()),
            sides,
            from_zero: factors.from_zero,
            dot: None,
            by_tiles: false,
            vector,
            other: 1 - vector,
            batch,
            column,
            columns,
            row,
            rows,
            sum,
            along_sum,
            along_columns,
            n_loops: heads.len(),
            is_inside: leaf.is_inside,
        };
        product.pays().then_some(product)
    }

    /// Whether a loop of the nest counts rows of the product.
    pub(super) fn is_row(&self, position: usize) -> bool {
        self.row.position == position || self.rows.iter().any(|axis| axis.position == position)
    }

    /// Whether the copies pay. Sizes that are not known are taken for large ones.
    fn pays(&self) -> bool {
        let sides = [&self.columns, &self.rows].into_iter().flatten().chain([&self.row, &self.column]);
        let (results, steps) = (iterations(sides), iterations(&self.sum));
        let is_long = |axis: &Axis| axis.extent.is_none_or(|extent| extent >= SIDE_MIN);
        let products = results.zip(steps).map(|(results, steps)| results.saturating_mul(steps));
        is_long(&self.row)
            && is_long(&self.column)
            && steps.is_none_or(|steps| steps >= STEPS_MIN)
            && products.is_none_or(|products| products >= PRODUCTS_MIN)
    }

    /// The product by tiles of dot products, if the processor has them, the result fills one, and
    /// the sum more than one.
    pub(super) fn by_tiles(&self, processor: &Processor) -> Option<Self> {
        let dot = self.dot_product().filter(|dot| processor.has_tiles(*dot))?;
        let side = i128::from(TILE_SIDE);
        let fills = |axis: &Axis, least: i128| axis.extent.is_none_or(|extent| extent >= least);
        let is_large = fills(&self.row, side)
            && fills(&self.column, side)
            && self.sum.iter().all(|axis| fills(axis, side * i128::from(dot.group) + 1));
        let product = self.of_dots(dot).filter(|_| is_large)?;
        Some(Self { by_tiles: true, ..product })
    }

    /// The product by dot products, if the processor has instructions for them.
    pub(super) fn by_dots(&self, processor: &Processor) -> Option<Self> {
        self.of_dots(self.dot_product().filter(|dot| processor.has(*dot))?)
    }

    /// What has to hold for the instructions that it is computed by, if these treat subnormal
    /// numbers as zeros.
    pub(super) fn guard(&self) -> Option<Guarded> {
        let is_inexact = self.dot.is_some_and(|dot| !dot.sum.is_integer());
        is_inexact.then(|| Guarded { operands: self.operands.clone(), sides: self.sides.clone() })
    }

    /// The dot product of its types.
    fn dot_product(&self) -> Option<DotProduct> {
        let [x, y] = self.dtypes;
        let of = |dot: &&DotProduct| {
            dot.sum == self.dtype && ((dot.a, dot.b) == (x, y) || (dot.b, dot.a) == (x, y))
        };
        DotProduct::ALL.iter().find(of).copied()
    }

    fn of_dots(&self, dot: DotProduct) -> Option<Self> {
        // A step of the sum is a group of elements of each operand.
        let element_bytes = (dot.a.size_bytes() * usize::from(dot.group)) as i128;
        // What a sum of floats starts with may be subnormal.
        (self.sum.len() == 1 && (dot.sum.is_integer() || self.from_zero)).then(|| Self {
            dot: Some(dot),
            element_bytes,
            ..self.clone()
        })
    }

    /// Schedules the product.
    pub(super) fn schedule(
        &self,
        schedule: &mut Schedule,
        processor: &Processor,
    ) -> Result<(), ScheduleError> {
        let block = schedule.get_sblock(&self.block)?;
        let loops = self.tiled(schedule, &block, processor)?;
        let by_batch = !self.is_inside && tasks(&self.batch) >= TASKS_MIN;
        let by_columns = !self.is_inside && !by_batch && tasks(&self.columns) >= TASKS_MIN;
        // The copy of the vector operand is made where it is used up before it leaves the second
        // cache.
        let (at, packed_columns) = match (&loops.panels, loops.columns.last()) {
            (Some(panels), _) => (panels, &[][..]),
            (None, Some(last)) if by_columns => (last, &[][..]),
            _ => (&loops.blocks, loops.columns.as_slice()),
        };
        let outer = joined(&[packed_columns, std::slice::from_ref(&loops.panel)]);
        let Copies { vector, other, made } = match (&loops.group, self.dot) {
            (Some(group), Some(dot)) => {
                self.packed_in_groups(schedule, &block, &loops, (at, &outer), (group, dot))?
            }
            _ => self.packed(schedule, &block, &loops, (at, &outer))?,
        };
        for copy in [made.init.as_ref(), made.load.as_ref(), Some(&made.back)].into_iter().flatten() {
            in_registers(schedule, &copy.loops)?;
        }
        // What is made of the result is made where it is complete.
        attempt(schedule, |schedule| match schedule.get_consumers(&made.back.block)?.as_slice() {
            [consumer] => schedule.reverse_compute_inline(consumer),
            _ => Err(ScheduleError::new("a result that is not read once")),
        });
        if self.is_inside {
            return Ok(());
        }
        // Batches that share a vector of the result, such as groups of few channels, stay in order.
        let on_threads =
            |schedule: &mut Schedule| fused(schedule, &loops.batch).and_then(|of| threads(schedule, &of));
        if by_batch && attempt(schedule, on_threads) {
            return Ok(());
        }
        threads(schedule, &first(&other)?)?;
        if by_columns {
            return fused(schedule, &loops.columns).and_then(|of| threads(schedule, &of));
        }
        threads(schedule, &first(&vector)?)?;
        let outer = joined(&[&loops.rows, std::slice::from_ref(&loops.row)]);
        fused(schedule, &outer).and_then(|of| threads(schedule, &of))
    }

    /// Splits the loops, and brings them into the order of the schedule.
    fn tiled(
        &self,
        schedule: &mut Schedule,
        block: &BlockRef,
        processor: &Processor,
    ) -> Result<Loops, ScheduleError> {
        let all = innermost(schedule, block, self.n_loops)?;
        let tile = match self.by_tiles {
            true => Tile::of_tiles(self.row.extent, self.column.extent),
            false => Tile::choose(self.row.extent, self.column.extent, processor, self.dtype),
        };
        let rows = schedule.split(&at(&all, self.row)?, &[None, Some(tile.rows)], Tail::Predicate)?;
        let factors = [None, Some(tile.vectors), Some(tile.lanes)];
        let columns = schedule.split(&at(&all, self.column)?, &factors, Tail::Predicate)?;
        let (rows, columns) = (pair(&rows)?, triple(&columns)?);
        let group = self.dot.map_or(1, |dot| i64::from(dot.group));
        let all_steps =
            iterations(&self.sum).map(|steps| (steps + i128::from(group) - 1) / i128::from(group));
        let block_size = sum_block(&tile, processor, self.element_bytes, all_steps);
        let (sum, has_chunks) =
            self.split_sum(schedule, &all, block_size.steps, (group, tile.lanes * group))?;
        let (blocks, steps) = sum.split_first().ok_or_else(missing)?;
        let (mut steps, group) = match (self.dot, steps) {
            (Some(_), [only]) if self.by_tiles => {
                let sizes = [None, Some(tile.lanes), Some(group)];
                let (chunks, steps, group) = triple(&schedule.split(only, &sizes, Tail::Predicate)?)?;
                (vec![chunks, steps], Some(group))
            }
            (Some(_), [only]) => {
                let (steps, group) = pair(&schedule.split(only, &[None, Some(group)], Tail::Predicate)?)?;
                (vec![steps], Some(group))
            }
            _ => (steps.to_vec(), None),
        };
        if let Some(last) = steps.pop_if(|_| has_chunks && !self.by_tiles) {
            steps.extend(schedule.split(&last, &[None, Some(tile.lanes)], Tail::Predicate)?);
        }
        let width = i128::from(tile.vectors * tile.lanes);
        let all_panels =
            self.column.extent.and_then(|extent| i64::try_from((extent + width - 1) / width).ok());
        let size = block_size.panels.min(all_panels.unwrap_or(i64::MAX)).max(1);
        let (panels, panel) = if all_panels == Some(size) {
            (None, columns.0)
        } else {
            let (outer, inner) = pair(&schedule.split(&columns.0, &[None, Some(size)], Tail::Shrink)?)?;
            (Some(outer), inner)
        };
        let list = |axes: &[Axis]| axes.iter().map(|axis| at(&all, *axis)).collect::<Result<Vec<_>, _>>();
        let loops = Loops {
            batch: list(&self.batch)?,
            blocks: blocks.clone(),
            columns: list(&self.columns)?,
            panels,
            rows: list(&self.rows)?,
            row: rows.0,
            panel,
            steps,
            has_chunks: has_chunks || self.by_tiles,
            tile: [rows.1, columns.1, columns.2],
            group,
            lanes: tile.lanes,
        };
        schedule.reorder(&loops.in_order())?;
        Ok(loops)
    }

    /// Whether reading the steps of the sum as vectors, of so many elements each, serves a copy.
    fn wants_chunks(&self, elements: i64) -> bool {
        let last = self.sum.last().and_then(|axis| axis.extent);
        let [vector, other] = self.along_sum;
        (other || (vector && !self.along_columns))
            && last.is_some_and(|extent| extent > 0 && extent % i128::from(elements) == 0)
    }

    /// Splits the first loop of the sum into blocks of so many steps, of `group` iterations each;
    /// returns the loop over blocks and those within, and whether the last of them is a multiple of
    /// `chunk` iterations that [`Self::wants_chunks`].
    fn split_sum(
        &self,
        schedule: &mut Schedule,
        all: &[LoopRef],
        steps: i128,
        (group, chunk): (i64, i64),
    ) -> Result<(Vec<LoopRef>, bool), ScheduleError> {
        let (first_axis, others) =
            self.sum.split_first().ok_or_else(|| ScheduleError::new("a product without a sum"))?;
        let inner = others.iter().map(|axis| axis.extent.unwrap_or(1)).product::<i128>().max(1);
        let most = (steps / inner).max(1) * i128::from(group);
        // Blocks of tiles have whole chunks, whatever the last one has.
        let unit = if self.by_tiles { chunk } else { group };
        let most =
            if self.by_tiles { most.max(chunk.into()) / i128::from(chunk) * i128::from(chunk) } else { most };
        let size = match first_axis.extent {
            Some(extent) => block_of(extent, most, unit.into()),
            None => most,
        };
        let wanted = self.wants_chunks(chunk);
        let even = first_axis
            .extent
            .filter(|_| wanted && others.is_empty())
            .and_then(|extent| even_block_of(extent, most, chunk.into()));
        let has_chunks = wanted && (!others.is_empty() || even.is_some());
        let size = i64::try_from(even.unwrap_or(size)).unwrap_or(i64::MAX);
        let mut loops = schedule.split(&at(all, *first_axis)?, &[None, Some(size)], Tail::Shrink)?;
        for axis in others {
            loops.push(at(all, *axis)?);
        }
        Ok((loops, has_chunks))
    }
}

/// The number of iterations of a block, about `most` of so many, in groups.
fn block_of(extent: i128, most: i128, group: i128) -> i128 {
    // A block little longer than planned is better than a short one more.
    if extent <= most + most / 4 {
        return extent.max(1);
    }
    let blocks = (extent + most - 1) / most;
    let size = (extent + blocks - 1) / blocks;
    (size + group - 1) / group * group
}

/// The same, if all blocks can be of one size that is a multiple of `chunk`, and not much shorter.
fn even_block_of(extent: i128, most: i128, chunk: i128) -> Option<i128> {
    let least = (extent / (most + most / 4).max(1)).max(1);
    let fits = |blocks: &i128| extent % blocks == 0 && (extent / blocks) % chunk == 0;
    (least..=2 * least)
        .find(|blocks| extent / blocks <= most + most / 4 && fits(blocks))
        .map(|blocks| extent / blocks)
}

/// The number of iterations of all these loops together, if it is known.
fn iterations<'a>(axes: impl IntoIterator<Item = &'a Axis>) -> Option<i128> {
    axes.into_iter().try_fold(1_i128, |total, axis| total.checked_mul(axis.extent?))
}

/// The number of tasks that these loops make; 0 if there are no loops, or it is not known.
fn tasks(axes: &[Axis]) -> i128 {
    if axes.is_empty() { 0 } else { iterations(axes).unwrap_or(0) }
}

fn fused(schedule: &mut Schedule, loops: &[LoopRef]) -> Result<LoopRef, ScheduleError> {
    match loops {
        [only] => Ok(only.clone()),
        _ => schedule.fuse(loops),
    }
}

fn missing() -> ScheduleError {
    ScheduleError::new("internal error, please report it: a step made fewer loops than it was asked for")
}

fn at(all: &[LoopRef], axis: Axis) -> Result<LoopRef, ScheduleError> {
    all.get(axis.position).cloned().ok_or_else(missing)
}

fn first(loops: &[LoopRef]) -> Result<LoopRef, ScheduleError> {
    loops.first().cloned().ok_or_else(missing)
}

pub(super) fn pair(loops: &[LoopRef]) -> Result<(LoopRef, LoopRef), ScheduleError> {
    match loops {
        [a, b] => Ok((a.clone(), b.clone())),
        _ => Err(missing()),
    }
}

fn triple(loops: &[LoopRef]) -> Result<(LoopRef, LoopRef, LoopRef), ScheduleError> {
    match loops {
        [a, b, c] => Ok((a.clone(), b.clone(), c.clone())),
        _ => Err(missing()),
    }
}

/// The factors of a block that adds a product of two loads to what it writes.
pub(super) fn factors(block: &Block) -> Option<Factors<'_>> {
    let plain =
        block.alloc_buffers.is_empty() && block.match_buffers.is_empty() && block.annotations.is_empty();
    plain.then_some(())?;
    let StmtKind::Store { buffer, indices, value, predicate: None } = &block.body.kind else { return None };
    let StmtKind::Store { buffer: set, indices: places, value: start, predicate: None } =
        &block.init.as_ref()?.kind
    else {
        return None;
    };
    let is_constant = matches!(start.kind, ExprKind::Int(_) | ExprKind::Float(_));
    (set == buffer && places == indices && is_constant && is_pure(value)).then_some(())?;
    let wanted =
        buffer.dtype == DType::FLOAT32 || buffer.dtype == DType::FLOAT64 || buffer.dtype == DType::INT32;
    (wanted && buffer.strides.is_empty()).then_some(())?;
    let ExprKind::Binary(BinaryOp::Add, a, b) = &value.kind else { return None };
    let is_own = |e: &Expr| {
        matches!(&e.kind, ExprKind::Load { buffer: from, indices: at, predicate: None }
            if from == buffer && at == indices)
    };
    let term = if is_own(a) { b } else { a };
    (is_own(a) || is_own(b)).then_some(())?;
    let ExprKind::Binary(BinaryOp::Mul, x, y) = &term.kind else { return None };
    let ((from, x), (other, y)) = (factor(x)?, factor(y)?);
    let same = from == other && x == y;
    let fine = from.data != buffer.data && other.data != buffer.data && !same;
    let from_zero = match &start.kind {
        ExprKind::Float(value) => value.0 == 0,
        _ => start.as_int() == Some(0),
    };
    fine.then_some(Factors { indices: [x, y], buffers: [from, other], from_zero })
}

/// The load in a factor, which may be cast.
fn factor(e: &Expr) -> Option<(&Buffer, &[Expr])> {
    match &e.kind {
        ExprKind::Cast(value) => factor(value),
        ExprKind::Load { buffer, indices, predicate: None } => {
            let plain = buffer.dtype.is_scalar() && !indices.iter().any(depends_on_memory);
            plain.then_some((buffer, indices.as_slice()))
        }
        _ => None,
    }
}

/// The axes of the block in order, each with its loop; `None` if an axis is no loop by itself, or
/// loops are not plain.
fn extents(heads: &[Head], values: &[Expr], block: &Block) -> Option<Vec<Axis>> {
    let axis = |(value, iter): (&Expr, &chipdock_ir::IterVar)| {
        let ExprKind::Var(var) = &value.kind else { return None };
        let position = heads.iter().position(|head| head.var == *var)?;
        let StmtKind::For { min, extent, step: None, .. } = &heads.get(position)?.stmt.kind else {
            return None;
        };
        let whole = min.as_int() == Some(0) && *extent == iter.extent && iter.min.as_int() == Some(0);
        let known =
            heads.iter().all(|head| !vars_of(extent).contains(&head.var)) && !depends_on_memory(extent);
        (whole && known).then(|| Axis { position, extent: extent.as_int() })
    };
    values.iter().zip(&block.iter_vars).map(axis).collect()
}
