//! Inlining of functions that take buffers, for targets whose functions take scalars only.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::Usage;
use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Callee, Child, Expr, ExprKind, IrModule, Param, PrimFunc, Stmt, StmtKind, TargetCapabilities,
    Var, attr,
};

use super::pointers::{Moved, pointed_to};
use crate::PassError;

/// Replaces calls of device functions that take buffers by their bodies, if the target's functions
/// take scalars only ([`chipdock_ir::Memory::scalar_arguments`]).
///
/// # Rules
///
/// * **INLINE-B1** A statement that calls a function of the module with a data pointer among its
///   parameters becomes the function's body, with variables of its own. Scalars are bound to names
///   first, so that each is computed once; accesses through a pointer to an element move by its
///   index, as MOVED-P1 and MOVED-P2 of `lower_moved_pointers` say.
/// * **INLINE-B2** A call is unchanged if the function returns a value or returns early, or if it
///   is given a pointer that MOVED-P3 leaves out. A code generator refuses what it cannot write.
/// * **INLINE-B3** At most 1000 bodies are inlined into a function, since calls of calls could make
///   it grow without end; the calls beyond them are unchanged.
/// * **INLINE-B4** A function that takes buffers is left out once nothing calls it.
///
/// # Before and after
///
/// ```text
/// def twice(p: T.handle("int32"), x: T.int32):
///     P = T.decl_buffer((4,), "int32", data=p)         ->
///     P[0] = P[0] * x
/// twice(T.address_of(B[n]), m + 1)                         x = m + 1
///                                                          P = T.decl_buffer((4 + n,), "int32", data=B.data)
///                                                          P[n] = P[n] * x
/// ```
///
/// # Requires / # Ensures
///
/// Requires device functions with flat buffers. If the target's functions take scalars only, a call
/// that passes a pointer to a function of the module is one of those that INLINE-B2 and INLINE-B3
/// name; otherwise, and for a host, the module is unchanged.
///
/// # Errors
///
/// None.
pub fn inline_buffer_functions(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    if capabilities.is_host || !capabilities.memory.scalar_arguments {
        return Ok(module.clone());
    }
    let takes_buffers = |f: &&PrimFunc| f.params.iter().any(|param| data_of(param).is_some());
    let is_called =
        |f: &&PrimFunc| !matches!(f.attrs.get(attr::CALLING_CONV), Some(AttrValue::Int(conv)) if *conv != 0);
    let callees: HashMap<Arc<str>, &PrimFunc> = module
        .functions
        .iter()
        .filter(is_called)
        .filter(takes_buffers)
        .map(|function| (Arc::clone(&function.name), function))
        .collect();
    if callees.is_empty() {
        return Ok(module.clone());
    }
    let mut functions: Vec<PrimFunc> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let mut inliner =
            Inliner { callees: &callees, active: vec![Arc::clone(&function.name)], left: BODIES_MAX };
        functions.push(PrimFunc { body: inliner.stmt(&function.body), ..function.clone() });
    }
    // The remaining ones are called by functions that are kept, or by each other.
    loop {
        let called: HashSet<Arc<str>> =
            functions.iter().flat_map(|function| Usage::of(&function.body).called).collect();
        let before = functions.len();
        functions.retain(|function| !callees.contains_key(&function.name) || called.contains(&function.name));
        if functions.len() == before {
            return Ok(IrModule { functions, attrs: module.attrs.clone() });
        }
    }
}

fn data_of(param: &Param) -> Option<&Var> {
    match param {
        Param::Var(var) if var.dtype.is_handle() => Some(var),
        _ => None,
    }
}

/// Maximum number of bodies inlined into one function.
const BODIES_MAX: usize = 1000;

struct Inliner<'a> {
    callees: &'a HashMap<Arc<str>, &'a PrimFunc>,
    /// Functions whose bodies are being inlined.
    active: Vec<Arc<str>>,
    /// Number of bodies that may still be inlined.
    left: usize,
}

impl Inliner<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if let StmtKind::Evaluate(call) = &stmt.kind
            && let ExprKind::Call { callee: Callee::Global(name), args } = &call.kind
            && let Some(function) = self.callees.get(name).copied()
            && self.left > 0
            && !self.active.contains(name)
            && let Some(body) = body_of(function, args)
        {
            self.left -= 1;
            self.active.push(Arc::clone(name));
            let body = self.stmt(&body);
            self.active.pop();
            return body;
        }
        stmt.map_children(&mut Expr::clone, &mut |inner| self.stmt(inner))
    }
}

/// The function's body with these arguments; `None` if it cannot replace a call.
fn body_of(function: &PrimFunc, args: &[Expr]) -> Option<Stmt> {
    let mut returns = false;
    function.body.walk(&mut |child| {
        returns |= matches!(child, Child::Stmt(stmt) if matches!(stmt.kind, StmtKind::Return(_)));
    });
    if returns || function.ret.is_some() || function.params.len() != args.len() {
        return None;
    }
    let mut with = Substitution::new().fresh();
    let (mut bound, mut moved) = (Vec::new(), HashMap::new());
    let mut bind = |var: &Var, value: &Expr| {
        let own = Var::new(Arc::clone(&var.name), value.dtype);
        bound.push(Stmt::new(StmtKind::Bind { var: own.clone(), value: value.clone() }));
        own.expr()
    };
    for (param, arg) in function.params.iter().zip(args) {
        let Param::Var(var) = param else { return None };
        if !var.dtype.is_handle() {
            let value = bind(var, arg);
            with.map_var(var, value);
            continue;
        }
        let element = var.pointer.as_ref().map(|pointer| pointer.element)?;
        let (data, first) = pointed_to(arg, element)?;
        moved.extend(first.map(|first| (var.clone(), first)));
        with.map_var(var, data.expr());
    }
    let body = with.stmt(&Moved::by(moved).stmt(&function.body));
    Some(Stmt::seq(bound.into_iter().chain([body])))
}
