//! What the functions of a module that others call can be relied on for.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{Callee, Child, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt, StmtKind, Var};

use crate::walk::{any_stmt, depends_on_memory_but_for};

/// The functions of a module by what they do.
pub(crate) struct Callees {
    /// They compute from scalars alone, on whichever side they are called; they may raise an error.
    arithmetic: HashSet<Arc<str>>,
    /// They may raise an error, or call a function that may.
    raising: HashSet<Arc<str>>,
}

impl Callees {
    pub(crate) fn of(module: &IrModule) -> Self {
        let (mut arithmetic, mut raising): (HashSet<Arc<str>>, HashSet<Arc<str>>) = Default::default();
        // Recursive functions stay out of the first: what they need is never all there.
        while let Some(next) = module
            .functions
            .iter()
            .find(|f| !arithmetic.contains(&f.name) && computes_from_scalars(f, &arithmetic))
        {
            arithmetic.insert(Arc::clone(&next.name));
        }
        while let Some(next) =
            module.functions.iter().find(|f| !raising.contains(&f.name) && may_raise(f, &raising))
        {
            raising.insert(Arc::clone(&next.name));
        }
        Self { arithmetic, raising }
    }

    /// Whether a function computes from its arguments, scalars, alone.
    pub(crate) fn is_arithmetic(&self, name: &str) -> bool {
        self.arithmetic.contains(name)
    }

    /// Whether the host can evaluate it: it touches no memory, and changes nothing.
    pub(crate) fn is_of_host(&self, expr: &Expr) -> bool {
        let mut pointers = false;
        expr.walk(&mut |e| pointers |= matches!(&e.kind, ExprKind::Var(var) if var.dtype.is_handle()));
        !pointers && is_apart_from_memory(expr, &self.arithmetic)
    }

    /// Whether evaluating it may raise an error.
    pub(crate) fn raises(&self, expr: &Expr) -> bool {
        let mut raises = false;
        expr.walk(&mut |e| raises |= e.called().is_some_and(|name| self.raising.contains(name)));
        raises
    }

    /// The statement with variables for the calls that may raise an error, where the host knows the arguments and the call is
    /// made whatever happens; and the statements that bind these.
    pub(crate) fn hoisted(&self, stmt: &Stmt) -> (Vec<Stmt>, Stmt) {
        let mut before = Vec::new();
        let stmt = stmt.map_children(&mut |e| self.hoisted_expr(e, &mut before), &mut Stmt::clone);
        (before, stmt)
    }

    fn hoisted_expr(&self, expr: &Expr, before: &mut Vec<Stmt>) -> Expr {
        let stays = match &expr.kind {
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Select(..) | ExprKind::Let { .. } => true,
            ExprKind::Call { callee: Callee::Op(op), .. } => *op == Op::IfThenElse,
            _ => false,
        };
        if stays || !self.raises(expr) {
            return expr.clone();
        }
        if expr.called().is_some() && expr.dtype.is_scalar() && self.is_of_host(expr) {
            let var = Var::new("value", expr.dtype);
            before.push(Stmt::new(StmtKind::Bind { var: var.clone(), value: expr.clone() }));
            return var.expr();
        }
        expr.map_children(&mut |e| self.hoisted_expr(e, before))
    }
}

fn is_apart_from_memory(expr: &Expr, arithmetic: &HashSet<Arc<str>>) -> bool {
    !depends_on_memory_but_for(expr, &|name| arithmetic.contains(name))
}

fn computes_from_scalars(function: &PrimFunc, arithmetic: &HashSet<Arc<str>>) -> bool {
    let scalars =
        function.params.iter().all(|param| matches!(param, Param::Var(var) if !var.dtype.is_handle()));
    let mut apart = scalars && function.alloc_buffers.is_empty();
    function.body.walk(&mut |child| {
        apart &= match child {
            Child::Expr(expr) => is_apart_from_memory(expr, arithmetic),
            Child::Stmt(stmt) => !matches!(
                stmt.kind,
                StmtKind::Store { .. }
                    | StmtKind::AllocBuffer { .. }
                    | StmtKind::DeclBuffer { .. }
                    | StmtKind::BlockRealize { .. }
                    | StmtKind::LaunchThread { .. }
            ),
        };
    });
    apart
}

fn may_raise(function: &PrimFunc, raising: &HashSet<Arc<str>>) -> bool {
    let mut raises = any_stmt(&function.body, &mut |kind| matches!(kind, StmtKind::Assert { .. }));
    function.body.walk_exprs(&mut |e| raises |= e.called().is_some_and(|name| raising.contains(name)));
    raises
}
