//! Loops as the lanes of vectors.

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

/// Lanes of the widest vector that is made.
const LANES_MAX: i128 = 128;

/// Makes each loop marked as vectorized one iteration over vectors: the loop variable becomes a ramp, what depends on it
/// a vector, what does not is broadcast where it meets one.
///
/// * A branch by lane becomes a *mask*: what is under it stores under a predicate, and loads under one, so that a lane
///   touches nothing that it did not touch before. Where the condition compares the loop variable with a bound, as at
///   the end of a row, the body stands twice: without a mask where all lanes are within it, and with one.
/// * `if_then_else`, `and` and `or` by lane become selections; loads in a part that only some lanes evaluate get a
///   predicate.
/// * A statement that vectors cannot say (a function that is no arithmetic, a loop or a `while` with bounds by lane, a
///   store to a buffer of vectors) runs lane by lane, that one alone; names that it needs are bound again in it.
/// * A buffer that the body allocates is made as large as all lanes need it, a lane's element beside its neighbour's.
/// * An extent that is no power of two, or more than 128, is split: the largest power of two that divides it are the
///   lanes, at least 4, around it a serial loop.
///
/// The loop becomes serial as a whole, for the compiler after us to try, where its extent has no such divisor, where the
/// body asserts, calls what has effects or makes pointers, where nothing in it became a vector, or where a buffer that
/// it stores to is also loaded or stored at another index, or at one where lanes may meet. On a target that is no host,
/// nothing gets a predicate: such statements run lane by lane.
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

/// How many vectors of how many lanes an extent is.
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
