//! Default schedules for a processor, made of the steps of [`crate::schedule`].
//!
//! Each rule looks for nests that it knows, and schedules them by steps that check their own
//! legality: a rule that is refused a step leaves the nest to the next.
//!
//! * [`inline`]: elementwise intermediate results are computed where they are read.
//! * [`rows`]: nests one after the other run row by row, and what they pass on shrinks to a row.
//! * [`groups`]: the channels of grouped convolutions become two axes, groups and members.
//! * [`product`]: sums of products are packed ([`copies`]) and computed by tiles in registers.
//! * [`sums`]: reductions to few results are computed in parts.
//! * [`transpose`]: copies along another order of memory run by tiles in registers.
//! * [`order`]: a loop along memory becomes the innermost.
//! * [`overlap`]: where parameters may overlap, a choice at the beginning of the function.
//! * [`magnitudes`]: where instructions treat subnormal numbers as zeros, a choice after a look at
//!   the operands.
//! * [`spread`]: the outer iterations of what remains run on several threads.
//! * [`stream`]: outputs that leave no room in the caches are stored past them.
//! * [`edges`]: loops along which conditions change at known places run in parts.

mod copies;
mod edges;
mod facts;
mod groups;
mod inline;
mod leaf;
mod magnitudes;
mod order;
mod overlap;
mod product;
mod rows;
mod spread;
mod stream;
mod sums;
mod tile;
mod transpose;

use std::sync::Arc;

use chipdock_ir::{AttrValue, Attrs, Child, PrimFunc, Stmt, StmtKind, TargetCapabilities, attr};

use crate::marks::is_known;
use crate::scheduling::schedule::{Schedule, ScheduleError, Trace};
use facts::Processor;
use leaf::{Leaf, leaves};
use magnitudes::Guarded;
use product::Product;

/// Schedules the nests of a function that have no schedule; returns the function and the steps.
pub(super) fn schedule(function: &PrimFunc, capabilities: &TargetCapabilities) -> (PrimFunc, Trace) {
    let promised = function.attrs.get(attr::NOALIAS) == Some(&AttrValue::Bool(true));
    let chosen = if promised { None } else { overlap::schedule(function, capabilities) };
    chosen.unwrap_or_else(|| scheduled(function, capabilities))
}

/// Schedules a function, with what it promises about its parameters.
fn scheduled(function: &PrimFunc, capabilities: &TargetCapabilities) -> (PrimFunc, Trace) {
    let (faster, steps, products) = by_rules(function, capabilities, true);
    if products.is_empty() {
        return (faster, steps);
    }
    match magnitudes::schedule(function, capabilities, &faster, &products) {
        Some(chosen) => (chosen, steps),
        None => {
            let (function, steps, _) = by_rules(function, capabilities, false);
            (function, steps)
        }
    }
}

