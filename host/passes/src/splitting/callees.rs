//! Properties of a module's functions on which passes rely at their calls.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{Callee, Child, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt, StmtKind, Var};

use crate::walk::{any_stmt, depends_on_memory_but_for};

/// The functions of a module, classified by their effects.
pub(crate) struct Callees {
    /// Functions that compute from scalars only, on whichever side they are called; they may raise
    /// an error.
    arithmetic: HashSet<Arc<str>>,
    /// Functions that may raise an error, themselves or through a function that they call.
    raising: HashSet<Arc<str>>,
}

impl Callees {
    pub(crate) fn of(module: &IrModule) -> Self {
        let calls: Vec<HashSet<Arc<str>>> = module.functions.iter().map(called).collect();
        let mut callers: HashMap<&Arc<str>, Vec<usize>> = HashMap::new();
        for (caller, names) in calls.iter().enumerate() {
            names.iter().for_each(|name| callers.entry(name).or_default().push(caller));
        }
        let of = |name: &Arc<str>| callers.get(name).map_or(&[][..], Vec::as_slice);
        Self { arithmetic: arithmetic(module, &of), raising: raising(module, &of) }
    }

    /// Returns true if the function computes only from its scalar arguments.
    pub(crate) fn is_arithmetic(&self, name: &str) -> bool {
        self.arithmetic.contains(name)
    }

    /// Returns true if the host can evaluate the expression: it touches no memory, and changes
    /// nothing.
    pub(crate) fn is_of_host(&self, expr: &Expr) -> bool {
        let mut pointers = false;
        expr.walk(&mut |e| pointers |= matches!(&e.kind, ExprKind::Var(var) if var.dtype.is_handle()));
        !pointers && !depends_on_memory_but_for(expr, &|name| self.arithmetic.contains(name))
    }

    /// Returns true if evaluating the expression may raise an error.
    pub(crate) fn raises(&self, expr: &Expr) -> bool {
        let mut raises = false;
        expr.walk(&mut |e| raises |= e.called().is_some_and(|name| self.raising.contains(name)));
        raises
    }

    /// Replaces the calls in the statement that may raise an error by variables, if the host knows
    /// the arguments and the call is made unconditionally; returns the statements that bind those
    /// variables and the new statement.
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

/// The names of functions that a function calls.
fn called(function: &PrimFunc) -> HashSet<Arc<str>> {
    let mut names = HashSet::new();
    function.body.walk_exprs(&mut |e| names.extend(e.called().cloned()));
    names
}

/// Functions that compute from scalars, as do all functions that they call. Recursive functions are
/// excluded: a cycle never becomes ready. Each call is visited once, through the callers of a
/// function.
fn arithmetic<'c>(module: &IrModule, callers: &dyn Fn(&Arc<str>) -> &'c [usize]) -> HashSet<Arc<str>> {
    let mut missing: Vec<Option<usize>> =
        module.functions.iter().map(computes_from_scalars_but_for).collect();
    let mut ready: Vec<usize> = (0..missing.len()).filter(|index| missing[*index] == Some(0)).collect();
    let mut found = HashSet::new();
    while let Some(index) = ready.pop() {
        let name = &module.functions[index].name;
        if !found.insert(Arc::clone(name)) {
            continue;
        }
        for caller in callers(name) {
            let Some(count) = missing[*caller].as_mut().filter(|count| **count > 0) else { continue };
            *count -= 1;
            if *count == 0 {
                ready.push(*caller);
            }
        }
    }
    found
}

/// Functions that raise, and those that call a function that raises.
fn raising<'c>(module: &IrModule, callers: &dyn Fn(&Arc<str>) -> &'c [usize]) -> HashSet<Arc<str>> {
    let asserts = |f: &&PrimFunc| any_stmt(&f.body, &mut |kind| matches!(kind, StmtKind::Assert { .. }));
    let mut found = HashSet::new();
    let mut ready: Vec<&PrimFunc> = module.functions.iter().filter(asserts).collect();
    while let Some(function) = ready.pop() {
        if found.insert(Arc::clone(&function.name)) {
            ready.extend(callers(&function.name).iter().map(|caller| &module.functions[*caller]));
        }
    }
    found
}

/// The number of called functions that must compute from scalars for this function to do so too;
/// `None` if it does not in any case.
fn computes_from_scalars_but_for(function: &PrimFunc) -> Option<usize> {
    let names = RefCell::new(HashSet::new());
    let is_apart = |name: &str| {
        names.borrow_mut().insert(name.to_owned());
        true
    };
    computes_from_scalars(function, &is_apart).then(|| names.borrow().len())
}

fn computes_from_scalars(function: &PrimFunc, is_apart: &dyn Fn(&str) -> bool) -> bool {
    let scalars =
        function.params.iter().all(|param| matches!(param, Param::Var(var) if !var.dtype.is_handle()));
    let mut apart = scalars && function.alloc_buffers.is_empty();
    function.body.walk(&mut |child| {
        apart &= match child {
            Child::Expr(expr) => !depends_on_memory_but_for(expr, is_apart),
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
