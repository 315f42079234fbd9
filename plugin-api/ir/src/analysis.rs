//! Analyses of expressions and statements, which code generators use before they write anything.
//!
//! * [`Ranges`]: the values that an expression can take.
//! * [`Positions`]: the integers that are positions, which never wrap in a program that stays
//!   within its buffers.
//! * [`is_cheap`], [`in_both`]: expressions that may, or must, be evaluated whatever a condition
//!   says.
//! * [`TileProduct`]: loops that compute a product of tiles.
//! * [`Sharing`], [`Usage`]: the nodes that are used more than once, and the variables that are
//!   used at all.
//!
//! Nodes are identified by address: the analysed nodes must outlive the analysis.

mod lazy;
mod positions;
mod ranges;
mod sharing;
mod tiles;

pub use lazy::{in_both, is_cheap};
pub use positions::Positions;
pub use ranges::{Interval, Ranges, ValueBounds, holds};
pub use sharing::{Sharing, Usage, is_pure};
pub use tiles::{TILE_SIDE, TILES_MAX, TileAccess, TileProduct};
