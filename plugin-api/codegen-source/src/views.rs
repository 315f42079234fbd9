//! Pointers to elements that are declared anew with another element type. They are converted, which
//! no language does by itself. Their memory has another type elsewhere, and so it is accessed with
//! a type that may alias any other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{Callee, Child, DType, Expr, ExprKind, IrModule, Op, PointerType, PrimFunc, Stmt, Var};

use crate::Code;
use crate::function::data_of;
use crate::writer::Writer;

/// The element type with which a pointer was declared; `None` for an untyped one.
fn element(pointer: &Expr) -> Option<DType> {
    match &pointer.kind {
        ExprKind::Var(var) => Some(var.pointer.as_ref()?.element.scalar()),
        ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => match &args.first()?.kind {
            ExprKind::Load { buffer, .. } => Some(buffer.dtype.scalar()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if a pointer to elements is declared anew with another element type. An untyped one
/// is no view: nothing is accessed through it.
pub(crate) fn is_viewed(pointer: &Expr, to: Option<&PointerType>) -> bool {
    let to = to.map(|to| to.element.scalar());
    to.is_some() && element(pointer).is_some_and(|from| Some(from) != to)
}

/// Returns true if a function of the module is called with a pointer that it declares with another
/// element type.
pub(crate) fn has_viewed_arguments(module: &IrModule) -> bool {
    let functions: HashMap<&Arc<str>, &PrimFunc> =
        module.functions.iter().map(|function| (&function.name, function)).collect();
    let is_view = |e: &Expr| {
        let ExprKind::Call { callee: Callee::Global(name), args } = &e.kind else { return false };
        let Some(callee) = functions.get(name) else { return false };
        let params = callee.params.iter().map(|param| data_of(param).pointer.as_ref());
        args.iter().zip(params).any(|(arg, to)| is_viewed(arg, to))
    };
    let mut seen = HashSet::new();
    module.functions.iter().any(|function| stmt_has(&function.body, &is_view, &mut seen))
}

fn stmt_has(stmt: &Stmt, is: &dyn Fn(&Expr) -> bool, seen: &mut HashSet<usize>) -> bool {
    let mut has = false;
    stmt.for_each_child(&mut |child| {
        has = has
            || match child {
                Child::Stmt(inner) => stmt_has(inner, is, seen),
                Child::Expr(e) => expr_has(e, is, seen),
            };
    });
    has
}

/// Looks at each node once, in however many places it stands, and however deep.
fn expr_has(e: &Expr, is: &dyn Fn(&Expr) -> bool, seen: &mut HashSet<usize>) -> bool {
    let mut left = vec![e];
    while let Some(e) = left.pop() {
        if seen.insert(e.address()) {
            if is(e) {
                return true;
            }
            e.for_each_child(&mut |inner| left.push(inner));
        }
    }
    false
}

impl<'a> Writer<'a> {
    /// Converts a pointer to the type with which it is declared anew, where that is another.
    pub(crate) fn pointer_as(&mut self, e: &'a Expr, code: Code, to: Option<&PointerType>) -> Code {
        let Some(to) = to.filter(|to| is_viewed(e, Some(to))) else { return code };
        let answer = self.dialect.pointer_type(Some(to), &mut self.prelude);
        let answer = answer.map(|pointer| Code::prefix(&format!("({pointer})"), &code));
        self.expect(e, answer)
    }

    /// Records that the memory of a pointer has another type elsewhere.
    pub(crate) fn view(&mut self, var: &Var) {
        if let Some(known) = self.vars.get_mut(&var.address()) {
            known.element = None;
        }
    }
}
