//! Loops fused and bound to the axes of a launch.

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, BinaryOp, CompareOp, DType, Expr, ExprKind, ForKind, Stmt, StmtKind, ThreadAxis, Var, attr,
};

use super::limits::Limits;
use super::tile::Tiled;
use crate::scheduling::default_schedule::nest::Head;
use crate::simplify::{self, Ranges};

/// A loop whose iterations run on threads: `min + step * i` for each `i` below the extent.
pub(super) struct Axis {
    pub(super) var: Var,
    pub(super) min: Expr,
    pub(super) extent: Expr,
    pub(super) step: i128,
}

impl Axis {
    pub(super) fn from_head(head: &Head) -> Self {
        let (min, extent) = (head.min.clone(), head.extent.clone());
        Self { var: head.var.clone(), min, extent, step: head.step }
    }

    /// The loop over the tiles of a loop.
    pub(super) fn of_tiles(tiled: &Tiled<'_>) -> Self {
        let (var, extent) = (tiled.tile.clone(), tiled.count());
        Self { min: Expr::int(0, var.dtype), var, extent, step: 1 }
    }
}

/// Number of iterations.
enum Count {
    Constant(i128),
    /// Extents, none negative, and their product.
    Symbolic(Vec<Expr>, Expr),
}

/// A loop bound to an axis of threads.
pub(super) fn bound(var: Var, extent: Expr, axis: ThreadAxis, body: Stmt) -> Stmt {
    Stmt::for_loop(var, extent, ForKind::ThreadBinding(axis), body)
}

/// One block of one thread; without axes, the note of such a launch (IR-K8).
pub(super) fn single(limits: &Limits, body: Stmt) -> Stmt {
    if limits.is_one {
        let (node, key, value) = (AttrNode::None, attr::DEVICE_SCOPE.into(), Expr::i32(0));
        return Stmt::new(StmtKind::Attr { node, key, value, body });
    }
    let one = |name: &str, axis, body| bound(Var::new(name, DType::INT32), Expr::i32(1), axis, body);
    let body = if limits.has_threads { one("tx", ThreadAxis::ThreadX, body) } else { body };
    if limits.has_blocks { one("bx", ThreadAxis::BlockX, body) } else { body }
}

/// Runs the body once for each combination of the axes, the last one fastest, on neighbouring
/// threads.
///
/// `sizes` are variables that are not negative.
pub(super) fn fused(axes: &[Axis], body: &Stmt, limits: &Limits, sizes: &HashSet<Var>) -> Stmt {
    spread(axes, body, limits, sizes, limits.has_threads.then_some("tx"), false)
}

/// Like [`fused`], with a variable for the value of each axis: for a body that uses it in many
/// places.
pub(super) fn fused_by_name(axes: &[Axis], body: &Stmt, limits: &Limits, sizes: &HashSet<Var>) -> Stmt {
    spread(axes, body, limits, sizes, limits.has_threads.then_some("tx"), true)
}

/// Runs the body, which binds the threads of a block itself, once for each combination of the axes,
/// each in a block.
pub(super) fn in_blocks(axes: &[Axis], body: &Stmt, limits: &Limits, sizes: &HashSet<Var>) -> Stmt {
    // Values that all threads of a block share are computed once.
    spread(axes, body, &Limits { threads: 1, ..*limits }, sizes, None, true)
}

