//! Contractions in which each thread computes a tile of results: convolutions and similar nests,
//! and products of matrices if threads run alone.

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, Stmt, StorageScope, Var};

use super::launch::{self, Axis};
use super::limits::{Limits, THREADS_ALONE};
use super::reduction::Reduction;
use super::tile::{self, Store, Tiled};
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::default_schedule::nest::{Head, Nest};
use crate::simplify;
use crate::walk::{depends_on_memory, vars_of};

/// Maximum number of adjacent results along memory that one thread computes, if threads do not run
/// in step.
const ALONG_MAX: i128 = 8;
/// Maximum number of results of a second loop, in addition to those.
const SECOND_MAX: i128 = 4;
/// Maximum number of results if adjacent threads have adjacent results.
const ACROSS_MAX: i128 = 8;
/// Minimum number of tiles, if known: fewer would leave threads idle.
const TILES_MIN: i128 = 64;
/// Maximum number of nodes of the summed term, which is written out for each result.
const NODES_MAX: usize = 100;

/// `C[i, j] = C[i, j] op x(i, j, k, ...)`.
struct Contraction<'a> {
    reduction: Reduction<'a>,
    store: Store,
    start: Expr,
    /// Indices of the loads in `x`.
    loads: Vec<Vec<Expr>>,
}

/// A launch in which each thread computes results of one or two loops at once, so that loads that
/// do not depend on a loop are made once for all of its results.
pub(super) fn tiled(
    nest: &Nest<'_>,
    on_threads: &HashSet<Var>,
    limits: &Limits,
    sizes: &HashSet<Var>,
) -> Option<Stmt> {
    let contraction = Contraction::from_nest(nest, on_threads)?;
    // For one reduction loop, tiles in shared memory save more loads.
    if contraction.reduction.reducing.len() == 1 && limits.shared_bytes > 0 {
        return None;
    }
    let sides = contraction.sides(limits)?;
    let tile = Tile::new(&contraction, sides);
    let threads = if limits.in_step { limits.threads } else { limits.threads.min(THREADS_ALONE) };
    let axes: Vec<Axis> = contraction.reduction.spatial.iter().map(|head| tile.axis(head)).collect();
    Some(launch::fused_by_name(&axes, &tile.body(nest), &Limits { threads, ..*limits }, sizes))
}

fn uses(indices: &[Expr], head: &Head) -> bool {
    indices.iter().any(|index| vars_of(index).contains(&head.var))
}

impl<'a> Contraction<'a> {
    fn from_nest(nest: &'a Nest<'_>, on_threads: &HashSet<Var>) -> Option<Self> {
        let reduction = Reduction::from_nest(nest, on_threads)?;
        let (block, values) = (reduction.block, reduction.values);
        let store = Store::within(block, values, &block.body)?;
        let start = Store::within(block, values, block.init.as_ref()?)?.value;
        let (mut loads, mut n_nodes, mut plain) = (Vec::new(), 0, true);
        store.value.walk(&mut |e| {
            n_nodes += 1;
            let ExprKind::Load { buffer, indices, .. } = &e.kind else { return };
            plain &= buffer.dtype.is_scalar() && !indices.iter().any(depends_on_memory);
            if *indices != store.indices || *buffer != store.buffer {
                loads.push(indices.clone());
            }
        });
        let fine = plain && n_nodes <= NODES_MAX && loads.len() > 1;
        fine.then_some(Self { reduction, store, start, loads })
    }

    /// The loops of which one thread computes several results, with their number.
    fn sides(&self, limits: &Limits) -> Option<Vec<(&'a Head, i128)>> {
        let spatial = &self.reduction.spatial;
        let is_along = |head: &Head| steps(&self.store.indices, &head.var) == Some(true);
        let along = spatial.iter().copied().find(|head| is_along(head));
        // Along it a thread steps from load to load; loads that depend on it are repeated by each
        // thread.
        let moves = |indices: &[Expr]| along.is_none_or(|along| uses(indices, along));
        let spares = |head: &Head| self.loads.iter().any(|load| !uses(load, head));
        let spares_most = |head: &Head| self.loads.iter().any(|load| moves(load) && !uses(load, head));
        let fits = |head: &&Head| Tiled::is_long(head, 2) && spares(head) && uses(&self.store.indices, head);
        let mut others = spatial.iter().copied().filter(fits).filter(|head| !is_along(head));
        let second = others.clone().find(|head| spares_most(head)).or_else(|| others.next_back());
        let mut sides = Vec::new();
        if limits.in_step {
            sides.push((second?, ACROSS_MAX));
        } else {
            sides.extend(second.map(|head| (head, SECOND_MAX)));
            sides.extend(along.filter(fits).map(|head| (head, ALONG_MAX)));
        }
        let results = spatial.iter().try_fold(1_i128, |all, head| all.checked_mul(head.extent.as_int()?));
        let mut left = results.map_or(i128::MAX, |results| results / TILES_MIN);
        for (head, size) in sides.iter_mut().rev() {
            *size = even(head, (*size).min(left.max(1)));
            left /= *size;
        }
        sides.retain(|(_, size)| *size > 1);
        (!sides.is_empty()).then_some(sides)
    }
}

