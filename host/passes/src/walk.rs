//! Helpers shared by several passes: mapping the functions of a module, and searching bodies.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{
    Callee, Child, Effect, Expr, ExprKind, ForKind, IrModule, PrimFunc, Stmt, StmtKind, TargetCapabilities,
    Var, attr,
};

/// Replaces the body of each function of the module.
pub(crate) fn map_bodies(module: &IrModule, mut f: impl FnMut(&PrimFunc) -> Stmt) -> IrModule {
    let functions =
        module.functions.iter().map(|function| PrimFunc { body: f(function), ..function.clone() });
    IrModule { functions: functions.collect(), attrs: module.attrs.clone() }
}

/// Replaces each function of the module.
pub(crate) fn try_map_functions<E>(
    module: &IrModule,
    f: impl FnMut(&PrimFunc) -> Result<PrimFunc, E>,
) -> Result<IrModule, E> {
    let functions = module.functions.iter().map(f).collect::<Result<_, E>>()?;
    Ok(IrModule { functions, attrs: module.attrs.clone() })
}

/// The name, or a similar one that no parameter of the function has.
pub(crate) fn unused_name(function: &PrimFunc, name: &str) -> String {
    let mut name = name.to_owned();
    while function.params.iter().any(|param| **param.name() == *name) {
        name.push('_');
    }
    name
}

/// The operands of a conjunction, in order.
pub(crate) fn conjuncts(condition: &Expr) -> Vec<Expr> {
    match &condition.kind {
        ExprKind::And(a, b) => conjuncts(a).into_iter().chain(conjuncts(b)).collect(),
        _ => vec![condition.clone()],
    }
}

/// The variables that occur in an expression, including those bound within it.
pub(crate) fn vars_of(expr: &Expr) -> HashSet<Var> {
    let mut vars = HashSet::new();
    expr.walk(&mut |e| {
        if let ExprKind::Var(var) = &e.kind {
            vars.insert(var.clone());
        }
    });
    vars
}

/// Returns true if the expression loads from a buffer or calls a function that is not pure.
pub(crate) fn depends_on_memory(expr: &Expr) -> bool {
    depends_on_memory_but_for(expr, &|_| false)
}

/// Like [`depends_on_memory`], except that calls for which `is_apart` returns true are ignored.
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

/// Returns true if the predicate holds for this statement or any below it.
pub(crate) fn any_stmt(stmt: &Stmt, f: &mut dyn FnMut(&StmtKind) -> bool) -> bool {
    let mut found = false;
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            found = found || f(&stmt.kind);
        }
    });
    found
}

/// Returns true for a loop bound to threads, or a launched axis.
pub(crate) fn is_thread(stmt: &Stmt) -> bool {
    binds_threads(&stmt.kind)
}

/// Whether a statement starts a launch.
pub(crate) type Starts = fn(&StmtKind) -> bool;

/// Returns which statements start a launch of a target: those that bind threads (IR-K1), and on a
/// device without thread axes those with the note of IR-K8.
pub(crate) fn starts(capabilities: &TargetCapabilities) -> Starts {
    if capabilities.launches_one_thread() {
        |kind| binds_threads(kind) || is_device_scope(kind)
    } else {
        binds_threads
    }
}

/// Returns true for a loop bound to threads, or a launched axis.
pub(crate) fn binds_threads(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::LaunchThread { .. } | StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
}

/// Returns true for the note of IR-K8.
pub(crate) fn is_device_scope(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Attr { key, .. } if **key == *attr::DEVICE_SCOPE)
}

/// Names of the functions of the module that a statement calls, in the order of their first
/// occurrence.
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

/// Returns true if `holds` returns true for the expression or any node below it, each visited once.
pub(crate) fn any_node(e: &Expr, holds: &dyn Fn(&Expr) -> bool) -> bool {
    fn search(e: &Expr, holds: &dyn Fn(&Expr) -> bool, seen: &mut HashSet<usize>) -> bool {
        if !seen.insert(e.address()) {
            return false;
        }
        let mut found = holds(e);
        e.for_each_child(&mut |child| found = found || search(child, holds, seen));
        found
    }
    search(e, holds, &mut HashSet::new())
}

/// Returns true if the expression reads memory.
pub(crate) fn reads(e: &Expr) -> bool {
    any_node(e, &|e| matches!(e.kind, ExprKind::Load { .. }))
}
