//! Loops whose innermost part is worth vectorizing.

use std::collections::HashSet;

use chipdock_ir::{Callee, DType, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, TargetCapabilities, Var};

use super::launch::Axis;
use crate::lowering::vectorize::stays_on_vectors;
use crate::marks::is_unmarked;
use crate::scheduling::default_schedule::access::Accesses;
use crate::scheduling::default_schedule::host::steps;
use crate::scheduling::default_schedule::nest::{Head, Nest};

/// Maximum size of a vector in bytes: one load of a thread on most devices.
const VECTOR_SIZE_BYTES: usize = 16;
const LANES_MAX: i128 = 4;

/// Maximum size of a vector in bytes if threads run alone: a cache line, the widest register.
const LONG_VECTOR_SIZE_BYTES: usize = 64;
const LONG_LANES_MAX: i128 = 16;

/// The loop to split, and the number of lanes: each access steps along the loop to the adjacent
/// element or stays, and every value can be a vector.
pub(super) fn lanes(
    nest: &Nest<'_>,
    on_threads: &HashSet<Var>,
    capabilities: &TargetCapabilities,
) -> Option<(Var, i128)> {
    if nest.heads.len() != on_threads.len() {
        return None;
    }
    let (accesses, lanes) = in_lanes(nest, capabilities, VECTOR_SIZE_BYTES, LANES_MAX)?;
    let fits = |head: &&Head| {
        let whole = head.extent.as_int().is_some_and(|extent| extent > 0 && extent % lanes == 0);
        whole && is_contiguous(&accesses, head)
    };
    let head = nest.heads.iter().rev().find(fits)?;
    Some((head.var.clone(), lanes))
}

/// Number of adjacent results along a loop that one thread that runs alone computes at once; the
/// extent need not be a multiple of it.
pub(super) fn lanes_along(nest: &Nest<'_>, head: &Head, capabilities: &TargetCapabilities) -> Option<i128> {
    let (accesses, lanes) = in_lanes(nest, capabilities, LONG_VECTOR_SIZE_BYTES, LONG_LANES_MAX)?;
    is_contiguous(&accesses, head).then_some(lanes)
}

/// The accesses of the only store of a nest, and the number of its elements in a vector of at most
/// that many bytes and lanes, if every value can be a vector.
fn in_lanes(
    nest: &Nest<'_>,
    capabilities: &TargetCapabilities,
    size_bytes_max: usize,
    lanes_max: i128,
) -> Option<(Accesses, i128)> {
    let store = match &nest.body.kind {
        StmtKind::BlockRealize { predicate, block, .. } => {
            let plain = predicate.as_int() == Some(1)
                && block.init.is_none()
                && block.alloc_buffers.is_empty()
                && block.match_buffers.is_empty()
                && is_unmarked(&block.annotations);
            plain.then_some(&block.body)?
        }
        _ => nest.body,
    };
    let StmtKind::Store { buffer, value, predicate: None, .. } = &store.kind else { return None };
    if !is_plain(value, capabilities) || !buffer.dtype.is_scalar() {
        return None;
    }
    let accesses = Accesses::collect(&nest.heads, nest.body);
    let widest = accesses.list.iter().map(|access| access.buffer.dtype.size_bytes()).max()?;
    let lanes = i128::try_from(size_bytes_max / widest.max(1)).ok()?.min(lanes_max);
    (lanes > 1 && !accesses.unknown).then_some((accesses, lanes))
}

/// Returns true if each access steps along the loop to the adjacent element or stays.
fn is_contiguous(accesses: &Accesses, head: &Head) -> bool {
    let mut all = accesses.list.iter();
    head.step == 1
        && all.all(|access| {
            let steps = steps(&access.indices, &head.var);
            access.buffer.strides.is_empty() && steps.is_some() && (steps == Some(true) || !access.writes)
        })
}

/// Returns true if the value has only arithmetic and loads of scalars: `vectorize` turns these into
/// vectors without treating each lane.
fn is_plain(value: &Expr, capabilities: &TargetCapabilities) -> bool {
    let mut plain = true;
    value.walk(&mut |e| {
        plain &= e.dtype.is_scalar()
            && e.dtype != DType::HANDLE
            && match &e.kind {
                ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Cast(_) => true,
                ExprKind::Binary(..) | ExprKind::Compare(..) | ExprKind::Select(..) => true,
                ExprKind::Load { predicate, .. } => predicate.is_none(),
                ExprKind::Call { callee: Callee::Op(op), args } => {
                    let dtype = args.first().map_or(e.dtype, |arg| arg.dtype);
                    *op != Op::IfThenElse && stays_on_vectors(*op, dtype, capabilities)
                }
                _ => false,
            };
    });
    plain
}

/// Splits the axis into steps of `lanes` lanes; returns the shorter axis and the body of a step.
pub(super) fn split(axis: &Axis, lanes: i128, body: &Stmt) -> (Axis, Stmt) {
    let dtype = axis.var.dtype;
    let name = |suffix: &str| Var::new(format!("{}_{suffix}", axis.var.name), dtype);
    let (outer, lane) = (name("o"), name("v"));
    let extent = axis.extent.as_int().unwrap_or(0) / lanes;
    let mut substitution = chipdock_ir::subst::Substitution::new();
    substitution.map_var(&axis.var, outer.expr() + lane.expr());
    let body = substitution.stmt(body);
    let body = Stmt::for_loop(lane, Expr::int(lanes, dtype), ForKind::Vectorized, body);
    let (min, step) = (axis.min.clone(), axis.step * lanes);
    (Axis { var: outer, min, extent: Expr::int(extent, dtype), step }, body)
}
