//! Products of matrices and similar nests, through tiles in shared memory and registers.

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, Op, Stmt, StorageScope, ThreadAxis, Var,
};

use super::launch::{self, Axis};
use super::limits::Limits;
use super::reduction::Reduction;
use super::tile::{self, Store, Tiled};
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::default_schedule::nest::{Head, Nest};
use crate::simplify;
use crate::walk::{depends_on_memory, vars_of};

/// Maximum number of threads per side of a block.
const THREADS_MAX: i128 = 16;
/// Number of results per side that one thread computes.
const RESULTS: i128 = 4;
/// Maximum number of reduction steps in a tile.
const DEPTH_MAX: i128 = 16;
/// Minimum number of steps of a loop for tiles to be profitable.
const STEPS_MIN: i128 = 16;

/// A factor of the product: the load, and the expression around it.
struct Factor {
    load: Expr,
    buffer: Buffer,
    indices: Vec<Expr>,
    whole: Expr,
}

impl Factor {
    fn from_expr(whole: &Expr) -> Option<Self> {
        let load = match &whole.kind {
            ExprKind::Cast(load) => load,
            _ => whole,
        };
        let ExprKind::Load { buffer, indices, predicate: None } = &load.kind else { return None };
        let plain = buffer.dtype.is_scalar() && !indices.iter().any(depends_on_memory);
        let (buffer, indices) = (buffer.clone(), indices.clone());
        plain.then(|| Self { load: load.clone(), buffer, indices, whole: whole.clone() })
    }

    fn uses(&self, head: &Head) -> bool {
        self.indices.iter().any(|index| vars_of(index).contains(&head.var))
    }

    fn steps_by(&self, head: &Head) -> bool {
        steps(&self.indices, &head.var) == Some(true)
    }
}

/// `C[i, j] = C[i, j] + A[i, k] * B[k, j]`, whatever else the indices depend on.
struct Product<'a> {
    store: Store,
    start: Expr,
    left: Factor,
    right: Factor,
    i: &'a Head,
    j: &'a Head,
    k: &'a Head,
    others: Vec<&'a Head>,
}

/// Sizes of the tiles.
struct Shape {
    threads: i128,
    side: i128,
    depth: i128,
}

/// A launch in which each block of threads computes a tile of the results, each thread a few of
/// them.
pub(super) fn tiled(
    nest: &Nest<'_>,
    on_threads: &HashSet<Var>,
    limits: &Limits,
    sizes: &HashSet<Var>,
) -> Option<Stmt> {
    let product = Product::from_nest(nest, on_threads)?;
    let shape = Shape::choose(&product, limits)?;
    Some(Tiles::new(&product, &shape).launch(limits, sizes))
}

impl<'a> Product<'a> {
    fn from_nest(nest: &'a Nest<'_>, on_threads: &HashSet<Var>) -> Option<Self> {
        let reduction = Reduction::from_nest(nest, on_threads)?;
        let [k] = reduction.reducing.as_slice() else { return None };
        let (block, values) = (reduction.block, reduction.values);
        let store = Store::within(block, values, &block.body)?;
        let start = Store::within(block, values, block.init.as_ref()?)?.value;
        let ExprKind::Binary(BinaryOp::Add, a, b) = &store.value.kind else { return None };
        let own = Expr::load(&store.buffer, store.indices.clone());
        let term = if *a == own { b } else { a };
        let ExprKind::Binary(BinaryOp::Mul, a, b) = &term.kind else { return None };
        let (mut left, mut right) = (Factor::from_expr(a)?, Factor::from_expr(b)?);
        let apart = |one: &Factor, other: &Factor| -> Option<&'a Head> {
            let mut only = reduction.spatial.iter().filter(|head| one.uses(head) && !other.uses(head));
            let along = only.clone().find(|head| steps(&store.indices, &head.var) == Some(true));
            along.or(only.next_back()).copied()
        };
        let (mut i, mut j) = (apart(&left, &right)?, apart(&right, &left)?);
        // Adjacent threads write adjacent results.
        if steps(&store.indices, &i.var) == Some(true) {
            (left, right, i, j) = (right, left, j, i);
        }
        let others: Vec<&Head> =
            reduction.spatial.iter().copied().filter(|head| head.var != i.var && head.var != j.var).collect();
        let long = [i, j, *k].into_iter().all(|head| Tiled::is_long(head, STEPS_MIN));
        let fine = long && left.uses(k) && right.uses(k);
        let k = *k;
        fine.then_some(Self { store, start, left, right, i, j, k, others })
    }
}

