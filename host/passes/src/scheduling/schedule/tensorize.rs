//! Tiles that are computed by given sequences of vector instructions.

use chipdock_ir::analysis::TileProduct;
use chipdock_ir::op::DotProduct;
use chipdock_ir::subst::Substitution;
use chipdock_ir::{AttrValue, Buffer, DType, Expr, ExprKind, IterKind, PrimFunc, Stmt, StmtKind, Var, attr};

use super::access::Element;
use super::args::Args;
use super::dot::{Dots, Interleaved};
use super::independent::may_alias;
use super::nest::{Loop, Realized, StmtPath};
use super::{LoopRef, Made, Schedule, ScheduleError};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// Names of the tiles with their sizes.
const TRANSPOSITIONS: [(&str, u16); 4] =
    [("transpose_4x4", 4), ("transpose_8x8", 8), ("transpose_16x16", 16), ("transpose_32x32", 32)];

impl Schedule {
    /// Computes the tile that a loop runs over by a known sequence of vector instructions.
    ///
    /// | name | what the loop runs over |
    /// |---|---|
    /// | `dot_<a>_<b>_<n>`, as in `dot_uint8_int8_16`; `n` is 2 to 32, a power of two | `n` times the group of a dot product of these types ([`DotProduct`]), around a block that adds a product of two elements, cast to the sum's type, to an element: of adjacent sums, with adjacent elements of one factor, and the same group of elements of the other for each sum. All are one `dot_add` |
    /// | `interleave_<g>x<n>`, as in `interleave_4x16`; `g` is 2 or 4 | `g * n` iterations around a block that copies an element to the next place; elements that are `g` iterations apart are adjacent in the source. `g` vectors are loaded, and stored as one |
    /// | `tiles_<a>_<b>`, as in `tiles_uint8_int8` | the steps of a product of tiles ([`TileProduct`]), around loops over rows, columns and groups and a `dot_<a>_<b>_16`. A target that has tiles computes it by them, any other as it is written |
    /// | `transpose_4x4`, `transpose_8x8`, `transpose_16x16`, `transpose_32x32` | two loops of so many iterations around a block that copies an element; along the outer one the source is contiguous, along the inner one the destination. Rows are loaded as vectors, exchanged in registers, and stored as vectors |
    ///
    /// # Errors
    ///
    /// There is no such name; what is under the loop is not such a tile, or has a predicate; the
    /// source and the destination may overlap.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.tensorize`, whose intrinsics are registered by the user.
    pub fn tensorize(&mut self, of: &LoopRef, intrin: &str) -> Result<(), ScheduleError> {
        let args = Args::new().with(of).with(intrin);
        self.run("tensorize", args, |function| tensorize(function, of, intrin)).map(|_| ())
    }
}

/// A tile of a transposition.
struct Tile<'a> {
    outer: Loop<'a>,
    inner: Loop<'a>,
    block: Realized<'a>,
    lanes: u16,
}

