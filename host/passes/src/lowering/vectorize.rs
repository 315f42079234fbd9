//! Vectorization of loops.

mod independent;
mod lanes;
mod one_by_one;
mod values;

use std::collections::HashMap;

use chipdock_ir::{
    Buffer, Child, Expr, ExprKind, ForKind, IrModule, Stmt, StmtKind, TargetCapabilities, Var,
};

use crate::PassError;
use crate::simplify::{self, Ranges};
use crate::walk::map_bodies;
use lanes::Lanes;
pub(crate) use values::stays_on_vectors;

/// Maximum number of lanes of a vector.
const LANES_MAX: i128 = 128;

/// Turns each loop marked as vectorized into one iteration over vectors: the loop variable becomes
/// a ramp, values that depend on it become vectors, and other values are broadcast when combined
/// with a vector.
///
/// * A branch by lane becomes a *mask*: statements under it store and load under a predicate, so
///   that a lane touches no memory that it did not touch before. If the condition compares the loop
///   variable with a bound, as at the end of a row, the body is duplicated: without a mask for the
///   case that all lanes are within the bound, and with one. What a conjunction says of all lanes
///   at once, without reading memory, stays a branch around them; so does a comparison of adjacent
///   integers, from a multiple of their number on, with another such multiple. Loads of buffers of
///   a constant size that the function allocates need no predicate where the ranges of the loops
///   show that all lanes are inside: with one, a compiler keeps the buffer in memory rather than in
///   registers.
/// * `if_then_else`, `and` and `or` by lane become selections; loads in a part that only some lanes
///   evaluate get a predicate.
/// * A statement that cannot be vectorized (a function that is not arithmetic, a loop or a `while`
///   with bounds by lane, a store to a buffer of vectors) runs lane by lane on its own; names that
///   it needs are bound again in it.
/// * A buffer that the body allocates is enlarged for all lanes, with the elements of adjacent
///   lanes adjacent.
/// * An extent that is not a power of two, or more than 128, is split: the lanes are the largest
///   power of two that divides it, at least 4, in a serial loop.
///
/// The loop becomes serial as a whole, left to a later compiler, if its extent has no such divisor,
/// if the body asserts, calls functions with effects or makes pointers, if nothing in it became a
/// vector, or if a buffer that it stores to is also loaded or stored at another index, or at one
/// where lanes may collide. On a target that is not a host, there are no predicates: such
/// statements run lane by lane.
///
/// # Before and after
///
/// ```text
/// for i in T.vectorized(4):
///     B[i] = A[i] * s                ->      B[0:4] = A[0:4] * T.Broadcast(s, 4)
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers. No loop is marked as vectorized.
///
/// # Errors
///
/// None.
pub fn vectorize(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    Ok(map_bodies(module, |function| {
        let mut around = Around { capabilities, ranges: Ranges::new(), sizes: sizes(&function.body) };
        rewrite(&function.body, &mut around)
    }))
}

/// What is known of the statements around a loop.
struct Around<'a> {
    capabilities: &'a TargetCapabilities,
    ranges: Ranges,
    /// Sizes in bytes of the buffers that the function allocates, where they are constant, by data
    /// variable.
    sizes: HashMap<Var, i128>,
}

impl Around<'_> {
    /// Whether a condition holds in all lanes, if the ranges of the loops show it.
    fn decided(&self, condition: &Expr) -> Option<bool> {
        let decided = simplify::expr_with(condition, &self.ranges).as_int();
        decided.filter(|_| simplify::is_pure(condition)).map(|value| value != 0)
    }

    /// Whether an element is one of an allocated buffer; of a vector of indices, all elements.
    fn is_inside(&self, buffer: &Buffer, index: &Expr) -> bool {
        let Some(size) = self.sizes.get(&buffer.data) else { return false };
        let (first, reach) = match &index.kind {
            ExprKind::Ramp { base, stride, lanes } => {
                let Some(stride) = stride.as_int() else { return false };
                (base, stride.saturating_mul(i128::from(*lanes) - 1))
            }
            _ => (index, 0),
        };
        let (low, high) = self.ranges.of(first);
        let end = high.saturating_add(reach.max(0)).saturating_add(1);
        low.saturating_add(reach.min(0)) >= 0
            && end.saturating_mul(buffer.dtype.size_bytes() as i128) <= *size
    }
}

fn sizes(body: &Stmt) -> HashMap<Var, i128> {
    let mut sizes = HashMap::new();
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind
            && let Some(size) = buffer.constant_size()
        {
            sizes.insert(buffer.data.clone(), size.saturating_mul(buffer.dtype.size_bytes() as i128));
        }
    });
    sizes
}

fn rewrite(stmt: &Stmt, around: &mut Around<'_>) -> Stmt {
    if let StmtKind::For { var, min, extent, step, .. } = &stmt.kind {
        around.ranges.set_loop(var, min, extent, step.as_ref());
    }
    let stmt = stmt.map_children(&mut Expr::clone, &mut |s| rewrite(s, around));
    let StmtKind::For { var, min, extent, kind: ForKind::Vectorized, step, annotations, body } = &stmt.kind
    else {
        return stmt;
    };
    let one = || Expr::int(1, var.dtype);
    let stride = step.clone().unwrap_or_else(one);
    if let Some(new) = vectors(var, min, extent, &stride, body, around) {
        return new;
    }
    let (var, min, extent) = (var.clone(), min.clone(), extent.clone());
    let (step, annotations, body) = (step.clone(), annotations.clone(), body.clone());
    let kind = ForKind::Serial;
    Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }).with_span(stmt.span)
}

/// Splits an extent into a number of vectors and a number of lanes.
fn split(extent: i128) -> Option<(i128, u16)> {
    if extent < 2 {
        return None;
    }
    let lanes = (1_i128 << extent.trailing_zeros()).min(LANES_MAX);
    let enough = lanes >= 4 || lanes == extent;
    let narrow = u16::try_from(lanes).ok()?;
    enough.then_some((extent / lanes, narrow))
}

fn vectors(
    var: &Var,
    min: &Expr,
    extent: &Expr,
    stride: &Expr,
    body: &Stmt,
    around: &mut Around<'_>,
) -> Option<Stmt> {
    let extent = extent.as_int()?;
    let (count, lanes) = split(extent)?;
    let reach = extent.checked_mul(stride.as_int()?)?;
    let inside = independent::check(body, var, reach)?;
    if count == 1 {
        return Lanes::new(lanes, around, inside).body(var, min, stride, body);
    }
    let outer = Var::new(format!("{}_outer", var.name), var.dtype);
    let width = Expr::int(lanes.into(), var.dtype);
    let first = simplify::expr(&(min.clone() + outer.expr() * width * stride.clone()));
    around.ranges.set_loop(&outer, &Expr::int(0, var.dtype), &Expr::int(count, var.dtype), None);
    let body = Lanes::new(lanes, around, inside).body(var, &first, stride, body)?;
    Some(Stmt::for_loop(outer, Expr::int(count, var.dtype), ForKind::Serial, body))
}