fn spread(
    axes: &[Axis],
    body: &Stmt,
    limits: &Limits,
    sizes: &HashSet<Var>,
    thread: Option<&str>,
    by_name: bool,
) -> Stmt {
    let count = count(axes, limits, sizes);
    let (dtype, total) = match &count {
        Count::Constant(total) if *total <= 0 => return Stmt::nop(),
        Count::Constant(total) => {
            // The last round may count past the total by as much again.
            let wide = i32::try_from(2 * *total + limits.threads).is_err();
            let wide = wide || axes.iter().any(|axis| axis.var.dtype.bits == 64);
            let fits = !limits.has_int64 && i32::try_from(*total).is_ok();
            let dtype = if wide && !fits { DType::INT64 } else { DType::INT32 };
            (dtype, Expr::int(*total, dtype))
        }
        Count::Symbolic(_, total) => (total.dtype, total.clone()),
    };
    let grid = Grid::new(&total, limits);
    let int = |value: i128| Expr::int(value, dtype);
    let (block, round) = (Var::new("bx", dtype), Var::new("round", dtype));
    let thread = thread.map(|name| Var::new(name, dtype));
    let place = ThreadPosition {
        // If there is more than one round, each has the maximum size.
        before: (grid.rounds.as_int() != Some(1))
            .then(|| round.expr() * int(grid.blocks.as_int().unwrap_or(limits.blocks))),
        block: if limits.has_blocks { block.expr() } else { int(0) },
        thread: thread.as_ref().map(Var::expr),
    };
    let index = simplify::expr(&place.index(&grid));
    let (mut substitution, mut names) = (Substitution::new(), Vec::new());
    for (axis, value) in axes.iter().zip(at(axes, &index, &count)) {
        if by_name && !matches!(value.kind, ExprKind::Var(_) | ExprKind::Int(_)) {
            names.push(Stmt::new(StmtKind::Bind { var: axis.var.clone(), value }));
        } else {
            substitution.map_var(&axis.var, value);
        }
    }
    let mut body = Stmt::seq(names.into_iter().chain([substitution.stmt(body)]));
    if !grid.is_exact {
        let is_within = if limits.has_int64 {
            Expr::compare(CompareOp::Lt, index, total)
        } else {
            place.is_within(&grid, total)
        };
        body = Stmt::if_then(is_within, body, None);
    }
    if grid.rounds.as_int() != Some(1) {
        body = Stmt::for_loop(round, grid.rounds, ForKind::Serial, body);
    }
    if let Some(thread) = thread {
        body = bound(thread, int(grid.threads), ThreadAxis::ThreadX, body);
    }
    if limits.has_blocks { bound(block, grid.blocks, ThreadAxis::BlockX, body) } else { body }
}

/// Position of a thread in its launch.
struct ThreadPosition {
    /// Number of blocks in earlier rounds, if there are several rounds.
    before: Option<Expr>,
    block: Expr,
    thread: Option<Expr>,
}

impl ThreadPosition {
    /// Number of blocks before this one.
    fn blocks(&self) -> Expr {
        match &self.before {
            Some(before) => before.clone() + self.block.clone(),
            None => self.block.clone(),
        }
    }

    /// The iteration that the thread runs.
    fn index(&self, grid: &Grid) -> Expr {
        let first = self.blocks() * Expr::int(grid.threads, self.block.dtype);
        match &self.thread {
            Some(thread) => first + thread.clone(),
            None => first,
        }
    }

    /// The condition that the index is below the total, computed from the remaining blocks and
    /// threads, which cannot wrap as the index itself may.
    fn is_within(&self, grid: &Grid, total: Expr) -> Expr {
        let below =
            |place: &Expr, count: Expr| Expr::compare(CompareOp::Lt, place.clone(), simplify::expr(&count));
        let of_blocks =
            self.before.as_ref().map(|before| below(&self.block, grid.needed.clone() - before.clone()));
        let of_threads = self
            .thread
            .as_ref()
            .map(|thread| below(thread, total - self.blocks() * Expr::int(grid.threads, self.block.dtype)));
        [of_blocks, of_threads].into_iter().flatten().reduce(Expr::and).unwrap_or(Expr::bool(true))
    }
}

/// The value of each axis in terms of one index over all axes.
fn at(axes: &[Axis], index: &Expr, count: &Count) -> Vec<Expr> {
    let mut values = Vec::new();
    let mut inner: Option<Expr> = None;
    for (position, axis) in axes.iter().enumerate().rev() {
        values.push(simplify::expr(&value_of(axis, index, inner.as_ref(), position == 0)));
        let extent = match count {
            Count::Constant(_) => axis.extent.clone().cast(index.dtype),
            Count::Symbolic(extents, _) => extents[position].clone(),
        };
        inner = Some(inner.map_or(extent.clone(), |inner| extent * inner));
    }
    values.reverse();
    values
}

