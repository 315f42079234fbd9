//! Copies across the order of memory, through tiles in shared memory.

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{DType, Expr, ExprKind, Stmt, StorageScope, ThreadAxis, Var};

use super::launch::{self, Axis};
use super::limits::Limits;
use super::tile::{self, Store, Tiled};
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::default_schedule::nest::{Head, Nest};
use crate::walk::vars_of;

/// Maximum and minimum number of elements per side of a tile.
const SIDE_MAX: i128 = 32;
const SIDE_MIN: i128 = 4;
/// Minimum number of steps of a loop for tiles to be profitable.
const STEPS_MIN: i128 = 16;

/// A launch that reads along memory into a tile and writes along memory from it, for a store that
/// steps through memory along one loop and loads along another.
pub(super) fn tiled(
    nest: &Nest<'_>,
    on_threads: &HashSet<Var>,
    limits: &Limits,
    sizes: &HashSet<Var>,
) -> Option<Stmt> {
    if nest.heads.len() != on_threads.len() || !limits.has_threads {
        return None;
    }
    let store = Store::only_in(nest)?;
    let (along, across, load) = crossing(nest, &store)?;
    let ExprKind::Load { buffer, .. } = &load.kind else { return None };
    let size_bytes = i128::try_from(buffer.dtype.size_bytes()).ok()?;
    let fits = |side: &i128| side * (side + 1) * size_bytes <= limits.shared_bytes;
    let side = std::iter::successors(Some(SIDE_MAX), |side| Some(side / 2))
        .take_while(|side| *side >= SIDE_MIN)
        .find(fits)?;
    let threads = (1_i128 << limits.threads.max(1).ilog2()).min(side * side);
    let (x, y) = (Tiled::new(along, side), Tiled::new(across, side));
    // One column more than is used, so that a column is spread over as many banks as a row.
    let shared = tile::buffer(
        &format!("{}_shared", buffer.name),
        &[side, side + 1],
        buffer.dtype,
        StorageScope::SHARED,
    );
    let thread = Var::new("tx", DType::INT32);
    let at = |e: &Expr, x_at: &Expr, y_at: &Expr| {
        let mut substitution = Substitution::new();
        substitution.map_var(&along.var, x.at(x_at));
        substitution.map_var(&across.var, y.at(y_at));
        substitution.expr(e)
    };
    let within = |x_at: &Expr, y_at: &Expr| tile::all([x.holds(x_at), y.holds(y_at)]);
    let read = tile::each_place(side, side, &thread, threads, |row, column| {
        let value = at(&load, &row, &column);
        tile::under(within(&row, &column), Stmt::store(&shared, vec![row, column], value))
    });
    let write = tile::each_place(side, side, &thread, threads, |row, column| {
        let from = Expr::load(&shared, vec![column.clone(), row.clone()]);
        // First the part in the tile: its indices are determined by the loops.
        let mark = Var::new("element", load.dtype);
        let value = at(&tile::replaced(&store.value, &load, &mark.expr()), &column, &row);
        let value = Substitution::new().with_var(&mark, from).expr(&value);
        let indices = store.indices.iter().map(|index| at(index, &column, &row)).collect();
        tile::under(within(&column, &row), Stmt::store(&store.buffer, indices, value))
    });
    let name = &store.buffer.name;
    let parts = [tile::block(&format!("{name}_read"), read), tile::block(&format!("{name}_write"), write)];
    let body = Stmt::seq(std::iter::once(tile::allocation(&shared)).chain(parts));
    let body = launch::bound(thread, Expr::int(threads, DType::INT32), ThreadAxis::ThreadX, body);
    let others = nest.heads.iter().filter(|head| head.var != along.var && head.var != across.var);
    let mut axes: Vec<Axis> = others.map(Axis::from_head).collect();
    axes.extend([&y, &x].map(Axis::of_tiles));
    Some(launch::in_blocks(&axes, &body, limits, sizes))
}

/// The loop that the store steps along, the loop that a load steps along, and that load.
fn crossing<'a>(nest: &'a Nest<'_>, store: &Store) -> Option<(&'a Head, &'a Head, Expr)> {
    let worth = |head: &&Head| Tiled::is_long(head, STEPS_MIN);
    let along =
        nest.heads.iter().filter(worth).find(|head| steps(&store.indices, &head.var) == Some(true))?;
    if !store.buffer.strides.is_empty() {
        return None;
    }
    let mut loads = Vec::new();
    tile::unconditional_loads(&store.value, &mut loads);
    let mut found = None;
    for load in loads {
        let ExprKind::Load { buffer, indices, .. } = &load.kind else { continue };
        let uses = |head: &Head| indices.iter().any(|index| vars_of(index).contains(&head.var));
        let across = nest
            .heads
            .iter()
            .filter(worth)
            .find(|head| head.var != along.var && steps(indices, &head.var) == Some(true));
        let Some(across) = across.filter(|_| uses(along)) else { continue };
        let plain = buffer.dtype.is_scalar()
            && buffer.strides.is_empty()
            && buffer.data != store.buffer.data
            && indices.iter().all(|index| !crate::walk::depends_on_memory(index));
        if !plain || found.is_some() {
            return None;
        }
        found = Some((along, across, load.clone()));
    }
    found
}