fn tensorize(function: &PrimFunc, of: &LoopRef, intrin: &str) -> Made {
    let (dots, interleaved) = (Dots::by_name(intrin), Interleaved::by_name(intrin));
    if let Some(dot) =
        intrin.strip_prefix("tiles_").and_then(|types| DotProduct::by_name(&types.replacen('_', "*", 1)))
    {
        return tiles(function, of, dot);
    }
    let lanes = TRANSPOSITIONS.iter().find(|(name, _)| *name == intrin).map(|(_, lanes)| *lanes);
    if dots.is_none() && interleaved.is_none() && lanes.is_none() {
        let names = TRANSPOSITIONS.map(|(name, _)| name).join(", ");
        return Err(ScheduleError::new(format!(
            "there is no tile \"{intrin}\"; the tiles are: {names}, dot_uint8_int8_16, tiles_uint8_int8, interleave_4x16 and those of other types and sizes"
        )));
    }
    let place = StmtPath::of_loop(function, of)?;
    let ranges = place.ranges(function);
    let refused = |why: &str| {
        Err(ScheduleError::new(format!("loop \"{}\" does not run over a {intrin}: {why}", of.0.name)))
    };
    let outer = place.as_loop()?;
    if dots.is_some() || interleaved.is_some() {
        let Some(block) = Realized::from_stmt(outer.body) else { return refused("its body is no block") };
        let made = match (dots, interleaved) {
            (Some(dots), _) => dots.stmt(function, &place, &outer, &block),
            (None, Some(copy)) => copy.stmt(function, &place, &outer, &block),
            (None, None) => return refused("there is no such tile"),
        };
        return match made {
            Ok(stmt) => Ok((place.replaced(function, stmt), Vec::new())),
            Err(why) => refused(why),
        };
    }
    let Some(inner) = Loop::from_stmt(outer.body) else { return refused("its body is no loop") };
    let Some(block) = Realized::from_stmt(inner.body) else {
        return refused("the inner loop's body is no block");
    };
    let tile = Tile { outer, inner, block, lanes: lanes.unwrap_or_default() };
    match tile.stmt(function, &ranges) {
        Ok(stmt) => Ok((place.replaced(function, stmt), Vec::new())),
        Err(why) => refused(why),
    }
}

/// Marks the steps of a product of tiles.
fn tiles(function: &PrimFunc, of: &LoopRef, dot: DotProduct) -> Made {
    let place = StmtPath::of_loop(function, of)?;
    let stmt = place.stmt();
    if TileProduct::from_stmt(stmt).is_none_or(|product| product.dot != dot) {
        let name = &of.0.name;
        return Err(ScheduleError::new(format!(
            "loop \"{name}\" does not run over tiles of {}: expected serial loops over a multiple of 16 rows, over columns and over \
             16 groups around a dot product of 16 lanes whose sums it does not move, with at most 8 tiles",
            dot.name()
        )));
    }
    let mut marked = stmt.kind.clone();
    if let StmtKind::For { annotations, .. } = &mut marked {
        annotations.insert(attr::TILES.into(), AttrValue::Int(1));
    }
    Ok((place.replaced(function, Stmt::new(marked).with_span(stmt.span)), Vec::new()))
}

