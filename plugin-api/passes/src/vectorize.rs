//! Vectorization of loops.

mod independent;
mod lanes;
mod one_by_one;
mod values;

use chipdock_ir::{Expr, ForKind, IrModule, Stmt, StmtKind, TargetCapabilities, Var};

use crate::PassError;
use crate::simplify;
use crate::walk::map_bodies;
use lanes::Lanes;
pub(crate) use values::stays_on_vectors;

/// Maximum number of lanes of a vector.
const LANES_MAX: i128 = 128;

/// Turns each loop marked as vectorized into one iteration over vectors: the loop variable becomes a ramp, values that
/// depend on it become vectors, and other values are broadcast when combined with a vector.
///
/// * A branch by lane becomes a *mask*: statements under it store and load under a predicate, so that a lane touches no
///   memory that it did not touch before. If the condition compares the loop variable with a bound, as at the end of a
///   row, the body is duplicated: without a mask for the case that all lanes are within the bound, and with one. What a
///   conjunction says of all lanes at once, without reading memory, stays a branch around them.
/// * `if_then_else`, `and` and `or` by lane become selections; loads in a part that only some lanes evaluate get a
///   predicate.
/// * A statement that cannot be vectorized (a function that is not arithmetic, a loop or a `while` with bounds by lane,
///   a store to a buffer of vectors) runs lane by lane on its own; names that it needs are bound again in it.
/// * A buffer that the body allocates is enlarged for all lanes, with the elements of adjacent lanes adjacent.
/// * An extent that is not a power of two, or more than 128, is split: the lanes are the largest power of two that
///   divides it, at least 4, in a serial loop.
///
/// The loop becomes serial as a whole, left to a later compiler, if its extent has no such divisor, if the body
/// asserts, calls functions with effects or makes pointers, if nothing in it became a vector, or if a buffer that it
/// stores to is also loaded or stored at another index, or at one where lanes may collide. On a target that is not a
/// host, there are no predicates: such statements run lane by lane.
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
    Ok(map_bodies(module, |function| rewrite(&function.body, capabilities)))
}

fn rewrite(stmt: &Stmt, capabilities: &TargetCapabilities) -> Stmt {
    let stmt = stmt.map_children(&mut Expr::clone, &mut |s| rewrite(s, capabilities));
    let StmtKind::For { var, min, extent, kind: ForKind::Vectorized, step, annotations, body } = &stmt.kind
    else {
        return stmt;
    };
    let one = || Expr::int(1, var.dtype);
    let stride = step.clone().unwrap_or_else(one);
    if let Some(new) = vectors(var, min, extent, &stride, body, capabilities) {
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
    capabilities: &TargetCapabilities,
) -> Option<Stmt> {
    let extent = extent.as_int()?;
    let (count, lanes) = split(extent)?;
    let reach = extent.checked_mul(stride.as_int()?)?;
    let inside = independent::check(body, var, reach)?;
    if count == 1 {
        return Lanes::new(lanes, capabilities, inside).body(var, min, stride, body);
    }
    let outer = Var::new(format!("{}_outer", var.name), var.dtype);
    let width = Expr::int(lanes.into(), var.dtype);
    let first = simplify::expr(&(min.clone() + outer.expr() * width * stride.clone()));
    let body = Lanes::new(lanes, capabilities, inside).body(var, &first, stride, body)?;
    Some(Stmt::for_loop(outer, Expr::int(count, var.dtype), ForKind::Serial, body))
}
