//! Lowering of on-chip memory on targets without threads.

use std::collections::HashMap;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Buffer, BufferNode, Child, Expr, ExprKind, IrModule, Param, PrimFunc, Stmt, StmtKind, StorageRank,
    StorageScope, TargetCapabilities, Var,
};

use crate::PassError;
use crate::walk::try_map_functions;

/// Prefixes of scopes that are registers of matrix units, which the threads of a warp share.
const OF_THREADS: [&str; 2] = ["wmma.", "m16n8k8."];

/// On a target without threads, moves memory in a scope that only threads have (`shared`,
/// `shared.dyn`, `warp`, registers of matrix units) to `global`: one thread sees all of it. So a
/// kernel written for threads runs on a target to which no threads are bound. A scope that the
/// target declares stays, but for `shared.dyn` and `warp` on a device, where they mean nothing
/// without threads.
///
/// # Before and after
///
/// ```text
/// S = T.alloc_buffer((64,), scope="shared")    ->    S = T.alloc_buffer((64,))
/// ```
///
/// # Requires / # Ensures
///
/// Requires a module without blocks. If the target has no threads and no such scope, no memory is
/// in one.
///
/// # Errors
///
/// None.
pub fn rescope_memory(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if !capabilities.execution.thread_axes.is_empty() {
        return Ok(module.clone());
    }
    try_map_functions(module, |function| {
        let mut rescoper = Rescoper { capabilities, vars: HashMap::new(), substitution: Substitution::new() };
        rescoper.meet(function);
        if rescoper.vars.is_empty() {
            return Ok(function.clone());
        }
        let new = rescoper.substitution.function(function);
        let body = rescoper.bound(&new.body);
        Ok(PrimFunc { body, ..new })
    })
}

struct Rescoper<'a> {
    capabilities: &'a TargetCapabilities,
    /// Pointers to such memory, and their replacements.
    vars: HashMap<Var, Var>,
    substitution: Substitution,
}

impl Rescoper<'_> {
    fn is_of_threads(&self, scope: &StorageScope) -> bool {
        let is = match scope.rank {
            StorageRank::Shared | StorageRank::Warp => true,
            StorageRank::Other => OF_THREADS.iter().any(|prefix| scope.to_string().starts_with(prefix)),
            StorageRank::Global | StorageRank::Local => false,
        };
        let needs_threads = scope.is_dynamic_shared() || scope.rank == StorageRank::Warp;
        let is_declared = self.capabilities.memory.storage_scopes.contains(&scope.to_string());
        is && (!is_declared || needs_threads && self.capabilities.launches_one_thread())
    }

    fn meet(&mut self, function: &PrimFunc) {
        for param in &function.params {
            match param {
                Param::Var(var) => self.var(var),
                Param::Buffer(buffer) => self.buffer(buffer),
            }
        }
        function.body.walk(&mut |child| match child {
            Child::Stmt(stmt) => match &stmt.kind {
                StmtKind::Bind { var, .. } => self.var(var),
                StmtKind::AllocBuffer { buffer, .. }
                | StmtKind::DeclBuffer { buffer, .. }
                | StmtKind::Store { buffer, .. } => self.buffer(buffer),
                _ => {}
            },
            Child::Expr(expr) => expr.walk(&mut |e| {
                if let ExprKind::Load { buffer, .. } = &e.kind {
                    self.buffer(buffer);
                }
            }),
        });
    }

    fn var(&mut self, var: &Var) {
        let Some(pointer) = var.pointer.as_ref().filter(|pointer| self.is_of_threads(&pointer.scope)) else {
            return;
        };
        if !self.vars.contains_key(var) {
            let new = Var::pointer(var.name.clone(), pointer.element, StorageScope::GLOBAL);
            self.substitution.map_var(var, new.expr());
            self.vars.insert(var.clone(), new);
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        self.var(&buffer.data);
        if !self.is_of_threads(&buffer.scope) || self.substitution.buffer(buffer).scope != buffer.scope {
            return;
        }
        let data = self.vars.get(&buffer.data).unwrap_or(&buffer.data).clone();
        let scope = StorageScope::GLOBAL;
        let new = Buffer::from_node(BufferNode { scope, data, ..BufferNode::clone(buffer) });
        self.substitution.map_buffer(buffer, &new);
    }

    /// Replaces bindings of names of such pointers.
    fn bound(&self, stmt: &Stmt) -> Stmt {
        if let StmtKind::Bind { var, value } = &stmt.kind
            && let Some(new) = self.vars.get(var)
        {
            return Stmt::new(StmtKind::Bind { var: new.clone(), value: value.clone() }).with_span(stmt.span);
        }
        stmt.map_children(&mut Expr::clone, &mut |s| self.bound(s))
    }
}