impl Tile<'_> {
    fn stmt(&self, function: &PrimFunc, ranges: &Ranges) -> Result<Stmt, &'static str> {
        let plain = |of: &Loop<'_>| {
            of.extent.as_int() == Some(i128::from(self.lanes))
                && of.min.as_int() == Some(0)
                && of.step.is_none()
                && of.kind == chipdock_ir::ForKind::Serial
        };
        if !plain(&self.outer) || !plain(&self.inner) {
            return Err("its loops are not serial ones of so many iterations");
        }
        let block = self.block.block;
        let own = block.alloc_buffers.is_empty() && block.match_buffers.is_empty() && block.init.is_none();
        let spatial = block.iter_vars.iter().all(|axis| axis.kind == IterKind::Spatial);
        let StmtKind::Store { buffer, indices, value, predicate: None } = &block.body.kind else {
            return Err("the block is not one store");
        };
        let ExprKind::Load { buffer: from, indices: read, predicate: None } = &value.kind else {
            return Err("the block does not copy an element");
        };
        if !own || !spatial || self.block.predicate.as_int() != Some(1) || !value.dtype.is_scalar() {
            return Err("the block has a predicate, or more than one store of an element");
        }
        if may_alias(function, &buffer.data, &from.data) {
            return Err("the source may overlap with the destination");
        }
        let by_loops = |buffer: &Buffer, indices: &[Expr]| {
            let element = Element { buffer: buffer.clone(), indices: indices.to_vec() };
            element.by_loops(&self.block, ranges)
        };
        let (to, read) = (by_loops(buffer, indices), by_loops(from, read));
        if to.iter().chain(&read).any(depends_on_memory) {
            return Err("indices are read from memory");
        }
        let (rows, columns) = (self.outer.var, self.inner.var);
        if !is_along(&to, columns) || !is_along(&read, rows) {
            return Err(
                "the destination is not contiguous along the inner loop, or the source along the outer one",
            );
        }
        let dtype = DType { lanes: self.lanes, ..value.dtype };
        let mut stmts = Vec::new();
        let mut vectors = Vec::new();
        for row in 0..self.lanes {
            let load = Expr::new(
                ExprKind::Load {
                    buffer: from.clone(),
                    indices: self.vector(&read, rows, columns, row),
                    predicate: None,
                },
                dtype,
            );
            vectors.push(bound(&mut stmts, load, row));
        }
        let vectors = transposed(&mut stmts, vectors, dtype);
        for (row, vector) in (0..self.lanes).zip(vectors) {
            let indices = self.vector(&to, columns, rows, row);
            stmts.push(Stmt::new(StmtKind::Store {
                buffer: buffer.clone(),
                indices,
                value: vector,
                predicate: None,
            }));
        }
        Ok(Stmt::seq(stmts))
    }

    /// The indices of the elements along one loop, in an iteration of the other.
    fn vector(&self, indices: &[Expr], along: &Var, across: &Var, at: u16) -> Vec<Expr> {
        let mut substitution = Substitution::new()
            .with_var(along, Expr::int(0, along.dtype))
            .with_var(across, Expr::int(at.into(), across.dtype));
        let mut indices: Vec<Expr> = indices
            .iter()
            .map(|index| simplify::expr_with(&substitution.expr(index), &Ranges::new()))
            .collect();
        if let Some(last) = indices.pop() {
            let one = Expr::int(1, last.dtype);
            indices.push(last.ramp(one, self.lanes));
        }
        indices
    }
}

/// Whether adjacent iterations access adjacent elements.
fn is_along(indices: &[Expr], var: &Var) -> bool {
    let Some((last, others)) = indices.split_last() else { return false };
    let uses = |e: &Expr| vars_of(e).contains(var);
    let terms = Linear::of(last).terms;
    let mut with = terms.iter().filter(|(term, _)| uses(term));
    let unit = with.next().is_some_and(|(term, factor)| *factor == 1 && *term == var.expr());
    unit && with.next().is_none() && !others.iter().any(uses)
}

fn bound(stmts: &mut Vec<Stmt>, value: Expr, number: u16) -> Expr {
    let var = Var::new(format!("r{number}"), value.dtype);
    let name = var.expr();
    stmts.push(Stmt::new(StmtKind::Bind { var, value }));
    name
}

/// Exchanges the elements of so many vectors of so many lanes: halves of pairs at the distance of
/// half of them, then quarters, down to single elements.
fn transposed(stmts: &mut Vec<Stmt>, mut vectors: Vec<Expr>, dtype: DType) -> Vec<Expr> {
    let lanes = dtype.lanes;
    let mut distance = lanes / 2;
    while distance > 0 {
        for row in 0..lanes {
            if row & distance != 0 {
                continue;
            }
            let (low, high) = (usize::from(row), usize::from(row + distance));
            let pair = vec![vectors[low].clone(), vectors[high].clone()];
            let pick = |upper: bool| -> Vec<u16> {
                (0..lanes)
                    .map(|lane| match (lane & distance != 0, upper) {
                        (false, false) => lane,
                        (true, false) => lanes + lane - distance,
                        (false, true) => lane + distance,
                        (true, true) => lanes + lane,
                    })
                    .collect()
            };
            for (at, upper) in [(low, false), (high, true)] {
                let shuffle = ExprKind::Shuffle { vectors: pair.clone(), indices: pick(upper) };
                let number = u16::try_from(at).unwrap_or(0);
                vectors[at] = bound(stmts, Expr::new(shuffle, dtype), number);
            }
        }
        distance /= 2;
    }
    vectors
}