impl Shape {
    fn choose(product: &Product<'_>, limits: &Limits) -> Option<Self> {
        let bytes = |factor: &Factor| i128::try_from(factor.buffer.dtype.size_bytes()).unwrap_or(i128::MAX);
        let (left, right) = (bytes(&product.left), bytes(&product.right));
        let room = limits.threads.max(1).isqrt().min(THREADS_MAX);
        let mut threads = 1_i128 << room.max(1).ilog2();
        while threads > 1 {
            let side = threads * RESULTS;
            // Tiles are distributed evenly: each has a multiple of the threads of a block.
            let mut depth = DEPTH_MAX;
            while depth * side >= threads * threads && depth > 1 {
                if side * (depth + 1) * left + depth * (side + 1) * right <= limits.shared_bytes {
                    return Some(Self { threads, side, depth });
                }
                depth /= 2;
            }
            threads /= 2;
        }
        None
    }
}

/// A product cut into tiles.
struct Tiles<'a> {
    product: &'a Product<'a>,
    shape: &'a Shape,
    i: Tiled<'a>,
    j: Tiled<'a>,
    k: Tiled<'a>,
    thread: Var,
    /// Tiles of the factors, in the order of the product: rows by depth, depth by columns.
    left: Buffer,
    right: Buffer,
    /// Registers of one thread: of each factor, and of the results.
    own_left: Buffer,
    own_right: Buffer,
    sums: Buffer,
}

fn int(value: i128) -> Expr {
    Expr::int(value, DType::INT32)
}

impl<'a> Tiles<'a> {
    fn new(product: &'a Product<'a>, shape: &'a Shape) -> Self {
        let (side, depth) = (shape.side, shape.depth);
        let (a, b, c) = (&product.left.buffer, &product.right.buffer, &product.store.buffer);
        let shared = |of: &Buffer, extents: [i128; 2]| {
            tile::buffer(&format!("{}_shared", of.name), &extents, of.dtype, StorageScope::SHARED)
        };
        let own =
            |name: String, extents: &[i128], dtype| tile::buffer(&name, extents, dtype, StorageScope::LOCAL);
        // An extra column avoids bank conflicts among writes down a column.
        let pad = i128::from(product.right.steps_by(product.k));
        Self {
            product,
            shape,
            i: Tiled::new(product.i, side),
            j: Tiled::new(product.j, side),
            k: Tiled::new(product.k, depth),
            thread: Var::new("tx", DType::INT32),
            left: shared(a, [side, depth + 1]),
            right: shared(b, [depth, side + pad]),
            own_left: own(format!("{}_own", a.name), &[RESULTS], a.dtype),
            own_right: own(format!("{}_own", b.name), &[RESULTS], b.dtype),
            sums: own(format!("{}_sums", c.name), &[RESULTS, RESULTS], c.dtype),
        }
    }

    fn launch(&self, limits: &Limits, sizes: &HashSet<Var>) -> Stmt {
        let name = &self.product.store.buffer.name;
        let threads = self.shape.threads * self.shape.threads;
        let dtype = self.sums.dtype;
        let zero = if dtype.is_float() { Expr::float(-0.0, dtype) } else { Expr::int(0, dtype) };
        let start = self.each_result(|row, column| Stmt::store(&self.sums, vec![row, column], zero));
        let loads = [
            self.load(
                &self.product.left,
                &self.left,
                (&self.i, &self.k),
                self.product.left.steps_by(self.product.k),
            ),
            self.load(
                &self.product.right,
                &self.right,
                (&self.k, &self.j),
                !self.product.right.steps_by(self.product.k),
            ),
        ];
        let steps = loads.into_iter().chain([tile::block(&format!("{name}_update"), self.update())]);
        let steps = Stmt::for_loop(self.k.tile.clone(), self.k.count(), ForKind::Serial, Stmt::seq(steps));
        let memory = [&self.left, &self.right, &self.own_left, &self.own_right, &self.sums];
        let body = memory.into_iter().map(tile::allocation).chain([
            tile::block(&format!("{name}_start"), start),
            steps,
            tile::block(&format!("{name}_write"), self.write()),
        ]);
        let body = Stmt::seq(body);
        let body = launch::bound(self.thread.clone(), int(threads), ThreadAxis::ThreadX, body);
        let mut axes: Vec<Axis> = self.product.others.iter().map(|head| Axis::from_head(head)).collect();
        axes.extend([&self.i, &self.j].map(Axis::of_tiles));
        launch::in_blocks(&axes, &body, limits, sizes)
    }

