//! Loops as the lanes of vectors.

mod lanes;

use std::collections::{HashMap, HashSet};

use chipdock_ir::{Child, Expr, ExprKind, ForKind, IrModule, Stmt, StmtKind, TargetFacts, Var};

use crate::PassError;
use crate::simplify::linear::Linear;
use crate::walk::{map_bodies, vars_of};
use lanes::Lanes;

/// Lanes of the widest vector that is made.
const LANES_MAX: i128 = 128;

/// Makes each loop marked as vectorized one iteration over vectors: the loop variable becomes a ramp, what depends on it
/// a vector, what does not is broadcast where it meets one.
///
/// A loop becomes serial instead, for the compiler after us to try, where vectors would not be the same or could not be
/// said: its extent is no constant power of two up to 128; its body allocates, returns, breaks, asserts, branches or
/// loops by lane, has an inner loop that is parallel, or calls something that is not elementwise; a load that only some
/// lanes may make stands in it (`if_then_else`, `and`, `or`); or a buffer that it stores to is also loaded or stored at
/// another index, or at one where lanes may meet, so that they may depend on each other.
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
pub fn vectorize(module: &IrModule, facts: &TargetFacts) -> Result<IrModule, PassError> {
    Ok(map_bodies(module, |function| rewrite(&function.body, facts)))
}

fn rewrite(stmt: &Stmt, facts: &TargetFacts) -> Stmt {
    let stmt = stmt.map_children(&mut Expr::clone, &mut |s| rewrite(s, facts));
    let StmtKind::For { var, min, extent, kind: ForKind::Vectorized, step, annotations, body } = &stmt.kind
    else {
        return stmt;
    };
    let lanes = extent.as_int().filter(|lanes| (2..=LANES_MAX).contains(lanes) && lanes.count_ones() == 1);
    let vectors = lanes.and_then(|lanes| {
        let lanes = u16::try_from(lanes).ok()?;
        lanes_are_independent(body, var, lanes).then_some(())?;
        let stride = step.clone().unwrap_or_else(|| Expr::int(1, var.dtype));
        Lanes::new(lanes, facts).body(var, min.clone().ramp(stride, lanes), body)
    });
    vectors.unwrap_or_else(|| {
        let (var, min, extent) = (var.clone(), min.clone(), extent.clone());
        let (step, annotations, body) = (step.clone(), annotations.clone(), body.clone());
        let kind = ForKind::Serial;
        Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }).with_span(stmt.span)
    })
}

/// Whether it makes no difference that a statement runs for all lanes before the next runs for any: memory that is
/// stored is touched at one index only, by expression, and no lane ever touches an element of another lane.
fn lanes_are_independent(body: &Stmt, var: &Var, lanes: u16) -> bool {
    let mut within = HashSet::new();
    let mut stored: HashMap<&Var, &Vec<Expr>> = HashMap::new();
    let mut fine = true;
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        match &stmt.kind {
            StmtKind::Store { buffer, indices, .. } => {
                fine &= *stored.entry(&buffer.data).or_insert(indices) == indices;
            }
            StmtKind::For { var, .. } | StmtKind::Bind { var, .. } => {
                within.insert(var.clone());
            }
            _ => {}
        }
    });
    body.walk_exprs(&mut |e| match &e.kind {
        ExprKind::Load { buffer, indices, .. } => {
            fine &= stored.get(&buffer.data).is_none_or(|stored| *stored == indices);
        }
        ExprKind::Let { var, .. } => {
            within.insert(var.clone());
        }
        _ => {}
    });
    fine && stored.values().all(|indices| match indices.as_slice() {
        [index] => is_lanes_own(index, var, lanes, &within),
        _ => false,
    })
}

/// Whether lanes never meet in an index: it is a multiple of the lane, and whatever else changes within the body moves
/// it by multiples of more than all lanes take.
fn is_lanes_own(index: &Expr, var: &Var, lanes: u16, within: &HashSet<Var>) -> bool {
    let sum = Linear::of(index);
    let (mut stride, mut others) = (0_i128, 0_i128);
    for (term, coefficient) in &sum.terms {
        let vars = vars_of(term);
        let plain = match &term.kind {
            ExprKind::Var(v) => Some(v),
            ExprKind::Cast(inner) => match &inner.kind {
                ExprKind::Var(v) => Some(v),
                // A sum that may wrap at a lesser width: lanes still differ, if nothing else in it changes.
                _ if vars.contains(var) => {
                    let inner_stride = vars.is_disjoint(within) && is_lanes_own(inner, var, lanes, within);
                    stride += if inner_stride { *coefficient } else { return false };
                    continue;
                }
                _ => None,
            },
            _ => None,
        };
        match plain {
            Some(v) if v == var => stride += coefficient,
            _ if vars.contains(var) => return false,
            _ if !vars.is_disjoint(within) => others = gcd(others, coefficient.abs()),
            _ => {}
        }
    }
    let reach = stride.abs() * i128::from(lanes);
    stride != 0 && reach <= i128::from(i32::MAX) && (others == 0 || others >= reach)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