/// `min + step * (index / inner mod extent)`, in the type of the axis.
fn value_of(axis: &Axis, index: &Expr, inner: Option<&Expr>, is_first: bool) -> Expr {
    let dtype = index.dtype;
    let inner = inner.map(simplify::expr);
    let extent = simplify::expr(&axis.extent.clone().cast(dtype));
    // Nothing here is negative: truncating division gives the same result and needs no correction.
    let is_constant =
        extent.as_int().is_some() && inner.as_ref().is_none_or(|inner| inner.as_int().is_some());
    let (div, rem) =
        if is_constant { (BinaryOp::FloorDiv, BinaryOp::FloorMod) } else { (BinaryOp::Div, BinaryOp::Mod) };
    let mut value = index.clone();
    if let Some(inner) = inner {
        value = Expr::binary(div, value, inner);
    }
    if !is_first {
        value = Expr::binary(rem, value, extent);
    }
    let own = axis.var.dtype;
    axis.min.clone() + value.cast(own) * Expr::int(axis.step, own)
}

fn count(axes: &[Axis], limits: &Limits, sizes: &HashSet<Var>) -> Count {
    let constant =
        axes.iter().try_fold(1_i128, |total, axis| total.checked_mul(axis.extent.as_int()?.max(0)));
    if let Some(total) = constant.filter(|total| i64::try_from(*total).is_ok()) {
        return Count::Constant(total);
    }
    if axes.iter().filter_map(|axis| axis.extent.as_int()).any(|extent| extent <= 0) {
        return Count::Constant(0);
    }
    // With several rounds, the last one may count past the end.
    let in_rounds = ceil(i32::MAX.into(), limits.threads) > limits.blocks;
    let wide = in_rounds || axes.len() > 1 || axes.iter().any(|axis| axis.var.dtype.bits == 64);
    let wide = wide && limits.has_int64;
    let dtype = if wide { DType::INT64 } else { DType::INT32 };
    let extents: Vec<Expr> = axes.iter().map(|axis| whole(&axis.extent, sizes).cast(dtype)).collect();
    let total = extents.iter().cloned().reduce(|a, b| a * b).unwrap_or(Expr::int(1, dtype));
    Count::Symbolic(extents, simplify::expr(&total))
}

/// The extent, clamped to at least 0 unless it is known not to be negative.
fn whole(extent: &Expr, sizes: &HashSet<Var>) -> Expr {
    let mut ranges = Ranges::new();
    for size in sizes {
        ranges.set(size, 0, size.dtype.integer_range().map_or(0, |(_, most)| most));
    }
    if ranges.of(extent).0 >= 0 {
        return extent.clone();
    }
    Expr::binary(BinaryOp::Max, extent.clone(), Expr::int(0, extent.dtype))
}

/// Numbers of threads, blocks and rounds.
struct Grid {
    threads: i128,
    blocks: Expr,
    rounds: Expr,
    /// Blocks of all rounds.
    needed: Expr,
    /// Whether there are exactly as many threads as iterations.
    is_exact: bool,
}

impl Grid {
    fn new(total: &Expr, limits: &Limits) -> Self {
        let dtype = total.dtype;
        let int = |value: i128| Expr::int(value, dtype);
        if let Some(total) = total.as_int() {
            let threads = limits.threads.min(total);
            let needed = ceil(total, threads);
            let blocks = limits.blocks.min(needed);
            let rounds = ceil(needed, blocks);
            let is_exact = threads * blocks * rounds == total;
            return Self { threads, blocks: int(blocks), rounds: int(rounds), needed: int(needed), is_exact };
        }
        let threads = limits.threads;
        let parts = |of: &Expr, by: i128| {
            let last = Expr::binary(BinaryOp::FloorDiv, of.clone() - int(1), int(by));
            simplify::expr(&(last + int(1)))
        };
        let needed = parts(total, threads);
        // This many fit whatever the size is.
        let (_, most) = dtype.integer_range().unwrap_or((0, i128::MAX));
        if ceil(most, threads) <= limits.blocks {
            return Self { threads, blocks: needed.clone(), rounds: int(1), needed, is_exact: false };
        }
        let rounds = parts(&needed, limits.blocks);
        let blocks = Expr::binary(BinaryOp::Min, needed.clone(), int(limits.blocks));
        Self { threads, blocks, rounds, needed, is_exact: false }
    }
}

fn ceil(a: i128, b: i128) -> i128 {
    (a + b - 1) / b.max(1)
}
