//! Unrolling of loops.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{AttrValue, BinaryOp, Child, Expr, ForKind, IrModule, Stmt, StmtKind, TargetCapabilities};

use crate::PassError;
use crate::simplify::leaves_loop;
use crate::walk::map_bodies;

/// Maximum number of iterations of an unrolled loop.
const ITERATIONS_MAX: i128 = 256;
/// Maximum number of statements that a loop may be unrolled to.
const STATEMENTS_MAX: i128 = 4096;

/// Annotation of a loop or a block: serial loops within it with at most that many steps in total
/// are unrolled.
pub(crate) const AUTO_MAX_STEP: &str = "pragma_auto_unroll_max_step";
/// Annotation that goes with it: whether this pass unrolls (ignored).
pub(crate) const EXPLICIT: &str = "pragma_unroll_explicit";

/// Unrolls each loop marked as unrolled, with fresh variables in each iteration. A loop becomes
/// serial if it has more than 256 iterations or an unknown number of them, would become more than
/// 4096 statements, or is left by `break` or `continue`.
///
/// Under the annotation `pragma_auto_unroll_max_step`, an integer on a loop, or around a block,
/// serial loops of a constant number of iterations are unrolled too, inner ones first, as long as
/// their stores and calls are at most that many. That annotation and `pragma_unroll_explicit` are
/// dropped.
///
/// # Before and after
///
/// ```text
/// for i in T.unroll(2):            B[0] = A[0]
///     B[i] = A[i]          ->      B[1] = A[1]
/// ```
///
/// # Requires / # Ensures
///
/// Requires a module without blocks. No loop is marked as unrolled.
///
/// # Errors
///
/// None.
pub fn unroll(module: &IrModule, _capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    Ok(map_bodies(module, |function| rewrite(&function.body, 0)))
}

/// Unrolls loops in the statement; `most` is the number of steps up to which a serial loop is
/// unrolled, 0 for none.
fn rewrite(stmt: &Stmt, most: i128) -> Stmt {
    match &stmt.kind {
        StmtKind::Attr { key, value, body, .. } if &**key == AUTO_MAX_STEP => {
            return rewrite(body, value.as_int().unwrap_or(0));
        }
        StmtKind::Attr { key, body, .. } if &**key == EXPLICIT => return rewrite(body, most),
        _ => {}
    }
    let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
        return stmt.map_children(&mut Expr::clone, &mut |s| rewrite(s, most));
    };
    let most = match annotations.get(AUTO_MAX_STEP) {
        Some(AttrValue::Int(steps)) => i128::from(*steps),
        _ => most,
    };
    let body = rewrite(body, most);
    let wanted = match kind {
        ForKind::Unrolled => true,
        ForKind::Serial => {
            extent.as_int().is_some_and(|count| count.checked_mul(steps(&body)).is_some_and(|n| n <= most))
        }
        _ => false,
    };
    let count = extent.as_int().filter(|count| {
        wanted
            && (0..=ITERATIONS_MAX).contains(count)
            && count * statements(&body) <= STATEMENTS_MAX
            && !leaves_loop(&body)
    });
    let Some(count) = count else {
        let (var, min, extent, step) = (var.clone(), min.clone(), extent.clone(), step.clone());
        let kind = if *kind == ForKind::Unrolled { ForKind::Serial } else { *kind };
        let mut annotations = annotations.clone();
        annotations.retain(|key, _| ![AUTO_MAX_STEP, EXPLICIT].contains(&&**key));
        return Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body })
            .with_span(stmt.span);
    };
    let iterations = (0..count).map(|index| {
        let offset = match step {
            Some(step) => Expr::binary(BinaryOp::Mul, step.clone(), Expr::int(index, var.dtype)),
            None => Expr::int(index, var.dtype),
        };
        let value = crate::simplify::expr(&(min.clone() + offset));
        Substitution::new().fresh().with_var(var, value).stmt(&body)
    });
    Stmt::seq(iterations)
}

/// Stores and calls of one run of a body; a remaining loop counts as too many.
fn steps(stmt: &Stmt) -> i128 {
    let mut count = 0_i128;
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            count = count.saturating_add(match stmt.kind {
                StmtKind::Store { .. } | StmtKind::Evaluate(_) => 1,
                StmtKind::For { .. } | StmtKind::While { .. } => i128::MAX,
                _ => 0,
            });
        }
    });
    count
}

fn statements(stmt: &Stmt) -> i128 {
    let mut count = 0;
    stmt.walk(&mut |child| count += i128::from(matches!(child, Child::Stmt(_))));
    count
}