    /// Loads a tile of a factor, within its bounds, reading along memory.
    fn load(
        &self,
        factor: &Factor,
        to: &Buffer,
        (row, column): (&Tiled<'_>, &Tiled<'_>),
        is_row: bool,
    ) -> Stmt {
        let threads = self.shape.threads * self.shape.threads;
        let place = |r: Expr, c: Expr| {
            let mut at = Substitution::new();
            at.map_var(&row.head.var, row.at(&r));
            at.map_var(&column.head.var, column.at(&c));
            let mut value = at.expr(&factor.load);
            if let Some(within) = tile::all([row.holds(&r), column.holds(&c)]) {
                let dtype = value.dtype;
                value = Expr::call(Op::IfThenElse, vec![within, value, Expr::constant(0, dtype)], dtype);
            }
            Stmt::store(to, vec![r, c], value)
        };
        let body = if is_row {
            tile::each_place(row.size, column.size, &self.thread, threads, place)
        } else {
            tile::each_place(column.size, row.size, &self.thread, threads, |c, r| place(r, c))
        };
        tile::block(&to.name, body)
    }

    /// The row or column of a tile that a thread computes.
    fn place(&self, own: &Expr, is_row: bool) -> Expr {
        let op = if is_row { BinaryOp::FloorDiv } else { BinaryOp::FloorMod };
        let thread = Expr::binary(op, self.thread.expr(), int(self.shape.threads));
        own.clone() * int(self.shape.threads) + thread
    }

    fn each_result(&self, body: impl FnOnce(Expr, Expr) -> Stmt) -> Stmt {
        let (row, column) = (Var::new("i", DType::INT32), Var::new("j", DType::INT32));
        let body = body(row.expr(), column.expr());
        let body = Stmt::for_loop(column, int(RESULTS), ForKind::Unrolled, body);
        Stmt::for_loop(row, int(RESULTS), ForKind::Unrolled, body)
    }

    /// Adds the contribution of one tile of each factor to the results.
    fn update(&self) -> Stmt {
        let step = Var::new("k", DType::INT32);
        let own = |buffer: &Buffer, from: &Buffer, is_row: bool| {
            let var = Var::new("i", DType::INT32);
            let place = self.place(&var.expr(), is_row);
            let at = if is_row { vec![place, step.expr()] } else { vec![step.expr(), place] };
            let body = Stmt::store(buffer, vec![var.expr()], Expr::load(from, at));
            Stmt::for_loop(var, int(RESULTS), ForKind::Unrolled, body)
        };
        let sum = self.each_result(|row, column| {
            let factor = |factor: &Factor, own: &Buffer, at: &Expr| {
                tile::replaced(&factor.whole, &factor.load, &Expr::load(own, vec![at.clone()]))
            };
            let left = factor(&self.product.left, &self.own_left, &row);
            let right = factor(&self.product.right, &self.own_right, &column);
            let at = vec![row, column];
            Stmt::store(&self.sums, at.clone(), Expr::load(&self.sums, at) + left * right)
        });
        let left = own(&self.own_left, &self.left, true);
        let right = own(&self.own_right, &self.right, false);
        Stmt::for_loop(step, int(self.shape.depth), ForKind::Serial, Stmt::seq([left, right, sum]))
    }

    /// Writes the results, combined with their initial values, to memory; a reduction of no steps
    /// writes none.
    fn write(&self) -> Stmt {
        let (product, extent) = (self.product, &self.product.k.extent);
        let some = Expr::compare(CompareOp::Gt, extent.clone(), Expr::int(0, extent.dtype));
        let some = Some(simplify::expr(&some)).filter(|some| some.as_int() != Some(1));
        let body = self.each_result(|row, column| {
            let (i, j) = (self.place(&row, true), self.place(&column, false));
            let mut at = Substitution::new();
            at.map_var(&product.i.var, self.i.at(&i));
            at.map_var(&product.j.var, self.j.at(&j));
            let value = at.expr(&product.start) + Expr::load(&self.sums, vec![row, column]);
            let indices = product.store.indices.iter().map(|index| at.expr(index)).collect();
            let within = tile::all([self.i.holds(&i), self.j.holds(&j)]);
            tile::under(within, Stmt::store(&product.store.buffer, indices, value))
        });
        tile::under(some, body)
    }
}
