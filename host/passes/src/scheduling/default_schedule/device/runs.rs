//! Adjacent results along memory that one thread computes one after the other, if threads run
//! alone.

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, Expr, ForKind, Stmt, StmtKind, TargetCapabilities, Var};

use super::launch::{self, Axis};
use super::limits::{Limits, THREADS_ALONE};
use super::tile::Tiled;
use super::vector;
use crate::scheduling::default_schedule::nest::Nest;
use crate::simplify;

/// Maximum number of adjacent results per thread: their indices are computed once for all of them.
const RUN: i128 = 64;

/// A launch in which each thread runs through adjacent results along the last of several loops.
/// With one index over all loops, each single result would cost a division per loop.
pub(super) fn of_neighbours(
    nest: &Nest<'_>,
    on_threads: &HashSet<Var>,
    limits: &Limits,
    capabilities: &TargetCapabilities,
    sizes: &HashSet<Var>,
) -> Option<Stmt> {
    let (last, outer) = nest.heads.split_last()?;
    let all = nest.heads.iter().all(|head| on_threads.contains(&head.var));
    if !limits.alone || !all || outer.is_empty() || !Tiled::is_long(last, 2) {
        return None;
    }
    let run = Tiled::new(last, RUN);
    let body = neighbours(&run, nest.body, vector::lanes_along(nest, last, capabilities));
    let axes: Vec<Axis> = outer.iter().map(Axis::from_head).chain([Axis::of_tiles(&run)]).collect();
    let limits = Limits { threads: limits.threads.min(THREADS_ALONE), ..*limits };
    Some(launch::fused_by_name(&axes, &body, &limits, sizes))
}

/// The body for each position of a run, in vectors if it has lanes.
fn neighbours(run: &Tiled<'_>, body: &Stmt, lanes: Option<i128>) -> Stmt {
    let dtype = run.head.var.dtype;
    let int = |value: i128| Expr::int(value, dtype);
    let name = |suffix: &str| Var::new(format!("{}_{suffix}", run.head.var.name), dtype);
    let (count, mut stmts) = match run.holds(&int(run.size - 1)) {
        None => (int(run.size), Vec::new()),
        Some(_) => {
            let left = run.head.extent.clone() - run.tile.expr() * int(run.size);
            let value = simplify::expr(&Expr::binary(BinaryOp::Min, left, int(run.size)));
            let count = name("n");
            (count.expr(), vec![Stmt::new(StmtKind::Bind { var: count, value })])
        }
    };
    let at = |place: &Expr| Substitution::new().fresh().with_var(&run.head.var, run.at(place)).stmt(body);
    let one = name("i");
    let Some(lanes) = lanes else {
        stmts.push(Stmt::for_loop(one.clone(), count, ForKind::Serial, at(&one.expr())));
        return Stmt::seq(stmts);
    };
    let (part, lane) = (name("p"), name("v"));
    let parts = simplify::expr(&Expr::binary(BinaryOp::FloorDiv, count.clone(), int(lanes)));
    let whole = at(&(part.expr() * int(lanes) + lane.expr()));
    let whole = Stmt::for_loop(lane, int(lanes), ForKind::Vectorized, whole);
    stmts.push(Stmt::for_loop(part, parts.clone(), ForKind::Serial, whole));
    let rest = simplify::expr(&Expr::binary(BinaryOp::FloorMod, count, int(lanes)));
    if rest.as_int() != Some(0) {
        stmts.push(Stmt::for_loop(
            one.clone(),
            rest,
            ForKind::Serial,
            at(&(parts * int(lanes) + one.expr())),
        ));
    }
    Stmt::seq(stmts)
}
