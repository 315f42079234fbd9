//! Estimates of the work of statements, for the decision whether threads pay.

use std::collections::HashSet;

use chipdock_ir::{BinaryOp, Callee, Child, DType, Expr, ExprKind, Op, Stmt, StmtKind, Var};

use crate::simplify;
use crate::walk::{depends_on_memory, vars_of};

/// The value of [`chipdock_ir::attr::GRAIN`] that asks for an estimate.
pub(crate) const AUTO: &str = "auto";

/// The work that pays for a task, in operations on one element: 2 µs at four operations a
/// nanosecond, a rate that is assumed. On Cascade Lake two threads broke even at 1.2 µs of work for
/// both, and gained 1.55 times at 2 µs for each.
const TASK_OPERATIONS: i128 = 8192;

/// Assumed iterations of a loop whose extent is known only within the statement.
const UNKNOWN_ITERATIONS: i128 = 16;

/// Operations of one division, and of one call of a function of floats.
const FUNCTION_OPERATIONS: i128 = 8;

/// Bytes of a vector of integers that are loaded in one operation.
const LOAD_BYTES: i128 = 4;

/// The least number of runs of a statement, the body of the loop of that variable, that pay for a
/// task: an expression of what is known before the loop.
pub(crate) fn grain(var: &Var, stmt: &Stmt) -> Expr {
    let mut inside = HashSet::from([var.clone()]);
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::For { var, .. } | StmtKind::Bind { var, .. } = &stmt.kind
        {
            inside.insert(var.clone());
        }
    });
    let int = |value: i128| Expr::int(value, DType::INT64);
    let work = Expr::binary(BinaryOp::Max, operations(stmt, &inside), int(1));
    let runs = Expr::binary(BinaryOp::Div, int(TASK_OPERATIONS - 1) + work.clone(), work);
    simplify::expr(&runs)
}

/// The operations of one run of a statement.
fn operations(stmt: &Stmt, inside: &HashSet<Var>) -> Expr {
    let int = |value: i128| Expr::int(value, DType::INT64);
    match &stmt.kind {
        StmtKind::For { extent, body, .. } => iterations(extent, inside) * operations(body, inside),
        StmtKind::Seq(stmts) => stmts.iter().fold(int(0), |sum, stmt| sum + operations(stmt, inside)),
        StmtKind::If { then, otherwise, .. } => {
            let otherwise = otherwise.as_ref().map_or(int(0), |stmt| operations(stmt, inside));
            Expr::binary(BinaryOp::Max, operations(then, inside), otherwise)
        }
        StmtKind::Attr { body, .. } => operations(body, inside),
        StmtKind::While { body, .. } => int(UNKNOWN_ITERATIONS) * operations(body, inside),
        StmtKind::Store { value, .. } => int(1 + of_value(value)),
        StmtKind::Bind { value, .. } | StmtKind::Evaluate(value) => int(of_value(value)),
        _ => int(0),
    }
}

fn iterations(extent: &Expr, inside: &HashSet<Var>) -> Expr {
    if let ExprKind::Binary(BinaryOp::Min, a, b) = &extent.kind
        && let Some(most) = a.as_int().or_else(|| b.as_int())
    {
        return Expr::int(most, DType::INT64);
    }
    if depends_on_memory(extent) || vars_of(extent).iter().any(|var| inside.contains(var)) {
        return Expr::int(UNKNOWN_ITERATIONS, DType::INT64);
    }
    extent.clone().cast(DType::INT64)
}

/// Operations of a value: each of its nodes that computes, on each lane of a vector that a register
/// holds one of several, and of a vector that is loaded each four bytes, whatever they are.
pub(crate) fn of_value(value: &Expr) -> i128 {
    let mut sum = 0;
    value.walk(&mut |e| {
        let each =
            match &e.kind {
                ExprKind::Binary(
                    BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod,
                    ..,
                ) => FUNCTION_OPERATIONS,
                ExprKind::Call { callee: Callee::Op(op), .. } => {
                    if matches!(op, Op::IfThenElse | Op::Likely) { 0 } else { FUNCTION_OPERATIONS }
                }
                ExprKind::Call { .. } => FUNCTION_OPERATIONS,
                ExprKind::Load { .. } if !e.dtype.is_float() && !e.dtype.is_scalar() => {
                    sum += (e.dtype.size_bytes() as i128 / LOAD_BYTES).max(1);
                    0
                }
                ExprKind::Binary(..) | ExprKind::Load { .. } if e.dtype.is_float() => 1,
                _ => 0,
            };
        sum += each * i128::from(e.dtype.lanes);
    });
    sum
}
