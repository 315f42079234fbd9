//! What gives a kernel its loops: steps of schedules, default schedules, reductions in parallel.

pub(crate) mod apply_schedules;
pub(crate) mod default_schedule;
pub mod schedule;
pub(crate) mod split_reductions;
