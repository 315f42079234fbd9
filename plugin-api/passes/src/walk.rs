//! What several passes need: functions of a module mapped one by one, and searches in bodies.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{Callee, Child, Effect, Expr, ExprKind, ForKind, IrModule, PrimFunc, Stmt, StmtKind, Var};

/// The module with the body of each function replaced.
pub(crate) fn map_bodies(module: &IrModule, mut f: impl FnMut(&PrimFunc) -> Stmt) -> IrModule {
    let functions =
        module.functions.iter().map(|function| PrimFunc { body: f(function), ..function.clone() });
    IrModule { functions: functions.collect(), attrs: module.attrs.clone() }
}

/// The module with each function replaced.
pub(crate) fn try_map_functions<E>(
    module: &IrModule,
    f: impl FnMut(&PrimFunc) -> Result<PrimFunc, E>,
) -> Result<IrModule, E> {
    let functions = module.functions.iter().map(f).collect::<Result<_, E>>()?;
    Ok(IrModule { functions, attrs: module.attrs.clone() })
}

/// The name, or one like it that no parameter of the function has.
pub(crate) fn unused_name(function: &PrimFunc, name: &str) -> String {
    let mut name = name.to_owned();
    while function.params.iter().any(|param| **param.name() == *name) {
        name.push('_');
    }
    name
}

/// The variables that occur in an expression, those bound within it too.
pub(crate) fn vars_of(expr: &Expr) -> HashSet<Var> {
    let mut vars = HashSet::new();
    expr.walk(&mut |e| {
        if let ExprKind::Var(var) = &e.kind {
            vars.insert(var.clone());
        }
    });
    vars
}

/// True when the expression loads from a buffer or calls something that is not pure.
pub(crate) fn depends_on_memory(expr: &Expr) -> bool {
    depends_on_memory_but_for(expr, &|_| false)
}

/// The same, where calls of some functions of the module do not.
pub(crate) fn depends_on_memory_but_for(expr: &Expr, is_apart: &dyn Fn(&str) -> bool) -> bool {
    let mut depends = false;
    expr.walk(&mut |e| {
        depends |= match &e.kind {
            ExprKind::Load { .. } => true,
            ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() != Effect::Pure,
            ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => !pure,
            ExprKind::Call { callee: Callee::Global(name), .. } => !is_apart(name),
            _ => false,
        };
    });
    depends
}

/// True when the condition holds for any statement, this one included.
pub(crate) fn any_stmt(stmt: &Stmt, f: &mut dyn FnMut(&StmtKind) -> bool) -> bool {
    let mut found = false;
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            found = found || f(&stmt.kind);
        }
    });
    found
}

/// True for a loop bound to threads, or an axis that is launched.
pub(crate) fn is_thread(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::LaunchThread { .. } | StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
}

/// Names of the functions of the module that a statement calls, in the order of their first occurrence.
pub(crate) fn called_functions(stmt: &Stmt) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut seen: HashSet<Arc<str>> = HashSet::new();
    stmt.walk_exprs(&mut |expr| {
        if let ExprKind::Call { callee: Callee::Global(name), .. } = &expr.kind
            && seen.insert(Arc::clone(name))
        {
            names.push(Arc::clone(name));
        }
    });
    names
}
