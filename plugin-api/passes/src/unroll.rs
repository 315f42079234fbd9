//! Loops written out.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{BinaryOp, Child, Expr, ForKind, IrModule, Stmt, StmtKind, TargetFacts};

use crate::PassError;
use crate::simplify::leaves_loop;
use crate::walk::map_bodies;

/// Iterations of a loop that are written out at most.
const ITERATIONS_MAX: i128 = 256;
/// Statements that a loop may become.
const STATEMENTS_MAX: i128 = 4096;

/// Writes out each loop marked as unrolled, each iteration with variables of its own. One with more than 256
/// iterations, with a number of them that is not known, one that would become more than 4096 statements, and one that is
/// left by `break` or `continue` becomes a serial loop.
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
pub fn unroll(module: &IrModule, _facts: &TargetFacts) -> Result<IrModule, PassError> {
    Ok(map_bodies(module, |function| rewrite(&function.body)))
}

fn rewrite(stmt: &Stmt) -> Stmt {
    let stmt = stmt.map_children(&mut Expr::clone, &mut rewrite);
    let StmtKind::For { var, min, extent, kind: ForKind::Unrolled, step, annotations, body } = &stmt.kind
    else {
        return stmt;
    };
    let count = extent.as_int().filter(|count| {
        (0..=ITERATIONS_MAX).contains(count)
            && count * statements(body) <= STATEMENTS_MAX
            && !leaves_loop(body)
    });
    let Some(count) = count else {
        let (var, min, extent) = (var.clone(), min.clone(), extent.clone());
        let (step, annotations, body) = (step.clone(), annotations.clone(), body.clone());
        let kind = ForKind::Serial;
        return Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body })
            .with_span(stmt.span);
    };
    let iterations = (0..count).map(|index| {
        let offset = match step {
            Some(step) => Expr::binary(BinaryOp::Mul, step.clone(), Expr::int(index, var.dtype)),
            None => Expr::int(index, var.dtype),
        };
        let value = crate::simplify::expr(&(min.clone() + offset));
        Substitution::new().fresh().with_var(var, value).stmt(body)
    });
    Stmt::seq(iterations)
}

fn statements(stmt: &Stmt) -> i128 {
    let mut count = 0;
    stmt.walk(&mut |child| count += i128::from(matches!(child, Child::Stmt(_))));
    count
}
