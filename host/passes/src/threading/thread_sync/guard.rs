//! Splitting of branches on which threads decide differently, so that barriers stand outside of
//! them.

use chipdock_ir::{DType, Expr, ForKind, Op, Stmt, StmtKind, Var};

use super::Syncer;
use crate::PassError;
use crate::simplify::{is_pure, leaves_loop};
use crate::threading::threads::barrier_scope;
use crate::walk::depends_on_memory;

impl Syncer<'_> {
    /// Splits the branch into statements with conditions of their own; the condition is evaluated
    /// once.
    pub(super) fn guarded(
        &mut self,
        condition: &Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) -> Result<Stmt, PassError> {
        let taken = Var::new("taken", DType::BOOL);
        let mut parts = vec![Stmt::new(StmtKind::Bind { var: taken.clone(), value: condition.clone() })];
        parts.push(self.push(&taken.expr(), then)?);
        if let Some(otherwise) = otherwise {
            parts.push(self.push(&taken.expr().logical_not(), otherwise)?);
        }
        Ok(Stmt::seq(parts))
    }

    /// Returns true if threads wait in a statement, or would after lowering.
    fn waits(&mut self, stmt: &Stmt) -> Result<bool, PassError> {
        // Facts recorded on the way concern the statement's own variables, and are recorded again
        // later.
        let (_, flow) = self.process(stmt)?;
        Ok(flow.waits)
    }

    fn push(&mut self, condition: &Expr, stmt: &Stmt) -> Result<Stmt, PassError> {
        let guard = |stmt: &Stmt| Stmt::if_then(condition.clone(), stmt.clone(), None);
        match &stmt.kind {
            StmtKind::Seq(stmts) => {
                let parts = stmts.iter().map(|stmt| self.push(condition, stmt)).collect::<Result<Vec<_>, _>>()?;
                Ok(Stmt::seq(parts))
            }
            StmtKind::AllocBuffer { .. } | StmtKind::DeclBuffer { data: None, .. } => Ok(stmt.clone()),
            StmtKind::DeclBuffer { .. } if stmt.as_constant().is_some() => Ok(stmt.clone()),
            StmtKind::Bind { var, value } if is_pure(value) && !var.dtype.is_handle() => {
                let value = if depends_on_memory(value) { either(condition, value) } else { value.clone() };
                Ok(Stmt::new(StmtKind::Bind { var: var.clone(), value }))
            }
            StmtKind::Bind { .. } | StmtKind::DeclBuffer { .. } => Err(self.refuse(
                "expected a value without effects in a branch that threads decide on differently and wait in; found one \
                 with effects, or a pointer: bind it outside",
            )),
            _ if barrier_scope(stmt).is_some() => Ok(stmt.clone()),
            _ if !self.waits(stmt)? => Ok(guard(stmt)),
            StmtKind::If { condition: inner, then, otherwise } => {
                let taken = Var::new("taken", DType::BOOL);
                let value = either(condition, inner);
                let mut parts = vec![Stmt::new(StmtKind::Bind { var: taken.clone(), value })];
                parts.push(self.push(&taken.expr(), then)?);
                if let Some(otherwise) = otherwise {
                    let not = condition.clone().and(taken.expr().logical_not());
                    parts.push(self.push(&not, otherwise)?);
                }
                Ok(Stmt::seq(parts))
            }
            StmtKind::For {
                var,
                min,
                extent,
                kind: kind @ (ForKind::Serial | ForKind::Unrolled | ForKind::ThreadBinding(_)),
                step,
                annotations,
                body,
            } if self.may_wrap([min, extent]) && !leaves_loop(body) => {
                let body = self.push(condition, body)?;
                let (var, min, extent) = (var.clone(), min.clone(), extent.clone());
                let (kind, step, annotations) = (*kind, step.clone(), annotations.clone());
                Ok(Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }))
            }
            StmtKind::Attr { node, key, value, body } => {
                let body = self.push(condition, body)?;
                let (node, key, value) = (node.clone(), key.clone(), value.clone());
                Ok(Stmt::new(StmtKind::Attr { node, key, value, body }))
            }
            StmtKind::For { .. } | StmtKind::While { .. } => Err(self.refuse(
                "expected a loop that runs equally often in every thread of a block, as threads wait for each other in \
                 it; found one within a branch that threads decide on differently, whose iterations they cannot all count",
            )),
            _ => Err(self.refuse(
                "expected a reduction across threads, or another wait, where all threads of a block come; found it in a \
                 branch that threads decide on differently",
            )),
        }
    }

    /// Returns true if a loop with these bounds may also be entered by threads that must not run
    /// its body.
    fn may_wrap(&self, bounds: [&Expr; 2]) -> bool {
        bounds.into_iter().all(|bound| self.is_uniform(bound) && is_pure(bound) && !depends_on_memory(bound))
    }
}

/// The value if the condition holds, otherwise 0 without evaluating it.
fn either(condition: &Expr, value: &Expr) -> Expr {
    let dtype = value.dtype;
    Expr::call(Op::IfThenElse, vec![condition.clone(), value.clone(), Expr::constant(0, dtype)], dtype)
}
