//! What can be read off expressions and statements: what code generators ask before they write anything.
//!
//! * [`Ranges`]: what values an integer expression can take.
//! * [`Positions`]: which integers mean a position, and so never wrap in a program that stays within its buffers.
//! * [`Sharing`], [`Usage`]: which nodes are used more than once, and which variables at all.
//!
//! Nodes are known by address: what is looked at must outlive what is asked.

mod positions;
mod ranges;
mod sharing;

pub use positions::Positions;
pub use ranges::{Interval, Ranges, holds};
pub use sharing::{Sharing, Usage, is_pure};
