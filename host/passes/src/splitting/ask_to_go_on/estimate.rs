//! What statements do, in operations on one element, as far as it is known.

use std::collections::HashSet;

use chipdock_ir::{BinaryOp, Buffer, Child, DType, Expr, ExprKind, Stmt, StmtKind, StorageScope, Var};

use super::{BETWEEN, of_effects};
use crate::simplify;
use crate::walk::{depends_on_memory, vars_of};
use crate::work;

/// Operations of a call with an effect: of another function, which asks for itself where it is
/// long, or of the environment.
pub(super) const EFFECT_OPERATIONS: i128 = BETWEEN / 256;

/// Assumed iterations of a loop whose extent is known only within the statement.
const UNKNOWN_ITERATIONS: i128 = 8192;

/// The most that counts of a piece of work: products of such stay within 64 bits.
const MOST: i128 = 1 << 22;

/// What a statement does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// The most operations of a run; `None` if that is not known.
    pub(super) most: Option<i128>,
    /// Whether every run asks at least once, and nowhere does much without asking.
    pub(super) asks: bool,
}

impl Work {
    pub(super) const NONE: Self = Self { most: Some(0), asks: false };

    pub(super) const fn unknown() -> Self {
        Self { most: None, asks: false }
    }

    pub(super) const fn of_operations(count: i128) -> Self {
        Self { most: Some(count), asks: false }
    }

    pub(super) fn of_value(value: &Expr) -> Self {
        Self::of_operations(work::of_value(value).saturating_add(of_effects(value)))
    }

    /// This and then another.
    pub(super) fn then(self, next: Self) -> Self {
        let most = self.most.zip(next.most).map(|(a, b)| a.saturating_add(b));
        Self { most, asks: self.asks || next.asks }
    }

    /// This or another.
    pub(super) fn or(self, other: Self) -> Self {
        let most = self.most.zip(other.most).map(|(a, b)| a.max(b));
        Self { most, asks: self.asks && other.asks }
    }
}

/// Returns true if a loop's variable is part of the index of an access to memory, directly or
/// through variables that are bound in its body.
pub(super) fn goes_through_memory(var: &Var, body: &Stmt) -> bool {
    let mut derived = HashSet::from([var.clone()]);
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Bind { var, value } = &stmt.kind
            && !vars_of(value).is_disjoint(&derived)
        {
            derived.insert(var.clone());
        }
    });
    let is_of_it = |buffer: &Buffer, indices: &[Expr]| {
        buffer.scope == StorageScope::GLOBAL
            && indices.iter().any(|index| !vars_of(index).is_disjoint(&derived))
    };
    let mut found = false;
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Store { buffer, indices, .. } = &stmt.kind
        {
            found |= is_of_it(buffer, indices);
        }
    });
    body.walk_exprs(&mut |e| {
        if let ExprKind::Load { buffer, indices, .. } = &e.kind {
            found |= is_of_it(buffer, indices);
        }
    });
    found
}

fn int(value: i128) -> Expr {
    Expr::int(value, DType::INT64)
}

/// The operations of one run of a loop's body as they are expected to be: an int64 of what is known
/// before the loop, between 1 and [`MOST`].
pub(super) fn of_iteration(var: &Var, body: &Stmt) -> Expr {
    let mut inside = HashSet::from([var.clone()]);
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::For { var, .. } | StmtKind::Bind { var, .. } = &stmt.kind
        {
            inside.insert(var.clone());
        }
    });
    simplify::expr(&Expr::binary(BinaryOp::Max, operations(body, &inside), int(1)))
}

/// The operations of a run of a statement of which nothing is known before.
pub(super) fn expected(body: &Stmt) -> i128 {
    let mut inside = HashSet::new();
    body.walk_exprs(&mut |e| inside.extend(vars_of(e)));
    simplify::expr(&operations(body, &inside)).as_int().unwrap_or(MOST)
}

fn operations(stmt: &Stmt, inside: &HashSet<Var>) -> Expr {
    let of_value = |value: &Expr| work::of_value(value).saturating_add(of_effects(value)).min(MOST);
    match &stmt.kind {
        StmtKind::For { extent, body, .. } => {
            let all = iterations(extent, inside) * (int(1) + operations(body, inside));
            Expr::binary(BinaryOp::Min, all, int(MOST))
        }
        StmtKind::While { body, .. } => {
            let all = int(UNKNOWN_ITERATIONS) * (int(1) + operations(body, inside));
            Expr::binary(BinaryOp::Min, all, int(MOST))
        }
        StmtKind::Seq(stmts) => {
            let all = stmts.iter().fold(int(0), |sum, stmt| sum + operations(stmt, inside));
            simplify::expr(&Expr::binary(BinaryOp::Min, all, int(MOST)))
        }
        StmtKind::If { then, otherwise, .. } => {
            let otherwise = otherwise.as_ref().map_or(int(0), |stmt| operations(stmt, inside));
            Expr::binary(BinaryOp::Max, operations(then, inside), otherwise)
        }
        StmtKind::Attr { body, .. } => operations(body, inside),
        StmtKind::Store { value, .. } => int(of_value(value) + 1),
        StmtKind::Bind { value, .. } | StmtKind::Evaluate(value) => int(of_value(value)),
        _ => int(0),
    }
}

/// The iterations of a loop, at most [`MOST`].
fn iterations(extent: &Expr, inside: &HashSet<Var>) -> Expr {
    if let ExprKind::Binary(BinaryOp::Min, a, b) = &extent.kind
        && let Some(most) = a.as_int().or_else(|| b.as_int())
    {
        return int(most.clamp(0, MOST));
    }
    if let Some(count) = extent.as_int() {
        return int(count.clamp(0, MOST));
    }
    if depends_on_memory(extent) || vars_of(extent).iter().any(|var| inside.contains(var)) {
        return int(UNKNOWN_ITERATIONS);
    }
    let count = extent.clone().cast(DType::INT64);
    Expr::binary(BinaryOp::Max, Expr::binary(BinaryOp::Min, count, int(MOST)), int(0))
}
