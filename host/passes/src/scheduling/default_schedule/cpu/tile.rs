//! Sizes of the blocks of a product.

use chipdock_ir::DType;
use chipdock_ir::analysis::TILE_SIDE;

use super::facts::Processor;

/// The tile of a result that is kept in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// Number of rows.
    pub(super) rows: i64,
    /// Number of vectors in each row.
    pub(super) vectors: i64,
    /// Number of elements of a vector.
    pub(super) lanes: i64,
}

/// The block of the sum that is packed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SumBlock {
    /// Number of steps of the sum.
    pub(super) steps: i128,
    /// Number of panels of the vector operand, each as wide as a tile, that the second cache holds.
    pub(super) panels: i64,
}

/// Products in flight before the first is done, on processors that start two vectors a cycle.
const IN_FLIGHT: i128 = 8;
/// Greatest number of vectors in a row of a tile.
const VECTORS_MAX: i128 = 4;
/// Greatest number of rows of a tile.
const ROWS_MAX: i128 = 16;

impl Tile {
    /// The tile with the least time for each element of a result of so many rows and columns, where
    /// they are known.
    ///
    /// A step of the sum takes as long as its products, two vectors a cycle, or its loads, two a
    /// cycle; the elements of tiles beyond the result's edge are computed in vain.
    pub(super) fn choose(
        rows: Option<i128>,
        columns: Option<i128>,
        processor: &Processor,
        dtype: DType,
    ) -> Self {
        let lanes = processor.lanes(dtype).clamp(4, 64);
        let waste = |extent: Option<i128>, size: i128| {
            extent
                .filter(|extent| *extent > 0)
                .map_or(1.0, |extent| (((extent + size - 1) / size) * size) as f64 / extent as f64)
        };
        let mut best: Option<(f64, i128, i128)> = None;
        for vectors in 1..=VECTORS_MAX {
            // A vector of the row each, and one for the element that all are multiplied by.
            let most = ((processor.registers - 1 - vectors) / vectors).min(ROWS_MAX);
            for count in 1..=most {
                let products = count * vectors;
                let cycles = products.max(count + vectors).max(IN_FLIGHT) as f64 / 2.0 + 0.5;
                let cost = cycles / products as f64 * waste(rows, count) * waste(columns, vectors * lanes);
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, count, vectors));
                }
            }
        }
        let (_, count, vectors) = best.unwrap_or((0.0, 4, 1));
        let small = |value: i128| i64::try_from(value).unwrap_or(1);
        Self { rows: small(count), vectors: small(vectors), lanes: small(lanes) }
    }
}

impl Tile {
    /// The tiles of a matrix unit that are computed at once: two by two, as far as there are as
    /// many rows and columns.
    pub(super) fn of_tiles(rows: Option<i128>, columns: Option<i128>) -> Self {
        let side = i64::from(TILE_SIDE);
        let count =
            |extent: Option<i128>| if extent.is_some_and(|extent| extent <= side.into()) { 1 } else { 2 };
        Self { rows: side * count(rows), vectors: count(columns), lanes: side }
    }
}

/// The block of the sum for a tile, of a sum of so many steps if that is known: the rows of a tile
/// fill most of the first cache, the panels half of the second.
pub(super) fn sum_block(
    tile: &Tile,
    processor: &Processor,
    element_bytes: i128,
    all_steps: Option<i128>,
) -> SumBlock {
    let row_bytes = i128::from(tile.rows) * element_bytes.max(1);
    let steps = (processor.l1_bytes * 9 / 10 / row_bytes / 16 * 16).max(16);
    let of_panel = all_steps.map_or(steps, |all| all.clamp(1, steps));
    let panel_bytes = i128::from(tile.vectors * tile.lanes) * element_bytes.max(1) * of_panel;
    let panels = (processor.l2_bytes / 2 / panel_bytes.max(1)).clamp(1, 1024);
    SumBlock { steps, panels: i64::try_from(panels).unwrap_or(1) }
}
