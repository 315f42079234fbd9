//! Simplification of statements: decides branches, dissolves short loops, removes statements
//! without effect.

use std::cell::RefCell;
use std::sync::Arc;

use chipdock_ir::{AttrValue, Attrs, Expr, ForKind, IrModule, Stmt, StmtKind, TargetCapabilities};

use super::{Ranges, all_lanes, expr_with, is_plain, is_pure};
use crate::PassError;
use crate::walk::map_bodies;
use chipdock_ir::subst::Substitution;

/// Simplifies every function.
///
/// # Before and after
///
/// ```text
/// for i in range(1):                          B[j] = A[j]
///     for j in range(16):            ->
///         if i * 16 + j < 16:
///             B[(i * 16 + j) % 16] = A[j]
/// ```
/// (inside the loop over `j`)
///
/// # Requires / # Ensures
///
/// Requires nothing; the behaviour of the module is unchanged, and no node kind is added.
///
/// # Errors
///
/// None.
pub fn simplify(module: &IrModule, _capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    Ok(map_bodies(module, |function| Statements { ranges: Ranges::new() }.stmt(&function.body)))
}

struct Statements {
    ranges: Ranges,
}

impl Statements {
    fn expr(&self, expr: &Expr) -> Expr {
        expr_with(expr, &self.ranges)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.seq(stmts),
            StmtKind::Bind { var, value } => {
                let value = self.expr(value);
                self.learn(var, &value);
                Stmt::new(StmtKind::Bind { var: var.clone(), value }).with_span(stmt.span)
            }
            StmtKind::For { .. } => self.for_loop(stmt),
            StmtKind::LaunchThread { var, extent, .. } => {
                self.ranges.set_loop(var, &Expr::int(0, var.dtype), &self.expr(extent), None);
                self.children(stmt)
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expr(condition);
                if let Some(value) = condition.as_int() {
                    return match (value != 0, otherwise) {
                        (true, _) => self.stmt(then),
                        (false, Some(otherwise)) => self.stmt(otherwise),
                        (false, None) => Stmt::nop(),
                    };
                }
                let then = self.given(&condition, then);
                let not = expr_with(&condition.clone().logical_not(), &self.ranges);
                let otherwise = otherwise.as_ref().map(|s| self.given(&not, s)).filter(|s| !s.is_nop());
                if then.is_nop() && otherwise.is_none() && is_pure(&condition) {
                    return Stmt::nop();
                }
                Stmt::if_then(condition, then, otherwise).with_span(stmt.span)
            }
            StmtKind::Evaluate(value) => {
                let value = self.expr(value);
                if is_pure(&value) {
                    Stmt::nop()
                } else {
                    Stmt::new(StmtKind::Evaluate(value)).with_span(stmt.span)
                }
            }
            StmtKind::Store { predicate: Some(_), .. } => self.masked(stmt),
            StmtKind::Assert { condition, .. } if self.expr(condition).as_int() == Some(1) => Stmt::nop(),
            _ => self.children(stmt),
        }
    }

    /// Simplifies a store under a predicate, which all lanes may have, or none.
    fn masked(&mut self, stmt: &Stmt) -> Stmt {
        let new = self.children(stmt);
        let StmtKind::Store { buffer, indices, value, predicate: Some(predicate) } = &new.kind else {
            return new;
        };
        match all_lanes(predicate) {
            Some(0) if is_pure(value) && indices.iter().all(is_pure) => Stmt::nop(),
            Some(all) if all != 0 => Stmt::store(buffer, indices.clone(), value.clone()).with_span(stmt.span),
            _ => new,
        }
    }

    /// Simplifies the statement under the assumption that the condition holds.
    fn given(&mut self, condition: &Expr, stmt: &Stmt) -> Stmt {
        let outside = self.ranges.mark();
        self.ranges.assume(condition);
        let result = self.stmt(stmt);
        self.ranges.back_to(outside);
        result
    }

    fn learn(&mut self, var: &chipdock_ir::Var, value: &Expr) {
        if value.dtype.is_scalar() && value.dtype.is_integer() {
            let (low, high) = self.ranges.of(value);
            self.ranges.set(var, low, high);
        }
    }

    fn children(&mut self, stmt: &Stmt) -> Stmt {
        let this = RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow().expr(e), &mut |s| this.borrow_mut().stmt(s))
    }

    fn seq(&mut self, stmts: &[Stmt]) -> Stmt {
        let mut result = Vec::with_capacity(stmts.len());
        let mut substitution: Option<Substitution> = None;
        for stmt in stmts {
            let stmt = match &mut substitution {
                Some(substitution) => self.stmt(&substitution.stmt(stmt)),
                None => self.stmt(stmt),
            };
            match &stmt.kind {
                // A name for a constant or for another variable is useless.
                StmtKind::Bind { var, value } if is_plain(value) => {
                    substitution.get_or_insert_default().map_var(var, value.clone());
                }
                _ => result.push(stmt),
            }
        }
        Stmt::seq(result)
    }

    fn annotations(&self, annotations: &Attrs) -> Attrs {
        let simpler = |value: &AttrValue| match value {
            AttrValue::Expr(value) => AttrValue::Expr(self.expr(value)),
            other => other.clone(),
        };
        annotations.iter().map(|(key, value)| (Arc::clone(key), simpler(value))).collect()
    }

    fn for_loop(&mut self, stmt: &Stmt) -> Stmt {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
            return stmt.clone();
        };
        let (min, extent) = (self.expr(min), self.expr(extent));
        let step = step.as_ref().map(|step| self.expr(step)).filter(|step| step.as_int() != Some(1));
        let bound = matches!(kind, ForKind::ThreadBinding(_));
        if extent.as_int().is_some_and(|count| count <= 0) && !bound && is_pure(&min) {
            return Stmt::nop();
        }
        if extent.as_int() == Some(1) && !bound && is_pure(&min) && !leaves_loop(body) {
            let mut substitution = Substitution::new();
            substitution.map_var(var, min);
            return self.stmt(&substitution.stmt(body));
        }
        self.ranges.set_loop(var, &min, &extent, step.as_ref());
        let body = self.stmt(body);
        if body.is_nop() && is_pure(&extent) && is_pure(&min) {
            return Stmt::nop();
        }
        let (var, annotations) = (var.clone(), self.annotations(annotations));
        Stmt::new(StmtKind::For { var, min, extent, kind: *kind, step, annotations, body })
            .with_span(stmt.span)
    }
}

/// Returns true if the body has a `Break` or `Continue` of its own loop.
pub(crate) fn leaves_loop(body: &Stmt) -> bool {
    match &body.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::For { .. } | StmtKind::While { .. } => false,
        _ => {
            let mut leaves = false;
            body.for_each_child(&mut |child| {
                if let chipdock_ir::Child::Stmt(stmt) = child {
                    leaves |= leaves_loop(stmt);
                }
            });
            leaves
        }
    }
}