/// Number of results of a loop, chosen so that no tile is cut off if possible.
fn even(head: &Head, most: i128) -> i128 {
    let Some(extent) = head.extent.as_int() else { return most };
    let whole = (1..=most).rev().find(|size| extent % size == 0).unwrap_or(1);
    if 2 * whole > most { whole } else { most.min(extent) }
}

/// The tile of results that one thread computes.
struct Tile<'a> {
    contraction: &'a Contraction<'a>,
    sides: Vec<Tiled<'a>>,
    sums: Buffer,
}

impl<'a> Tile<'a> {
    fn new(contraction: &'a Contraction<'a>, sides: Vec<(&'a Head, i128)>) -> Self {
        let of = &contraction.store.buffer;
        let shape: Vec<i128> = sides.iter().map(|(_, size)| *size).collect();
        let sums = tile::buffer(&format!("{}_sums", of.name), &shape, of.dtype, StorageScope::LOCAL);
        let sides = sides.into_iter().map(|(head, size)| Tiled::new(head, size)).collect();
        Self { contraction, sides, sums }
    }

    fn axis(&self, head: &Head) -> Axis {
        let side = self.sides.iter().find(|side| side.head.var == head.var);
        side.map_or_else(|| Axis::from_head(head), Axis::of_tiles)
    }

    /// Computes whole tiles in registers, and tiles that are cut off by the end of a loop one
    /// result after the other.
    fn body(&self, nest: &Nest<'_>) -> Stmt {
        let last = |side: &Tiled<'_>| Expr::int(side.size - 1, DType::INT32);
        let whole = tile::all(self.sides.iter().map(|side| side.holds(&last(side))));
        let fast = Stmt::seq([tile::allocation(&self.sums), self.whole()]);
        match whole {
            Some(whole) => Stmt::if_then(whole, fast, Some(self.cut_off(nest))),
            None => fast,
        }
    }

    /// Repeats a statement for each result, given its position in the tile.
    fn each(&self, body: impl FnOnce(&[Expr], &mut Substitution) -> Stmt) -> Stmt {
        let places: Vec<Var> =
            self.sides.iter().map(|side| Var::new(&*side.head.var.name, DType::INT32)).collect();
        let at: Vec<Expr> = places.iter().map(Var::expr).collect();
        let mut loops = Substitution::new();
        for (side, place) in self.sides.iter().zip(&at) {
            loops.map_var(&side.head.var, side.at(place));
        }
        let body = body(&at, &mut loops);
        self.sides.iter().zip(places).rev().fold(body, |body, (side, place)| {
            Stmt::for_loop(place, Expr::int(side.size, DType::INT32), ForKind::Unrolled, body)
        })
    }

    fn whole(&self) -> Stmt {
        let Contraction { reduction, store, start, .. } = self.contraction;
        let mut steps = Substitution::new();
        let counts: Vec<(Var, &Head)> = reduction
            .reducing
            .iter()
            .map(|head| {
                let own = Var::new(&*head.var.name, head.var.dtype);
                steps.map_var(&head.var, own.expr());
                (own, *head)
            })
            .collect();
        let own = Expr::load(&store.buffer, store.indices.clone());
        let mark = Var::new("own", own.dtype);
        // Marked before its loops are renamed.
        let value = steps.expr(&tile::replaced(&store.value, &own, &mark.expr()));
        let first = self.each(|at, loops| Stmt::store(&self.sums, at.to_vec(), loops.expr(start)));
        let update = self.each(|at, loops| {
            loops.map_var(&mark, Expr::load(&self.sums, at.to_vec()));
            Stmt::store(&self.sums, at.to_vec(), loops.expr(&value))
        });
        let update = counts.into_iter().rev().fold(update, |body, (var, head)| head.counted_by(var, body));
        let write = self.each(|at, loops| {
            let indices = store.indices.iter().map(|index| loops.expr(index)).collect();
            Stmt::store(&store.buffer, indices, Expr::load(&self.sums, at.to_vec()))
        });
        // A reduction of no steps sets nothing.
        let some = reduction.reducing.iter().map(|head| {
            let some = Expr::compare(CompareOp::Gt, head.extent.clone(), Expr::int(0, head.extent.dtype));
            Some(simplify::expr(&some)).filter(|some| some.as_int() != Some(1))
        });
        tile::under(tile::all(some), Stmt::seq([first, update, write]))
    }

    fn cut_off(&self, nest: &Nest<'_>) -> Stmt {
        let reduce = self.contraction.reduction.reducing.iter().rev();
        let body = reduce.fold(nest.body.clone(), |body, head| head.around(body));
        let mut places = Vec::new();
        let mut loops = Substitution::new();
        for side in &self.sides {
            let dtype = side.head.var.dtype;
            let place = Var::new(&*side.head.var.name, dtype);
            loops.map_var(&side.head.var, side.at(&place.expr()));
            let size = Expr::int(side.size, dtype);
            let left = side.head.extent.clone() - side.tile.expr() * size.clone();
            places.push((place, Expr::binary(BinaryOp::Min, left, size)));
        }
        let body = loops.stmt(&body);
        places
            .into_iter()
            .rev()
            .fold(body, |body, (place, extent)| Stmt::for_loop(place, extent, ForKind::Serial, body))
    }
}