/// Schedules a function by the rules; with `is_normal`, results are taken to be normal or 0 where
/// instructions treat subnormal numbers as zeros. Returns the products that are computed by these,
/// too.
fn by_rules(
    function: &PrimFunc,
    capabilities: &TargetCapabilities,
    is_normal: bool,
) -> (PrimFunc, Trace, Vec<Guarded>) {
    let processor = Processor::from_capabilities(capabilities);
    let mut guarded = Vec::new();
    let mut schedule = Schedule::new(function);
    for leaf in leaves(&schedule.function().body) {
        attempt(&mut schedule, |schedule| unmark(&leaf, schedule));
    }
    for inlined in inline::Inlined::all(schedule.function()) {
        attempt(&mut schedule, |schedule| inlined.schedule(schedule));
    }
    let mut tried: Vec<Arc<str>> = Vec::new();
    while let Some(rows) = rows::Rows::find(schedule.function(), &tried) {
        tried.push(rows.name());
        attempt(&mut schedule, |schedule| rows.schedule(schedule));
    }
    for grouped in leaves(&schedule.function().body).into_iter().filter_map(groups::Grouped::from_leaf) {
        attempt(&mut schedule, |schedule| grouped.schedule(schedule));
    }
    for product in leaves(&schedule.function().body).iter().filter_map(Product::from_leaf) {
        let by_dots = [product.by_tiles(&processor), product.by_dots(&processor)];
        for way in by_dots.into_iter().flatten().chain([product]) {
            let guard = way.guard();
            let is_right = guard.as_ref().is_none_or(|guard| is_normal && guard.is_possible(function));
            if is_right && attempt(&mut schedule, |schedule| way.schedule(schedule, &processor)) {
                guarded.extend(guard);
                break;
            }
        }
    }
    for sum in leaves(&schedule.function().body).into_iter().filter_map(sums::Sum::from_leaf) {
        attempt(&mut schedule, |schedule| sum.schedule(schedule));
    }
    let copy = |leaf| transpose::Transposed::from_leaf(leaf, &processor);
    for copy in leaves(&schedule.function().body).into_iter().filter_map(copy) {
        attempt(&mut schedule, |schedule| copy.schedule(schedule));
    }
    for nest in leaves(&schedule.function().body).into_iter().filter_map(order::Inner::from_leaf) {
        attempt(&mut schedule, |schedule| nest.schedule(schedule));
    }
    let nests = nests(&schedule.function().body);
    for nest in nests.iter().filter_map(spread::Wide::from_stmt) {
        attempt(&mut schedule, |schedule| nest.schedule(schedule));
    }
    for streamed in stream::Streamed::all(schedule.function(), &processor) {
        attempt(&mut schedule, |schedule| streamed.schedule(schedule));
    }
    for nest in leaves(&schedule.function().body).into_iter().filter_map(edges::Edges::from_leaf) {
        attempt(&mut schedule, |schedule| nest.schedule(schedule));
    }
    // The names of blocks may have changed, which is no reason to change a function that has no
    // schedule.
    let changes = |op: &str| !op.starts_with("get_") && op != "unannotate";
    let changed = schedule.trace().steps().iter().any(|step| changes(&step.op));
    match changed {
        true => (schedule.function().clone(), schedule.trace().clone(), guarded),
        false => (function.clone(), Trace::default(), Vec::new()),
    }
}

/// Removes the annotations of a nest that no pass acts on, with which steps would refuse its loops.
fn unmark(leaf: &Leaf, schedule: &mut Schedule) -> Result<(), ScheduleError> {
    let unknown = |annotations: &Attrs| -> Vec<Arc<str>> {
        annotations.keys().filter(|key| !is_known(key)).cloned().collect()
    };
    let of_loops: Vec<Vec<Arc<str>>> = leaf
        .heads
        .iter()
        .map(|head| match &head.stmt.kind {
            StmtKind::For { annotations, .. } => unknown(annotations),
            _ => Vec::new(),
        })
        .collect();
    let of_block = unknown(&leaf.block.annotations);
    if of_block.is_empty() && of_loops.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let (block, loops) = leaf.loops(schedule)?;
    for (of, keys) in loops.iter().zip(&of_loops) {
        for key in keys {
            schedule.unannotate(of, key)?;
        }
    }
    for key in &of_block {
        schedule.unannotate(&block, key)?;
    }
    Ok(())
}

/// Takes steps, or none of them if one is refused.
fn attempt(schedule: &mut Schedule, steps: impl FnOnce(&mut Schedule) -> Result<(), ScheduleError>) -> bool {
    let before = schedule.clone();
    match steps(schedule) {
        Ok(()) => true,
        Err(why) => {
            tracing::debug!(%why, "a default schedule was refused");
            *schedule = before;
            false
        }
    }
}

/// The outermost loops of a body, in order.
fn nests(body: &Stmt) -> Vec<Stmt> {
    let mut found = Vec::new();
    collect(body, &mut found);
    found
}

fn collect(stmt: &Stmt, found: &mut Vec<Stmt>) {
    if matches!(stmt.kind, StmtKind::For { .. }) {
        found.push(stmt.clone());
        return;
    }
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(inner) = child {
            collect(inner, found);
        }
    });
}
